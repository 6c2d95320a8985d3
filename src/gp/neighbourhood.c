/* A GP on the rows around one query.
 *
 * theta describes the data on average; here and there they are calmer or wilder.  If all
 * of the covariance around x is s(x) times what theta says, the mean stays what it is and
 * the variance is multiplied by s(x).  It shows in the rows around: row i, left out, is
 *   z_i = alpha_i / sqrt((C^-1)_ii),     alpha = C^-1 y
 * standard deviations away from what the others predict, so E z_i^2 = s.  Weighted by the
 * share of the query's variance that a row explains by itself, rho_i^2,
 *   s = (prior + sum_i rho_i^2 z_i^2) / (prior + sum_i rho_i^2)
 * which is 1 far from the data.
 *
 * That has been tested at variances like those of the rows, v = sum rho_i^2 v_i / sum rho_i^2.  Of a
 * query outside the rows, or in a gap, most of the variance v* is what no row near it was asked
 * about; there the factor is
 *   s^(t^2) u^(1 - t^2),     t = min(1, 2 v / v*)
 * u being what rows show that were left out with all rows beyond them (train/beyond.c), 1 if nothing
 * is known of it.
 *
 * A row of weight w counts as w rows, each an observation of noise t where C has t / w (gp/noise.h):
 * the variance of what is predicted for it is larger by t - t / w,
 *   v_i = 1 / (C^-1)_ii + t - t / w,     z_i^2 = (alpha_i / (C^-1)_ii)^2 / v_i
 *
 * With the nearest rows last in C = L L', their alpha and (C^-1)_ii depend on the last
 * block T of L alone: alpha = T^-T w, (C^-1)_ii = sum_k (T^-1)_ki^2, w = L^-1 y. */
#include "gp/neighbourhood.h"

#include "base/memory.h"
#include "gp/covariance.h"
#include "linalg/blas.h"

#include <math.h>
#include <string.h>

/* What rows show holds up to so many times the variance that they have. */
static const double TESTED_UP_TO = 2.0;
static const double LEAST_TESTS = 1e-280; /* of rows, that sums of them have digits */

quorum_status neighbourhood_space_new(size_t room, neighbourhood_space *out)
{
    neighbourhood_space ws = {.room = room};
    NEW_ARRAY(ws.C, room * room);
    NEW_ARRAY(ws.side, 2 * room);
    NEW_ARRAY(ws.z, (size_t)SPREAD_ROWS * (SPREAD_ROWS + 1));
    NEW_ARRAY(ws.pair, 2 * room);
    *out = ws;
    if (ws.C && ws.side && ws.z && ws.pair)
        return QUORUM_OK;
    neighbourhood_space_free(out);
    return failure(QUORUM_E_MEMORY, "out of memory for a neighbourhood of %zu rows", room);
}

void neighbourhood_space_free(neighbourhood_space *ws)
{
    mem_free(ws->C);
    mem_free(ws->side);
    mem_free(ws->z);
    mem_free(ws->pair);
    *ws = (neighbourhood_space){0};
}

/* z_i^2 = alpha_i^2 / (C^-1)_ii,   v_i = 1 / (C^-1)_ii, but for weights. */
left_out_figures left_out_of(const neighbourhood_space *ws, size_t q, size_t i)
{
    const double *column = ws->z + i * q, *alpha = ws->z + q * q;
    double precision = vec_dot(q, column, column); /* (C^-1)_ii */
    double share = share_of_row(precision, ws->rest[i]);
    return (left_out_figures){alpha[i] * alpha[i] / precision * share, 1.0 / precision / share};
}

/* Sums over the last q rows of L (ws->C, m x m), rho2 (q) being their weights, w (m) = L^-1 y. */
static void look_around(size_t m, size_t q, const double *w, const double *rho2,
                        neighbourhood_space *ws, surroundings *out)
{
    size_t first = m - q;
    const double *T = ws->C + first * m + first;
    double *inverse = ws->z, *alpha = ws->z + q * q;
    memset(inverse, 0, q * q * sizeof *inverse);
    for (size_t i = 0; i < q; i++)
        inverse[i * q + i] = 1.0;
    blas_solve_lower(q, q, T, m, inverse, q);
    memcpy(alpha, w + first, q * sizeof *alpha);
    blas_solve_lower_transposed(q, 1, T, m, alpha, q);
    *out = (surroundings){0};
    for (size_t i = 0; i < q; i++) {
        const double *column = inverse + i * q;
        double precision = vec_dot(q, column, column); /* (C^-1)_ii */
        double share = share_of_row(precision, ws->rest[i]);
        out->weight += rho2[i];
        out->surprise += rho2[i] * alpha[i] * alpha[i] / precision * share;
        out->tested += rho2[i] / precision / share;
    }
}

