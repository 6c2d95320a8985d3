/* Median splits along the widest input until every part has its share: sizes
 * equal within one row, parts are boxes.
 *
 * A split is a set: the first rows by (input, row number).  It does not depend on who finds it.
 * The ranks of a team make the first splits together, each counting in its own rows, until there
 * are some boxes for each; then rows move to the owners of their boxes, who go on alone. */
#include "partition/kdtree.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "near/ranked.h"
#include "rows/rows.h"
#include "near/select_nth.h"

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

/* Parts first .. first + parts - 1, of `count` rows together. */
typedef struct {
    size_t first, parts, count;
} box;

/* The first half of a box's parts and their rows; the first parts are larger by one where rows do
 * not divide. */
static box lower_half(box b)
{
    size_t half = b.parts / 2, share = b.count / b.parts, larger = b.count % b.parts;
    return (box){b.first, half, half * share + (larger < half ? larger : half)};
}

static box upper_half(box b)
{
    box low = lower_half(b);
    return (box){b.first + low.parts, b.parts - low.parts, b.count - low.count};
}

/* ---- One rank's boxes ---- */

typedef struct {
    size_t D;
    const double *X; /* D x rows: of this rank                       */
    size_t *rows;    /* a box's rows in a row, ascending             */
    ranked *items;   /* as many: scratch                             */
    size_t *label;   /* as many, by row                              */
} local_split;

/* The rows that rank before the pivot come first; both halves stay in order. */
static void part_rows(const local_split *s, size_t *rows, size_t count, size_t d, ranked pivot,
                      size_t *behind)
{
    size_t kept = 0, rest = 0;
    for (size_t i = 0; i < count; i++) {
        ranked item = {s->X[rows[i] * s->D + d], rows[i]};
        if (ranked_before(item, pivot))
            rows[kept++] = rows[i];
        else
            behind[rest++] = rows[i];
    }
    memcpy(rows + kept, behind, rest * sizeof *rows);
}

static void split_box(const local_split *s, size_t at, box b)
{
    size_t *rows = s->rows + at;
    if (b.parts <= 1) {
        for (size_t i = 0; i < b.count; i++)
            s->label[rows[i]] = b.first;
        return;
    }
    box low = lower_half(b);
    if (low.count < b.count) {
        ranked *items = s->items + at;
        size_t d = widest_input(rows, b.count, s->X, s->D);
        for (size_t i = 0; i < b.count; i++)
            items[i] = (ranked){s->X[rows[i] * s->D + d], rows[i]};
        ranked_select(items, b.count, low.count);
        part_rows(s, rows, b.count, d, items[low.count], (size_t *)items);
    }
    split_box(s, at, low);
    split_box(s, at + low.count, upper_half(b));
}

/* ---- All ranks together: one level of splits at a time ---- */

