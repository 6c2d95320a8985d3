/* What weights and known errors of rows are worth: checked, and forgotten where they say nothing.
 * A row of weight 0, or without its target, is as if it were not there. */
#include "table/row_weights.h"

#include "base/memory.h"

#include <math.h>

/* ---- Checks ---- */

static int is_bad(double x)
{
    return !(x >= 0.0 && isfinite(x));
}

static quorum_status check_range(double weight, size_t row)
{
    if (weight == 0.0 || (weight >= LEAST_WEIGHT && weight <= MOST_WEIGHT))
        return QUORUM_OK;
    return failure(QUORUM_E_DATA, "row %zu: its weight is %g: it must be 0, or from %g to %g", row,
                   weight, LEAST_WEIGHT, MOST_WEIGHT);
}

static quorum_status check_some(void *context, const row_range *range, int worker)
{
    const row_set *rows = &range->rows;
    (void)context, (void)worker;
    for (size_t i = 0; i < rows->n; i++) {
        if (rows->weight && is_bad(rows->weight[i]))
            return failure(QUORUM_E_DATA,
                           "row %zu: its weight is %g: it must be finite and not negative",
                           range->first + i + 1, rows->weight[i]);
        if (rows->weight)
            TRY(check_range(rows->weight[i], range->first + i + 1));
        if (rows->error && is_bad(rows->error[i]))
            return failure(QUORUM_E_DATA,
                           "row %zu: its noise-std is %g: it must be finite and not negative",
                           range->first + i + 1, rows->error[i]);
    }
    return QUORUM_OK;
}

/* ---- What they say ---- */

typedef struct {
    size_t zero;               /* rows that do not count                 */
    int has_weight, has_error; /* of the others: one that is not 1, or 0 */
    int holes;                 /* given: a row without its target does not count */
} weight_summary;

/* What a row counts: 0 where it is left out. */
static double weight_of(const row_set *rows, size_t i, int holes)
{
    if (holes && isnan(rows->y[i]))
        return 0.0;
    return rows->weight ? rows->weight[i] : 1.0;
}

static void summarise_some(void *context, const row_range *range)
{
    weight_summary *s = context;
    const row_set *rows = &range->rows;
    for (size_t i = 0; i < rows->n; i++) {
        double weight = weight_of(rows, i, s->holes);
        s->zero += weight == 0.0;
        s->has_weight = s->has_weight || (weight != 0.0 && weight != 1.0);
        s->has_error = s->has_error || (weight != 0.0 && rows->error && rows->error[i] != 0.0);
    }
}

/* ---- Rows that do not count ---- */

typedef struct {
    const scattered_rows *rows;
    size_t count, *which; /* those that stay */
    char *stays;          /* n               */
    int holes;
    row_set *room;
} choosing;

static quorum_status mark_some(void *context, const row_range *range, int worker)
{
    choosing *c = context;
    (void)worker;
    for (size_t i = 0; i < range->rows.n; i++)
        c->stays[range->first + i] = weight_of(&range->rows, i, c->holes) > 0.0;
    return QUORUM_OK;
}

static quorum_status choosing_new(void *context)
{
    choosing *c = context;
    NEW_ZEROED(c->stays, c->rows->n);
    NEW_ARRAY(c->which, c->count);
    if (!c->stays || !c->which)
        return failure(QUORUM_E_MEMORY, "out of memory for the weights of %zu rows", c->rows->n);
    return rows_new(&c->rows->held, c->count, c->room);
}

static void list_rows(choosing *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->rows->n; i++)
        if (c->stays[i])
            c->which[count++] = i;
}

static quorum_status leave_out(const scattered_rows *rows, const weight_summary *s, weighed_rows *w)
{
    choosing c = {.rows = rows, .count = rows->n - s->zero, .holes = s->holes, .room = &w->room};
    if (c.count == 0 && s->holes)
        return failure(QUORUM_E_DATA, "none of the %zu rows has both a target and a weight above 0",
                       rows->n);
    if (c.count == 0)
        return failure(QUORUM_E_DATA, "all %zu rows have the weight 0: none is left to learn from",
                       rows->n);
    quorum_status status = team_all(QUORUM_OK, choosing_new, &c);
    if (status >= 0) {
        team_result stays = {.data = c.stays, .width = 1};
        status = rows_map(QUORUM_OK, rows, 1, mark_some, &c, &stays, 1);
    }
    if (status >= 0) {
        list_rows(&c);
        status = rows_pick(QUORUM_OK, rows, c.which, c.count, &w->room, &w->rows);
    }
    mem_free(c.stays);
    mem_free(c.which);
    return status;
}

quorum_status weigh_rows(const scattered_rows *given, int holes, weighed_rows *w)
{
    weight_summary s = {.holes = holes};
    scattered_rows rows = *given;
    *w = (weighed_rows){.rows = *given};
    if (!given->held.weight && !given->held.error && !holes)
        return QUORUM_OK;
    TRY(rows_map(QUORUM_OK, given, 1, check_some, NULL, NULL, 0));
    TRY(rows_fold(QUORUM_OK, given, &s, sizeof s, summarise_some, &s));
    if (!s.has_error)
        rows.held.error = NULL;
    if (s.zero > 0)
        TRY(leave_out(&rows, &s, w));
    else
        w->rows = rows;
    if (!s.has_weight)
        w->rows.held.weight = NULL;
    return QUORUM_OK;
}

static void add_weights(void *context, const row_range *range)
{
    double *sum = context;
    for (size_t i = 0; i < range->rows.n; i++)
        *sum += range->rows.weight[i];
}

quorum_status rows_mean_weight(const scattered_rows *rows, double *mean)
{
    double sum = 0.0;
    *mean = 1.0;
    if (!rows->held.weight)
        return QUORUM_OK;
    TRY(rows_fold(QUORUM_OK, rows, &sum, sizeof sum, add_weights, &sum));
    *mean = sum / (double)rows->n;
    return QUORUM_OK;
}

void weighed_rows_free(weighed_rows *w)
{
    rows_free(&w->room);
    *w = (weighed_rows){0};
}
