/* Graphical lasso, neighbourhood selection and their lambda: by optimality
 * conditions, closed forms and known graphs. */
#include "base/memory.h"
#include "base/random.h"
#include "graph/glasso.h"
#include "graph/screening.h"
#include "linalg/blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* after our headers: it makes a macro of fail */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static double *matrix(size_t p)
{
    double *A = calloc(p * p, sizeof *A);
    assert_non_null(A);
    return A;
}

static void make_symmetric(size_t p, double *A)
{
    for (size_t j = 0; j < p; j++)
        for (size_t i = j; i < p; i++)
            A[j + i * p] = A[i + j * p];
}

/* A^-1 of a positive definite matrix, a new array. */
static double *inverse(size_t p, const double *A)
{
    double *W = matrix(p);
    memcpy(W, A, p * p * sizeof *W);
    assert_int_equal(blas_cholesky(p, W, p), 0);
    blas_inverse_lower(p, W, p);
    make_symmetric(p, W);
    return W;
}

/* The largest violation, relative to the largest variance, of  W_ij - S_ij = lambda_ij sign(Omega_ij), or
 * |W_ij - S_ij| <= lambda_ij where Omega_ij = 0;  W = Omega^-1. */
static double kkt_violation(size_t p, const double *S, double lambda, int free_diagonal,
                            const double *omega)
{
    double *W = inverse(p, omega), worst = 0.0, scale = 0.0;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++) {
            size_t k = i + j * p;
            double l = i == j && free_diagonal ? 0.0 : lambda, difference = W[k] - S[k];
            double off = omega[k] == 0.0 ? fmax(0.0, fabs(difference) - l)
                                         : fabs(difference - copysign(l, omega[k]));
            worst = fmax(worst, off);
            scale = fmax(scale, fabs(W[k]));
            assert_true(omega[k] == omega[j + i * p]);
        }
    free(W);
    return worst / scale;
}

static glasso_options tight(double lambda)
{
    glasso_options o = glasso_defaults(lambda);
    o.tolerance = 1e-14; /* the gap falls with the square of Omega's error */
    return o;
}

static void solve_and_check(size_t p, const double *S, double lambda, int free_diagonal,
                            double *omega, glasso_result *r)
{
    glasso_options o = tight(lambda);
    o.free_diagonal = free_diagonal;
    assert_int_equal(glasso(p, S, &o, omega, r), QUORUM_OK);
    assert_true(kkt_violation(p, S, lambda, free_diagonal, omega) < 1e-6);
    assert_true(r->gap >= 0.0 && r->gap <= 1e-14 * fmax(1.0, fabs(r->objective)));
}

/* ---- covariances --------------------------------------------------------- */

/* Sample covariance of n draws of p normals with a few common factors. */
static double *random_covariance(size_t p, size_t n, uint64_t seed)
{
    rng r = rng_seed(seed, 1);
    double *X = calloc(n * p, sizeof *X), *S = matrix(p);
    for (size_t k = 0; k < n; k++) {
        double f = rng_normal(&r), g = rng_normal(&r);
        for (size_t i = 0; i < p; i++)
            X[k + i * n] = f * sin(0.1 * (double)i) + g * cos(0.3 * (double)i) + rng_normal(&r);
    }
    blas_gram_lower(p, n, 1.0 / (double)n, X, n, 0.0, S, p);
    make_symmetric(p, S);
    free(X);
    return S;
}

/* Experts placed on a line whose means agree to 0.999 with their neighbours',
 * of variances 0.001 to 1; the last `repeats` repeat the first exactly. */
static double *expert_covariance(size_t p, size_t repeats)
{
    double *S = matrix(p);
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++) {
            size_t a = i < p - repeats ? i : i - (p - repeats);
            size_t b = j < p - repeats ? j : j - (p - repeats);
            double d = (double)a - (double)b;
            double spread = pow(10.0, -1.5 * fabs(sin((double)a)) - 1.5 * fabs(sin((double)b)));
            S[i + j * p] = spread * (0.3 + 0.7 * exp(-0.5 * d * d * 0.0028));
        }
    return S;
}

static double largest_off_diagonal(size_t p, const double *S)
{
    double largest = 0.0;
    for (size_t j = 0; j < p; j++)
        for (size_t i = j + 1; i < p; i++)
            largest = fmax(largest, fabs(S[i + j * p]));
    return largest;
}

/* ---- optimality ---------------------------------------------------------- */

