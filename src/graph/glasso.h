/* Graphical lasso: a sparse precision matrix from a covariance matrix.
 *
 *     maximise  log|Omega| - tr(S Omega) - lambda ||Omega||_1
 *
 * with the elementwise norm, the diagonal penalised unless told otherwise. */
#ifndef QRM_GRAPH_GLASSO_H
#define QRM_GRAPH_GLASSO_H

#include "base/status.h"

#include <stddef.h>

typedef struct {
    double lambda;       /* >= 0, absolute                                       */
    int free_diagonal;   /* 1: leave the diagonal unpenalised                    */
    double tolerance;    /* stop when gap <= tolerance * max(1, |objective|); 1e-6 */
    int max_iterations;  /* sweeps per component                                 */
    const double *start; /* p x p warm start (a previous Omega; may be the       */
                         /* output), or NULL                                     */
} glasso_options;

glasso_options glasso_defaults(double lambda);

typedef struct {
    double objective;  /* log|Omega| - tr(S Omega) - penalty, maximised             */
    double gap;        /* feasible duality gap: dual objective - primal objective   */
    size_t edges;      /* pairs i < j with Omega_ij != 0                            */
    size_t components; /* connected components of the screened graph                */
    int iterations;    /* sweeps over the rows, largest over components             */
} glasso_result;

/* S (p x p, symmetric) -> omega (p x p, symmetric, exact zeros where there is no
 * edge).  QUORUM_E_NUMERIC when no finite maximiser exists, and then omega and
 * result mean nothing, or when the tolerance is not reached, and then they hold
 * the best point and its gap (result->gap > 0). result may be NULL. */
quorum_status glasso(size_t p, const double *S, const glasso_options *options, double *omega,
                     glasso_result *result);

/* Neighbourhood selection (Meinshausen and Buhlmann): for every i the lasso
 * regression of variable i on all others,
 *     minimise over b  1/2 b' S_-i b - S_i' b + lambda ||b||_1,
 * an edge where b_ij or b_ji is not zero ("or" rule), with weight
 *     omega_ij = -(b_ij t_i + b_ji t_j)/2,  t_i = 1/(residual variance of i + lambda).
 * Fills omega (p x p) with diagonal t_i; edges may be NULL.  QUORUM_E_NUMERIC
 * when a residual variance is 0 and lambda is 0 too. */
quorum_status neighbourhood_lasso(size_t p, const double *S, double lambda, double *omega,
                                  size_t *edges);

/* Extended BIC (Foygel and Drton, gamma = 0.5) over a path of `steps` lambdas,
 * log-spaced from max_{i != j} |S_ij| down to `floor_ratio` times it, warm
 * started; n is the number of samples behind S:
 *     score(lambda) = -n (log|Omega| - tr(S Omega)) + E log n + 4 gamma E log p,
 * E = edges.  *best_lambda is the one of the lowest score, the largest of equal
 * ones.  lambdas and scores (steps each) are filled when not NULL.  The path
 * ends, with infinite scores, at the first lambda that cannot be solved.  When
 * no pair covaries there is no path: every lambda and score is 0. */
quorum_status glasso_ebic(size_t p, const double *S, size_t n, int free_diagonal, int steps,
                          double floor_ratio, double *best_lambda, double *lambdas, double *scores);

#endif
