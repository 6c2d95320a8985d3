/* Slopes: how the covariances of a query with rows, and what is made of them, change with the query.
 *
 *   dk_i/dz_d = slope_i (z_id - z_d),   slope = -2 dk/ds (gp/hyper.h),   z = x / l
 *
 * A number phi that depends on the query through k alone, c_i = dphi/dk_i, has the slopes
 *   dphi/dz_d = sum_i c_i slope_i (z_id - z_d)
 *
 * Slopes are along the scaled inputs z.  Where query and row are the same point a kernel is flat and
 * the row's part is 0; that of Matern-1/2 has a cusp there, and 0 is the mean of its two sides. */
#ifndef QRM_GP_SLOPES_H
#define QRM_GP_SLOPES_H

#include "gp/neighbourhood.h"

/* k and its slopes (m each) between the rows X and one point z (D). */
void query_slopes(const hyper *theta, const points *X, const double *z, double *k, double *slope);

/* g (D) = sum_i c_i slope_i (z_id - z_d) over the points Z (D x m). */
void pull_back(size_t m, size_t D, const double *c, const double *slope, const double *Z,
               const double *z, double *g);

/* Of an expert, at the b queries Q, D x b each, NULL: not wanted; gamma (m x b) = C^-1 k*, room: 2 m.
 * mean: that of k*' alpha, explained: that of k*' C^-1 k*. */
void posterior_slopes(const hyper *theta, const points *X, const points *Q, const double *alpha,
                      const double *gamma, double *room, double *mean, double *explained);

/* Of a neighbourhood, D each. */
typedef struct {
    double *mean, *explained;
    /* of its surroundings */
    double *weight, *surprise, *tested;
    double *wide_weight, *wide_surprise, *close_weight, *close_surprise;
} neighbourhood_slopes;

/* At the query that neighbourhood_posterior was asked for just before, in the same space, which then
 * has [gamma | alpha] in `side` and [k | slope] in `pair`. */
void neighbourhood_find_slopes(const hyper *theta, const points *X, const points *query,
                               neighbourhood_space *ws, const neighbourhood_slopes *out);

#endif
