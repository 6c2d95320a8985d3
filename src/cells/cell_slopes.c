/* Slopes of cells' answers (cell_slopes.h).  With G = dk* / dz (m x D) and H = L^-1 G an expert has
 *
 *   mean' = alpha' G,   explained' = 2 a' H,   lift' = W' H,   (rho_i^2)' = 2 k_i G_i / s_f^4
 *
 * a share b_i = (d_{S+1} - d_i) / sum, d_i the squared distance of centre c_i,
 *
 *   b_i' = (2 (c_i - c_{S+1}) - b_i sum') / sum
 *
 * and the product of the experts, o being the variance of y of all together, o_i that of one,
 *
 *   w_i' = g_i - w_i sum_j g_j,   g_i = b_i' o / o_i - w_i o_i' / o_i */
#include "cells/cell_slopes.h"

#include "base/memory.h"
#include "gp/slopes.h"
#include "linalg/blas.h"
#include "linalg/packed_triangle.h"

#include <math.h>
#include <string.h>

/* ---- Shares ---- */

void cell_share_slopes(const points *centres, size_t S, const size_t *centre, const double *d,
                       const double *share, double *share_slope)
{
    size_t D = centres->D;
    const double *last = centres->Z + centre[S] * D;
    double sum = 0.0;
    for (size_t i = 0; i < S; i++)
        sum += d[S] - d[i];
    for (size_t k = 0; k < D; k++) {
        double rise = 0.0;
        for (size_t i = 0; i < S; i++)
            rise += share_slope[i * D + k] = 2.0 * (centres->Z[centre[i] * D + k] - last[k]);
        for (size_t i = 0; i < S; i++)
            share_slope[i * D + k] =
                sum > 0.0 ? (share_slope[i * D + k] - share[i] * rise) / sum : 0.0;
    }
}

/* ---- An expert ---- */

quorum_status cell_space_want_slopes(size_t m, size_t D, cell_space *w)
{
    NEW_ARRAY(w->pair, 2 * m);
    NEW_ARRAY(w->panel, m * CELL_PANEL);
    NEW_ARRAY(w->around, D);
    if (w->pair && w->panel && w->around)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for the gradients of cells");
}

cell_slopes cell_slopes_from(const cell_slopes *all, size_t first, size_t D, size_t width)
{
    if (!all->mean)
        return (cell_slopes){0};
    return (cell_slopes){.mean = all->mean + first * D,
                         .explained = all->explained + first * D,
                         .spread = all->spread + first * D,
                         .lift = all->lift ? all->lift + first * D * width : NULL};
}

/* G_d (m), the derivative of k* along input d. */
static void fill_column(const points *X, const double *slope, const double *z, size_t d, double *G)
{
    for (size_t i = 0; i < X->n; i++)
        G[i] = slope[i] * (X->Z[i * X->D + d] - z[d]);
}

/* Of the sums over the `count` nearest rows among the last. */
static surroundings surroundings_slope(const cell_expert *e, double signal, const double *k,
                                       const double *G, const size_t *row, size_t count)
{
    size_t first = e->m - e->tail;
    surroundings slope = {0};
    for (size_t i = 0; i < count; i++) {
        size_t r = row[i];
        double rise = e->weight[r] * (2.0 * k[first + r] * G[first + r] / (signal * signal));
        surroundings_add(&slope, i, rise, (left_out_figures){e->surprise[r], e->variance[r]});
    }
    return slope;
}

/* H_d and what comes of it, for `count` inputs from `first` on, G being in w->panel. */
static void solve_columns(const cell_source *s, const cell_expert *e, const double *a, size_t first,
                          size_t count, cell_space *w, const cell_slopes *out)
{
    size_t m = e->m;
    packed_triangle_solve(m, e->packed, count, w->panel, w->room);
    for (size_t c = 0; c < count; c++) {
        const double *H = w->panel + c * m;
        out->explained[first + c] = 2.0 * vec_dot(m, a, H);
        for (size_t i = 0; out->lift && i < s->width; i++)
            out->lift[(first + c) * s->width + i] = vec_dot(m, H, e->W + i * m);
    }
}

