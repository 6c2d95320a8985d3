/* Rows left out of a neighbourhood, and its own noise.
 *
 * Row i of C = K + S, left out, is predicted by the others with
 *   z_i = alpha_i / sqrt((C^-1)_ii),   v_i = 1 / (C^-1)_ii,   alpha = C^-1 y
 * and with the nearest rows last in C = L L' that depends on the last block T of L alone:
 *   alpha = T^-T w,   (C^-1)_ii = ((T T')^-1)_ii,   w = L^-1 y.
 * A row of weight w counts as w rows, each an observation of noise t where C has t / w (gp/noise.h):
 * the variance of what is predicted for it is larger by t - t / w,
 *   v_i = 1 / (C^-1)_ii + t - t / w,     z_i^2 = (alpha_i / (C^-1)_ii)^2 / v_i
 *
 * Data are noisier here than there.  Of the factors f = 1, 4, .. the noise f s^2 is taken under which
 * the nearest rows, left out, have the highest density, whatever their scale is:
 *   log p = -1/2 sum_i w_i (log (v_i s) + z_i^2 / s),   s = (c + sum w_i z_i^2) / (1 + sum w_i)
 * K + f S has larger variances than K + S; what they are on the whole is the spread's to say
 * (gp/neighbourhood.h), not f's, so all of it is taken c times, with
 *   log c = sum w_i (log v_i(1) - log v_i(f)) / sum w_i. */
#include "gp/local_noise.h"

#include "base/memory.h"
#include "linalg/blas.h"

#include <math.h>
#include <string.h>

enum {
    LOCAL_ASKED = LOCAL_ROWS / 2, /* rows that are asked, half where there are fewer */
    FACTORS = 5
};
static const double FACTOR_STEP = 4.0;

void leave_rows_out(size_t q, const double *T, size_t ld, const double *w, const double *rest,
                    double *room, left_out_figures *out)
{
    double *inverse = room, *alpha = room + q * q;
    for (size_t j = 0; j < q; j++)
        memcpy(inverse + j * q + j, T + j * ld + j, (q - j) * sizeof *inverse);
    blas_inverse_lower(q, inverse, q);
    memcpy(alpha, w, q * sizeof *alpha);
    blas_solve_lower_transposed_vector(q, T, ld, alpha);
    for (size_t i = 0; i < q; i++) {
        double precision = inverse[i * q + i]; /* (C^-1)_ii */
        double share = share_of_row(precision, rest[i]);
        out[i] =
            (left_out_figures){alpha[i] * alpha[i] / precision * share, 1.0 / precision / share};
    }
}

quorum_status local_noise_space_new(local_noise_space *out)
{
    local_noise_space ws = {0};
    NEW_ARRAY(ws.C, (size_t)LOCAL_ROWS * LOCAL_ROWS);
    NEW_ARRAY(ws.w, LOCAL_ROWS);
    NEW_ARRAY(ws.room, (size_t)LOCAL_ASKED * (LOCAL_ASKED + 1));
    *out = ws;
    if (ws.C && ws.w && ws.room)
        return QUORUM_OK;
    local_noise_space_free(out);
    return failure(QUORUM_E_MEMORY, "out of memory for the noise around a query");
}

void local_noise_space_free(local_noise_space *ws)
{
    mem_free(ws->C);
    mem_free(ws->w);
    mem_free(ws->room);
    *ws = (local_noise_space){0};
}

/* Rows that are left out under one noise: their weighted sums. */
typedef struct {
    double weight;       /* sum w_i             */
    double surprise;     /* sum w_i z_i^2       */
    double log_variance; /* sum w_i log v_i     */
} noise_sums;

/* The last block of K with the noises of theta, factorised; whether it could be. */
static int factorise_last(const hyper *theta, const row_set *rows, size_t m, size_t r,
                          const double *K, local_noise_space *ws)
{
    size_t first = m - r;
    for (size_t j = 0; j < r; j++)
        memcpy(ws->C + j * r, K + (first + j) * m + first, r * sizeof *ws->C);
    for (size_t i = 0; i < r; i++)
        ws->C[i * r + i] += noise_of(theta, rows, first + i);
    memcpy(ws->w, rows->y + first, r * sizeof *ws->w);
    if (blas_cholesky(r, ws->C, r) != 0)
        return 0;
    blas_solve_lower_vector(r, ws->C, r, ws->w);
    return 1;
}

static noise_sums sum_left_out(const hyper *theta, const row_set *rows, size_t m, size_t r,
                               size_t q, local_noise_space *ws)
{
    size_t first = r - q;
    double rest[LOCAL_ASKED] = {0};
    left_out_figures shown[LOCAL_ASKED];
    noise_sums sums = {0};
    for (size_t i = 0; i < q; i++)
        rest[i] = noise_of_one(theta, rows, m - q + i) - noise_of(theta, rows, m - q + i);
    leave_rows_out(q, ws->C + first * r + first, r, ws->w + first, rest, ws->room, shown);
    for (size_t i = 0; i < q; i++) {
        double w = row_weight(rows, m - q + i);
        sums.weight += w;
        sums.surprise += w * shown[i].surprise;
        sums.log_variance += w * log(shown[i].variance);
    }
    return sums;
}

/* log p, the head's. */
static double log_density(const noise_sums *sums, double log_level)
{
    double s = (exp(log_level) + sums->surprise) / (1.0 + sums->weight);
    return -0.5 * (sums->log_variance + sums->weight * log(s) + sums->surprise / s);
}

noise_around find_noise_around(const hyper *theta, const row_set *rows, size_t m, const double *K,
                               local_noise_space *ws)
{
    size_t r = m < LOCAL_ROWS ? m : LOCAL_ROWS, q = (r + 1) / 2;
    hyper here = *theta;
    noise_around best = {theta->noise, 0.0};
    double highest = -INFINITY, expected = 0.0; /* expected: mean log v_i under theta */
    for (int k = 0; k < FACTORS; k++, here.noise *= FACTOR_STEP) {
        if (!factorise_last(&here, rows, m, r, K, ws))
            continue;
        noise_sums sums = sum_left_out(&here, rows, m, r, q, ws);
        double mean = sums.log_variance / sums.weight;
        if (isinf(highest))
            expected = mean;
        double density = log_density(&sums, expected - mean);
        if (density > highest) {
            highest = density;
            best = (noise_around){here.noise, expected - mean};
        }
    }
    return best;
}
