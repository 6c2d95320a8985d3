/* Standardising: x -> (x - mean) / scale, with the training data's mean and
 * standard deviation; a constant column gets scale 1. */
#ifndef QRM_DATA_SCALING_H
#define QRM_DATA_SCALING_H

#include <stddef.h>

/* Mean and population standard deviation of each of the D columns of X (row-major), of n rows in
 * all that may come in pieces of `count`, in their order; sums begin at 0. */
void scaling_add_to_mean(size_t count, size_t D, const double *X, size_t n, double *mean);
void scaling_add_to_variance(size_t count, size_t D, const double *X, size_t n, const double *mean,
                             double *variance);
void scaling_finish(size_t D, const double *mean, double *scale /* variance in */);

/* out = (X - mean) / scale; out may be X. */
void scaling_apply(size_t n, size_t D, const double *X, const double *mean, const double *scale,
                   double *out);

#endif