static void random_matrices_are_optimal(void **state)
{
    (void)state;
    const size_t sizes[] = {3, 17, 40, 80};
    for (size_t t = 0; t < 4; t++) {
        size_t p = sizes[t];
        double *S = random_covariance(p, 2 * p, 7 + t), *omega = matrix(p);
        glasso_result r;
        for (double lambda = 0.5; lambda > 0.01; lambda /= 4.0) {
            solve_and_check(p, S, lambda, 0, omega, &r);
            solve_and_check(p, S, lambda, 1, omega, &r);
        }
        free(S);
        free(omega);
    }
}

static void nearly_singular_matrices_are_optimal(void **state)
{
    (void)state;
    size_t p = 60;
    double *S = expert_covariance(p, 0), *omega = matrix(p), largest = largest_off_diagonal(p, S);
    glasso_result r;
    solve_and_check(p, S, 0.1 * largest, 0, omega, &r);
    solve_and_check(p, S, 0.01 * largest, 0, omega, &r);
    solve_and_check(p, S, 0.001 * largest, 0, omega, &r);
    solve_and_check(p, S, 0.01 * largest, 1, omega, &r);
    free(S);
    free(omega);
}

static void repeated_experts_are_optimal(void **state)
{
    (void)state;
    size_t p = 30;
    double *S = expert_covariance(p, 12), *omega = matrix(p);
    glasso_result r;
    solve_and_check(p, S, 0.1 * largest_off_diagonal(p, S), 0, omega, &r);
    solve_and_check(p, S, 0.005 * largest_off_diagonal(p, S), 0, omega, &r);
    solve_and_check(p, S, 0.1 * largest_off_diagonal(p, S), 1, omega, &r);
    for (size_t k = 0; k < p * p; k++)
        S[k] = 0.7; /* all experts are one */
    solve_and_check(p, S, 0.07, 0, omega, &r);
    solve_and_check(p, S, 0.07, 1, omega, &r);
    free(S);
    free(omega);
}

static void units_do_not_matter(void **state)
{
    (void)state;
    size_t p = 25;
    double *S = random_covariance(p, 60, 3), *one = matrix(p), *other = matrix(p);
    for (double unit = 1e-150; unit < 1e151; unit *= 1e100) {
        glasso_options o = tight(0.1);
        double *scaled = matrix(p);
        assert_int_equal(glasso(p, S, &o, one, NULL), QUORUM_OK);
        for (size_t k = 0; k < p * p; k++)
            scaled[k] = S[k] * unit;
        o.lambda *= unit;
        assert_int_equal(glasso(p, scaled, &o, other, NULL), QUORUM_OK);
        for (size_t k = 0; k < p * p; k++)
            assert_true(fabs(other[k] * unit - one[k]) < 1e-5);
        free(scaled);
    }
    free(S);
    free(one);
    free(other);
}

/* ---- closed forms -------------------------------------------------------- */

static void one_expert_and_zero_have_closed_forms(void **state)
{
    (void)state;
    double S = 0.3, omega, zeros[16] = {0}, diagonal[16];
    glasso_options o = glasso_defaults(0.1);
    glasso_result r;
    assert_int_equal(glasso(1, &S, &o, &omega, &r), QUORUM_OK);
    assert_true(fabs(omega - 1.0 / 0.4) < 1e-14);
    assert_true(fabs(r.objective - (log(omega) - 1.0)) < 1e-14);
    o.free_diagonal = 1;
    assert_int_equal(glasso(1, &S, &o, &omega, &r), QUORUM_OK);
    assert_true(fabs(omega - 1.0 / 0.3) < 1e-14);
    o.free_diagonal = 0;
    assert_int_equal(glasso(4, zeros, &o, diagonal, &r), QUORUM_OK);
    assert_int_equal(r.edges, 0);
    assert_int_equal(r.components, 4);
    for (size_t i = 0; i < 16; i++)
        assert_true(fabs(diagonal[i] - (i % 5 == 0 ? 10.0 : 0.0)) < 1e-12);
}

