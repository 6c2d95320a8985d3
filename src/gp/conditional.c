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
#include "linalg/lanes.h"
#include "linalg/packed_triangle.h"

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

/* Column k of what is solved with L': w, w_N, then the last s columns of the unit matrix. */
static double right_side(size_t m, size_t given, const double *w, size_t k, size_t i)
{
    if (i >= m)
        return 0.0;
    return k == 0 ? w[i] : k == 1 ? (i < given ? w[i] : 0.0) : (i == given + k - 2);
}

/* alpha = L^-T w, alpha_N = L_N^-T w_N and U (m x s), the last s columns of L^-T, eight of them at a time.
 * alpha holds w on entry; X: room for eight abreast. */
static void solve_back(size_t m, size_t given, const double *packed, double *X, double *alpha,
                       double *alpha_N, double *U)
{
    size_t rows = packed_triangle_abreast(m) / LANES, columns = m - given + 2;
    for (size_t first = 0; first < columns; first += LANES) {
        for (size_t i = 0; i < rows; i++)
            for (size_t k = 0; k < LANES; k++)
                X[i * LANES + k] = right_side(m, given, alpha, first + k, i);
        packed_triangle_solve_transposed(m, packed, X);
        for (size_t k = first; k < columns && k < first + LANES; k++) {
            double *to = k == 0 ? alpha : k == 1 ? alpha_N : U + (k - 2) * m;
            for (size_t i = 0; i < m; i++)
                to[i] = X[i * LANES + k - first];
        }
    }
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

/* ws->alpha holds w on entry, ws->inverse the factor. */
static void fill_gradient(const hyper *theta, const row_set *data, size_t given,
                          likelihood_space *ws, const data_fit *f, double *gradient)
{
    size_t m = data->n, s = m - given, D = ws->D;
    row_set before = rows_view(data, 0, given);
    double *U = ws->C, *alpha = ws->alpha;
    double *alpha_N = ws->side; /* free until the length-scales' turn */
    solve_back(m, given, ws->inverse, ws->abreast, alpha, alpha_N, U);
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
    double *W = ws->inverse; /* the factor is not needed any more */
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
    if (packed_triangle_factor(m, ws->C, m, ws->inverse))
        return failure(QUORUM_E_NUMERIC,
                       "the covariance matrix of %zu rows is not positive definite", m);
    memcpy(ws->alpha, data->y, m * sizeof *ws->alpha);
    packed_triangle_solve(m, ws->inverse, 1, ws->alpha, ws->abreast);
    data_fit f = {.q_N = vec_dot(given, ws->alpha, ws->alpha)};
    f.q = f.q_N + vec_dot(m - given, ws->alpha + given, ws->alpha + given);
    double half_log_det = 0.0;
    for (size_t i = given; i < m; i++)
        half_log_det -= log(packed_triangle_reciprocal(ws->inverse, i));
    double slope;
    *value =
        half_log_det + data_terms(nu, data, given, &f) + repeated_rows(theta, data, given, &slope);
    if (gradient)
        fill_gradient(theta, data, given, ws, &f, gradient);
    return QUORUM_OK;
}
