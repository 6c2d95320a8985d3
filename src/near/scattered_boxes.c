/* Boxes of rows that the ranks of a team hold in slices.
 *
 * The ranks make the first splits together, a level at a time, until there are some boxes for
 * each: rows do not move, each rank counts in its own.  The pivot of a box, the row that its upper
 * half begins with, is found digit by digit of its input's bits,
 *
 *     tally[v] = rows that agree with the digits so far and have the next one v,
 *
 * ties going by row number, and the first ranks have the first rows.  Then rows move to the owners
 * of their boxes, who go on alone (boxes.c). */
#include "near/scattered_boxes.h"

#include "base/memory.h"
#include "near/select_nth.h"
#include "team/team.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    BOXES_A_RANK = 4, /* at least, before rows move                   */
    DIGIT = 8,        /* bits of a key that are looked at together ... */
    DIGITS = 64 / DIGIT,
    VALUES = 1 << DIGIT
};

/* ---- The first splits: one level at a time ---- */

typedef struct {
    scattered_rows rows;
    size_t boxes, most; /* boxes now, and room for them                        */
    box *box;           /* most                                                */
    size_t *mine;       /* held: this rank's rows by box, ascending in each    */
    size_t *behind;     /* held: scratch                                       */
    size_t *share;      /* ranks x most: rows of each box that each rank has   */
    size_t *widest;     /* most: the input to split at                         */
    uint64_t *pivot;    /* most: the key that the upper half begins with       */
    size_t *below;      /* most: rows of the lower half that have that key     */
    size_t *low;        /* most: rows of this rank in the lower half           */
    size_t *ties;       /* ranks x most: rows of each rank with the pivot's key */
    size_t *tally;      /* most x VALUES                                       */
    double *sample;     /* most x WIDEST_SAMPLE x D                            */
    team_piece *pieces; /* most x ranks                                        */
} shared_split;

static void shared_free(shared_split *s)
{
    mem_free(s->box);
    mem_free(s->mine);
    mem_free(s->behind);
    mem_free(s->share);
    mem_free(s->widest);
    mem_free(s->pivot);
    mem_free(s->below);
    mem_free(s->low);
    mem_free(s->ties);
    mem_free(s->tally);
    mem_free(s->sample);
    mem_free(s->pieces);
}

static size_t top_boxes(const box_problem *p)
{
    size_t boxes = 1;
    while (boxes < (size_t)BOXES_A_RANK * (size_t)team_size() && 2 * boxes <= p->parts)
        boxes *= 2;
    return boxes;
}

static quorum_status shared_new(const box_problem *p, shared_split *s)
{
    size_t ranks = (size_t)team_size(), most = top_boxes(p);
    *s = (shared_split){.rows = *p->rows, .boxes = 1, .most = most};
    NEW_ARRAY(s->box, most);
    NEW_ARRAY(s->mine, s->rows.held.n);
    NEW_ARRAY(s->behind, s->rows.held.n);
    NEW_ZEROED(s->share, ranks * most);
    NEW_ARRAY(s->widest, most);
    NEW_ARRAY(s->pivot, most);
    NEW_ARRAY(s->below, most);
    NEW_ARRAY(s->low, most);
    NEW_ARRAY(s->ties, ranks * most);
    NEW_ARRAY(s->tally, most * VALUES);
    NEW_ARRAY(s->sample, most * WIDEST_SAMPLE * s->rows.held.D);
    NEW_ARRAY(s->pieces, most * ranks);
    if (!s->box || !s->mine || !s->behind || !s->share || !s->widest || !s->pivot || !s->below ||
        !s->low || !s->ties || !s->tally || !s->sample || !s->pieces)
        return failure(QUORUM_E_MEMORY, "out of memory for a kd-tree of %zu rows", s->rows.n);
    s->box[0] = (box){.parts = p->parts, .count = s->rows.n};
    for (size_t i = 0; i < s->rows.held.n; i++)
        s->mine[i] = i;
    s->share[(size_t)team_rank() * most] = s->rows.held.n;
    return QUORUM_OK;
}

static size_t *own_share(const shared_split *s)
{
    return s->share + (size_t)team_rank() * s->most;
}

static void share_counts(const shared_split *s, size_t *table)
{
    team_share_slices(table, s->most * sizeof *table, (size_t)team_size(), 1);
}

/* Rows of box b that the ranks before this one have. */
static size_t rows_before_rank(const shared_split *s, const size_t *table, size_t b, int rank)
{
    size_t sum = 0;
    for (int r = 0; r < rank; r++)
        sum += table[(size_t)r * s->most + b];
    return sum;
}

/* The first sampled row of a box at its place `at` or behind it. */
static size_t next_sample(box b, size_t at)
{
    size_t t = 0, samples = sample_size(b.count), high = samples;
    while (t < high) {
        size_t middle = (t + high) / 2;
        if (sample_place(b.count, middle) < at)
            t = middle + 1;
        else
            high = middle;
    }
    return t;
}

