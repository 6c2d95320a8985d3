/* The one squared distance of the neighbour search,
 *
 *   s(x, y) = sum over d = 0, 1, ... of (x_d - y_d)^2,
 *
 * summed in that order with every operation rounded (no fused multiply-add), so
 * that one pair, a group of points and any machine give the same bits.
 *
 * Rounding is monotone: a box's distance summed in the same order is never
 * above s of a point in the box, not even by one bit. */
#ifndef QRM_NEAR_DISTANCES_H
#define QRM_NEAR_DISTANCES_H

#include <stddef.h>

enum { LANES = 8 }; /* points, or boxes, that are handled together */

double squared_distance(size_t D, const double *x, const double *y);

/* s of `groups` x LANES points: group g, coordinate d, point j at
 * T[(g * D + d) * LANES + j], 64-byte aligned.  A group all of whose points are
 * beyond `limit` may be left unfinished, at some value above limit. */
void group_distances(size_t groups, size_t D, const double *T, const double *q, double limit,
                     double *s /* groups x LANES, 64-byte aligned */);

/* Lower bounds of s for LANES boxes: coordinate d's lower ends at
 * boxes[2 * d * LANES], its upper ends LANES behind them. */
void box_distances(size_t D, const double *boxes, const double *q, double *s /* LANES, aligned */);

#endif
