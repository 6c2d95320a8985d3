#include "data/scaling.h"

#include <math.h>

void scaling_add_to_mean(size_t count, size_t D, const double *X, size_t n, double *mean)
{
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < D; d++)
            mean[d] += X[i * D + d] / (double)n; /* cannot overflow */
}

void scaling_add_to_variance(size_t count, size_t D, const double *X, size_t n, const double *mean,
                             double *variance)
{
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < D; d++) {
            double x = (X[i * D + d] - mean[d]) / sqrt((double)n);
            variance[d] += x * x;
        }
}

void scaling_finish(size_t D, const double *mean, double *scale)
{
    for (size_t d = 0; d < D; d++) {
        double s = sqrt(scale[d]);
        /* what rounding leaves of a constant column is not variation */
        scale[d] = s > 1e-12 * fabs(mean[d]) && isfinite(s) ? s : 1.0;
    }
}

void scaling_apply(size_t n, size_t D, const double *X, const double *mean, const double *scale,
                   double *out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < D; d++)
            out[i * D + d] = (X[i * D + d] - mean[d]) / scale[d];
}
