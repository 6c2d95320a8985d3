/* Negative log marginal likelihood of one expert and its gradient.
 *
 *   NLML = 1/2 y' C^-1 y + 1/2 log|C| + n/2 log 2pi + r(s^2),      C = K + s^2 V + E
 *
 * n being the sum of the weights and r what repeated rows say by themselves (gp/noise.h): m and 0 of
 * rows without weights.  With A = C^-1 - alpha alpha', alpha = C^-1 y:
 *   dNLML/dlog s^2   = 1/2 s^2 tr(V A) + s^2 r'
 *   dNLML/dlog s_f^2 = 1/2 tr(A K) = 1/2 (m - alpha' y - s^2 tr(V A) - tr(E A))
 *   dNLML/dlog l_d   = sum_i r_i z_id^2 - z_d' W z_d
 * where W = A o slopes (slopes = -2 s_f^2 g'(s)), r = W 1, z = x / l: all D
 * at once from one product W [Z' | 1].  With two scales (hyper.h), p being logit w or log rho,
 *   dNLML/dp         = 1/2 tr(A dK/dp) = sum_{i > j} A_ij dk_ij/dp
 * since no pair of a row with itself depends on them. */
#include "gp/expert.h"

#include "base/memory.h"
#include "gp/covariance.h"
#include "linalg/blas.h"
#include "linalg/clones.h"
#include "linalg/tiles.h"

#include <assert.h>
#include <math.h>
#include <string.h>

quorum_status likelihood_space_new(size_t room, size_t D, const kernel *k, likelihood_space *out)
{
    likelihood_space ws = {.room = room, .D = D};
    quorum_status status = points_new(room, D, &ws.Z);
    NEW_ARRAY(ws.center, D);
    NEW_ARRAY(ws.C, room * room);
    NEW_ARRAY(ws.inverse, room * room);
    NEW_ARRAY(ws.slopes.slope, room * room);
    if (k->component) {
        NEW_ARRAY(ws.slopes.share, room * room);
        NEW_ARRAY(ws.slopes.reach, room * room);
    }
    NEW_ARRAY(ws.alpha, room);
    NEW_ARRAY(ws.side, room * (D + 1));
    NEW_ARRAY(ws.product, room * (D + 1));
    *out = ws;
    int shaped = !k->component || (ws.slopes.share && ws.slopes.reach);
    if (status == QUORUM_OK && ws.center && ws.C && ws.inverse && ws.slopes.slope && shaped &&
        ws.alpha && ws.side && ws.product)
        return QUORUM_OK;
    likelihood_space_free(out);
    return failure(QUORUM_E_MEMORY, "out of memory for training an expert of %zu rows", room);
}

void likelihood_space_free(likelihood_space *ws)
{
    points_free(&ws->Z);
    mem_free(ws->center);
    mem_free(ws->C);
    mem_free(ws->inverse);
    mem_free(ws->slopes.slope);
    mem_free(ws->slopes.share);
    mem_free(ws->slopes.reach);
    mem_free(ws->alpha);
    mem_free(ws->side);
    mem_free(ws->product);
    *ws = (likelihood_space){0};
}

double likelihood_space_bytes(size_t room, size_t D, const kernel *k)
{
    double squares = k->component ? 5.0 : 3.0;
    return 8.0 * (squares * (double)room * (double)room + (double)room * (4.0 * (double)D + 4.0));
}

void scale_about_mean(const hyper *theta, const row_set *data, likelihood_space *ws)
{
    memset(ws->center, 0, data->D * sizeof *ws->center);
    for (size_t i = 0; i < data->n; i++)
        for (size_t d = 0; d < data->D; d++)
            ws->center[d] += data->X[i * data->D + d];
    for (size_t d = 0; d < data->D; d++)
        ws->center[d] /= (double)data->n;
    points_scale(&ws->Z, data->n, data->X, ws->center, theta->lengthscale);
}

static void add_noise(const hyper *theta, const row_set *data, double *C)
{
    for (size_t i = 0; i < data->n; i++)
        C[i * data->n + i] += noise_of(theta, data, i);
}

/* w_i = w_i - alpha_i alpha_j down one column of the lower triangle. */
CLONED
static void subtract_column(size_t n, const double *restrict alpha, double alpha_j,
                            double *restrict w)
{
    for (size_t i = 0; i < n; i++)
        w[i] = w[i] - alpha[i] * alpha_j;
}

