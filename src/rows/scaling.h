/* Standardising: x -> (x - mean) / scale, with the training data's mean and
 * standard deviation; a constant column gets scale 1.
 *
 * Sums are taken of numbers divided by a power of two near their column's largest, which
 * changes no digit and keeps squares in range, whatever the data's magnitude. */
#ifndef QRM_ROWS_SCALING_H
#define QRM_ROWS_SCALING_H

#include <stddef.h>

/* Mean and population standard deviation of each of the D columns of X (row-major), of n rows in
 * all that may come in pieces of `count`, in their order; sums begin at 0.  First the largest
 * magnitudes, which become the columns' units; then the rest in this order. */
void scaling_add_to_largest(size_t count, size_t D, const double *X, double *largest);
void scaling_find_units(size_t D, double *unit /* largest in */);
void scaling_add_to_mean(size_t count, size_t D, const double *X, size_t n, const double *unit,
                         double *mean);
void scaling_add_to_variance(size_t count, size_t D, const double *X, size_t n, const double *unit,
                             const double *mean, double *variance);

/* Mean and standard deviation in the data's own units.  constant (D, or NULL) says which columns
 * do not vary, or by no more than rounding: their scale is 1. */
void scaling_finish(size_t D, const double *unit, double *mean, double *scale /* variance in */,
                    char *constant);

/* out = (X - mean) / scale; out may be X. */
void scaling_apply(size_t n, size_t D, const double *X, const double *mean, const double *scale,
                   double *out);

#endif
