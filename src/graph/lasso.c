/* Coordinate descent to find the entries that are not zero, then Newton steps on them as far as
 * the signs allow, in turn, until the optimality conditions hold. */
#include "graph/lasso.h"

#include "base/memory.h"
#include "base/progress.h"
#include "linalg/blas.h"
#include "linalg/clones.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cycles in which neither the objective nor the largest violation falls: only
 * rounding is left. */
enum { MAX_CYCLES = 1000, MAX_STALLED = 5 };

/* Cycles that let coordinate descent add entries before the present ones have
 * reached their minimiser: faster at first, but it can zigzag. */
enum { HASTY_CYCLES = 10 };

/* Where entry `index` of b + t direction passes through zero. */
struct lasso_crossing {
    double t;
    size_t index;
};

quorum_status lasso_workspace_new(lasso_workspace *w, size_t n)
{
    memset(w, 0, sizeof *w);
    if (NEW_ARRAY(w->gradient, n) && NEW_ARRAY(w->direction, n) && NEW_ARRAY(w->factor, n * n) &&
        NEW_ARRAY(w->support, n) && NEW_ARRAY(w->crossings, n))
        return QUORUM_OK;
    lasso_workspace_free(w);
    return failure(QUORUM_E_MEMORY, "out of memory for a lasso regression on %zu variables", n);
}

void lasso_workspace_free(lasso_workspace *w)
{
    mem_free(w->gradient);
    mem_free(w->direction);
    mem_free(w->factor);
    mem_free(w->support);
    mem_free(w->crossings);
    memset(w, 0, sizeof *w);
}

CLONED
static void add_scaled(size_t n, double a, const double *restrict x, double *restrict y)
{
    for (size_t k = 0; k < n; k++)
        y[k] += a * x[k];
}

/* y += a1 x1 + ... + a4 x4 */
CLONED
static void add_four(size_t n, const double a[4], const double *restrict x1,
                     const double *restrict x2, const double *restrict x3,
                     const double *restrict x4, double *restrict y)
{
    for (size_t k = 0; k < n; k++)
        y[k] += (a[0] * x1[k] + a[1] * x2[k]) + (a[2] * x3[k] + a[3] * x4[k]);
}

static size_t find_support(const lasso_problem *q, const double *b, size_t *support)
{
    size_t count = 0;
    for (size_t j = 0; j < q->n; j++)
        if (b[j] != 0.0)
            support[count++] = j;
    return count;
}

/* gradient = A b - c of the smooth part. */
static void compute_gradient(const lasso_problem *q, const double *b, const size_t *support,
                             size_t count, double *gradient)
{
    size_t n = q->n, t = 0;
    for (size_t k = 0; k < n; k++)
        gradient[k] = -q->c[k];
    for (; t + 4 <= count; t += 4) {
        const size_t *j = support + t;
        const double a[4] = {b[j[0]], b[j[1]], b[j[2]], b[j[3]]};
        add_four(n, a, q->A + j[0] * n, q->A + j[1] * n, q->A + j[2] * n, q->A + j[3] * n,
                 gradient);
    }
    for (; t < count; t++)
        add_scaled(n, b[support[t]], q->A + support[t] * n, gradient);
}

/* How far entry j is from its optimality condition:
 *     gradient_j = -lambda sign(b_j),  or |gradient_j| <= lambda where b_j = 0. */
static double violation(const lasso_problem *q, const double *b, const double *gradient, size_t j)
{
    if (b[j] == 0.0)
        return fmax(0.0, fabs(gradient[j]) - q->lambda);
    return fabs(gradient[j] + copysign(q->lambda, b[j]));
}

static double largest_violation(const lasso_problem *q, const double *b, const double *gradient)
{
    double largest = 0.0;
    for (size_t j = 0; j < q->n; j++)
        if (j != q->skip)
            largest = fmax(largest, violation(q, b, gradient, j));
    return largest;
}

static double soft_threshold(double x, double t)
{
    return x > t ? x - t : x < -t ? x + t : 0.0;
}

/* One pass of coordinate descent over the entries that violate their condition. */
static void descend_violators(const lasso_problem *q, double *b, double *gradient)
{
    for (size_t j = 0; j < q->n; j++) {
        double curvature = q->A[j + j * q->n];
        if (j == q->skip || !(curvature > 0.0) || violation(q, b, gradient, j) <= q->tolerance)
            continue;
        double next = soft_threshold(b[j] - gradient[j] / curvature, q->lambda / curvature);
        double move = next - b[j];
        b[j] = next;
        if (move != 0.0)
            add_scaled(q->n, move, q->A + j * q->n, gradient);
    }
}

