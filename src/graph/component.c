/* Sweeps over the rows of one component's dual until the duality gap is small enough.  The best
 * point so far of either problem is kept. */
#include "graph/component.h"

#include "base/memory.h"
#include "base/progress.h"
#include "linalg/blas.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Row i's conditions need to hold only as well as the sweeps have converged:
 * relative to lambda, ROW_SHARE of the gap per row, ten times tighter from one
 * sweep to the next, but no tighter than ROW_SHARE of the gap that is asked for. */
static const double ROW_SHARE = 0.01, ROW_FLOOR = 1e-14;
enum { MAX_STALLED = 20 }; /* sweeps without any progress before giving up */

quorum_status component_solver_new(component_solver *s, size_t n)
{
    memset(s, 0, sizeof *s);
    quorum_status status = lasso_workspace_new(&s->lasso, n);
    if (status == QUORUM_OK && NEW_ARRAY(s->S, n * n) && NEW_ARRAY(s->omega, n * n) &&
        NEW_ARRAY(s->W, n * n) && NEW_ARRAY(s->b, n * n) && NEW_ARRAY(s->trial, n * n))
        return QUORUM_OK;
    component_solver_free(s);
    return failure(QUORUM_E_MEMORY, "out of memory for the graph of %zu experts", n);
}

void component_solver_free(component_solver *s)
{
    lasso_workspace_free(&s->lasso);
    mem_free(s->S);
    mem_free(s->omega);
    mem_free(s->W);
    mem_free(s->b);
    mem_free(s->trial);
    memset(s, 0, sizeof *s);
}

/* ---- objectives ---------------------------------------------------------- */

/* log|A| and A's factor in lasso.factor; -infinity when A is not positive
 * definite.  Reads the lower triangle. */
static double log_determinant(component_solver *s, const double *A)
{
    size_t n = s->n;
    double *L = s->lasso.factor, sum = 0.0;
    memcpy(L, A, n * n * sizeof *A);
    if (blas_cholesky(n, L, n) != 0)
        return -INFINITY;
    for (size_t i = 0; i < n; i++)
        sum += log(L[i + i * n]);
    return isfinite(sum) ? 2.0 * sum : -INFINITY;
}

/* sum_ij lambda_ij |A_ij| */
static double penalty(const component_solver *s, const double *A)
{
    size_t n = s->n;
    double off_diagonal = 0.0, diagonal = 0.0;
    for (size_t j = 0; j < n; j++) {
        double sum = 0.0;
        for (size_t i = j + 1; i < n; i++)
            sum += fabs(A[i + j * n]);
        off_diagonal += 2.0 * sum;
        diagonal += fabs(A[j + j * n]);
    }
    return s->lambda * off_diagonal + s->diagonal_lambda * diagonal;
}

/* f(A), infinity when A is not positive definite. */
static double primal_objective(component_solver *s, const double *A)
{
    size_t n = s->n;
    double trace = 0.0, f = -log_determinant(s, A);
    if (!isfinite(f))
        return INFINITY;
    for (size_t j = 0; j < n; j++)
        trace += vec_dot(n, s->S + j * n, A + j * n);
    f += trace + penalty(s, A);
    return isfinite(f) ? f : INFINITY;
}

/* ---- starting points ----------------------------------------------------- */

/* A = (L L')^-1, both triangles, from the factor in lasso.factor, which is lost. */
static void invert_factor(component_solver *s, double *A)
{
    size_t n = s->n;
    double *L = s->lasso.factor;
    blas_inverse_lower(n, L, n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            A[i + j * n] = A[j + i * n] = L[i + j * n];
}

/* From the caller's omega, already factored: W = omega^-1 and the rows' b. */
static void start_warm(component_solver *s)
{
    size_t n = s->n;
    invert_factor(s, s->W);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++)
            s->b[k + i * n] = -s->omega[k + i * n] / s->omega[i + i * n];
        s->b[i + i * n] = 0.0;
    }
}

/* The solution of an empty graph. */
static void start_diagonal(component_solver *s)
{
    size_t n = s->n;
    memset(s->omega, 0, n * n * sizeof *s->omega);
    memset(s->W, 0, n * n * sizeof *s->W);
    memset(s->b, 0, n * n * sizeof *s->b);
    for (size_t i = 0; i < n; i++)
        s->omega[i + i * n] = 1.0 / (s->S[i + i * n] + s->diagonal_lambda);
    s->primal = primal_objective(s, s->omega);
}

/* trial = S + theta (W - S), as far from S towards W as the dual's box allows,
 * with the box's diagonal: between two positive semidefinite matrices when S and
 * W are.  W = 0 stands for a diagonal one.  Returns its dual objective. */
static double shrink_to_box(component_solver *s)
{
    size_t n = s->n;
    double farthest = 0.0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++)
            farthest = fmax(farthest, fabs(s->W[i + j * n] - s->S[i + j * n]));
    double theta = farthest > s->lambda ? s->lambda / farthest : 1.0;
    for (size_t k = 0; k < n * n; k++)
        s->trial[k] = (1.0 - theta) * s->S[k] + theta * s->W[k];
    for (size_t j = 0; j < n; j++)
        s->trial[j + j * n] = s->S[j + j * n] + s->diagonal_lambda;
    return log_determinant(s, s->trial) + (double)n;
}

/* W becomes feasible and positive definite, from what it was or else from the
 * diagonal. */
