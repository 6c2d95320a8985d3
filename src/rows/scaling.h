/* Standardising: x -> (x - mean) / scale, with the training data's mean and
 * standard deviation; a constant column gets scale 1.
 *
 * Sums are taken of numbers divided by a power of two near their column's largest, which
 * changes no digit and keeps squares in range, whatever the data's magnitude. */
#ifndef QRM_ROWS_SCALING_H
#define QRM_ROWS_SCALING_H

#include "rows/scattered.h"

/* Mean and population standard deviation of each of the D columns of all rows' X, by their weights.  constant (D)
 * says which columns do not vary, or by no more than rounding: their scale is 1. */
quorum_status scaling_learn(quorum_status ready, const scattered_rows *rows, double *mean,
                            double *scale, char *constant);

/* out = (X - mean) / scale; out may be X. */
void scaling_apply(size_t n, size_t D, const double *X, const double *mean, const double *scale,
                   double *out);

#endif
