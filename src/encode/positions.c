/* The positions of levels, from sums over the rows in their order (encoding.h):
 *
 *   u = (y - offset - mean) / deviation,   position_l = sum_{i in l} u_i / (n_l + PRIOR_ROWS)
 *
 * A row of weight w counts as w rows. */
#include "base/memory.h"
#include "encode/encoding.h"
#include "rows/scaling.h"

const double PRIOR_ROWS = 10.0;

/* Sums of all levels of all categories, one category after another. */
typedef struct {
    const encoding *e;
    size_t levels;
    double *target; /* of the rows of this process, standardised    */
    double *sums;   /* 2 x levels: of rows, and of their targets    */
} position_sums;

static void add_row(const position_sums *s, const double *x, double u, double weight)
{
    double *sums = s->sums;
    for (size_t d = 0; d < s->e->inputs; d++) {
        size_t levels = s->e->of[d].levels;
        if (levels == 0)
            continue;
        sums[2 * (size_t)x[d]] += weight;
        sums[2 * (size_t)x[d] + 1] += weight * u;
        sums += 2 * levels;
    }
}

/* The rows of a range have their standardised target in place of the target. */
static void add_range(void *context, const row_range *range)
{
    const position_sums *s = context;
    const row_set *rows = &range->rows;
    for (size_t i = 0; i < rows->n; i++)
        add_row(s, rows->X + i * s->e->inputs, rows->y[i], rows->weight ? rows->weight[i] : 1.0);
}

static void set_positions(const position_sums *s, encoding *e)
{
    const double *sums = s->sums;
    for (size_t d = 0; d < e->inputs; d++)
        for (size_t l = 0; l < e->of[d].levels; l++, sums += 2)
            e->of[d].position[l] = sums[1] / (sums[0] + PRIOR_ROWS);
    encoding_settle(e);
}

static quorum_status room_for_sums(const scattered_rows *rows, position_sums *s)
{
    for (size_t d = 0; d < s->e->inputs; d++)
        s->levels += s->e->of[d].levels;
    if (NEW_ZEROED(s->sums, 2 * s->levels) && NEW_ARRAY(s->target, rows->held.n))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for the targets of %zu levels", s->levels);
}

/* Of the target about its offset, in the rows' order. */
static quorum_status standardise_target(quorum_status ready, const scattered_rows *rows,
                                        const position_sums *s)
{
    const row_set *held = &rows->held;
    scattered_rows targets = *rows;
    double mean, scale;
    char constant;
    for (size_t i = 0; ready >= 0 && i < held->n; i++)
        s->target[i] = held->offset ? held->y[i] - held->offset[i] : held->y[i];
    targets.held = rows_view_of(held->n, 1, s->target, NULL);
    targets.held.weight = held->weight;
    TRY(scaling_learn(ready, &targets, &mean, &scale, &constant));
    scaling_apply(held->n, 1, s->target, &mean, &scale, s->target);
    return QUORUM_OK;
}

quorum_status encoding_learn(quorum_status ready, const scattered_rows *rows, encoding *e)
{
    position_sums s = {.e = e};
    if (ready >= 0)
        ready = room_for_sums(rows, &s);
    quorum_status status = standardise_target(ready, rows, &s);
    if (status >= 0) {
        scattered_rows with_target = *rows;
        with_target.held.y = s.target;
        status = rows_fold(QUORUM_OK, &with_target, s.sums, 2 * s.levels * sizeof *s.sums,
                           add_range, &s);
    }
    if (status >= 0)
        set_positions(&s, e);
    mem_free(s.sums);
    mem_free(s.target);
    return status;
}
