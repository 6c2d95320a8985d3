/* Covariance of the prediction errors between queries.
 *
 * A prediction is linear in the data, mean(x) = a(x)' y with a_i = w_i Gamma_i over
 * the rows of expert i, so with A = [a(x_1) .. a(x_b)] (rows x b)
 *   Cov(f - mean) = k(Q, Q) - A' k(X, Q) - k(Q, X) A + A' Cov(y) A
 *                 = k(Q, Q) + (P + P') / 2,   P = A' (Cov(y) A - 2 k(X, Q)),
 * positive semi-definite, with NPAE's own variances on the diagonal. */
#ifndef QRM_PREDICT_JOINT_H
#define QRM_PREDICT_JOINT_H

#include "aggregate/assembly.h"
#include "predict/nearest.h"

/* covariance (b x b) from the weights (seats x b) that npae_solve gave.  `n` sits at
 * the last seat, or is NULL. */
quorum_status joint_covariance(const assembly *a, const double *weights, const neighbourhoods *n,
                               int threads, double *covariance);

/* Bytes that it takes for b queries whose experts own `rows` rows together. */
double joint_bytes(size_t b, double rows);

#endif
