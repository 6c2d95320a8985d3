/* Kernel matrices between scaled points. */
#ifndef QRM_GP_COVARIANCE_H
#define QRM_GP_COVARIANCE_H

#include "base/status.h"
#include "gp/hyper.h"
#include "gp/points.h"

/* K(m x b, leading dimension ld) = k(a_i, b_j).  A column depends on its own
 * point only, not on the others of b. */
void covariance_cross(const hyper *theta, const points *a, const points *b, double *K, size_t ld);

/* Whether BLAS takes part in it, which rounds alike in panels of QUERY_MULTIPLE columns only. */
int covariance_by_products(size_t inputs);

/* Lower triangle of K(m x m) = k(a_i, a_j), and of the slopes (m x m each) when not NULL. */
quorum_status covariance_self(const hyper *theta, const points *a, double *K,
                              const pair_slopes *slopes, int threads);

#endif