typedef struct {
    sliced_rows rows;
    team_slice held;
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

static size_t top_boxes(const partition_problem *p)
{
    size_t boxes = 1;
    while (boxes < (size_t)BOXES_A_RANK * (size_t)team_size() && 2 * boxes <= p->parts)
        boxes *= 2;
    return boxes;
}

static quorum_status shared_new(const partition_problem *p, shared_split *s)
{
    size_t ranks = (size_t)team_size(), most = top_boxes(p);
    *s = (shared_split){
        .rows = {.n = p->n, .D = p->D, .X = p->X, .whole = p->alone}, .boxes = 1, .most = most};
    s->held = held_rows(&s->rows);
    NEW_ARRAY(s->box, most);
    NEW_ARRAY(s->mine, s->held.count);
    NEW_ARRAY(s->behind, s->held.count);
    NEW_ZEROED(s->share, ranks * most);
    NEW_ARRAY(s->widest, most);
    NEW_ARRAY(s->pivot, most);
    NEW_ARRAY(s->below, most);
    NEW_ARRAY(s->low, most);
    NEW_ARRAY(s->ties, ranks * most);
    NEW_ARRAY(s->tally, most * VALUES);
    NEW_ARRAY(s->sample, most * WIDEST_SAMPLE * p->D);
    NEW_ARRAY(s->pieces, most * ranks);
    if (!s->box || !s->mine || !s->behind || !s->share || !s->widest || !s->pivot || !s->below ||
        !s->low || !s->ties || !s->tally || !s->sample || !s->pieces)
        return failure(QUORUM_E_MEMORY, "out of memory for a kd-tree of %zu rows", p->n);
    s->box[0] = (box){.parts = p->parts, .count = p->n};
    for (size_t i = 0; i < s->held.count; i++)
        s->mine[i] = i;
    s->share[(size_t)team_rank() * most] = s->held.count;
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
    size_t D = s->rows.D, ranks = (size_t)team_size();
    double *sample = s->sample + b * WIDEST_SAMPLE * D;
    for (size_t r = 0; r < ranks; r++) {
        size_t before = rows_before_rank(s, s->share, b, (int)r);
        size_t from = next_sample(s->box[b], before);
        size_t to = next_sample(s->box[b], before + s->share[r * s->most + b]);
        pieces[r] = (team_piece){
            .data = sample + from * D, .bytes = (to - from) * D * sizeof *sample, .owner = (int)r};
        for (size_t t = from; (int)r == team_rank() && t < to; t++)
            memcpy(sample + t * D, s->rows.X + own[sample_place(s->box[b].count, t) - before] * D,
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
                                    s->sample + b * WIDEST_SAMPLE * s->rows.D, s->rows.D);
}

/* Numbers in the order of the inputs; 0 and -0 are the same input, and so is what workers take
 * for 0. */
static uint64_t key_of(const shared_split *s, size_t row, size_t d)
{
    double x = s->rows.X[row * s->rows.D + d];
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
} removal;

static void removal_free(removal *m)
{
    mem_free(m->out_rows);
    mem_free(m->in_rows);
    mem_free(m->X);
    mem_free(m->row);
    mem_free(m->came);
    mem_free(m->came_row);
}

static quorum_status removal_new(const shared_split *s, size_t *count, removal *m)
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
    NEW_ARRAY(m->X, s->held.count * s->rows.D);
    NEW_ARRAY(m->row, s->held.count);
    NEW_ARRAY(m->came, *count * s->rows.D);
    NEW_ARRAY(m->came_row, *count);
    if (m->out_rows && m->in_rows && m->X && m->row && m->came && m->came_row)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for moving %zu rows", s->held.count + *count);
}

static void send_rows(const shared_split *s, const removal *m)
{
    size_t D = s->rows.D;
    for (size_t i = 0; i < s->held.count; i++) {
        memcpy(m->X + i * D, s->rows.X + s->mine[i] * D, D * sizeof *m->X);
        m->row[i] = s->held.first + s->mine[i];
    }
    team_exchange(m->X, m->out_rows, m->came, m->in_rows, D * sizeof *m->X);
    team_exchange(m->row, m->out_rows, m->came_row, m->in_rows, sizeof *m->row);
}

/* What came, rank by rank and in each by box, goes to its place: box by box, rows ascending. */
static void sort_rows(const shared_split *s, const removal *m, const boxed_rows *out)
{
    size_t D = s->rows.D, from = 0;
    for (int r = 0; r < team_size(); r++) {
        size_t before = 0;
        for (size_t b = 0; b < s->boxes; b++) {
            if (box_owner(s, b) != team_rank())
                continue;
            size_t count = s->share[(size_t)r * s->most + b];
            size_t to = before + rows_before_rank(s, s->share, b, r);
            memcpy(out->moved + to * D, m->came + from * D, count * D * sizeof *m->came);
            memcpy(out->row + to, m->came_row + from, count * sizeof *m->came_row);
            from += count;
            before += s->box[b].count;
        }
    }
}

static quorum_status move_rows(const shared_split *s, boxed_rows *out)
{
    removal m = {0};
    quorum_status status = team_agree(removal_new(s, &out->count, &m));
    if (status >= 0) {
        send_rows(s, &m);
        mem_free(m.X);
        m.X = NULL;
        NEW_ARRAY(out->moved, out->count * s->rows.D);
        NEW_ARRAY(out->row, out->count);
        out->X = out->moved;
        rows_note(out->count);
        if (out->moved && out->row)
            sort_rows(s, &m, out);
        else
            status = failure(QUORUM_E_MEMORY, "out of memory for %zu rows", out->count);
    }
    removal_free(&m);
    return status;
}

/* ---- All of it ---- */

/* The boxes to split alone, of rows that lie one box after another. */
typedef struct {
    local_split split;
    const box *boxes;
    size_t *start; /* where each box's rows begin */
} own_boxes;

static quorum_status split_item(void *context, size_t item, int worker)
{
    const own_boxes *o = context;
    (void)worker;
    split_box(&o->split, o->start[item], o->boxes[item]);
    return QUORUM_OK;
}

static quorum_status split_alone(const partition_problem *p, const box *boxes, size_t count,
                                 boxed_rows *out)
{
    own_boxes o = {.split = {.D = p->D, .X = out->X}, .boxes = boxes};
    quorum_status status = QUORUM_OK;
    NEW_ARRAY(o.split.rows, out->count);
    NEW_ARRAY(o.split.items, out->count);
    NEW_ARRAY(out->label, out->count);
    NEW_ARRAY(o.start, count + 1);
    o.split.label = out->label;
    if (o.split.rows && o.split.items && out->label && o.start) {
        o.start[0] = 0;
        for (size_t b = 0; b < count; b++)
            o.start[b + 1] = o.start[b] + boxes[b].count;
        for (size_t i = 0; i < out->count; i++)
            o.split.rows[i] = i;
        status = parallel_for(p->threads, count, split_item, &o);
    } else {
        status = failure(QUORUM_E_MEMORY, "out of memory for a kd-tree of %zu rows", out->count);
    }
    mem_free(o.split.rows);
    mem_free(o.split.items);
    mem_free(o.start);
    return status;
}

/* One rank's rows need not move. */
static quorum_status box_alone(const partition_problem *p, boxed_rows *out)
{
    box all = {.parts = p->parts, .count = p->n};
    out->count = p->n;
    out->X = p->X;
    if (!NEW_ARRAY(out->row, p->n))
        return failure(QUORUM_E_MEMORY, "out of memory for a kd-tree of %zu rows", p->n);
    for (size_t i = 0; i < p->n; i++)
        out->row[i] = i;
    return split_alone(p, &all, 1, out);
}

static quorum_status box_together(const partition_problem *p, boxed_rows *out)
{
    shared_split s;
    quorum_status status = team_agree(shared_new(p, &s));
    if (status >= 0) {
        split_together(&s);
        status = move_rows(&s, out);
    }
    mem_free(s.mine);
    mem_free(s.behind);
    s.mine = s.behind = NULL;
    team_slice own = my_slice(s.boxes, 1);
    if (status >= 0)
        status = split_alone(p, s.box + own.first, own.count, out);
    shared_free(&s);
    return team_agree(status);
}

quorum_status box_rows(const partition_problem *p, boxed_rows *out)
{
    *out = (boxed_rows){0};
    int alone = p->alone || team_size() == 1;
    quorum_status status = alone ? box_alone(p, out) : box_together(p, out);
    if (status < 0)
        boxed_rows_free(out);
    return status;
}

void boxed_rows_free(boxed_rows *b)
{
    mem_free(b->row);
    mem_free(b->label);
    mem_free(b->moved);
    *b = (boxed_rows){0};
}

static quorum_status split(const partition_problem *p, size_t *label)
{
    boxed_rows b;
    TRY(box_rows(p, &b));
    memset(label, 0, p->n * sizeof *label);
    for (size_t i = 0; i < b.count; i++)
        label[b.row[i]] = b.label[i];
    if (!p->alone)
        team_add(label, p->n);
    boxed_rows_free(&b);
    return QUORUM_OK;
}

const partition partition_kdtree = {"kdtree", "median splits along the widest input, equal sizes",
                                    split};