/* Of the q last of the m rows that are asked, which may be followed by others. */
static void take_weights(const hyper *theta, const row_set *rows, size_t m, size_t q,
                         neighbourhood_space *ws)
{
    for (size_t i = 0; i < q; i++) {
        size_t row = m - q + i;
        ws->weight[i] = row_weight(rows, row);
        ws->rest[i] = noise_of_one(theta, rows, row) - noise_of(theta, rows, row);
    }
}

quorum_status neighbourhood_posterior(const hyper *theta, const points *X, const row_set *rows,
                                      const points *query, neighbourhood_space *ws, double *gamma,
                                      neighbourhood *out)
{
    size_t m = X->n, q = m < SPREAD_ROWS ? m : SPREAD_ROWS;
    double *C = ws->C, *k = ws->side, *w = ws->side + m, rho2[SPREAD_ROWS];
    TRY(covariance_self(theta, X, C, NULL, 1));
    for (size_t i = 0; i < m; i++)
        C[i * m + i] += noise_of(theta, rows, i);
    if (blas_cholesky(m, C, m) != 0)
        return failure(QUORUM_E_NUMERIC,
                       "the covariance matrix of a query's %zu nearest rows is not positive "
                       "definite: raise the noise variance (%g)",
                       m, theta->noise);
    covariance_cross(theta, X, query, k, m);
    take_weights(theta, rows, m, q, ws);
    for (size_t i = 0; i < q; i++)
        rho2[i] = ws->weight[i] * (k[m - q + i] * k[m - q + i] / (theta->signal * theta->signal));
    memcpy(w, rows->y, m * sizeof *w);
    blas_solve_lower(m, 2, C, m, ws->side, m);
    out->mean = vec_dot(m, k, w);
    out->explained = vec_dot(m, k, k);
    look_around(m, q, w, rho2, ws, &out->around);
    if (gamma) {
        memcpy(gamma, k, m * sizeof *gamma);
        blas_solve_lower_transposed(m, 1, C, m, gamma, m);
    }
    return QUORUM_OK;
}

/* s: what the rows show;  t: how far they have tested variances so large, 1 at most. */
static double shown_by_rows(double prior, surroundings around)
{
    return isinf(prior) ? 1.0 : (prior + around.surprise) / (prior + around.weight);
}

/* Rows whose weights are nearly lost to rounding have tested nothing. */
static double tested_share(surroundings around, double variance)
{
    double t = TESTED_UP_TO * around.tested / (around.weight * variance);
    return around.weight >= LEAST_TESTS ? fmin(t, 1.0) : 0.0;
}

double spread_factor(spread_rule rule, surroundings around, double variance)
{
    double s = shown_by_rows(rule.prior, around), t = tested_share(around, variance);
    return t < 1.0 ? pow(s, t * t) * pow(rule.untested, 1.0 - t * t) : s;
}

/* s' = (surprise' - s weight') / (prior + weight), and where the factor is f = s^(t^2) u^(1 - t^2),
 *   f' = f (2 t t' log(s / u) + t^2 s' / s),   t'/t = tested'/tested - weight'/weight - v'/v */
double spread_factor_slope(spread_rule rule, surroundings around, double variance,
                           surroundings around_slope, double variance_slope)
{
    double s = shown_by_rows(rule.prior, around), t = tested_share(around, variance);
    double tests = around.weight * variance, ds = 0.0;
    if (!isinf(rule.prior))
        ds = (around_slope.surprise - s * around_slope.weight) / (rule.prior + around.weight);
    if (!(t > 0.0) || !(t < 1.0))
        return t > 0.0 ? ds : 0.0;
    double dt = (TESTED_UP_TO * around_slope.tested -
                 t * (around_slope.weight * variance + around.weight * variance_slope)) /
                tests;
    return pow(s, t * t) * pow(rule.untested, 1.0 - t * t) *
           (2.0 * t * dt * (log(s) - log(rule.untested)) + t * t * ds / s);
}
