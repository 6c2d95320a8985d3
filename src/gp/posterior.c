/* Posterior of one expert (paper eqs. 2 and 3), latent:
 *   mean = k*' C^-1 y,  var = s_f^2 - k*' C^-1 k*,  gamma = C^-1 k*.
 * The explained variance k*' C^-1 k* = |L^-1 k*|^2 is returned rather than var:
 * far from the expert's data it keeps its digits, where the difference would not. */
#include "gp/expert.h"

#include "gp/covariance.h"
#include "linalg/blas.h"
#include "linalg/tiles.h"

#include <string.h>

quorum_status factorise(const hyper *theta, const points *X, const row_set *rows, int threads,
                        double *L, double *alpha)
{
    size_t m = X->n, minor = 0;
    TRY(covariance_self(theta, X, L, NULL, threads));
    for (size_t i = 0; i < m; i++)
        L[i * m + i] += noise_of(theta, rows, i);
    TRY(tiles_cholesky(m, L, threads, &minor));
    if (minor)
        return failure(QUORUM_E_NUMERIC,
                       "the covariance matrix of an expert of %zu rows is not positive definite: "
                       "raise the noise variance (%g)",
                       m, theta->noise);
    memcpy(alpha, rows->y, m * sizeof *alpha);
    blas_solve_lower(m, 1, L, m, alpha, m);
    blas_solve_lower_transposed(m, 1, L, m, alpha, m);
    return QUORUM_OK;
}

void posterior(const hyper *theta, const points *X, const double *L, const double *alpha,
               const points *Q, double *room, const expert_output *out)
{
    size_t m = X->n, b = Q->n;
    covariance_cross(theta, X, Q, room, m); /* k*: m x b */
    if (out->mean)
        for (size_t q = 0; q < b; q++)
            out->mean[q] = vec_dot(m, room + q * m, alpha);
    if (!out->explained && !out->gamma)
        return;
    blas_solve_lower(m, b, L, m, room, m); /* L^-1 k* */
    if (out->explained)
        for (size_t q = 0; q < b; q++)
            out->explained[q] = vec_dot(m, room + q * m, room + q * m);
    if (out->gamma) {
        if (out->gamma != room)
            memcpy(out->gamma, room, m * b * sizeof *room);
        blas_solve_lower_transposed(m, b, L, m, out->gamma, m);
    }
}
