/* Keeps the sizes of parts within bounds: parts over the cap are halved at the
 * median of their widest input, parts under the floor join the part with the
 * nearest mean that has room, and the number of parts is brought back to what
 * was asked for by more of the same. */
#include "partition/partition.h"

#include "base/memory.h"
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

static void add_rows(void *context, const row_range *range)
{
    const parts_state *s = context;
    size_t D = s->problem->rows->held.D;
    for (size_t i = 0; i < range->rows.n; i++)
        for (size_t d = 0; d < D; d++)
            s->sum[s->label[range->first + i] * D + d] += range->rows.X[i * D + d];
}

static quorum_status state_new(parts_state *s)
{
    size_t n = s->problem->rows->n;
    NEW_ZEROED(s->size, s->room);
    NEW_ZEROED(s->sum, s->room * s->problem->rows->held.D);
    NEW_ARRAY(s->rows, n);
    NEW_ARRAY(s->place, n);
    if (s->size && s->sum && s->rows && s->place)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for balancing %zu experts", s->count);
}

static quorum_status count_parts(quorum_status ready, parts_state *s)
{
    const scattered_rows *rows = s->problem->rows;
    if (ready >= 0)
        ready = state_new(s);
    for (size_t i = 0; ready >= 0 && i < rows->n; i++)
        s->size[s->label[i]]++;
    return rows_fold(ready, rows, s->sum, s->count * rows->held.D * sizeof *s->sum, add_rows, s);
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
    size_t half = count / 2, D = s->problem->rows->held.D;
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
    const scattered_rows *rows = s->problem->rows;
    row_set part, inputs = {.D = rows->held.D};
    size_t count = 0;
    if (s->status < 0 || s->count == s->room || s->size[e] < 2)
        return 0;
    for (size_t i = 0; i < rows->n; i++)
        if (s->label[i] == e)
            s->rows[count++] = i;
    s->status = rows_new(&inputs, count, &part);
    s->status = rows_fetch(s->status, rows, s->rows, count, &part);
    if (s->status == QUORUM_OK)
        move_upper_half(s, e, s->count++, count, part.X);
    rows_free(&part);
    return s->status == QUORUM_OK;
}

static double mean_distance(const parts_state *s, size_t a, size_t b)
{
    size_t D = s->problem->rows->held.D;
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
    size_t D = s->problem->rows->held.D, into = SIZE_MAX;
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
    for (size_t i = 0; i < s->problem->rows->n; i++)
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

size_t most_labels(const partition_problem *problem, size_t cap)
{
    size_t splits = problem->rows->n / (cap / 2 + 1) + problem->parts;
    return problem->parts * 2 + splits * 2;
}

quorum_status balance_sizes(quorum_status ready, const partition_problem *problem, size_t floor,
                            size_t cap, size_t *label, size_t *count)
{
    parts_state s = {.problem = problem,
                     .label = label,
                     .count = problem->parts,
                     .room = most_labels(problem, cap)};
    quorum_status status = count_parts(ready, &s);
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