/* W = S + lambda sign on the edge, so Omega is a 2 x 2 inverse. */
static void two_experts_have_a_closed_form(void **state)
{
    (void)state;
    const double S[4] = {1.0, -0.6, -0.6, 0.5};
    double omega[4];
    glasso_result r;
    solve_and_check(2, S, 0.1, 0, omega, &r);
    double a = 1.1, b = 0.6, c = -0.5, determinant = a * b - c * c;
    assert_true(fabs(omega[0] - b / determinant) < 1e-9);
    assert_true(fabs(omega[3] - a / determinant) < 1e-9);
    assert_true(fabs(omega[1] + c / determinant) < 1e-9);
    double expected = -log(determinant) - 2.0;
    assert_true(fabs(r.objective - expected) < 1e-9);
    assert_int_equal(r.edges, 1);
    solve_and_check(2, S, 0.6, 0, omega, &r); /* lambda = |S_12|: no edge */
    assert_int_equal(r.edges, 0);
    assert_int_equal(r.components, 2);
}

static void no_penalty_gives_the_inverse(void **state)
{
    (void)state;
    size_t p = 20;
    double *S = random_covariance(p, 100, 5), *omega = matrix(p), *expected = inverse(p, S);
    glasso_options o = glasso_defaults(0.0);
    glasso_result r;
    assert_int_equal(glasso(p, S, &o, omega, &r), QUORUM_OK);
    for (size_t k = 0; k < p * p; k++)
        assert_true(fabs(omega[k] - expected[k]) < 1e-9);
    free(S);
    free(omega);
    free(expected);
}

/* ---- known graphs -------------------------------------------------------- */

/* S = Omega^-1 - lambda sign(Omega), so that Omega itself is the solution. */
static double *covariance_solved_by(size_t p, const double *omega, double lambda)
{
    double *S = inverse(p, omega);
    for (size_t k = 0; k < p * p; k++)
        if (omega[k] != 0.0)
            S[k] -= copysign(lambda, omega[k]);
    return S;
}

static void recovers(size_t p, const double *truth, double lambda, size_t components)
{
    double *S = covariance_solved_by(p, truth, lambda), *omega = matrix(p);
    glasso_result r;
    solve_and_check(p, S, lambda, 0, omega, &r);
    for (size_t k = 0; k < p * p; k++) {
        assert_int_equal(omega[k] != 0.0, truth[k] != 0.0);
        assert_true(fabs(omega[k] - truth[k]) < 1e-6);
    }
    assert_int_equal(r.components, components);
    free(S);
    free(omega);
}

static void set_edge(size_t p, double *omega, size_t i, size_t j, double value)
{
    omega[i + j * p] = omega[j + i * p] = value;
}

static double *identity(size_t p)
{
    double *omega = matrix(p);
    for (size_t i = 0; i < p; i++)
        omega[i + i * p] = 1.0;
    return omega;
}

static void a_chain_is_recovered(void **state)
{
    (void)state;
    size_t p = 40;
    double *omega = identity(p);
    for (size_t i = 0; i + 1 < p; i++)
        set_edge(p, omega, i, i + 1, i % 3 == 0 ? 0.4 : -0.45);
    recovers(p, omega, 0.01, 1);
    free(omega);
}

static void a_star_is_recovered(void **state)
{
    (void)state;
    size_t p = 30;
    double *omega = identity(p);
    for (size_t i = 1; i < p; i++)
        set_edge(p, omega, 0, i, -0.16);
    recovers(p, omega, 0.01, 1);
    free(omega);
}

static void blocks_are_recovered(void **state)
{
    (void)state;
    size_t p = 24;
    double *omega = identity(p);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < i; j++)
            if (i % 3 == j % 3 && i % 3 != 2) /* two full blocks, interleaved, and 8 singles */
                set_edge(p, omega, i, j, -0.1);
    recovers(p, omega, 0.02, 2 + 8);
    free(omega);
}

static void screening_numbers_components_in_order(void **state)
{
    (void)state;
    double S[25] = {0};
    size_t component[5];
    set_edge(5, S, 4, 1, 0.5);
    set_edge(5, S, 2, 4, -0.5);
    set_edge(5, S, 0, 3, 0.1);
    assert_int_equal(screened_components(5, S, 0.1, component), 3);
    const size_t expected[5] = {0, 1, 1, 2, 1};
    assert_memory_equal(component, expected, sizeof expected);
}

/* ---- gap and warm starts ------------------------------------------------- */

