/* A GP on the rows around one query.
 *
 * theta describes the data on average; here and there they are calmer or wilder.  If all
 * of the covariance around x is s(x) times what theta says, the mean stays what it is and
 * the variance is multiplied by s(x).  It shows in the rows around: row i, left out, is
 *   z_i = alpha_i / sqrt((C^-1)_ii),     alpha = C^-1 y
 * standard deviations away from what the others predict, so E z_i^2 = s.  Weighted by the
 * share of the query's variance that a row explains by itself, rho_i^2,
 *   s = (c prior + sum_i rho_i^2 z_i^2) / (prior + sum_i rho_i^2)
 * which is c far from the data.  c is 1 but where the noise around the query is its own
 * (gp/local_noise.h): then C is with that noise, and c times that is what theta expects.
 *
 * Where data change from place to place, what theta says of all of them is a poor thing to weigh a few
 * rows against.  Nested, the rows around are weighed against theta, those nearby against these, and the
 * closest against those:
 *   s_1 = (c + S_128) / (1 + W_128),   s_2 = (prior s_1 + S_32) / (prior + W_32),
 *   s = (prior s_2 + S_8) / (prior + W_8),     W = sum rho_i^2,   S = sum rho_i^2 z_i^2
 *
 * That has been tested at variances like those of the rows, v = sum rho_i^2 v_i / sum rho_i^2.  Of a
 * query outside the rows, or in a gap, most of the variance v* is what no row near it was asked
 * about; there the factor is
 *   s^a (u r)^(1 - a),     a = t^2 h,   t = min(1, 2 v / v*)
 * u being what rows show that were left out with all rows beyond them (train/beyond.c), 1 if nothing
 * is known of it, and (s / c)^(1/2) where the query lies in a gap, with rows on both sides of it; r is the share of v* that it is with theta's noise, and h = min(1, sum rho_i^2) where
 * the noise is not theta's, 1 where it is. */
#include "gp/neighbourhood.h"

#include "base/memory.h"
#include "gp/covariance.h"
#include "linalg/blas.h"

#include <math.h>
#include <string.h>

/* What rows show holds up to so many times the variance that they have. */
static const double TESTED_UP_TO = 2.0;
static const double LEAST_TESTS = 1e-280; /* of rows, that sums of them have digits */

quorum_status neighbourhood_space_new(size_t room, int local_noise, neighbourhood_space *out)
{
    neighbourhood_space ws = {.room = room, .has_own_noise = local_noise};
    NEW_ARRAY(ws.C, room * room);
    NEW_ARRAY(ws.side, 2 * room);
    NEW_ARRAY(ws.z, (size_t)WIDE_ROWS * (WIDE_ROWS + 1));
    NEW_ARRAY(ws.pair, 2 * room);
    quorum_status status = local_noise ? local_noise_space_new(&ws.local) : QUORUM_OK;
    *out = ws;
    if (status == QUORUM_OK && ws.C && ws.side && ws.z && ws.pair)
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
    local_noise_space_free(&ws->local);
    *ws = (neighbourhood_space){0};
}

void surroundings_add(surroundings *to, size_t place, double rho2, left_out_figures shown)
{
    to->wide.weight += rho2;
    to->wide.surprise += rho2 * shown.surprise;
    if (place < SPREAD_ROWS) {
        to->weight += rho2;
        to->surprise += rho2 * shown.surprise;
        to->tested += rho2 * shown.variance;
    }
    if (place < CLOSE_ROWS) {
        to->close.weight += rho2;
        to->close.surprise += rho2 * shown.surprise;
    }
}

/* Sums over the last q of m rows, rho2 (q) being their weights, w (m) = L^-1 y, L = ws->C. */
static void look_around(const hyper *theta, const row_set *rows, size_t m, size_t q,
                        const double *rho2, neighbourhood_space *ws, surroundings *out)
{
    size_t first = m - q;
    double rest[WIDE_ROWS] = {0};
    for (size_t i = 0; i < q; i++)
        rest[i] = noise_of_one(theta, rows, first + i) - noise_of(theta, rows, first + i);
    leave_rows_out(q, ws->C + first * m + first, m, ws->side + m + first, rest, ws->z, ws->shown);
    for (size_t i = 0; i < q; i++)
        surroundings_add(out, q - 1 - i, rho2[i], ws->shown[i]);
}