static int earlier(const void *x, const void *y)
{
    const struct lasso_crossing *a = x, *b = y;
    if (a->t != b->t)
        return a->t < b->t ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* The minimiser over t in [0, 1] of the objective along b + t d, where d is the
 * Newton direction on the support.  The slope is -curvature (1 - t), and rises
 * by 2 lambda |d_j| where entry j changes its sign; *stopped is the entry that
 * is zero at the minimiser, or n. */
static double best_step(const lasso_problem *q, const double *b, const double *d,
                        const size_t *support, size_t count, double curvature,
                        struct lasso_crossing *crossings, size_t *stopped)
{
    size_t crossed = 0;
    for (size_t s = 0; s < count; s++) {
        double t = -b[support[s]] / d[s];
        if (t > 0.0 && t < 1.0)
            crossings[crossed++] = (struct lasso_crossing){t, s};
    }
    qsort(crossings, crossed, sizeof *crossings, earlier);
    double kinks = 0.0;
    *stopped = q->n;
    for (size_t k = 0; k < crossed; k++) {
        double t = crossings[k].t, here = 1.0 - kinks / curvature;
        if (here <= t)
            return here;
        kinks += 2.0 * q->lambda * fabs(d[crossings[k].index]);
        if (curvature * (t - 1.0) + kinks >= 0.0) {
            *stopped = support[crossings[k].index];
            return t;
        }
    }
    return 1.0 - kinks / curvature;
}

/* The factor of A on the support; 0, or the 1-based place of an entry that is
 * numerically a combination of the ones before it. */
static size_t factor_support(const lasso_problem *q, const lasso_workspace *w, size_t count)
{
    const size_t *support = w->support;
    for (size_t t = 0; t < count; t++) {
        const double *column = q->A + support[t] * q->n;
        for (size_t s = t; s < count; s++)
            w->factor[s + t * count] = column[support[s]];
    }
    size_t minor = blas_cholesky(count, w->factor, count);
    for (size_t t = 0; t < count && minor == 0; t++) {
        double pivot = w->factor[t + t * count], variance = q->A[support[t] * (q->n + 1)];
        if (!(pivot * pivot > (double)count * DBL_EPSILON * variance))
            minor = t + 1;
    }
    return minor;
}

/* Entry `last` of the support is a combination x of the ones before it: along
 * z = (x, -1), A b does not change, so the objective is linear, and b may go
 * downhill until an entry is zero and leaves the support.  Returns the entries
 * that remain. */
static size_t drop_dependence(const lasso_problem *q, double *b, lasso_workspace *w, size_t count,
                              size_t last)
{
    size_t *support = w->support, first = last;
    double *z = w->direction, slope = 0.0, step = INFINITY;
    for (size_t t = 0; t < last; t++)
        z[t] = q->A[support[t] + support[last] * q->n];
    blas_solve_lower(last, 1, w->factor, count, z, last);
    blas_solve_lower_transposed(last, 1, w->factor, count, z, last);
    z[last] = -1.0;
    for (size_t t = 0; t <= last; t++)
        slope += z[t] * (w->gradient[support[t]] + copysign(q->lambda, b[support[t]]));
    for (size_t t = 0; t <= last; t++) {
        z[t] = slope > 0.0 ? -z[t] : z[t];
        double zero = -b[support[t]] / z[t];
        if (zero > 0.0 && zero < step) {
            step = zero;
            first = t;
        }
    }
    for (size_t t = 0; t <= last && isfinite(step); t++)
        b[support[t]] += step * z[t];
    b[support[first]] = isfinite(step) ? 0.0 : b[support[first]];
    memmove(support + first, support + first + 1, (count - first - 1) * sizeof *support);
    return count - 1;
}

/* direction = -A_ss^-1 (gradient + lambda sign b)_s on the support s, less the
 * entries that others can replace.  Returns how many are left; *curvature =
 * direction' A direction. */
static size_t newton_direction(const lasso_problem *q, double *b, lasso_workspace *w, size_t count,
                               double *curvature)
{
    for (size_t minor; (minor = factor_support(q, w, count)) != 0;)
        count = drop_dependence(q, b, w, count, minor - 1);
    for (size_t t = 0; t < count; t++) {
        size_t j = w->support[t];
        w->direction[t] = -w->gradient[j] - copysign(q->lambda, b[j]);
    }
    blas_solve_lower(count, 1, w->factor, count, w->direction, count);
    *curvature = vec_dot(count, w->direction, w->direction);
    blas_solve_lower_transposed(count, 1, w->factor, count, w->direction, count);
    return count;
}

/* Moves b towards the minimiser on its support, as far as the signs allow.
 * Returns whether it got there. */
static int solve_on_support(const lasso_problem *q, double *b, lasso_workspace *w)
{
    size_t count = find_support(q, b, w->support), stopped;
    double curvature;
    count = newton_direction(q, b, w, count, &curvature);
    if (!(curvature > 0.0 && isfinite(curvature)))
        return 1;
    double t = best_step(q, b, w->direction, w->support, count, curvature, w->crossings, &stopped);
    for (size_t s = 0; s < count; s++)
        b[w->support[s]] += t * w->direction[s];
    if (stopped < q->n)
        b[stopped] = 0.0;
    count = find_support(q, b, w->support);
    compute_gradient(q, b, w->support, count, w->gradient);
    return t == 1.0;
}

/* 1/2 b'A b - c'b + lambda ||b||_1, where A b = gradient + c. */
static double objective(const lasso_problem *q, const double *b, const double *gradient)
{
    double f = 0.0;
    for (size_t j = 0; j < q->n; j++)
        f += 0.5 * b[j] * (gradient[j] - q->c[j]) + q->lambda * fabs(b[j]);
    return f;
}

double lasso_solve(const lasso_problem *q, double *b, lasso_workspace *w)
{
    size_t count = find_support(q, b, w->support);
    compute_gradient(q, b, w->support, count, w->gradient);
    double left = largest_violation(q, b, w->gradient);
    double best = INFINITY, least = left;
    int stalled = 0;
    for (int cycle = 0; cycle < MAX_CYCLES && left > q->tolerance && stalled < MAX_STALLED;
         cycle++) {
        int reached = solve_on_support(q, b, w);
        for (size_t more = 0; !reached && cycle >= HASTY_CYCLES && more < 2 * q->n; more++) {
            reached = solve_on_support(q, b, w);
            if (progress_go_on() < 0)
                return left;
        }
        descend_violators(q, b, w->gradient);
        left = largest_violation(q, b, w->gradient);
        double f = objective(q, b, w->gradient);
        stalled = f < best - 1e-15 * fabs(best) || left < least ? 0 : stalled + 1;
        best = fmin(best, f);
        least = fmin(least, left);
    }
    return left;
}