static void the_gap_is_honest(void **state)
{
    (void)state;
    size_t p = 50;
    double *S = expert_covariance(p, 5), *omega = matrix(p);
    glasso_options o = tight(0.02 * largest_off_diagonal(p, S));
    glasso_result best, rough;
    assert_int_equal(glasso(p, S, &o, omega, &best), QUORUM_OK);
    for (double tolerance = 1e-1; tolerance > 1e-9; tolerance *= 0.1) {
        o.tolerance = tolerance;
        assert_int_equal(glasso(p, S, &o, omega, &rough), QUORUM_OK);
        assert_true(rough.gap <= tolerance * fmax(1.0, fabs(rough.objective)));
        double missing = best.objective - rough.objective;
        assert_true(missing >= -best.gap - 1e-11 && missing <= rough.gap + 1e-11);
    }
    o = tight(o.lambda);
    o.max_iterations = 1; /* not reached: said, with the point and its gap */
    assert_int_equal(glasso(p, S, &o, omega, &rough), QUORUM_E_NUMERIC);
    assert_non_null(strstr(quorum_message(), "duality gap"));
    assert_true(best.objective - rough.objective <= rough.gap && rough.gap > 1e-6);
    free(S);
    free(omega);
}

/* Two components whose objectives cancel: the gap of the sum is held although
 * each component's own is large next to it. */
static void cancelling_components_reach_the_tolerance(void **state)
{
    (void)state;
    size_t p = 40, half = 20;
    double *A = random_covariance(half, 30, 11), *S = matrix(p), *omega = matrix(p), unit = 0.03;
    glasso_result r = {0};
    for (int adjust = 0; adjust < 8; adjust++) {
        glasso_options o = tight(0.004);
        unit *= exp(r.objective / (double)half);
        for (size_t j = 0; j < half; j++)
            for (size_t i = 0; i < half; i++) {
                S[i + j * p] = A[i + j * half];
                S[i + half + (j + half) * p] = unit * A[i + j * half];
            }
        assert_int_equal(glasso(p, S, &o, omega, &r), QUORUM_OK);
    }
    assert_int_equal(r.components, 2);
    assert_true(fabs(r.objective) < 0.5);
    for (double tolerance = 1e-1; tolerance > 1e-8; tolerance *= 0.3) {
        glasso_options o = glasso_defaults(0.004);
        o.tolerance = tolerance;
        assert_int_equal(glasso(p, S, &o, omega, &r), QUORUM_OK);
        assert_true(r.gap <= tolerance * fmax(1.0, fabs(r.objective)));
    }
    free(A);
    free(S);
    free(omega);
}

static void warm_starts_give_the_same_solution(void **state)
{
    (void)state;
    size_t p = 60;
    double *S = expert_covariance(p, 6), *warm = matrix(p), *cold = matrix(p);
    double largest = largest_off_diagonal(p, S);
    const double ratios[] = {0.5, 0.3, 0.2, 0.1, 0.15, 0.9};
    for (size_t k = 0; k < 6; k++) {
        glasso_options o = tight(ratios[k] * largest);
        glasso_result from_cold, from_warm;
        assert_int_equal(glasso(p, S, &o, cold, &from_cold), QUORUM_OK);
        o.start = warm; /* in place; at first all zero, which is put aside */
        assert_int_equal(glasso(p, S, &o, warm, &from_warm), QUORUM_OK);
        assert_true(kkt_violation(p, S, o.lambda, 0, warm) < 1e-6);
        assert_true(fabs(from_cold.objective - from_warm.objective) < 1e-11);
        for (size_t i = 0; i < p * p; i++)
            assert_true(fabs(cold[i] - warm[i]) < 1e-4 * fabs(cold[0]));
    }
    free(S);
    free(cold);
    free(warm);
}

static void warm_starts_save_work(void **state)
{
    (void)state;
    size_t p = 60;
    double *S = expert_covariance(p, 0), *warm = matrix(p), *cold = matrix(p);
    double largest = largest_off_diagonal(p, S);
    int cold_sweeps = 0, warm_sweeps = 0;
    for (double ratio = 0.1; ratio > 0.01; ratio *= 0.8) {
        glasso_options o = glasso_defaults(ratio * largest);
        glasso_result r;
        assert_int_equal(glasso(p, S, &o, cold, &r), QUORUM_OK);
        cold_sweeps += r.iterations;
        o.start = warm;
        assert_int_equal(glasso(p, S, &o, warm, &r), QUORUM_OK);
        warm_sweeps += r.iterations;
    }
    assert_true(warm_sweeps < cold_sweeps);
    free(S);
    free(cold);
    free(warm);
}