/* The sampled rows of box b, from their owners: `own` are this rank's. */
static size_t list_samples(const shared_split *s, size_t b, const size_t *own, team_piece *pieces)
{
    size_t D = s->rows.held.D, ranks = (size_t)team_size();
    double *sample = s->sample + b * WIDEST_SAMPLE * D;
    for (size_t r = 0; r < ranks; r++) {
        size_t before = rows_before_rank(s, s->share, b, (int)r);
        size_t from = next_sample(s->box[b], before);
        size_t to = next_sample(s->box[b], before + s->share[r * s->most + b]);
        pieces[r] = (team_piece){
            .data = sample + from * D, .bytes = (to - from) * D * sizeof *sample, .owner = (int)r};
        for (size_t t = from; (int)r == team_rank() && t < to; t++)
            memcpy(sample + t * D,
                   s->rows.held.X + own[sample_place(s->box[b].count, t) - before] * D,
                   D * sizeof *sample);
    }
    return ranks;
}

static void find_widest(const shared_split *s)
{
    size_t every[WIDEST_SAMPLE], listed = 0;
    const size_t *own = s->mine;
    for (size_t i = 0; i < WIDEST_SAMPLE; i++)
        every[i] = i;
    for (size_t b = 0; b < s->boxes; own += own_share(s)[b++])
        listed += list_samples(s, b, own, s->pieces + listed);
    team_share(s->pieces, listed);
    for (size_t b = 0; b < s->boxes; b++)
        s->widest[b] = widest_input(every, sample_size(s->box[b].count),
                                    s->sample + b * WIDEST_SAMPLE * s->rows.held.D, s->rows.held.D);
}

/* Numbers in the order of the inputs; 0 and -0 are the same input, and so is what workers take
 * for 0. */
