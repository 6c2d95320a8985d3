/* Keeps the sizes of parts within bounds: parts over the cap are halved at the
 * median of their widest input, parts under the floor join the part with the
 * nearest mean that has room, and the number of parts is brought back to what
 * was asked for by more of the same. */
#include "partition/partition.h"

#include "base/memory.h"
#include "rows/rows.h"
#include "near/select_nth.h"

#include <float.h>
#include <string.h>

typedef struct {
    const partition_problem *problem;
    size_t *label;
    size_t count, room; /* parts in use; parts there is memory for */
    size_t *size;       /* room; 0: the part has been merged away  */
    double *sum;        /* room x D: sums of the inputs            */
    size_t *rows;       /* n: scratch                              */
    size_t *place;      /* n: scratch                              */
    quorum_status status;
} parts_state;

static sliced_rows all_rows(const parts_state *s)
{
    const partition_problem *p = s->problem;
    return (sliced_rows){.n = p->n, .D = p->D, .X = p->X, .whole = p->alone};
}

/* This rank's rows to the sums. */
static void add_rows(void *context)
{
    const parts_state *s = context;
    sliced_rows rows = all_rows(s);
    team_slice held = held_rows(&rows);
    size_t D = rows.D;
    for (size_t i = 0; i < held.count; i++)
        for (size_t d = 0; d < D; d++)
            s->sum[s->label[held.first + i] * D + d] += rows.X[i * D + d];
}

static quorum_status count_parts(parts_state *s)
{
    size_t D = s->problem->D;
    NEW_ZEROED(s->size, s->room);
    NEW_ZEROED(s->sum, s->room * D);
    NEW_ARRAY(s->rows, s->problem->n);
    NEW_ARRAY(s->place, s->problem->n);
    quorum_status status = QUORUM_OK;
    if (!s->size || !s->sum || !s->rows || !s->place)
        status = failure(QUORUM_E_MEMORY, "out of memory for balancing %zu experts", s->count);
    TRY(team_agree(status));
    for (size_t i = 0; i < s->problem->n; i++)
        s->size[s->label[i]]++;
    team_in_turn(s->sum, s->count * D * sizeof *s->sum, add_rows, s);
    return QUORUM_OK;
}

static size_t alive(const parts_state *s)
{
    size_t n = 0;
    for (size_t e = 0; e < s->count; e++)
        n += s->size[e] > 0;
    return n;
}

static size_t largest(const parts_state *s)
{
    size_t best = 0;
    for (size_t e = 1; e < s->count; e++)
        if (s->size[e] > s->size[best])
            best = e;
    return best;
}

static size_t smallest(const parts_state *s)
{
    size_t best = SIZE_MAX;
    for (size_t e = 0; e < s->count; e++)
        if (s->size[e] > 0 && (best == SIZE_MAX || s->size[e] < s->size[best]))
            best = e;
    return best;
}

/* Part e's rows behind the median of their widest input (X: D x count) get the label `fresh`. */
static void move_upper_half(parts_state *s, size_t e, size_t fresh, size_t count, const double *X)
{
    size_t half = count / 2, D = s->problem->D;
    for (size_t i = 0; i < count; i++)
        s->place[i] = i;
    select_nth(s->place, count, half, X, D, widest_input(s->place, count, X, D));
    for (size_t i = half; i < count; i++) {
        s->label[s->rows[s->place[i]]] = fresh;
        for (size_t d = 0; d < D; d++) {
            s->sum[e * D + d] -= X[s->place[i] * D + d];
            s->sum[fresh * D + d] += X[s->place[i] * D + d];
        }
    }
    s->size[e] = half;
    s->size[fresh] = count - half;
}

/* The upper half of part e along its widest input becomes a new part; 0: it could not. */
static int halve(parts_state *s, size_t e)
{
    const partition_problem *p = s->problem;
    sliced_rows rows = all_rows(s);
    double *X;
    size_t count = 0;
    if (s->status < 0 || s->count == s->room || s->size[e] < 2)
        return 0;
    for (size_t i = 0; i < p->n; i++)
        if (s->label[i] == e)
            s->rows[count++] = i;
    NEW_ARRAY(X, count * p->D);
    s->status =
        team_agree(X ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for halving an expert"));
    if (s->status == QUORUM_OK)
        s->status = rows_fetch(QUORUM_OK, &rows, s->rows, count, X, NULL);
    if (s->status == QUORUM_OK)
        move_upper_half(s, e, s->count++, count, X);
    mem_free(X);
    return s->status == QUORUM_OK;
}

static double mean_distance(const parts_state *s, size_t a, size_t b)
{
    size_t D = s->problem->D;
    double total = 0.0;
    for (size_t d = 0; d < D; d++) {
        double x = s->sum[a * D + d] / (double)s->size[a] - s->sum[b * D + d] / (double)s->size[b];
        total += x * x;
    }
    return total;
}

/* Part e joins the nearest part that stays within the cap. */
static int merge(parts_state *s, size_t e, size_t cap)
{
    size_t D = s->problem->D, into = SIZE_MAX;
    double nearest = DBL_MAX;
    for (size_t f = 0; f < s->count; f++) {
        if (f == e || s->size[f] == 0 || s->size[f] + s->size[e] > cap)
            continue;
        double distance = mean_distance(s, e, f);
        if (distance < nearest) {
            nearest = distance;
            into = f;
        }
    }
    if (into == SIZE_MAX)
        return 0;
    for (size_t i = 0; i < s->problem->n; i++)
        if (s->label[i] == e)
            s->label[i] = into;
    for (size_t d = 0; d < D; d++)
        s->sum[into * D + d] += s->sum[e * D + d];
    s->size[into] += s->size[e];
    s->size[e] = 0;
    return 1;
}

static void balance(parts_state *s, size_t floor, size_t cap)
{
    size_t wanted = s->problem->parts;
    while (s->size[largest(s)] > cap && halve(s, largest(s)))
        ;
    while (alive(s) > 1 && s->size[smallest(s)] < floor && merge(s, smallest(s), cap))
        ;
    while (alive(s) > wanted && merge(s, smallest(s), cap))
        ;
    while (alive(s) < wanted && s->size[largest(s)] >= 2 * floor && halve(s, largest(s)))
        ;
}

quorum_status balance_sizes(const partition_problem *problem, size_t floor, size_t cap,
                            size_t *label, size_t *count)
{
    size_t splits = problem->n / (cap / 2 + 1) + problem->parts;
    parts_state s = {.problem = problem,
                     .label = label,
                     .count = problem->parts,
                     .room = problem->parts * 2 + splits * 2};
    quorum_status status = count_parts(&s);
    if (status == QUORUM_OK) {
        balance(&s, floor > 0 ? floor : 1, cap);
        *count = s.count;
        status = s.status;
    }
    mem_free(s.size);
    mem_free(s.sum);
    mem_free(s.rows);
    mem_free(s.place);
    return status;
}
