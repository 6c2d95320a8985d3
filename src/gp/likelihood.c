/* Negative log marginal likelihood of one expert and its gradient.
 *
 *   NLML = 1/2 y' C^-1 y + 1/2 log|C| + m/2 log 2pi,      C = K + s^2 V (gp/noise.h)
 *
 * With A = C^-1 - alpha alpha', alpha = C^-1 y:
 *   dNLML/dlog s^2   = 1/2 s^2 tr(V A)
 *   dNLML/dlog s_f^2 = 1/2 tr(A K) = 1/2 (m - alpha' y - s^2 tr(V A))
 *   dNLML/dlog l_d   = sum_i r_i z_id^2 - z_d' W z_d
 * where W = A o slopes (slopes = -2 s_f^2 g'(s)), r = W 1, z = x / l: all D
 * at once from one product W [Z' | 1]. */
#include "gp/expert.h"

#include "base/memory.h"
#include "gp/covariance.h"
#include "linalg/blas.h"
#include "linalg/clones.h"
#include "linalg/tiles.h"

#include <assert.h>
#include <math.h>
#include <string.h>

quorum_status likelihood_space_new(size_t room, size_t D, likelihood_space *out)
{
    likelihood_space ws = {.room = room, .D = D};
    quorum_status status = points_new(room, D, &ws.Z);
    NEW_ARRAY(ws.center, D);
    NEW_ARRAY(ws.C, room * room);
    NEW_ARRAY(ws.inverse, room * room);
    NEW_ARRAY(ws.slopes, room * room);
    NEW_ARRAY(ws.alpha, room);
    NEW_ARRAY(ws.side, room * (D + 1));
    NEW_ARRAY(ws.product, room * (D + 1));
    *out = ws;
    if (status == QUORUM_OK && ws.center && ws.C && ws.inverse && ws.slopes && ws.alpha &&
        ws.side && ws.product)
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
    mem_free(ws->slopes);
    mem_free(ws->alpha);
    mem_free(ws->side);
    mem_free(ws->product);
    *ws = (likelihood_space){0};
}

double likelihood_space_bytes(size_t room, size_t D)
{
    return 8.0 * (3.0 * (double)room * (double)room + (double)room * (4.0 * (double)D + 4.0));
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

/* w_i = (w_i - alpha_i alpha_j) slope_i down one column of the lower triangle. */
CLONED
static void weigh_column(size_t n, const double *restrict alpha, double alpha_j,
                         const double *restrict slope, double *restrict w)
{
    for (size_t i = 0; i < n; i++)
        w[i] = (w[i] - alpha[i] * alpha_j) * slope[i];
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

static quorum_status fill_gradient(const hyper *theta, const row_set *data, likelihood_space *ws,
                                   int threads, double fit, double *gradient)
{
    size_t m = data->n;
    TRY(tiles_inverse(m, ws->C, ws->inverse, threads));
    double trace = -noise_square(data, 1, ws->alpha);
    for (size_t i = 0; i < m; i++)
        trace += relative_noise(data, i) * ws->inverse[i * m + i];
    gradient[data->D] = 0.5 * ((double)m - fit - theta->noise * trace);
    gradient[data->D + 1] = 0.5 * theta->noise * trace;
    for (size_t j = 0; j < m; j++)
        weigh_column(m - j, ws->alpha + j, ws->alpha[j], ws->slopes + j * m + j,
                     ws->inverse + j * m + j);
    lengthscale_gradient(m, ws->inverse, ws, gradient);
    return QUORUM_OK;
}

quorum_status negative_log_likelihood(const hyper *theta, const row_set *data, likelihood_space *ws,
                                      int threads, double *value, double *gradient)
{
    size_t m = data->n, minor = 0;
    assert(m <= ws->room && data->D == ws->D);
    scale_about_mean(theta, data, ws);
    TRY(covariance_self(theta->kernel, theta->signal, &ws->Z, ws->C, gradient ? ws->slopes : NULL,
                        threads));
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
    *value = 0.5 * fit + half_log_det + 0.5 * (double)m * log(2.0 * M_PI);
    if (!gradient)
        return QUORUM_OK;
    blas_solve_lower_transposed_vector(m, ws->C, m, ws->alpha);
    return fill_gradient(theta, data, ws, threads, fit, gradient);
}