static void useless_starts_are_put_aside(void **state)
{
    (void)state;
    size_t p = 20;
    double *S = expert_covariance(p, 2), *omega = matrix(p), *cold = matrix(p);
    const double fills[] = {NAN, -1.0, INFINITY, 0.0};
    glasso_options o = glasso_defaults(0.1 * largest_off_diagonal(p, S));
    assert_int_equal(glasso(p, S, &o, cold, NULL), QUORUM_OK);
    o.start = omega;
    for (size_t f = 0; f < 4; f++) {
        for (size_t k = 0; k < p * p; k++)
            omega[k] = fills[f];
        assert_int_equal(glasso(p, S, &o, omega, NULL), QUORUM_OK);
        assert_memory_equal(omega, cold, p * p * sizeof *cold);
    }
    free(S);
    free(omega);
    free(cold);
}

/* ---- refusals ------------------------------------------------------------ */

static void what_has_no_solution_is_refused(void **state)
{
    (void)state;
    const double repeated[4] = {1.0, 1.0, 1.0, 1.0}, indefinite[4] = {1.0, 2.0, 2.0, 1.0};
    const double dead[4] = {1.0, 0.0, 0.0, 0.0};
    double omega[4];
    glasso_options o = glasso_defaults(0.0);
    o.free_diagonal = 1;
    assert_int_equal(glasso(2, repeated, &o, omega, NULL), QUORUM_E_NUMERIC);
    assert_non_null(strstr(quorum_message(), "singular"));
    o.free_diagonal = 0;
    assert_int_equal(glasso(2, repeated, &o, omega, NULL), QUORUM_E_NUMERIC);
    o.lambda = 0.1;
    assert_int_equal(glasso(2, repeated, &o, omega, NULL), QUORUM_OK);
    assert_int_equal(glasso(2, indefinite, &o, omega, NULL), QUORUM_E_NUMERIC);
    assert_non_null(strstr(quorum_message(), "semidefinite"));
    o.free_diagonal = 1;
    assert_int_equal(glasso(2, dead, &o, omega, NULL), QUORUM_E_NUMERIC);
    assert_non_null(strstr(quorum_message(), "variance is zero"));
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    const double good[4] = {1.0, 0.5, 0.5, 1.0};
    double omega[4], lambda;
    glasso_options o = glasso_defaults(0.1);
    assert_int_equal(glasso(2, good, &o, omega, NULL), QUORUM_OK);
    assert_int_equal(glasso(0, good, &o, omega, NULL), QUORUM_E_ARGUMENT);
    assert_int_equal(glasso(2, NULL, &o, omega, NULL), QUORUM_E_ARGUMENT);
    assert_int_equal(glasso(2, good, NULL, omega, NULL), QUORUM_E_ARGUMENT);
    assert_int_equal(glasso(2, good, &o, NULL, NULL), QUORUM_E_ARGUMENT);
    const double bad_lambdas[] = {-0.1, NAN, INFINITY};
    for (size_t k = 0; k < 3; k++) {
        o.lambda = bad_lambdas[k];
        assert_int_equal(glasso(2, good, &o, omega, NULL), QUORUM_E_ARGUMENT);
        assert_int_equal(neighbourhood_lasso(2, good, o.lambda, omega, NULL), QUORUM_E_ARGUMENT);
    }
    o = glasso_defaults(0.1);
    const double bad[][4] = {{NAN, 0.5, 0.5, 1.0},
                             {1.0, INFINITY, INFINITY, 1.0},
                             {1.0, 0.5, 0.4, 1.0},
                             {1.0, 0.0, 0.0, -1.0}};
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(glasso(2, bad[k], &o, omega, NULL), QUORUM_E_ARGUMENT);
        assert_int_equal(neighbourhood_lasso(2, bad[k], 0.1, omega, NULL), QUORUM_E_ARGUMENT);
        assert_int_equal(glasso_ebic(2, bad[k], 9, 0, 3, 0.1, &lambda, NULL, NULL),
                         QUORUM_E_ARGUMENT);
    }
    o.tolerance = 0.0;
    assert_int_equal(glasso(2, good, &o, omega, NULL), QUORUM_E_ARGUMENT);
    o = glasso_defaults(0.1);
    o.max_iterations = 0;
    assert_int_equal(glasso(2, good, &o, omega, NULL), QUORUM_E_ARGUMENT);
    assert_int_equal(glasso_ebic(2, good, 0, 0, 3, 0.1, &lambda, NULL, NULL), QUORUM_E_ARGUMENT);
    assert_int_equal(glasso_ebic(2, good, 9, 0, 0, 0.1, &lambda, NULL, NULL), QUORUM_E_ARGUMENT);
    assert_int_equal(glasso_ebic(2, good, 9, 0, 3, 0.0, &lambda, NULL, NULL), QUORUM_E_ARGUMENT);
    assert_int_equal(glasso_ebic(2, good, 9, 0, 3, 0.1, NULL, NULL, NULL), QUORUM_E_ARGUMENT);
}