CLONED
static void multiply_column(size_t n, const double *restrict slope, double *restrict w)
{
    for (size_t i = 0; i < n; i++)
        w[i] = w[i] * slope[i];
}

void weigh_by_slopes(size_t m, size_t j, const pair_slopes *slopes, double *A, double *shape)
{
    size_t at = j * m + j, n = m - j;
    if (slopes->share) {
        shape[0] += vec_dot(n - 1, A + at + 1, slopes->share + at + 1);
        shape[1] += vec_dot(n - 1, A + at + 1, slopes->reach + at + 1);
    }
    multiply_column(n, slopes->slope + at, A + at);
}

void lengthscale_gradient(size_t m, const double *W, likelihood_space *ws, double *gradient)
{
    size_t D = ws->D;
    for (size_t d = 0; d < D; d++)
        memcpy(ws->side + d * m, ws->Z.T + d * ws->Z.stride, m * sizeof *ws->side);
    for (size_t i = 0; i < m; i++)
        ws->side[D * m + i] = 1.0;
    blas_symm_lower(m, D + 1, W, m, ws->side, m, ws->product, m);
    const double *row_sum = ws->product + D * m;
    for (size_t d = 0; d < D; d++) {
        const double *z = ws->side + d * m, *Wz = ws->product + d * m;
        double sum = 0.0;
        for (size_t i = 0; i < m; i++)
            sum += z[i] * (row_sum[i] * z[i] - Wz[i]);
        gradient[d] = sum;
    }
}

void keep_shape(const kernel *k, size_t D, const double *shape, double *gradient)
{
    if (k->component)
        memcpy(gradient + D + 2, shape, MOST_SHAPES * sizeof *shape);
}

static quorum_status fill_gradient(const hyper *theta, const row_set *data, likelihood_space *ws,
                                   int threads, double fit, double *gradient)
{
    size_t m = data->n;
    TRY(tiles_inverse(m, ws->C, ws->inverse, threads));
    double trace = -noise_square(data, 1, ws->alpha);
    for (size_t i = 0; i < m; i++)
        trace += relative_noise(data, i) * ws->inverse[i * m + i];
    double known = -known_square(data, 1, ws->alpha), repeated;
    for (size_t i = 0; data->error && i < m; i++)
        known += known_variance(data, i) * relative_noise(data, i) * ws->inverse[i * m + i];
    repeated_rows(theta, data, 0, &repeated);
    gradient[data->D] = 0.5 * ((double)m - fit - theta->noise * trace - known);
    gradient[data->D + 1] = 0.5 * theta->noise * trace + repeated;
    double shape[MOST_SHAPES] = {0};
    for (size_t j = 0; j < m; j++) {
        subtract_column(m - j, ws->alpha + j, ws->alpha[j], ws->inverse + j * m + j);
        weigh_by_slopes(m, j, &ws->slopes, ws->inverse, shape);
    }
    lengthscale_gradient(m, ws->inverse, ws, gradient);
    keep_shape(theta->kernel, data->D, shape, gradient);
    return QUORUM_OK;
}

quorum_status negative_log_likelihood(const hyper *theta, const row_set *data, likelihood_space *ws,
                                      int threads, double *value, double *gradient)
{
    size_t m = data->n, minor = 0;
    assert(m <= ws->room && data->D == ws->D);
    scale_about_mean(theta, data, ws);
    TRY(covariance_self(theta, &ws->Z, ws->C, gradient ? &ws->slopes : NULL, threads));
    add_noise(theta, data, ws->C);
    TRY(tiles_cholesky(m, ws->C, threads, &minor));
    if (minor)
        return failure(QUORUM_E_NUMERIC,
                       "the covariance matrix of %zu rows is not positive definite", m);
    memcpy(ws->alpha, data->y, m * sizeof *ws->alpha);
    blas_solve_lower_vector(m, ws->C, m, ws->alpha);
    double fit = vec_dot(m, ws->alpha, ws->alpha); /* y' C^-1 y = |L^-1 y|^2 */
    double half_log_det = 0.0;
    for (size_t i = 0; i < m; i++)
        half_log_det += log(ws->C[i * m + i]);
    double slope;
    *value = 0.5 * fit + half_log_det + 0.5 * count_weights(data, 0) * log(2.0 * M_PI) +
             repeated_rows(theta, data, 0, &slope);
    if (!gradient)
        return QUORUM_OK;
    blas_solve_lower_transposed_vector(m, ws->C, m, ws->alpha);
    return fill_gradient(theta, data, ws, threads, fit, gradient);
}
