/* Keeps the sizes of parts within bounds: parts over the cap are halved at the
 * median of their widest input, parts under the floor join the part with the
 * nearest mean that has room, and the number of parts is brought back to what
 * was asked for by more of the same. */
#include "experts/partition.h"

#include "base/memory.h"
#include "experts/select_nth.h"

#include <float.h>
#include <string.h>

typedef struct {
    const partition_problem *problem;
    size_t *label;
    size_t count, room; /* parts in use; parts there is memory for */
    size_t *size;       /* room; 0: the part has been merged away  */
    double *sum;        /* room x D: sums of the inputs            */
    size_t *rows;       /* n: scratch                              */
} parts_state;

static quorum_status count_parts(parts_state *s)
{
    size_t D = s->problem->D;
    if (!NEW_ZEROED(s->size, s->room) || !NEW_ZEROED(s->sum, s->room * D) ||
        !NEW_ARRAY(s->rows, s->problem->n))
        return failure(QUORUM_E_MEMORY, "out of memory for balancing %zu experts", s->count);
    for (size_t i = 0; i < s->problem->n; i++) {
        s->size[s->label[i]]++;
        for (size_t d = 0; d < D; d++)
            s->sum[s->label[i] * D + d] += s->problem->X[i * D + d];
    }
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

/* The upper half of part e along its widest input becomes a new part. */
static int halve(parts_state *s, size_t e)
{
    const partition_problem *p = s->problem;
    if (s->count == s->room || s->size[e] < 2)
        return 0;
    size_t count = 0, fresh = s->count++;
    for (size_t i = 0; i < p->n; i++)
        if (s->label[i] == e)
            s->rows[count++] = i;
    size_t half = count / 2;
    select_nth(s->rows, count, half, p->X, p->D, widest_input(s->rows, count, p->X, p->D));
    for (size_t i = half; i < count; i++) {
        s->label[s->rows[i]] = fresh;
        for (size_t d = 0; d < p->D; d++) {
            s->sum[e * p->D + d] -= p->X[s->rows[i] * p->D + d];
            s->sum[fresh * p->D + d] += p->X[s->rows[i] * p->D + d];
        }
    }
    s->size[e] = half;
    s->size[fresh] = count - half;
    return 1;
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
    }
    mem_free(s.size);
    mem_free(s.sum);
    mem_free(s.rows);
    return status;
}
