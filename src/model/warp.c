/* A monotone map of the target, w(y) = log(y + c), under which the model is a Gaussian process.
 *
 * Where w(y) has mean mu and deviation s, y + c is log-normal:
 *
 *   mean = exp(mu + s^2 / 2) - c      std = exp(mu + s^2 / 2) sqrt(exp(s^2) - 1)
 *   s^2 = log(1 + (std / (mean + c))^2)   mu = log(mean + c) - s^2 / 2
 *   quantiles are mapped: exp(q) - c
 *   cov(y_i, y_j) = exp(mu_i + s_i^2 / 2) exp(mu_j + s_j^2 / 2) (exp(s_ij) - 1)
 *
 * y_mean, y_scale, a line and calibration are all of w(y).  What is beyond the largest number is the
 * largest.
 *
 * In moments s counts as no more than y_scale, the deviation of all rows' w(y), unless there is a line.  A
 * prior may be wider than the data, s_f^2 > 1, which does no harm to w(y); but with s = 3 a mean would be 90 times the
 * median, where nothing is known but how all targets are distributed. */
#include "model/model.h"

#include <float.h>
#include <math.h>

static double no_more_than_largest(double x)
{
    return fmin(x, DBL_MAX);
}

double warp_forward(const unit_change *u, double y)
{
    return u->warp == WARP_LOG ? log(y + u->shift) : y;
}

double warp_back(const unit_change *u, double z)
{
    return u->warp == WARP_LOG ? no_more_than_largest(exp(z)) - u->shift : z;
}

double warp_deviation(const unit_change *u, double s)
{
    return u->line ? s : fmin(s, u->y_scale);
}

void warp_moments(const unit_change *u, double mu, double s, double *mean, double *std)
{
    if (u->warp == WARP_NONE) {
        *mean = mu;
        *std = s;
        return;
    }
    double most = warp_deviation(u, s), centre = no_more_than_largest(exp(mu + 0.5 * most * most));
    *mean = centre - u->shift;
    *std = no_more_than_largest(centre * sqrt(expm1(most * most)));
}

void warp_moments_back(const unit_change *u, double *mean, double *std)
{
    if (u->warp == WARP_NONE)
        return;
    double M = *mean + u->shift, ratio = *std / M, square = log1p(ratio * ratio);
    *mean = log(M) - 0.5 * square;
    *std = sqrt(square);
}

/* Rows and columns of queries whose deviation counts as less: a covariance stays one. */
static void bound_deviations(const unit_change *u, size_t n, double *covariance)
{
    for (size_t q = 0; q < n; q++) {
        double s = sqrt(covariance[q * n + q]), most = warp_deviation(u, s);
        if (!(most < s))
            continue;
        for (size_t k = 0; k < n; k++) {
            covariance[q * n + k] *= most / s;
            covariance[k * n + q] *= most / s;
        }
    }
}

void warp_joint(const unit_change *u, size_t n, double *mean, double *covariance)
{
    bound_deviations(u, n, covariance);
    for (size_t q = 0; q < n; q++)
        mean[q] = no_more_than_largest(exp(mean[q] + 0.5 * covariance[q * n + q]));
    for (size_t q = 0; q < n; q++)
        for (size_t k = 0; k < n; k++)
            covariance[q * n + k] = mean[q] * mean[k] * expm1(covariance[q * n + k]);
    for (size_t q = 0; q < n; q++)
        mean[q] -= u->shift;
}
