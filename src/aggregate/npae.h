/* Nested pointwise aggregation of experts: the best linear combination of the
 * experts' means given their joint distribution (paper eqs. 4 to 6).
 *
 * Per query x, with Gamma_i = C_i^-1 k(X_i, x):
 *   k_A[i]    = Gamma_i' k(X_i, x)
 *   K_A[i][j] = Gamma_i' Cov(y_i, y_j) Gamma_j,   K_A[i][i] = k_A[i]
 *   mean = k_A' K_A^-1 mu,   var = s_f^2 - k_A' K_A^-1 k_A
 * with Cov(y_i, y_j) = k(X_i, X_j), plus s^2 wherever both hold the same row. */
#ifndef QRM_AGGREGATE_NPAE_H
#define QRM_AGGREGATE_NPAE_H

#include "experts/committee.h"

#include <stddef.h>

/* The experts that take part and their posteriors at b queries. */
typedef struct {
    const committee *c;
    const size_t *experts; /* p                                        */
    size_t p, b;
    const double *mean;      /* p x b                                  */
    const double *explained; /* p x b: k_A                             */
    double *const *gamma;    /* p arrays of m_i x b                    */
} npae_block;

typedef struct {
    double *mean, *var; /* b: latent                                             */
    double *weights;    /* p x b: mean = sum_i weights_i mu_i; or NULL            */
    size_t clamped, jittered, pseudo_inverses;
} npae_result;

quorum_status npae_aggregate(const npae_block *block, int threads, npae_result *out);

/* K_A of every query: pairs[(j (j-1) / 2 + i) * b + q] for i < j < p. */
quorum_status npae_cross_covariances(const npae_block *block, int threads, double *pairs);

/* Covariance of the prediction errors f(x) - mean(x) between the queries, b x b,
 * from the weights of npae_aggregate.  Q holds the b queries, scaled. */
quorum_status npae_joint_covariance(const npae_block *block, const double *weights, const points *Q,
                                    int threads, double *covariance);

/* Bytes that a query of a block takes, gammas and pairs, for p experts that own
 * `rows` rows together. */
double npae_query_bytes(size_t p, size_t rows);

#endif