/* ---- neighbourhood selection --------------------------------------------- */

/* One variable's lasso by plain coordinate descent, slow and simple. */
static void reference_lasso(size_t p, const double *S, double lambda, size_t i, double *b)
{
    memset(b, 0, p * sizeof *b);
    double moved = 1.0;
    for (int pass = 0; pass < 100000 && moved > 1e-13; pass++) {
        moved = 0.0;
        for (size_t j = 0; j < p; j++) {
            if (j == i || S[j + j * p] == 0.0)
                continue;
            double rest = S[j + i * p] - vec_dot(p, S + j * p, b) + S[j + j * p] * b[j];
            double next = copysign(fmax(0.0, fabs(rest) - lambda), rest) / S[j + j * p];
            moved = fmax(moved, fabs(next - b[j]));
            b[j] = next;
        }
    }
}

static void each_neighbourhood_is_its_lasso(void **state)
{
    (void)state;
    size_t p = 30, edges = 0, expected_edges = 0;
    double *S = random_covariance(p, 60, 17), *omega = matrix(p), *B = matrix(p), t[30];
    double lambda = 0.1;
    assert_int_equal(neighbourhood_lasso(p, S, lambda, omega, &edges), QUORUM_OK);
    for (size_t i = 0; i < p; i++) {
        double *b = B + i * p;
        reference_lasso(p, S, lambda, i, b);
        double residual = S[i + i * p] - 2.0 * vec_dot(p, b, S + i * p);
        for (size_t j = 0; j < p; j++)
            residual += b[j] * vec_dot(p, b, S + j * p);
        t[i] = 1.0 / (residual + lambda);
    }
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++) {
            double weight = i == j ? t[i] : -0.5 * (B[j + i * p] * t[i] + B[i + j * p] * t[j]);
            assert_true(fabs(omega[i + j * p] - weight) < 1e-6);
            expected_edges += i < j && (B[j + i * p] != 0.0 || B[i + j * p] != 0.0);
        }
    assert_int_equal(edges, expected_edges);
    assert_true(edges > p && edges < p * (p - 1) / 2);
    free(S);
    free(omega);
    free(B);
}

/* p = 2: b = soft(S_12, lambda) / S_jj. */
static void neighbourhoods_of_two_have_a_closed_form(void **state)
{
    (void)state;
    const double S[4] = {1.0, -0.6, -0.6, 0.5};
    double omega[4];
    size_t edges;
    assert_int_equal(neighbourhood_lasso(2, S, 0.1, omega, &edges), QUORUM_OK);
    double b0 = -0.5 / 0.5, b1 = -0.5; /* of 0 on 1, of 1 on 0 */
    double t0 = 1.0 / (1.0 + 1.2 * b0 + b0 * b0 * 0.5 + 0.1);
    double t1 = 1.0 / (0.5 + 1.2 * b1 + b1 * b1 * 1.0 + 0.1);
    assert_int_equal(edges, 1);
    assert_true(fabs(omega[0] - t0) < 1e-12 && fabs(omega[3] - t1) < 1e-12);
    assert_true(fabs(omega[1] + 0.5 * (b0 * t0 + b1 * t1)) < 1e-12);
}

static void neighbourhoods_survive_singular_matrices(void **state)
{
    (void)state;
    size_t p = 50, edges;
    double *S = expert_covariance(p, 20), *omega = matrix(p);
    for (double ratio = 0.1; ratio > 1e-5; ratio *= 0.1) {
        double lambda = ratio * largest_off_diagonal(p, S);
        assert_int_equal(neighbourhood_lasso(p, S, lambda, omega, &edges), QUORUM_OK);
        for (size_t k = 0; k < p * p; k++)
            assert_true(isfinite(omega[k]));
    }
    memset(S, 0, p * p * sizeof *S);
    assert_int_equal(neighbourhood_lasso(p, S, 0.5, omega, &edges), QUORUM_OK);
    assert_int_equal(edges, 0);
    assert_true(omega[0] == 2.0);
    assert_int_equal(neighbourhood_lasso(p, S, 0.0, omega, &edges), QUORUM_E_NUMERIC);
    free(S);
    free(omega);
}