/* theta with the noise around the query, K (m x m) being in ws->C. */
static hyper take_noise(const hyper *theta, const row_set *rows, size_t m, neighbourhood_space *ws,
                        neighbourhood *out)
{
    hyper here = *theta;
    if (ws->has_own_noise) {
        noise_around own = find_noise_around(theta, rows, m, ws->C, &ws->local);
        here.noise = own.noise;
        out->around.log_level = own.log_level;
    }
    out->noise = here.noise;
    out->around.excess = here.noise - theta->noise;
    return here;
}

/* From the factor of C (ws->C) and the rows' targets; theta with the noise that C has. */
static void solve_for(const hyper *theta, const points *X, const row_set *rows, const points *query,
                      neighbourhood_space *ws, neighbourhood *out)
{
    size_t m = X->n, q = m < WIDE_ROWS ? m : WIDE_ROWS;
    double *k = ws->side, *w = ws->side + m, rho2[WIDE_ROWS];
    covariance_cross(theta, X, query, k, m);
    for (size_t i = 0; i < q; i++) {
        ws->weight[i] = row_weight(rows, m - q + i);
        rho2[i] = ws->weight[i] * (k[m - q + i] * k[m - q + i] / (theta->signal * theta->signal));
    }
    memcpy(w, rows->y, m * sizeof *w);
    blas_solve_lower(m, 2, ws->C, m, ws->side, m);
    out->mean = vec_dot(m, k, w);
    out->explained = vec_dot(m, k, k);
    look_around(theta, rows, m, q, rho2, ws, &out->around);
}

quorum_status neighbourhood_posterior(const hyper *theta, const points *X, const row_set *rows,
                                      const points *query, neighbourhood_space *ws, double *gamma,
                                      neighbourhood *out)
{
    size_t m = X->n;
    double *C = ws->C;
    *out = (neighbourhood){0};
    TRY(covariance_self(theta, X, C, NULL, 1));
    hyper here = take_noise(theta, rows, m, ws, out);
    for (size_t i = 0; i < m; i++)
        C[i * m + i] += noise_of(&here, rows, i);
    if (blas_cholesky(m, C, m) != 0)
        return failure(QUORUM_E_NUMERIC,
                       "the covariance matrix of a query's %zu nearest rows is not positive "
                       "definite: raise the noise variance (%g)",
                       m, theta->noise);
    solve_for(&here, X, rows, query, ws, out);
    if (gamma) {
        memcpy(gamma, ws->side, m * sizeof *gamma);
        blas_solve_lower_transposed(m, 1, C, m, gamma, m);
    }
    return QUORUM_OK;
}

void neighbourhood_of_other_targets(const hyper *theta, const points *X, const row_set *rows,
                                    const points *query, neighbourhood_space *ws,
                                    neighbourhood *out)
{
    *out = (neighbourhood){.noise = theta->noise};
    solve_for(theta, X, rows, query, ws, out);
}

/* s: what the rows show;  t: how far they have tested variances so large, 1 at most. */
static double weigh(double prior, double before, double weight, double surprise)
{
    return (prior * before + surprise) / (prior + weight);
}

static double shown_by_rows(spread_rule rule, surroundings around)
{
    double s = exp(around.log_level);
    if (isinf(rule.prior))
        return s;
    if (rule.nested)
        s = weigh(1.0, s, around.wide.weight, around.wide.surprise);
    s = weigh(rule.prior, s, around.weight, around.surprise);
    return rule.nested ? weigh(rule.prior, s, around.close.weight, around.close.surprise) : s;
}

/* Rows whose weights are nearly lost to rounding have tested nothing. */
static double tested_share(surroundings around, double variance)
{
    double t = TESTED_UP_TO * around.tested / (around.weight * variance);
    return around.weight >= LEAST_TESTS ? fmin(t, 1.0) : 0.0;
}

/* How much a noise of their own counts: as one row at most, so that nothing is left of it far away. */
static int has_own_noise(surroundings around)
{
    return around.excess != 0.0;
}

static double own_share(surroundings around)
{
    return has_own_noise(around) ? fmin(around.weight, 1.0) : 1.0;
}

/* Whether the query lies in a gap, and something is known of gaps. */
static int is_in_gap(spread_rule rule, surroundings around)
{
    return around.is_surrounded && rule.surrounded > 0.0;
}

