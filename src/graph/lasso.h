/* One lasso regression in its covariance form:
 *
 *     minimise over b   1/2 b' A b - c' b + lambda ||b||_1,   b_skip = 0,
 *
 * A symmetric positive (semi)definite.  Coordinate descent finds which entries
 * are not zero; for those and their signs the minimiser is a linear system,
 * solved by Cholesky.  So the answer is exact to rounding, also where
 * coordinate descent alone would crawl (A nearly singular). */
#ifndef QRM_GRAPH_LASSO_H
#define QRM_GRAPH_LASSO_H

#include "base/status.h"

#include <stddef.h>

typedef struct {
    size_t n;
    const double *A; /* n x n                                                    */
    const double *c; /* n                                                        */
    double lambda;
    double tolerance; /* stop when the optimality conditions hold to this, absolute */
    size_t skip;      /* an index whose b stays 0 (row and column of A unused), or n */
} lasso_problem;

typedef struct {
    double *gradient;                 /* n: A b - c after lasso_solve                     */
    double *direction;                /* n                                                */
    double *factor;                   /* n x n                                            */
    size_t *support;                  /* n                                                */
    struct lasso_crossing *crossings; /* n                                 */
} lasso_workspace;

quorum_status lasso_workspace_new(lasso_workspace *w, size_t n);
void lasso_workspace_free(lasso_workspace *w); /* accepts one that is all zero */

/* b (n): in the start, out the minimiser.  w->gradient (n) = A b - c.
 * Returns the largest violation of the optimality conditions that is left: at
 * most q->tolerance unless rounding forbids it. */
double lasso_solve(const lasso_problem *q, double *b, lasso_workspace *w);

#endif
