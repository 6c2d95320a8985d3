/* Inputs with heavy tails, bent:  t(x) = asinh((x - at) / width).
 *
 * Near `at` that is a straight line, far from it on either side a logarithm.  Of assets, populations or
 * counts a few rows are so large that in standard deviations all others are one point; bent, ratios
 * count where numbers are large, and differences where they are small, of either sign.  The slope is
 *
 *   t'(x) = 1 / sqrt(width^2 + (x - at)^2) = 1 / (width cosh t) */
#ifndef QRM_ROWS_BEND_H
#define QRM_ROWS_BEND_H

#include "rows/scattered.h"

/* Z = X (n x D), bent where an input's width (D) is above 0; Z may be X. */
void bends_apply(size_t n, size_t D, const double *X, const double *at, const double *width,
                 double *Z);

/* at and width (D) of the inputs that `may` be bent (D) and have heavy tails: a kurtosis above that of
 * an exponential distribution, 6, among at least so many different values.  at is the median and width
 * the distance of the quartiles over 1.5, or where they are equal the standard deviation over it, by the rows'
 * weights; from all rows, or from many spread evenly.  *count: how many there are. */
quorum_status bends_learn(quorum_status ready, const scattered_rows *rows, const char *may,
                          double *at, double *width, size_t *count);

#endif
