/* Standardising: x -> (x - mean) / scale, with the training data's mean and
 * standard deviation; a constant column gets scale 1. */
#ifndef QRM_DATA_SCALING_H
#define QRM_DATA_SCALING_H

#include <stddef.h>

/* Mean and population standard deviation of each of the D columns of X (n x D,
 * row-major). */
void scaling_learn(size_t n, size_t D, const double *X, double *mean, double *scale);

/* out = (X - mean) / scale; out may be X. */
void scaling_apply(size_t n, size_t D, const double *X, const double *mean, const double *scale,
                   double *out);

#endif
