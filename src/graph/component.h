/* The graphical lasso of one connected component, by block coordinate ascent in
 * the dual (Banerjee, El Ghaoui and d'Aspremont; Friedman, Hastie and
 * Tibshirani) with every block solved exactly.
 *
 *     primal   minimise  f(Omega) = -log|Omega| + tr(S Omega) + sum lambda_ij |Omega_ij|
 *     dual     maximise  log|W| + n   over  |W_ij - S_ij| <= lambda_ij
 *
 * With all of W but row and column i fixed, the best w = W_-i,i is W_-i,-i b,
 * where b is the lasso of S_-i,i on W_-i,-i (graph/lasso.h).  W stays feasible
 * and positive definite, and the b's give a primal point: column i of Omega is
 *
 *     Omega_ii = 1 / (W_ii - w'b),   Omega_-i,i = -Omega_ii b,
 *
 * made symmetric by the mean.  primal - dual of the best two points found is
 * the gap.
 *
 * Why not Newton steps by coordinate descent (QUIC): on ten covariances of 300
 * experts, one of our own needed 12 to more than 200 steps, and 4 to 90 times
 * the time of the 6 to 28 sweeps needed here. */
#ifndef QRM_GRAPH_COMPONENT_H
#define QRM_GRAPH_COMPONENT_H

#include "base/status.h"
#include "graph/lasso.h"

#include <stddef.h>

typedef struct {
    size_t n;
    double lambda, diagonal_lambda; /* lambda_ij for i != j and for i = j           */
    double *S;                      /* in: n x n, symmetric, largest entry near 1   */
    double *omega;                  /* in: the start; out: the solution (n x n)     */
    double primal;                  /* out: f(omega)                                */
    double dual;                    /* out: the best dual objective found           */
    int sweeps;                     /* out                                          */

    double *W;             /* the dual point (n x n)                                */
    double *b;             /* column i is row i's lasso (n x n)                     */
    double *trial;         /* a primal point before it is accepted (n x n)          */
    lasso_workspace lasso; /* its factor (n x n) also serves for the determinants   */
} component_solver;

/* Memory for components of up to n; freed by component_solver_free, which
 * accepts one that is all zero. */
quorum_status component_solver_new(component_solver *s, size_t n);
void component_solver_free(component_solver *s);

/* Solves the component whose n, penalties, S and omega are set, until
 *     primal - dual <= max(absolute, relative |primal + offset|),
 * `max_sweeps` are done or rounding ends the ascent: the caller sees which from
 * primal and dual.  A start that is not positive definite is replaced by the
 * diagonal one.  QUORUM_E_NUMERIC when no finite solution exists. */
quorum_status component_solve(component_solver *s, double absolute, double relative, double offset,
                              int max_sweeps);

#endif
