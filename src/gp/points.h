/* Input points divided by the length-scales: the form in which kernel matrices
 * are computed.  z_d = x_d / l_d, so that s(x, x') = |z - z'|^2. */
#ifndef QRM_GP_POINTS_H
#define QRM_GP_POINTS_H

#include "base/status.h"

#include <math.h>
#include <stddef.h>

typedef struct {
    size_t n, D;
    size_t stride; /* distance between the coordinates of a point in T (>= n)   */
    double *Z;     /* D x n: a point's coordinates are together                  */
    double *T;     /* n x D: a coordinate's points are together (leading dim stride);
                      NULL: nobody asks for it                                   */
    double *norm;  /* n: |z|^2                                                    */
} points;

/* Coordinates beyond this are brought in: squares of differences, and sums over all inputs,
 * then stay finite, and no kernel can tell. */
#define FARTHEST 1e140

/* z, or for a coordinate beyond FARTHEST (infinity is one) another that is still beyond it and
 * grows with z, so that points that are far apart stay far apart. */
static inline double bring_in(double z)
{
    if (!(fabs(z) > FARTHEST))
        return z;
    return copysign(FARTHEST * (1.0 + fmin(log(fabs(z) / FARTHEST), 1000.0)), z);
}

/* Z (D x n) = X / lengthscale, brought in; Z may be X. */
void scale_inputs(size_t n, size_t D, const double *X, const double *lengthscale, double *Z);

/* Room for n points; free with points_free. */
quorum_status points_new(size_t n, size_t D, points *out);
quorum_status points_new_sparse(size_t n, size_t D, points *out); /* points not used take none */
void points_free(points *p);

/* p = (X - center) / lengthscale for the first n points of X (D x n); p must
 * have room for them.  center may be NULL (zero). */
void points_scale(points *p, size_t n, const double *X, const double *center,
                  const double *lengthscale);

/* Whether one of n places (D x n) lies on the other side of x than `near`, within 60 degrees of the opposite
 * direction:  (p - x)' (near - x) < -1/2 |p - x| |near - x| */
int has_opposite(size_t D, const double *x, const double *near, const double *places, size_t n);

/* T from Z. */
void points_turn(points *p);

/* The listed points of p into `out`, which must have room for them. */
void points_gather(const points *p, const size_t *which, size_t n, points *out);

/* The points first .. first+n-1 of p, sharing its memory. */
points points_view(const points *p, size_t first, size_t n);

#endif