/* ---- lambda by extended BIC ---------------------------------------------- */

/* Sample covariance of n normal draws with precision `truth`, by Bartlett's
 * factor: L A A' L' / n, A lower triangular with normals below a diagonal of
 * square roots of chi-squares, which for this n are normal too. */
static double *sample_covariance(size_t p, double n, const double *truth, uint64_t seed)
{
    double *sigma = inverse(p, truth), *A = matrix(p), *LA = matrix(p), *S = matrix(p);
    rng r = rng_seed(seed, 1);
    assert_int_equal(blas_cholesky(p, sigma, p), 0);
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++) {
            if (i < j)
                sigma[i + j * p] = 0.0;
            else
                A[i + j * p] = i == j ? sqrt(n + sqrt(2.0 * n) * rng_normal(&r)) : rng_normal(&r);
        }
    blas_gemm('N', 'N', p, p, p, 1.0, sigma, p, A, p, 0.0, LA, p);
    blas_outer_lower(p, p, 1.0 / n, LA, p, 0.0, S, p);
    make_symmetric(p, S);
    free(sigma);
    free(A);
    free(LA);
    return S;
}

static void ebic_finds_a_chain(void **state)
{
    (void)state;
    size_t p = 8, n = 100000000;
    double *truth = identity(p), *omega = matrix(p), lambda, lambdas[40], scores[40];
    for (size_t i = 0; i + 1 < p; i++)
        set_edge(p, truth, i, i + 1, -0.25);
    double *S = sample_covariance(p, (double)n, truth, 3);
    assert_int_equal(glasso_ebic(p, S, n, 1, 40, 1e-5, &lambda, lambdas, scores), QUORUM_OK);
    glasso_options o = glasso_defaults(lambda);
    o.tolerance = 1e-12;
    o.free_diagonal = 1;
    assert_int_equal(glasso(p, S, &o, omega, NULL), QUORUM_OK);
    for (size_t k = 0; k < p * p; k++)
        assert_int_equal(omega[k] != 0.0, truth[k] != 0.0);
    assert_true(fabs(lambdas[0] - largest_off_diagonal(p, S)) < 1e-15);
    assert_true(fabs(lambdas[39] - 1e-5 * lambdas[0]) < 1e-15);
    for (size_t k = 0; k < 40; k++)
        assert_true(isfinite(scores[k]));
    free(truth);
    free(omega);
    free(S);
}

/* The score at one lambda, term by term. */
static void ebic_scores_follow_the_formula(void **state)
{
    (void)state;
    size_t p = 20, n = 50;
    double *S = random_covariance(p, n, 23), *omega = matrix(p), lambda, lambdas[5], scores[5];
    for (int free_diagonal = 0; free_diagonal < 2; free_diagonal++) {
        assert_int_equal(glasso_ebic(p, S, n, free_diagonal, 5, 0.1, &lambda, lambdas, scores),
                         QUORUM_OK);
        double best = scores[0];
        for (size_t k = 0; k < 5; k++) {
            glasso_options o = tight(lambdas[k]);
            glasso_result r;
            double trace = 0.0, determinant = 0.0;
            o.free_diagonal = free_diagonal;
            assert_int_equal(glasso(p, S, &o, omega, &r), QUORUM_OK);
            for (size_t j = 0; j < p; j++)
                trace += vec_dot(p, S + j * p, omega + j * p);
            blas_cholesky(p, omega, p);
            for (size_t j = 0; j < p; j++)
                determinant += 2.0 * log(omega[j + j * p]);
            double e = (double)r.edges, fit = -(double)n * (determinant - trace);
            double expected = fit + e * log((double)n) + 2.0 * e * log((double)p);
            assert_true(fabs(scores[k] - expected) < 0.05);
            best = fmin(best, scores[k]);
        }
        for (size_t k = 0; k < 5; k++)
            assert_true(lambdas[k] != lambda || scores[k] == best);
    }
    memset(S, 0, p * p * sizeof *S);
    assert_int_equal(glasso_ebic(p, S, n, 0, 5, 0.1, &lambda, lambdas, scores), QUORUM_OK);
    assert_true(lambda == 0.0 && scores[4] == 0.0);
    free(S);
    free(omega);
}

