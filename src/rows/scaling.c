/* Mean and standard deviation of columns, from sums over rows in order:
 *
 *   mean = sum x / n,   scale^2 = sum (x - mean)^2 / n */
#include "rows/scaling.h"

#include <float.h>
#include <math.h>

enum { MOST_EXPONENT = 1000 }; /* a unit and its inverse are ordinary numbers */

/* What rounding leaves of a constant column is not variation. */
static const double ROUNDING = 1e-12;

void scaling_add_to_largest(size_t count, size_t D, const double *X, double *largest)
{
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < D; d++)
            largest[d] = fmax(largest[d], fabs(X[i * D + d]));
}

void scaling_find_units(size_t D, double *unit)
{
    for (size_t d = 0; d < D; d++) {
        int exponent = 0;
        frexp(unit[d], &exponent); /* 0 where the column is */
        exponent = exponent > MOST_EXPONENT ? MOST_EXPONENT : exponent;
        exponent = exponent < -MOST_EXPONENT ? -MOST_EXPONENT : exponent;
        unit[d] = ldexp(1.0, exponent);
    }
}

void scaling_add_to_mean(size_t count, size_t D, const double *X, size_t n, const double *unit,
                         double *mean)
{
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < D; d++)
            mean[d] += X[i * D + d] / unit[d] / (double)n;
}

void scaling_add_to_variance(size_t count, size_t D, const double *X, size_t n, const double *unit,
                             const double *mean, double *variance)
{
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < D; d++) {
            double x = (X[i * D + d] / unit[d] - mean[d]) / sqrt((double)n);
            variance[d] += x * x;
        }
}

static double in_range(double x)
{
    return fmax(-DBL_MAX, fmin(DBL_MAX, x));
}

void scaling_finish(size_t D, const double *unit, double *mean, double *scale, char *constant)
{
    for (size_t d = 0; d < D; d++) {
        double s = sqrt(scale[d]), wide = in_range(s * unit[d]);
        int varies = s > ROUNDING * fabs(mean[d]) && wide > 0.0;
        scale[d] = varies ? wide : 1.0;
        mean[d] = in_range(mean[d] * unit[d]);
        if (constant)
            constant[d] = (char)!varies;
    }
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
