/* Mean and standard deviation of columns, from sums over rows in order:
 *
 *   mean = sum x / n,   scale^2 = sum (x - mean)^2 / n
 *
 * A row of weight w counts as w rows, and n is the sum of the weights. */
#include "rows/scaling.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_EXPONENT = 1000 }; /* a unit and its inverse are ordinary numbers */

/* What rounding leaves of a constant column is not variation. */
static const double ROUNDING = 1e-12;

/* Sums over the rows in their order, whoever has them: unit becomes the largest magnitudes and
 * then powers of two near them, scale the variances and then their roots. */
typedef struct {
    double n; /* rows, or the sum of their weights */
    size_t D;
    double *unit, *mean, *scale; /* D */
    char *constant;              /* D */
} learning;

static void add_to_largest(void *context, const row_range *range)
{
    const learning *l = context;
    for (size_t i = 0; i < range->rows.n; i++)
        for (size_t d = 0; d < l->D; d++)
            l->unit[d] = fmax(l->unit[d], fabs(range->rows.X[i * l->D + d]));
}

static void find_units(const learning *l)
{
    for (size_t d = 0; d < l->D; d++) {
        int exponent = 0;
        frexp(l->unit[d], &exponent); /* 0 where the column is */
        exponent = exponent > MOST_EXPONENT ? MOST_EXPONENT : exponent;
        exponent = exponent < -MOST_EXPONENT ? -MOST_EXPONENT : exponent;
        l->unit[d] = ldexp(1.0, exponent);
    }
}

static double weight_of(const row_set *rows, size_t i)
{
    return rows->weight ? rows->weight[i] : 1.0;
}

static void add_to_count(void *context, const row_range *range)
{
    learning *l = context;
    for (size_t i = 0; i < range->rows.n; i++)
        l->n += weight_of(&range->rows, i);
}

static void add_to_mean(void *context, const row_range *range)
{
    const learning *l = context;
    for (size_t i = 0; i < range->rows.n; i++)
        for (size_t d = 0; d < l->D; d++)
            l->mean[d] +=
                weight_of(&range->rows, i) * (range->rows.X[i * l->D + d] / l->unit[d] / l->n);
}

static void add_to_variance(void *context, const row_range *range)
{
    const learning *l = context;
    for (size_t i = 0; i < range->rows.n; i++)
        for (size_t d = 0; d < l->D; d++) {
            double x = (range->rows.X[i * l->D + d] / l->unit[d] - l->mean[d]) / sqrt(l->n);
            l->scale[d] += weight_of(&range->rows, i) * (x * x);
        }
}

static double in_range(double x)
{
    return fmax(-DBL_MAX, fmin(DBL_MAX, x));
}

/* In the data's own units. */
static void finish(const learning *l)
{
    for (size_t d = 0; d < l->D; d++) {
        double s = sqrt(l->scale[d]), wide = in_range(s * l->unit[d]);
        int varies = s > ROUNDING * fabs(l->mean[d]) && wide > 0.0;
        l->scale[d] = varies ? wide : 1.0;
        l->mean[d] = in_range(l->mean[d] * l->unit[d]);
        l->constant[d] = (char)!varies;
    }
}

static quorum_status learn(quorum_status ready, const scattered_rows *rows, learning *l)
{
    size_t bytes = l->D * sizeof *l->mean;
    TRY(rows_fold(ready, rows, l->unit, bytes, add_to_largest, l));
    if (rows->held.weight)
        TRY(rows_fold(QUORUM_OK, rows, &l->n, sizeof l->n, add_to_count, l));
    find_units(l);
    memset(l->mean, 0, bytes);
    memset(l->scale, 0, bytes);
    TRY(rows_fold(QUORUM_OK, rows, l->mean, bytes, add_to_mean, l));
    TRY(rows_fold(QUORUM_OK, rows, l->scale, bytes, add_to_variance, l));
    finish(l);
    return QUORUM_OK;
}

quorum_status scaling_learn(quorum_status ready, const scattered_rows *rows, double *mean,
                            double *scale, char *constant)
{
    learning l = {.D = rows->held.D, .mean = mean, .scale = scale, .constant = constant};
    l.n = rows->held.weight ? 0.0 : (double)rows->n;
    if (ready >= 0 && !NEW_ZEROED(l.unit, l.D))
        ready = failure(QUORUM_E_MEMORY, "out of memory for %zu columns", l.D);
    quorum_status status = learn(ready, rows, &l);
    mem_free(l.unit);
    return status;
}

/* (x - mean) / scale, where the difference may be too large for a double. */
static double standardised(double x, double mean, double scale)
{
    double difference = x - mean;
    return isinf(difference) ? (0.5 * x - 0.5 * mean) / (0.5 * scale) : difference / scale;
}

void scaling_apply(size_t n, size_t D, const double *X, const double *mean, const double *scale,
                   double *out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < D; d++)
            out[i * D + d] = standardised(X[i * D + d], mean[d], scale[d]);
}