/* ---- memory and determinism ---------------------------------------------- */

static void the_same_bits_every_time(void **state)
{
    (void)state;
    size_t p = 70;
    double *S = expert_covariance(p, 3), *one = matrix(p), *other = matrix(p);
    glasso_options o = glasso_defaults(0.02 * largest_off_diagonal(p, S));
    assert_int_equal(glasso(p, S, &o, one, NULL), QUORUM_OK);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(glasso(p, S, &o, other, NULL), QUORUM_OK);
        assert_memory_equal(one, other, p * p * sizeof *one);
    }
    free(S);
    free(one);
    free(other);
}

static quorum_status call_everything(size_t p, const double *S, double *omega)
{
    glasso_options o = glasso_defaults(0.1 * largest_off_diagonal(p, S));
    double lambda;
    TRY(glasso(p, S, &o, omega, NULL));
    TRY(neighbourhood_lasso(p, S, o.lambda, omega, NULL));
    return glasso_ebic(p, S, 100, 0, 3, 0.1, &lambda, NULL, NULL);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    size_t p = 12;
    double *S = expert_covariance(p, 2), *omega = matrix(p);
    mem_fail_at(0);
    assert_int_equal(call_everything(p, S, omega), QUORUM_OK);
    long needed = mem_allocations();
    assert_true(needed > 10);
    for (long n = 1; n <= needed; n++) {
        mem_fail_at(n);
        assert_int_equal(call_everything(p, S, omega), QUORUM_E_MEMORY);
        assert_non_null(strstr(quorum_message(), "out of memory"));
    }
    mem_fail_at(0);
    assert_int_equal(call_everything(p, S, omega), QUORUM_OK);
    free(S);
    free(omega);
}

/* ---- the public function --------------------------------------------------- */

static void the_public_function_is_the_same(void **state)
{
    (void)state;
    size_t p = 20;
    double *S = expert_covariance(p, 3), *ours = matrix(p), *theirs = matrix(p);
    glasso_options o = glasso_defaults(0.1 * largest_off_diagonal(p, S));
    o.tolerance = 1e-10;
    for (o.free_diagonal = 0; o.free_diagonal <= 1; o.free_diagonal++) {
        assert_int_equal(glasso(p, S, &o, ours, NULL), QUORUM_OK);
        assert_int_equal(quorum_graphical_lasso(p, S, o.lambda, o.free_diagonal, theirs),
                         QUORUM_OK);
        assert_memory_equal(ours, theirs, p * p * sizeof *ours);
    }
    assert_int_equal(quorum_graphical_lasso(p, S, -1.0, 0, theirs), QUORUM_E_ARGUMENT);
    assert_non_null(strstr(quorum_message(), "lambda"));
    assert_true(isnan(theirs[0]) && isnan(theirs[p * p - 1]));
    assert_int_equal(quorum_graphical_lasso(p, NULL, 1.0, 0, theirs), QUORUM_E_ARGUMENT);
    free(S);
    free(ours);
    free(theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_matrices_are_optimal),
        cmocka_unit_test(nearly_singular_matrices_are_optimal),
        cmocka_unit_test(repeated_experts_are_optimal),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(one_expert_and_zero_have_closed_forms),
        cmocka_unit_test(two_experts_have_a_closed_form),
        cmocka_unit_test(no_penalty_gives_the_inverse),
        cmocka_unit_test(a_chain_is_recovered),
        cmocka_unit_test(a_star_is_recovered),
        cmocka_unit_test(blocks_are_recovered),
        cmocka_unit_test(screening_numbers_components_in_order),
        cmocka_unit_test(the_gap_is_honest),
        cmocka_unit_test(cancelling_components_reach_the_tolerance),
        cmocka_unit_test(warm_starts_give_the_same_solution),
        cmocka_unit_test(warm_starts_save_work),
        cmocka_unit_test(useless_starts_are_put_aside),
        cmocka_unit_test(what_has_no_solution_is_refused),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(each_neighbourhood_is_its_lasso),
        cmocka_unit_test(neighbourhoods_of_two_have_a_closed_form),
        cmocka_unit_test(neighbourhoods_survive_singular_matrices),
        cmocka_unit_test(ebic_finds_a_chain),
        cmocka_unit_test(ebic_scores_follow_the_formula),
        cmocka_unit_test(the_same_bits_every_time),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_public_function_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