void cell_expert_slopes(const cell_source *s, const cell_expert *e, const cell_query *at,
                        spread_rule how, cell_space *w, const cell_slopes *out)
{
    size_t m = e->m, D = e->X.D, row[WIDE_ROWS], near = 0;
    double *k = w->pair, *slope = w->pair + m, signal = s->theta->signal;
    query_slopes(s->theta, &e->X, at->z, k, slope);
    if (at->around)
        near = cell_expert_nearest(e, k, w->near, row);
    for (size_t first = 0; first < D; first += CELL_PANEL) {
        size_t count = D - first < CELL_PANEL ? D - first : CELL_PANEL;
        for (size_t c = 0; c < count; c++) {
            double *G = w->panel + c * m;
            fill_column(&e->X, slope, at->z, first + c, G);
            out->mean[first + c] = vec_dot(m, e->alpha, G);
            w->around[first + c] = surroundings_slope(e, signal, k, G, row, near);
        }
        solve_columns(s, e, at->a, first, count, w, out);
    }
    int is_left = at->explained < signal;
    for (size_t d = 0; d < D; d++)
        out->spread[d] = at->around
                             ? spread_factor_slope(how, *at->around, at->variance, w->around[d],
                                                   is_left ? -out->explained[d] : 0.0)
                             : 0.0;
}

/* ---- Experts together ---- */

/* Of one expert at one query: v, v + s^2 and the variance of y. */
typedef struct {
    double var, own, observed;
} variances;

static variances variances_of(double signal, const cell_opinion *o)
{
    double own = variance_left(signal, o->explained, o->noise);
    return (variances){fmax(signal - o->explained, 0.0), own, o->spread * own};
}

/* w_i' (S) along input d; observed: the variance of y of all. */
static void weight_slopes(size_t S, size_t d, double observed, const cell_opinion *of,
                          const variances *v, const double *observed_slope, double *slope)
{
    double sum = 0.0;
    for (size_t i = 0; i < S; i++)
        sum += slope[i] =
            (of[i].share_slope[d] * observed - of[i].weight * observed_slope[i]) / v[i].observed;
    for (size_t i = 0; i < S; i++)
        slope[i] -= of[i].weight * sum;
}

void cell_seats_join_slopes(size_t S, size_t D, double signal, const cell_opinion *of,
                            const joined_slopes *out)
{
    variances v[CELL_SEATS];
    double observed = 0.0, own = 0.0;
    for (size_t i = 0; i < S; i++) {
        v[i] = variances_of(signal, &of[i]);
        observed += of[i].weight * v[i].observed;
        own += of[i].weight * v[i].own;
    }
    for (size_t d = 0; d < D; d++) {
        double var_slope[CELL_SEATS], observed_slope[CELL_SEATS], w[CELL_SEATS];
        for (size_t i = 0; i < S; i++) {
            var_slope[i] = v[i].var > 0.0 ? -of[i].slope.explained[d] : 0.0;
            observed_slope[i] = of[i].slope.spread[d] * v[i].own + of[i].spread * var_slope[i];
        }
        weight_slopes(S, d, observed, of, v, observed_slope, w);
        double mean = 0.0, var = 0.0, noise = 0.0, all = 0.0;
        for (size_t i = 0; i < S; i++) {
            mean += w[i] * of[i].mean + of[i].weight * of[i].slope.mean[d];
            var += w[i] * v[i].var + of[i].weight * var_slope[i];
            noise += w[i] * of[i].noise;
            all += w[i] * v[i].observed + of[i].weight * observed_slope[i];
            out->weight[i * D + d] = w[i];
        }
        out->mean[d] = mean;
        out->var[d] = var;
        out->noise[d] = noise;
        out->spread[d] = (all - observed / own * (var + noise)) / own;
    }
}
