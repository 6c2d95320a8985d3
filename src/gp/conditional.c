/* Negative log likelihood of rows B given rows N, and its gradient.
 *
 * With C = L L' over (N, B), N first, w = L^-1 y, s = |B|, q = |w|^2 and q_N = |w_N|^2:
 *   -log p(y_B | y_N) = 1/2 (q - q_N) + sum_{i in B} log L_ii + s/2 log 2pi
 * The factor of N is L's leading block, so with U (m x s) the last s columns of L^-T
 *   C^-1 - C_N^-1 = U U',     alpha = L^-T w,     alpha_N = L_N^-T w_N
 * and the gradients of likelihood.c hold with
 *   A = U U' - (a alpha alpha' - b alpha_N alpha_N'),     a = b = 1
 * (matrices of N's size are zero elsewhere).
 *
 * With a scale of their own, C is tau C and nu / tau is chi^2 with nu degrees of freedom; over
 * tau the rows are a Student t's:
 *   -log p(y_B | y_N) = (nu + m)/2 log(nu + q) - (nu + m - s)/2 log(nu + q_N)
 *                       + sum_{i in B} log L_ii + s/2 log pi
 *                       + lgamma((nu + m - s)/2) - lgamma((nu + m)/2)
 *   a = (nu + m) / (nu + q),     b = (nu + m - s) / (nu + q_N)
 *
 * Rows with weights: the rows that m and s count are those that they count as, and what repeated rows
 * of B say by themselves is added (gp/noise.h). */
#include "gp/conditional.h"

#include "gp/covariance.h"
#include "linalg/blas.h"
#include "linalg/clones.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* w_i = w_i - a_i a_j + b_i b_j down one column of the lower triangle. */
CLONED
static void change_column(size_t n, const double *restrict a, const double *restrict b,
                          double *restrict w)
{
    double a_j = a[0], b_j = b[0];
    for (size_t i = 0; i < n; i++)
        w[i] = w[i] - a[i] * a_j + b[i] * b_j;
}

/* The last s columns of L^-T, m x s, into U. */
static void last_columns(size_t m, size_t s, const double *L, double *U)
{
    for (size_t j = 0; j < s; j++) {
        memset(U + j * m, 0, m * sizeof *U);
        U[j * m + m - s + j] = 1.0;
    }
    blas_solve_lower_transposed(m, s, L, m, U, m);
}

/* What the data say of the rows' scale: of all of them, and of those given. */
typedef struct {
    double q, q_N; /* |w|^2, |w_N|^2             */
    double a, b;   /* weights of alpha, alpha_N  */
} data_fit;

/* The terms of -log p(y_B | y_N) that the data enter, and the weights of their gradient. */
static double data_terms(double nu, const row_set *rows, size_t given, data_fit *f)
{
    row_set first = rows_view(rows, 0, given);
    double s = count_weights(rows, given), before = nu + count_weights(&first, 0), all = before + s;
    int sign;
    f->a = f->b = 1.0;
    if (nu <= 0.0)
        return 0.5 * (f->q - f->q_N) + 0.5 * s * log(2.0 * M_PI);
    f->a = all / (nu + f->q);
    f->b = before / (nu + f->q_N);
    return 0.5 * all * log(nu + f->q) - 0.5 * before * log(nu + f->q_N) + 0.5 * s * log(M_PI) +
           lgamma_r(0.5 * before, &sign) - lgamma_r(0.5 * all, &sign);
}

static void multiply(size_t n, double factor, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

/* ws->alpha holds w on entry. */
static void fill_gradient(const hyper *theta, const row_set *data, size_t given,
                          likelihood_space *ws, const data_fit *f, double *gradient)
{
    size_t m = data->n, s = m - given, D = ws->D;
    row_set before = rows_view(data, 0, given);
    double *U = ws->inverse, *alpha = ws->alpha;
    double *alpha_N = ws->side; /* free until the length-scales' turn */
    last_columns(m, s, ws->C, U);
    memset(alpha_N, 0, m * sizeof *alpha_N);
    memcpy(alpha_N, alpha, given * sizeof *alpha_N);
    if (given)
        blas_solve_lower_transposed(given, 1, ws->C, m, alpha_N, m);
    blas_solve_lower_transposed(m, 1, ws->C, m, alpha, m);
    multiply(m, sqrt(f->a), alpha);
    multiply(given, sqrt(f->b), alpha_N);
    double trace =
        noise_square(data, s, U) - noise_square(data, 1, alpha) + noise_square(&before, 1, alpha_N);
    double known =
        known_square(data, s, U) - known_square(data, 1, alpha) + known_square(&before, 1, alpha_N);
    double repeated;
    repeated_rows(theta, data, given, &repeated);
    gradient[D] = 0.5 * ((double)s - (f->a * f->q - f->b * f->q_N) - theta->noise * trace - known);
    gradient[D + 1] = 0.5 * theta->noise * trace + repeated;
    double *W = ws->C; /* the factor is not needed any more */
    blas_outer_lower(m, s, 1.0, U, m, 0.0, W, m);
    double shape[MOST_SHAPES] = {0};
    for (size_t j = 0; j < m; j++) {
        change_column(m - j, alpha + j, alpha_N + j, W + j * m + j);
        weigh_by_slopes(m, j, &ws->slopes, W, shape);
    }
    lengthscale_gradient(m, W, ws, gradient);
    keep_shape(theta->kernel, D, shape, gradient);
}

quorum_status negative_log_conditional(const hyper *theta, const row_set *data, size_t given,
                                       double nu, likelihood_space *ws, double *value,
                                       double *gradient)
{
    size_t m = data->n;
    assert(given < m && m <= ws->room && data->D == ws->D);
    scale_about_mean(theta, data, ws);
    TRY(covariance_self(theta, &ws->Z, ws->C, gradient ? &ws->slopes : NULL, 1));
    for (size_t i = 0; i < m; i++)
        ws->C[i * m + i] += noise_of(theta, data, i);
    if (blas_cholesky(m, ws->C, m))
        return failure(QUORUM_E_NUMERIC,
                       "the covariance matrix of %zu rows is not positive definite", m);
    memcpy(ws->alpha, data->y, m * sizeof *ws->alpha);
    blas_solve_lower(m, 1, ws->C, m, ws->alpha, m);
    data_fit f = {.q_N = vec_dot(given, ws->alpha, ws->alpha)};
    f.q = f.q_N + vec_dot(m - given, ws->alpha + given, ws->alpha + given);
    double half_log_det = 0.0;
    for (size_t i = given; i < m; i++)
        half_log_det += log(ws->C[i * m + i]);
    double slope;
    *value =
        half_log_det + data_terms(nu, data, given, &f) + repeated_rows(theta, data, given, &slope);
    if (gradient)
        fill_gradient(theta, data, given, ws, &f, gradient);
    return QUORUM_OK;
}