/* b = u r: what multiplies the variance where no row has tested it; s: what the rows show. */
static double beyond_rows(spread_rule rule, surroundings around, double variance, double s)
{
    double u = is_in_gap(rule, around) ? rule.surrounded * sqrt(s * exp(-around.log_level))
                                       : rule.untested;
    return has_own_noise(around) ? u * (1.0 - around.excess / variance) : u;
}

/* a of the factor s^a b^(1 - a). */
static double tested_power(surroundings around, double variance)
{
    double t = tested_share(around, variance);
    return t * t * own_share(around);
}

int spread_is_tested(surroundings around, double variance)
{
    return tested_power(around, variance) >= 1.0;
}

int lies_in_gap(const query_sides *s, surroundings around, double variance)
{
    return !spread_is_tested(around, variance) &&
           (has_opposite(s->D, s->x, s->nearest, s->rows, s->row_count) ||
            has_opposite(s->D, s->x, s->nearest, s->centres, s->centre_count));
}

double spread_factor(spread_rule rule, surroundings around, double variance)
{
    double s = shown_by_rows(rule, around), a = tested_power(around, variance);
    return a < 1.0 ? pow(s, a) * pow(beyond_rows(rule, around, variance, s), 1.0 - a) : s;
}

/* a' = 2 t t' h + t^2 h',   t'/t = tested'/tested - weight'/weight - v'/v,   h: the share of a noise of
 * their own. */
static double exponent_slope(surroundings around, double variance, double t,
                             surroundings around_slope, double variance_slope)
{
    double h = own_share(around), dt = 0.0;
    double dh = has_own_noise(around) && around.weight < 1.0 ? around_slope.weight : 0.0;
    if (t < 1.0)
        dt = (TESTED_UP_TO * around_slope.tested -
              t * (around_slope.weight * variance + around.weight * variance_slope)) /
             (around.weight * variance);
    return 2.0 * t * dt * h + t * t * dh;
}

/* (prior before' + surprise' - s weight') / (prior + weight), s being what it is of. */
static double weigh_slope(double prior, double s, double before_slope, double weight,
                          double weight_slope, double surprise_slope)
{
    return (prior * before_slope + surprise_slope - s * weight_slope) / (prior + weight);
}

static double shown_slope(spread_rule rule, surroundings around, surroundings slope)
{
    double s = exp(around.log_level), ds = 0.0;
    if (isinf(rule.prior))
        return 0.0;
    if (rule.nested) {
        s = weigh(1.0, s, around.wide.weight, around.wide.surprise);
        ds = weigh_slope(1.0, s, ds, around.wide.weight, slope.wide.weight, slope.wide.surprise);
    }
    s = weigh(rule.prior, s, around.weight, around.surprise);
    ds = weigh_slope(rule.prior, s, ds, around.weight, slope.weight, slope.surprise);
    if (!rule.nested)
        return ds;
    s = weigh(rule.prior, s, around.close.weight, around.close.surprise);
    return weigh_slope(rule.prior, s, ds, around.close.weight, slope.close.weight,
                       slope.close.surprise);
}

/* Where the factor is f = s^a b^(1 - a),
 *   f' = f (a' log(s / b) + a s' / s + (1 - a) b' / b),   b' / b = x v' / (v (v - x)), in a gap + s' / 2 s,
 * x being what the noise is more than theta's. */
double spread_factor_slope(spread_rule rule, surroundings around, double variance,
                           surroundings around_slope, double variance_slope)
{
    double s = shown_by_rows(rule, around), t = tested_share(around, variance);
    double a = t * t * own_share(around), b = beyond_rows(rule, around, variance, s),
           x = around.excess;
    double ds = shown_slope(rule, around, around_slope);
    double log_b_slope = x * variance_slope / (variance * (variance - x));
    if (is_in_gap(rule, around))
        log_b_slope += 0.5 * ds / s;
    if (!(a < 1.0))
        return ds;
    if (!(a > 0.0))
        return b * log_b_slope;
    double da = exponent_slope(around, variance, t, around_slope, variance_slope);
    return pow(s, a) * pow(b, 1.0 - a) *
           (da * (log(s) - log(b)) + a * ds / s + (1.0 - a) * log_b_slope);
}