static uint64_t key_of(const shared_split *s, size_t row, size_t d)
{
    double x = s->rows.held.X[row * s->rows.held.D + d];
    x = fabs(x) < DBL_MIN ? 0.0 : x;
    uint64_t bits, sign = UINT64_C(1) << 63;
    memcpy(&bits, &x, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

/* The digit of each pivot at `shift`, the higher ones being known: rows that agree with them are
 * counted by their value of this digit; below[b] of them come before the pivot. */
static void find_digit(const shared_split *s, int shift)
{
    const size_t *own = s->mine;
    memset(s->tally, 0, s->boxes * VALUES * sizeof *s->tally);
    for (size_t b = 0; b < s->boxes; own += own_share(s)[b++])
        for (size_t i = 0; i < own_share(s)[b]; i++) {
            uint64_t key = key_of(s, own[i], s->widest[b]);
            if (shift + DIGIT == 64 || (key ^ s->pivot[b]) >> (shift + DIGIT) == 0)
                s->tally[b * VALUES + (key >> shift) % VALUES]++;
        }
    team_add(s->tally, s->boxes * VALUES);
    for (size_t b = 0; b < s->boxes; b++) {
        const size_t *tally = s->tally + b * VALUES;
        uint64_t digit = 0;
        while (digit + 1 < VALUES && s->below[b] >= tally[digit])
            s->below[b] -= tally[digit++];
        s->pivot[b] |= digit << shift;
    }
}

static void find_pivots(const shared_split *s)
{
    for (size_t b = 0; b < s->boxes; b++) {
        s->pivot[b] = 0;
        s->below[b] = lower_half(s->box[b]).count;
    }
    for (int k = DIGITS - 1; k >= 0; k--)
        find_digit(s, k * DIGIT);
}

/* Of the rows that have the pivot's key, this rank's share of those in the lower half: the first
 * by row number, which the first ranks have. */
static void share_ties(const shared_split *s)
{
    const size_t *own = s->mine;
    size_t *ties = s->ties + (size_t)team_rank() * s->most;
    for (size_t b = 0; b < s->boxes; own += own_share(s)[b++]) {
        ties[b] = 0;
        for (size_t i = 0; i < own_share(s)[b]; i++)
            ties[b] += key_of(s, own[i], s->widest[b]) == s->pivot[b];
    }
    share_counts(s, s->ties);
    for (size_t b = 0; b < s->boxes; b++) {
        size_t before = rows_before_rank(s, s->ties, b, team_rank());
        s->below[b] = s->below[b] > before ? s->below[b] - before : 0;
    }
}

/* This rank's rows of box b, those of the lower half first; both halves stay in order. */
static void part_own(const shared_split *s, size_t b, size_t *own)
{
    size_t kept = 0, rest = 0, ties = s->below[b];
    for (size_t i = 0; i < own_share(s)[b]; i++) {
        uint64_t key = key_of(s, own[i], s->widest[b]);
        if (key < s->pivot[b] || (key == s->pivot[b] && ties > 0)) {
            ties -= key == s->pivot[b];
            own[kept++] = own[i];
        } else {
            s->behind[rest++] = own[i];
        }
    }
    memcpy(own + kept, s->behind, rest * sizeof *own);
    s->low[b] = kept;
}

static void split_boxes(shared_split *s)
{
    size_t *own = s->mine, *share = own_share(s);
    for (size_t b = 0; b < s->boxes; own += share[b++])
        part_own(s, b, own);
    for (size_t b = s->boxes; b-- > 0;) {
        box whole = s->box[b];
        size_t rows = share[b];
        s->box[2 * b] = lower_half(whole);
        s->box[2 * b + 1] = upper_half(whole);
        share[2 * b] = s->low[b];
        share[2 * b + 1] = rows - s->low[b];
    }
    s->boxes *= 2;
}

static void split_together(shared_split *s)
{
    share_counts(s, s->share);
    while (s->boxes < s->most) {
        find_widest(s);
        find_pivots(s);
        share_ties(s);
        split_boxes(s);
        share_counts(s, s->share);
    }
}

/* ---- Rows move to the owners of their boxes ---- */

static int box_owner(const shared_split *s, size_t b)
{
    return slice_owner(s->boxes, 1, b, team_size());
}

typedef struct {
    size_t *out_rows, *in_rows; /* ranks: that go to and come from each */
    double *X;                  /* D x rows: on their way out, then as they came */
    size_t *row;                /* their numbers                                 */
    double *came;
    size_t *came_row;
} row_move;

static void row_move_free(row_move *m)
{
    mem_free(m->out_rows);
    mem_free(m->in_rows);
    mem_free(m->X);
    mem_free(m->row);
    mem_free(m->came);
    mem_free(m->came_row);
}

static quorum_status row_move_new(const shared_split *s, size_t *count, row_move *m)
{
    size_t ranks = (size_t)team_size();
    NEW_ZEROED(m->out_rows, ranks);
    NEW_ZEROED(m->in_rows, ranks);
    *count = 0;
    for (size_t b = 0; m->out_rows && m->in_rows && b < s->boxes; b++) {
        m->out_rows[box_owner(s, b)] += own_share(s)[b];
        for (size_t r = 0; box_owner(s, b) == team_rank() && r < ranks; r++) {
            m->in_rows[r] += s->share[r * s->most + b];
            *count += s->share[r * s->most + b];
        }
    }
    NEW_ARRAY(m->X, s->rows.held.n * s->rows.held.D);
    NEW_ARRAY(m->row, s->rows.held.n);
    NEW_ARRAY(m->came, *count * s->rows.held.D);
    NEW_ARRAY(m->came_row, *count);
    if (m->out_rows && m->in_rows && m->X && m->row && m->came && m->came_row)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for moving %zu rows", s->rows.held.n + *count);
}

static void send_rows(const shared_split *s, const row_move *m)
{
    size_t D = s->rows.held.D;
    for (size_t i = 0; i < s->rows.held.n; i++) {
        memcpy(m->X + i * D, s->rows.held.X + s->mine[i] * D, D * sizeof *m->X);
        m->row[i] = s->rows.first + s->mine[i];
    }
    team_exchange(m->X, m->out_rows, m->came, m->in_rows, D * sizeof *m->X);
    team_exchange(m->row, m->out_rows, m->came_row, m->in_rows, sizeof *m->row);
}

/* What came, rank by rank and in each by box, goes to its place: box by box, rows ascending. */
static void sort_rows(const shared_split *s, const row_move *m, const boxed_rows *out)
{
    size_t D = s->rows.held.D, from = 0;
    for (int r = 0; r < team_size(); r++) {
        size_t before = 0;
        for (size_t b = 0; b < s->boxes; b++) {
            if (box_owner(s, b) != team_rank())
                continue;
            size_t count = s->share[(size_t)r * s->most + b];
            size_t to = before + rows_before_rank(s, s->share, b, r);
            memcpy(out->rows.X + to * D, m->came + from * D, count * D * sizeof *m->came);
            memcpy(out->row + to, m->came_row + from, count * sizeof *m->came_row);
            from += count;
            before += s->box[b].count;
        }
    }
}

static quorum_status move_rows(const shared_split *s, boxed_rows *out)
{
    row_move m = {0};
    row_set inputs = {.D = s->rows.held.D};
    size_t count;
    quorum_status status = team_agree(row_move_new(s, &count, &m));
    if (status >= 0) {
        send_rows(s, &m);
        mem_free(m.X);
        m.X = NULL;
        out->moved = 1;
        status = rows_new(&inputs, count, &out->rows);
        rows_note(count);
        if (status >= 0 && !NEW_ARRAY(out->row, count))
            status = failure(QUORUM_E_MEMORY, "out of memory for %zu rows", count);
        if (status >= 0)
            sort_rows(s, &m, out);
    }
    row_move_free(&m);
    return status;
}

/* ---- All of it ---- */

quorum_status box_scattered_rows(quorum_status ready, const box_problem *p, boxed_rows *out)
{
    shared_split s = {0};
    if (ready >= 0)
        ready = shared_new(p, &s);
    quorum_status status = team_agree(ready);
    if (status >= 0) {
        split_together(&s);
        status = move_rows(&s, out);
    }
    mem_free(s.mine);
    mem_free(s.behind);
    s.mine = s.behind = NULL;
    team_slice own = my_slice(s.boxes, 1);
    if (status >= 0)
        status = split_own_boxes(p, s.box + own.first, own.count, out);
    shared_free(&s);
    return team_agree(status);
}