static quorum_status make_feasible(component_solver *s)
{
    double dual = shrink_to_box(s), *old = s->W;
    if (!isfinite(dual)) {
        memset(s->W, 0, s->n * s->n * sizeof *s->W);
        dual = shrink_to_box(s);
    }
    if (!isfinite(dual))
        return failure(QUORUM_E_NUMERIC,
                       "the graphical lasso found no finite solution: the covariance matrix is not "
                       "positive semidefinite, or lambda is too small for it; use a larger lambda");
    s->W = s->trial;
    s->trial = old;
    s->dual = fmax(s->dual, dual);
    return QUORUM_OK;
}

static quorum_status start(component_solver *s)
{
    s->dual = -INFINITY;
    s->sweeps = 0;
    for (size_t i = 0; i < s->n; i++)
        if (!(s->S[i + i * s->n] + s->diagonal_lambda > 0.0))
            return failure(QUORUM_E_NUMERIC,
                           "the graphical lasso has no finite solution: a variance "
                           "is zero and its diagonal entry is not penalised");
    s->primal = primal_objective(s, s->omega);
    if (isfinite(s->primal))
        start_warm(s);
    else
        start_diagonal(s);
    return make_feasible(s);
}

/* ---- sweeps -------------------------------------------------------------- */

/* The best row and column i of W for the rest of W. */
static void ascend_row(component_solver *s, size_t i, double tolerance)
{
    size_t n = s->n;
    const double *S = s->S + i * n, *gradient = s->lasso.gradient;
    lasso_problem q = {
        .n = n, .A = s->W, .c = S, .lambda = s->lambda, .tolerance = tolerance, .skip = i};
    lasso_solve(&q, s->b + i * n, &s->lasso);
    for (size_t k = 0; k < n; k++) {
        double move = fmin(fmax(gradient[k], -s->lambda), s->lambda); /* w = W b = S + gradient */
        if (k != i)
            s->W[k + i * n] = s->W[i + k * n] = S[k] + move;
    }
}

/* trial = Omega from the rows' b; an edge where both of its rows have it. */
static void assemble_primal(component_solver *s)
{
    size_t n = s->n;
    double *omega = s->trial;
    for (size_t i = 0; i < n; i++) {
        const double *b = s->b + i * n, *w = s->W + i * n;
        double diagonal = 1.0 / (w[i] - vec_dot(n, w, b));
        for (size_t k = 0; k < n; k++)
            omega[k + i * n] = -diagonal * b[k];
        omega[i + i * n] = diagonal;
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++) {
            double one = omega[i + j * n], other = omega[j + i * n];
            double both = one != 0.0 && other != 0.0 ? 0.5 * (one + other) : 0.0;
            omega[i + j * n] = omega[j + i * n] = both;
        }
}

static void keep_better_primal(component_solver *s)
{
    assemble_primal(s);
    double f = primal_objective(s, s->trial);
    if (f < s->primal) {
        double *old = s->omega;
        s->omega = s->trial;
        s->trial = old;
        s->primal = f;
    }
}

/* A dual point; one that rounding has made indefinite is repaired. */
static quorum_status keep_better_dual(component_solver *s)
{
    double dual = log_determinant(s, s->W) + (double)s->n;
    if (!isfinite(dual))
        return make_feasible(s);
    s->dual = fmax(s->dual, dual);
    return QUORUM_OK;
}

static quorum_status sweep(component_solver *s, double tolerance)
{
    for (size_t i = 0; i < s->n; i++) {
        ascend_row(s, i, tolerance);
        TRY(progress_go_on());
    }
    s->sweeps++;
    keep_better_primal(s);
    return keep_better_dual(s);
}

/* ---- no penalty ---------------------------------------------------------- */

/* omega = S^-1.  A pivot that is no more than rounding counts as zero. */
static quorum_status solve_unpenalised(component_solver *s)
{
    size_t n = s->n;
    double determinant = log_determinant(s, s->S), least = isfinite(determinant) ? 1.0 : 0.0;
    for (size_t i = 0; i < n && least > 0.0; i++) {
        double pivot = s->lasso.factor[i + i * n];
        least = fmin(least, pivot * pivot / s->S[i + i * n]);
    }
    if (!(least > (double)n * DBL_EPSILON))
        return failure(QUORUM_E_NUMERIC,
                       "the graphical lasso has no finite solution: the covariance "
                       "matrix is singular and lambda is 0; use a positive lambda");
    invert_factor(s, s->omega);
    s->dual = determinant + (double)n;
    s->primal = primal_objective(s, s->omega);
    s->sweeps = 0;
    return QUORUM_OK;
}

static double row_tolerance(double before, double gap, double target)
{
    double wanted = fmin(before, ROW_SHARE * gap);
    return fmax(fmax(wanted, ROW_SHARE * target), ROW_FLOOR);
}

quorum_status component_solve(component_solver *s, double absolute, double relative, double offset,
                              int max_sweeps)
{
    int stalled = 0;
    double row = 0.1;
    if (s->lambda == 0.0)
        return solve_unpenalised(s);
    TRY(start(s));
    while (s->sweeps < max_sweeps && stalled < MAX_STALLED) {
        double primal = s->primal, dual = s->dual, gap = primal - dual;
        double target = fmax(absolute, relative * fabs(primal + offset));
        if (gap <= target)
            break;
        row = row_tolerance(0.1 * row, gap / (double)s->n, target / (double)s->n);
        TRY(sweep(s, row * s->lambda));
        stalled = s->primal < primal || s->dual > dual ? 0 : stalled + 1;
    }
    return QUORUM_OK;
}
