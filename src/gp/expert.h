/* One GP expert: hyperparameters, marginal likelihood, factor and posterior. */
#ifndef QRM_GP_EXPERT_H
#define QRM_GP_EXPERT_H

#include "base/status.h"
#include "gp/hyper.h"
#include "gp/noise.h"
#include "gp/points.h"
#include "rows/rows.h"

#include <stddef.h>

/* ---- likelihood.c ---- */

typedef struct {
    size_t room, D; /* largest expert it can hold */
    points Z;
    double *center;     /* D                                             */
    double *C;          /* room^2: K + s^2 I, then its factor            */
    double *inverse;    /* room^2: C^-1, then W                         */
    pair_slopes slopes; /* room^2 each; with one scale the first alone */
    double *alpha;      /* room: C^-1 y                                  */
    double *side;       /* room x (D+1): [Z' | 1]                        */
    double *product;    /* room x (D+1): W [Z' | 1]                     */
} likelihood_space;

quorum_status likelihood_space_new(size_t room, size_t D, const kernel *k, likelihood_space *out);
void likelihood_space_free(likelihood_space *ws);
double likelihood_space_bytes(size_t room, size_t D, const kernel *k);

/* ws->Z = the rows, their mean taken away, divided by the length-scales: distances do
 * not change, but products of coordinates lose less to cancellation. */
void scale_about_mean(const hyper *theta, const row_set *data, likelihood_space *ws);

/* gradient_d (D) = sum_i (W 1)_i z_id^2 - z_id (W Z')_id over the first m points of ws->Z; W (m x m),
 * the lower triangle, may be ws->inverse or ws->C. */
void lengthscale_gradient(size_t m, const double *W, likelihood_space *ws, double *gradient);

/* Column j of W = A o slopes from that of A, in place, both m x m and the lower triangle.  With two
 * scales, shape (2) += the column's part in 1/2 tr(A dK/dlogit w) and 1/2 tr(A dK/dlog rho). */
void weigh_by_slopes(size_t m, size_t j, const pair_slopes *slopes, double *A, double *shape);

/* shape to its place in a gradient, where the kernel has any. */
void keep_shape(const kernel *k, size_t D, const double *shape, double *gradient);

/* Negative log marginal likelihood of one expert (paper eq. 1) and its gradient
 * with respect to (log l_1 .. log l_D, log s_f^2, log s^2) and, of a kernel with two scales,
 * (logit w, log rho).  QUORUM_E_NUMERIC
 * when K + s^2 I is not numerically positive definite. */
quorum_status negative_log_likelihood(const hyper *theta, const row_set *data, likelihood_space *ws,
                                      int threads, double *value,
                                      double *gradient /* theta_length, or NULL */);

/* ---- posterior.c ---- */

/* L L' = C = k(X, X) + s^2 I (m x m, lower) and alpha = C^-1 y of the rows, whose inputs are given
 * scaled. */
quorum_status factorise(const hyper *theta, const points *X, const row_set *rows, int threads,
                        double *L, double *alpha);

/* What is wanted of an expert at b queries; NULL parts are not computed. */
typedef struct {
    double *mean;      /* b: k*' alpha                                          */
    double *explained; /* b: k*' C^-1 k*, by how much the prior variance falls  */
    double *gamma;     /* m x b: C^-1 k*                                        */
} expert_output;

/* Posterior of one expert at the queries Q; its latent variance is s_f^2 -
 * explained.  `room` holds at least m x b numbers
 * and may be gamma itself. */
void posterior(const hyper *theta, const points *X, const double *L, const double *alpha,
               const points *Q, double *room, const expert_output *out);

#endif
