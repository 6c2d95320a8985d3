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

#include "aggregate/assembly.h"

typedef struct {
    double *mean, *var; /* b: latent                                             */
    double *weights;    /* seats x b: mean = sum_s weights_s mu_s; or NULL        */
    double *duals;  /* seats x b: K_A^-1 mu, as weights are K_A^-1 k_A; or NULL, and with it ... */
    double *jitter; /* ... b: what was added to the unit diagonal            */
    size_t real;    /* queries, 1 or more; the rest is padding, which repeats the last */
    size_t clamped, jittered, pseudo_inverses;
} npae_result;

/* K_A between seats s < t of every query into pairs[pair_index(s, t) * b + q], for the
 * seats that experts of the committee take; the assembly must have been asked with
 * gammas.  Other entries are left alone.  In a team all processes have all rows of these experts. */
quorum_status npae_pairs(const assembly *a, int threads, double *pairs);

static inline size_t pair_index(size_t s, size_t t)
{
    return t * (t - 1) / 2 + s;
}

/* Solves every query's system (npae.c).  Both are called together (team/work.h). */
quorum_status npae_solve(const assembly *a, const double *pairs, int threads, npae_result *out);

#endif
