/* The target as training and prediction see it:
 *
 *   y -> ((y - offset) - y_mean) / y_scale,    or with a warp (w(y) - y_mean) / y_scale
 *
 * y_mean and y_scale are the mean and the standard deviation of y - offset, or w(y); with trend=none y_mean is
 * 0, and y_scale the root of the mean square.  Known errors of rows are divided by y_scale. */
#include "theta/line.h"

#include "rows/scaling.h"

#include <math.h>

/* y = target - offset, or w(target). */
static void take_target(const unit_change *u, const row_set *given, double *y)
{
    for (size_t i = 0; i < given->n; i++)
        y[i] = given->offset ? given->y[i] - given->offset[i] : warp_forward(u, given->y[i]);
}

void target_apply(const unit_change *u, const row_set *given, const row_set *own)
{
    take_target(u, given, own->y);
    scaling_apply(given->n, 1, own->y, &u->y_mean, &u->y_scale, own->y);
    for (size_t i = 0; given->error && i < given->n; i++)
        own->error[i] = fmin(given->error[i] / u->y_scale, MOST_ERROR);
}

/* Mean and deviation of numbers, one a row of `all`. */
static quorum_status learn_scale(const scattered_rows *all, double *numbers, double *mean,
                                 double *scale, char *constant)
{
    row_set column = rows_view_of(all->held.n, 1, numbers, NULL);
    scattered_rows rows = *all;
    column.weight = all->held.weight;
    rows.held = column;
    return scaling_learn(QUORUM_OK, &rows, mean, scale, constant);
}

static quorum_status fail_constant(const unit_change *u, int with_offset)
{
    return failure(QUORUM_E_DATA,
                   "the target%s varies by no more than rounding about its mean %.17g: there is "
                   "nothing to learn",
                   with_offset ? " without its offset" : "", u->y_mean);
}

quorum_status target_standardise(quorum_model *m, const settings *s, const scattered_rows *given,
                                 row_set *own)
{
    unit_change *u = &m->units;
    int apart = given->held.offset || s->trend == TREND_NONE || u->warp != WARP_NONE;
    char constant;
    u->target_mean = u->target_scale = 0.0;
    if (apart)
        TRY(learn_scale(given, given->held.y, &u->target_mean, &u->target_scale, &constant));
    take_target(u, &given->held, own->y);
    TRY(learn_scale(given, own->y, &u->y_mean, &u->y_scale, &constant));
    if (constant)
        return fail_constant(u, given->held.offset != NULL);
    if (s->trend == TREND_NONE) {
        u->y_scale = hypot(u->y_mean, u->y_scale);
        u->y_mean = 0.0;
    }
    target_apply(u, &given->held, own);
    return QUORUM_OK;
}
