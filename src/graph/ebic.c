/* lambda by the extended BIC over a path of graphical lassos, each one warm from the one before:
 *
 *   score(lambda) = -n (log|Omega| - tr(S Omega)) + E log n + 4 gamma E log p */
#include "graph/glasso.h"

#include "base/memory.h"
#include "graph/graph_covariance.h"

#include <math.h>

static const double GAMMA = 0.5;

/* Edges are counted, so they have to be the solution's own. */
static const double TOLERANCE = 1e-9;

/* sum |omega_ij|, the diagonal only where it is penalised. */
static double penalised_norm(size_t p, const double *omega, int free_diagonal)
{
    double sum = 0.0;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++)
            if (i != j || !free_diagonal)
                sum += fabs(omega[i + j * p]);
    return sum;
}

/* The likelihood part is the objective without its penalty. */
static double ebic_score(size_t p, size_t n, const glasso_options *o, const double *omega,
                         const glasso_result *r)
{
    double likelihood = r->objective + o->lambda * penalised_norm(p, omega, o->free_diagonal);
    double edges = (double)r->edges;
    return -(double)n * likelihood + edges * log((double)n) + 4.0 * GAMMA * edges * log((double)p);
}

static double path_lambda(double largest, double floor_ratio, int step, int steps)
{
    return steps > 1 ? largest * pow(floor_ratio, (double)step / (double)(steps - 1)) : largest;
}

/* Walks the path in omega (p x p), warm from each lambda to the next. */
static quorum_status walk(size_t p, const double *S, size_t n, int free_diagonal, int steps,
                          double floor_ratio, double *omega, double *best_lambda, double *lambdas,
                          double *scores)
{
    double largest = largest_covariance(p, S), best = INFINITY;
    quorum_status status = QUORUM_OK;
    for (int step = 0; step < steps; step++) {
        glasso_options o = glasso_defaults(path_lambda(largest, floor_ratio, step, steps));
        glasso_result r;
        o.free_diagonal = free_diagonal;
        o.tolerance = TOLERANCE;
        o.start = step > 0 ? omega : NULL;
        if (status == QUORUM_OK)
            status = glasso(p, S, &o, omega, &r);
        if (status < 0 && (status != QUORUM_E_NUMERIC || step == 0))
            return status;
        double score = status == QUORUM_OK ? ebic_score(p, n, &o, omega, &r) : INFINITY;
        if (score < best) {
            best = score;
            *best_lambda = o.lambda;
        }
        if (lambdas)
            lambdas[step] = o.lambda;
        if (scores)
            scores[step] = score;
    }
    return QUORUM_OK;
}

static void fill_no_path(int steps, double *best_lambda, double *lambdas, double *scores)
{
    *best_lambda = 0.0;
    for (int step = 0; step < steps; step++) {
        if (lambdas)
            lambdas[step] = 0.0;
        if (scores)
            scores[step] = 0.0;
    }
}

quorum_status glasso_ebic(size_t p, const double *S, size_t n, int free_diagonal, int steps,
                          double floor_ratio, double *best_lambda, double *lambdas, double *scores)
{
    double *omega;
    if (!best_lambda || n == 0 || steps < 1)
        return failure(QUORUM_E_ARGUMENT, "the extended BIC needs at least 1 sample and 1 lambda");
    if (!(floor_ratio > 0.0 && floor_ratio <= 1.0))
        return failure(QUORUM_E_ARGUMENT,
                       "the path's last lambda must be a share in (0, 1]; got %g", floor_ratio);
    TRY(check_covariance(p, S));
    if (largest_covariance(p, S) == 0.0) {
        fill_no_path(steps, best_lambda, lambdas, scores);
        return QUORUM_OK;
    }
    if (!NEW_ARRAY(omega, p * p))
        return failure(QUORUM_E_MEMORY, "out of memory for the graph of %zu experts", p);
    quorum_status status =
        walk(p, S, n, free_diagonal, steps, floor_ratio, omega, best_lambda, lambdas, scores);
    mem_free(omega);
    return status;
}
