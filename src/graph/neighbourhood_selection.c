/* Neighbourhood selection: variable i's lasso regression b_i on all others, for every i, and
 *
 *   omega_ii = t_i = 1 / (residual variance of i + lambda),
 *   omega_ij = -(b_ij t_i + b_ji t_j) / 2 */
#include "graph/glasso.h"

#include "base/memory.h"
#include "base/progress.h"
#include "graph/graph_covariance.h"
#include "graph/lasso.h"
#include "linalg/blas.h"

#include <math.h>

/* The optimality conditions hold to TOLERANCE, relative to the largest entry of
 * S, and a regression that rounding keeps above ACCEPTED is refused. */
static const double TOLERANCE = 1e-12, ACCEPTED = 1e-8;

/* Column i of b (p x p) = variable i's regression, t[i] = 1 / (residual
 * variance + lambda).  The residual variance is S_ii + b'(S b - 2 S_i). */
static quorum_status regress(size_t p, const double *S, double lambda, double scale, size_t i,
                             lasso_workspace *w, double *b, double *t)
{
    const double *c = S + i * p;
    lasso_problem q = {
        .n = p, .A = S, .c = c, .lambda = lambda, .tolerance = TOLERANCE * scale, .skip = i};
    double left = lasso_solve(&q, b, w);
    TRY(progress_go_on());
    if (!(left <= ACCEPTED * scale))
        return failure(
            QUORUM_E_NUMERIC,
            "the lasso regression of expert %zu did not converge: the covariance matrix is "
            "too close to singular for lambda = %g",
            i, lambda);
    double residual = c[i] + vec_dot(p, b, w->gradient) - vec_dot(p, b, c);
    double variance = fmax(0.0, residual) + lambda;
    t[i] = 1.0 / variance;
    if (isfinite(t[i]))
        return QUORUM_OK;
    return failure(QUORUM_E_NUMERIC,
                   "expert %zu is a combination of the others and lambda is 0; use a "
                   "positive lambda",
                   i);
}

/* omega (p x p) holds the b's and becomes their symmetric combination. */
static size_t combine(size_t p, const double *t, double *omega)
{
    size_t edges = 0;
    for (size_t j = 0; j < p; j++) {
        omega[j + j * p] = t[j];
        for (size_t i = j + 1; i < p; i++) {
            double weight = -0.5 * (omega[i + j * p] * t[j] + omega[j + i * p] * t[i]);
            edges += omega[i + j * p] != 0.0 || omega[j + i * p] != 0.0;
            omega[i + j * p] = omega[j + i * p] = weight;
        }
    }
    return edges;
}

quorum_status neighbourhood_lasso(size_t p, const double *S, double lambda, double *omega,
                                  size_t *edges)
{
    if (!omega || !(isfinite(lambda) && lambda >= 0.0))
        return failure(QUORUM_E_ARGUMENT,
                       "neighbourhood selection needs room for its result and a "
                       "finite lambda of 0 or more; got %g",
                       lambda);
    TRY(check_covariance(p, S));
    double scale = largest_covariance(p, S), *t = NULL;
    lasso_workspace w = {0};
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(t, p)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for the graph of %zu experts", p);
        goto done;
    }
    TRY_OR_DONE(lasso_workspace_new(&w, p));
    for (size_t k = 0; k < p * p; k++)
        omega[k] = 0.0;
    for (size_t i = 0; i < p; i++)
        TRY_OR_DONE(regress(p, S, lambda, scale, i, &w, omega + i * p, t));
    size_t found = combine(p, t, omega);
    if (edges)
        *edges = found;
done:
    mem_free(t);
    lasso_workspace_free(&w);
    return status;
}
