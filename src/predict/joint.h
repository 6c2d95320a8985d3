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

/* U (rows x b): Cov(y_r, A' y), of the rows r of all experts that are involved. */
typedef struct {
    size_t b;
    size_t *first; /* involved + 1: where their rows start in U */
    size_t *where; /* M: an expert's number among the involved  */
    double *U;     /* expert i's m_i x b block at first[i] * b   */
} row_covariances;

quorum_status row_covariances_find(const assembly *a, const double *weights,
                                   const neighbourhoods *n, int threads, row_covariances *out);
void row_covariances_free(row_covariances *c);

/* Of expert e's rows (m) at query q. */
static inline const double *row_covariances_at(const row_covariances *c, const parts *p, size_t e,
                                               size_t q)
{
    return c->U + c->first[c->where[e]] * c->b + q * part_size(p, e);
}

/* Bytes that it takes for b queries whose experts own `rows` rows together. */
double joint_bytes(size_t b, double rows);

#endif
