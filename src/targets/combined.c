/* The sum of standardised targets (docs/methods.md, "Several targets").  If all are GPs of the same theta,
 * so is every combination of them; with these signs the terms add up, variance of z >= count, and never
 * cancel. */
#include "targets/combined.h"

#include "base/memory.h"
#include "rows/scaling.h"
#include "team/work.h"

typedef struct {
    const scattered_rows *rows;
    double *const *y;
    size_t count;
    double *Y;            /* held x count: the targets, and then standardised */
    double *mean, *scale; /* count */
    char *constant;       /* count */
} combining;

static void combining_free(combining *c)
{
    mem_free(c->Y);
    mem_free(c->mean);
    mem_free(c->scale);
    mem_free(c->constant);
}

static quorum_status combining_new(void *context)
{
    combining *c = context;
    size_t held = c->rows->held.n;
    NEW_ARRAY(c->Y, held * c->count);
    NEW_ARRAY(c->mean, c->count);
    NEW_ARRAY(c->scale, c->count);
    NEW_ARRAY(c->constant, c->count);
    if (!c->Y || !c->mean || !c->scale || !c->constant)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu targets", c->count);
    for (size_t i = 0; i < held; i++)
        for (size_t t = 0; t < c->count; t++)
            c->Y[i * c->count + t] = c->y[t][i];
    return QUORUM_OK;
}

/* What the next target and the sum so far have in common. */
typedef struct {
    size_t next;
    double product;
} common_part;

/* A row's inputs are its sum so far and its targets. */
static void add_products(void *context, const row_range *range)
{
    common_part *c = context;
    size_t D = range->rows.D;
    for (size_t i = 0; i < range->rows.n; i++) {
        const double *x = range->rows.X + i * D;
        double weight = range->rows.weight ? range->rows.weight[i] : 1.0;
        c->product += weight * x[0] * x[c->next];
    }
}

/* Y's columns one after another into the first. */
static quorum_status add_up(const combining *c, const scattered_rows *targets)
{
    size_t held = c->rows->held.n;
    for (size_t t = 1; t < c->count; t++) {
        common_part common = {.next = t};
        TRY(rows_fold(QUORUM_OK, targets, &common, sizeof common, add_products, &common));
        double sign = common.product < 0.0 ? -1.0 : 1.0;
        for (size_t i = 0; i < held; i++)
            c->Y[i * c->count] += sign * c->Y[i * c->count + t];
    }
    return QUORUM_OK;
}

static quorum_status combine(combining *c, double *z, size_t *which)
{
    size_t held = c->rows->held.n;
    TRY(team_all(QUORUM_OK, combining_new, c));
    row_set columns = rows_view_of(held, c->count, c->Y, NULL);
    columns.weight = c->rows->held.weight;
    scattered_rows targets = *c->rows;
    targets.held = columns;
    TRY(scaling_learn(QUORUM_OK, &targets, c->mean, c->scale, c->constant));
    for (*which = 0; *which < c->count && !c->constant[*which];)
        ++*which;
    if (*which < c->count)
        return failure(QUORUM_E_DATA, "the target is constant (%.17g): there is nothing to learn",
                       c->mean[*which]);
    scaling_apply(held, c->count, c->Y, c->mean, c->scale, c->Y);
    TRY(add_up(c, &targets));
    for (size_t i = 0; i < held; i++)
        z[i] = c->Y[i * c->count];
    return QUORUM_OK;
}

quorum_status targets_combine(const scattered_rows *rows, double *const *y, size_t count, double *z,
                              size_t *which)
{
    combining c = {.rows = rows, .y = y, .count = count};
    quorum_status status = combine(&c, z, which);
    combining_free(&c);
    return status;
}
