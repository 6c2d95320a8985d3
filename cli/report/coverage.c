/* How many rows are inside their central interval of probability p, for p from 5 to 99 %.
 *
 * With u = P(Y <= y) by the row's own distribution, y is inside where |2 u - 1| <= p.  If the model is
 * right, the number inside is Binomial(n, p): low and high are its quantiles at 2.5 and 97.5 %.  Rows with weights w
 * tell as much as (sum w)^2 / sum w^2 rows without. */
#include "binomial.h"
#include "report/sections.h"

#include <math.h>

static const double TELLS_NOTHING =
    0.85; /* a share that may be chance tells nothing of an interval of 95 % */

/* 5, 10, .. 95 %, then 99 %. */
static double level(size_t k)
{
    return k + 1 < COVERAGE_LEVELS ? (double)(k + 1) / 20.0 : 0.99;
}

static double share_inside(const asked_rows *a, double p)
{
    double inside = 0.0, all = 0.0;
    for (size_t i = 0; i < a->count; i++) {
        all += asked_weight(a, i);
        if (fabs(2.0 * a->below[i] - 1.0) <= p)
            inside += asked_weight(a, i);
    }
    return inside / all;
}

static size_t effective_rows(const asked_rows *a)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < a->count; i++) {
        sum += asked_weight(a, i);
        squares += asked_weight(a, i) * asked_weight(a, i);
    }
    return (size_t)fmax(1.0, sum * sum / squares + 1e-9);
}

coverage find_coverage(const asked_rows *a)
{
    coverage c = {.rows = effective_rows(a)};
    for (size_t k = 0; k < COVERAGE_LEVELS; k++) {
        c.stated[k] = level(k);
        c.share[k] = share_inside(a, c.stated[k]);
        c.low[k] = binomial_quantile(c.rows, c.stated[k], 0.025);
        c.high[k] = binomial_quantile(c.rows, c.stated[k], 0.975);
    }
    return c;
}

coverage_verdict judge_coverage(const coverage *c)
{
    double share = c->share[LEVEL_95], stated = c->stated[LEVEL_95];
    if (share < c->low[LEVEL_95])
        return stated - share < LITTLE ? A_LITTLE_NARROW : TOO_NARROW;
    if (share > c->high[LEVEL_95])
        return share - stated < LITTLE ? A_LITTLE_WIDE : TOO_WIDE;
    return c->low[LEVEL_95] < TELLS_NOTHING ? TOO_FEW : COVERS;
}
