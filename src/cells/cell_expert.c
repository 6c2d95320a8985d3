/* One cell's expert: how it is made, and what it answers (cell_expert.h). */
#include "cells/cell_expert.h"

#include "cells/cell_slopes.h"

#include "base/memory.h"
#include "experts/committee.h"
#include "gp/covariance.h"
#include "linalg/blas.h"
#include "linalg/packed_triangle.h"

#include <math.h>
#include <string.h>

enum { TAIL = 256 }; /* rows around the cell that can tell how surprising the data are */

/* ---- Making ---- */

void cell_expert_free(cell_expert *e)
{
    points_free(&e->X);
    mem_free(e->packed);
    mem_free(e->alpha);
    mem_free(e->W);
    mem_free(e->surprise);
    mem_free(e->variance);
    mem_free(e->weight);
    *e = (cell_expert){0};
}

double cell_expert_bytes(size_t m, size_t D, size_t width)
{
    return 8.0 *
           ((double)packed_triangle_size(m) + (double)m * (2.0 * (double)D + (double)width + 5.0));
}

static quorum_status make_room(const cell_source *s, size_t m, size_t tail, cell_expert *e)
{
    *e = (cell_expert){.m = m, .tail = tail < m ? tail : m};
    TRY(points_new(m, s->Z->D, &e->X));
    NEW_ARRAY(e->packed, packed_triangle_size(m));
    NEW_ARRAY(e->alpha, m);
    NEW_ARRAY(e->surprise, e->tail);
    NEW_ARRAY(e->variance, e->tail);
    NEW_ARRAY(e->weight, e->tail);
    if (s->width > 0)
        NEW_ARRAY(e->W, m * s->width);
    if (e->packed && e->alpha && e->surprise && e->variance && e->weight && (e->W || s->width == 0))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for a cell's expert of %zu rows", m);
}

/* W = L^-1 F, row i of F being (1, x_i). */
static void solve_features(const cell_source *s, const size_t *row, const double *L, cell_expert *e)
{
    size_t m = e->m, D = s->rows->D;
    for (size_t i = 0; i < m; i++) {
        e->W[i] = 1.0;
        for (size_t d = 0; d < D; d++)
            e->W[(d + 1) * m + i] = s->rows->X[row[i] * D + d];
    }
    blas_solve_lower(m, s->width, L, m, e->W, m);
}

/* The last rows, each left out, from the last block T of L:  (C^-1)_ii = sum_k (T^-1)_ki^2. */
static quorum_status leave_out(const hyper *theta, const row_set *rows, const double *L,
                               cell_expert *e)
{
    size_t m = e->m, q = e->tail, first = m - q;
    double *inverse;
    if (!NEW_ARRAY(inverse, q * q))
        return failure(QUORUM_E_MEMORY, "out of memory for a cell's expert of %zu rows", m);
    for (size_t i = 0; i < q; i++)
        memcpy(inverse + i * q + i, L + (first + i) * (m + 1), (q - i) * sizeof *inverse);
    blas_small_triangle_inverse(q, inverse, q);
    for (size_t i = 0; i < q; i++) {
        const double *column = inverse + i * q + i;
        double precision = vec_dot(q - i, column, column), alpha = e->alpha[first + i];
        double rest = noise_of_one(theta, rows, first + i) - noise_of(theta, rows, first + i);
        double share = share_of_row(precision, rest);
        e->surprise[i] = alpha * alpha / precision * share;
        e->variance[i] = 1.0 / precision / share;
        e->weight[i] = row_weight(rows, first + i);
    }
    mem_free(inverse);
    return QUORUM_OK;
}

/* The noise around the cell, from its expert's last rows. */
static quorum_status find_noise(const cell_source *s, const points *X, const row_set *rows,
                                noise_around *out)
{
    size_t m = X->n < LOCAL_ROWS ? X->n : LOCAL_ROWS;
    points last = points_view(X, X->n - m, m);
    row_set view = rows_view(rows, X->n - m, m);
    local_noise_space ws;
    double *K = NULL;
    *out = (noise_around){.noise = s->theta->noise};
    if (!s->local_noise)
        return QUORUM_OK;
    quorum_status status = local_noise_space_new(&ws);
    if (status == QUORUM_OK && !NEW_ARRAY(K, m * m))
        status = failure(QUORUM_E_MEMORY, "out of memory for the noise around a cell");
    if (status == QUORUM_OK)
        status = covariance_self(s->theta, &last, K, NULL, 1);
    if (status == QUORUM_OK)
        *out = find_noise_around(s->theta, &view, m, K, &ws);
    local_noise_space_free(&ws);
    mem_free(K);
    return status;
}

static quorum_status fill(const cell_source *s, const size_t *row, size_t tail, cell_expert *e)
{
    row_set rows = {0};
    double *L; /* comes first, so that what is kept does not lie between those of experts */
    if (!NEW_ARRAY(L, e->m * e->m))
        return failure(QUORUM_E_MEMORY, "out of memory for a cell's expert of %zu rows", e->m);
    quorum_status status = make_room(s, e->m, tail, e);
    if (status == QUORUM_OK)
        status = rows_new(s->rows, e->m, &rows);
    if (status == QUORUM_OK) {
        points_gather(s->Z, row, e->m, &e->X);
        rows_take_fields(s->rows, row, e->m, &rows);
        status = find_noise(s, &e->X, &rows, &e->noise);
    }
    hyper here = *s->theta;
    here.noise = e->noise.noise;
    if (status == QUORUM_OK)
        status = factorise(&here, &e->X, &rows, 1, L, e->alpha);
    if (status == QUORUM_OK && s->width > 0)
        solve_features(s, row, L, e);
    if (status == QUORUM_OK)
        status = leave_out(&here, &rows, L, e);
    if (status == QUORUM_OK)
        packed_triangle_make(e->m, L, e->packed);
    mem_free(L);
    rows_free(&rows);
    return status;
}

quorum_status cell_expert_new(const cell_source *s, const cell_map *map, size_t cell, size_t m,
                              cell_expert *out)
{
    size_t *row, own = map->start[cell + 1] - map->start[cell];
    *out = (cell_expert){.m = m};
    if (!NEW_ARRAY(row, m))
        return failure(QUORUM_E_MEMORY, "out of memory for a cell's expert of %zu rows", m);
    quorum_status status = halo_choose(map, cell, s->Z, s->index, m, row);
    if (status == QUORUM_OK)
        status = fill(s, row, own + TAIL, out);
    if (status < 0)
        cell_expert_free(out);
    mem_free(row);
    return status;
}

/* ---- Asking ---- */

quorum_status cell_space_new(size_t m, size_t D, cell_space *out)
{
    *out = (cell_space){0};
    TRY(points_new(CELL_PANEL, D, &out->Q));
    NEW_ARRAY(out->room, packed_triangle_room(m, CELL_PANEL));
    if (out->room && NEW_ARRAY(out->K, m * CELL_PANEL) &&
        NEW_ARRAY(out->near, nearest_room(WIDE_ROWS)))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for a cell's queries");
}

void cell_space_free(cell_space *w)
{
    points_free(&w->Q);
    mem_free(w->K);
    mem_free(w->room);
    mem_free(w->near);
    mem_free(w->pair);
    mem_free(w->panel);
    mem_free(w->around);
    *w = (cell_space){0};
}

size_t cell_expert_nearest(const cell_expert *e, const double *k, ranked *room, size_t *row)
{
    const double *last = k + e->m - e->tail;
    nearest best = nearest_start(e->tail < WIDE_ROWS ? e->tail : WIDE_ROWS, room);
    for (size_t i = e->tail; i-- > 0;) /* near rows first: most others are then passed over */
        nearest_offer(&best, -last[i], i);
    return nearest_finish(&best, row, NULL);
}

/* Sums over the rows nearest to a query; *near: the place of the nearest. */
static surroundings look_around(const cell_expert *e, const hyper *theta, const double *k,
                                ranked *room, size_t *near)
{
    const double *last = k + e->m - e->tail;
    size_t row[WIDE_ROWS];
    surroundings sums = {.log_level = e->noise.log_level, .excess = e->noise.noise - theta->noise};
    size_t count = cell_expert_nearest(e, k, room, row);
    for (size_t i = 0; i < count; i++) {
        double rho = last[row[i]] / theta->signal, rho2 = e->weight[row[i]] * (rho * rho);
        left_out_figures shown = {e->surprise[row[i]], e->variance[row[i]]};
        surroundings_add(&sums, i, rho2, shown);
    }
    *near = e->m - e->tail + row[0];
    return sums;
}

/* The rows and centres about the query x, whose nearest row is `near`. */
static query_sides sides_of(const cell_source *s, const cell_expert *e, const double *x,
                            size_t near)
{
    return (query_sides){.D = e->X.D,
                         .x = x,
                         .nearest = e->X.Z + near * e->X.D,
                         .rows = e->X.Z,
                         .row_count = e->m,
                         .centres = s->centre,
                         .centre_count = s->experts};
}

/* Of w->K = k* : means, and while they can be seen, the surroundings, of b queries. */
static void read_covariances(const cell_source *s, const cell_expert *e, size_t b, cell_space *w,
                             double *mean, surroundings *around, size_t *near)
{
    for (size_t q = 0; q < b; q++) {
        const double *k = w->K + q * e->m;
        mean[q] = vec_dot(e->m, k, e->alpha);
        if (around)
            around[q] = look_around(e, s->theta, k, w->near, &near[q]);
    }
}

/* b queries of the panel, of `padded` that w->Q has. */
static void ask_panel(const cell_source *s, const cell_expert *e, size_t b, size_t padded,
                      spread_rule how, cell_space *w, const cell_answers *out)
{
    size_t m = e->m;
    points Q = points_view(&w->Q, 0, padded);
    surroundings around[CELL_PANEL] = {{0}};
    size_t near[CELL_PANEL] = {0};
    int is_plain =
        isinf(how.prior) && how.untested == 1.0 && !how.local_noise; /* no factor at all */
    covariance_cross(s->theta, &e->X, &Q, w->K, m);
    read_covariances(s, e, b, w, out->mean, out->explained && !is_plain ? around : NULL, near);
    if (!out->explained)
        return;
    packed_triangle_solve(m, e->packed, b, w->K, w->room);
    for (size_t q = 0; q < b; q++) {
        const double *a = w->K + q * m; /* L^-1 k* */
        out->explained[q] = vec_dot(m, a, a);
        out->noise[q] = e->noise.noise;
        double variance = variance_left(s->theta->signal, out->explained[q], out->noise[q]);
        if (!is_plain) {
            query_sides sides = sides_of(s, e, Q.Z + q * Q.D, near[q]);
            around[q].is_surrounded = lies_in_gap(&sides, around[q], variance);
        }
        out->spread[q] = spread_factor(how, around[q], variance);
        for (size_t d = 0; out->lift && d < s->width; d++)
            out->lift[q * s->width + d] = vec_dot(m, a, e->W + d * m);
        if (out->slope.mean) {
            cell_query at = {Q.Z + q * Q.D, a, is_plain ? NULL : &around[q], out->explained[q],
                             variance};
            cell_slopes here = cell_slopes_from(&out->slope, q, Q.D, s->width);
            cell_expert_slopes(s, e, &at, how, w, &here);
        }
    }
}

static cell_answers answers_from(const cell_answers *all, size_t first, size_t D, size_t width)
{
    return (cell_answers){.mean = all->mean + first,
                          .explained = all->explained ? all->explained + first : NULL,
                          .spread = all->explained ? all->spread + first : NULL,
                          .noise = all->explained ? all->noise + first : NULL,
                          .lift = all->lift ? all->lift + first * width : NULL,
                          .slope = cell_slopes_from(&all->slope, first, D, width)};
}

/* Where BLAS takes part, the last query again and again makes a panel a multiple of QUERY_MULTIPLE
 * wide. */
void cell_expert_ask(const cell_source *s, const cell_expert *e, const points *Q,
                     const size_t *query, size_t b, spread_rule how, cell_space *w,
                     const cell_answers *out)
{
    for (size_t first = 0; first < b; first += CELL_PANEL) {
        size_t count = b - first < CELL_PANEL ? b - first : CELL_PANEL;
        size_t padded = covariance_by_products(Q->D) ? padded_queries(count) : count;
        for (size_t i = 0; i < padded; i++)
            w->which[i] = query[first + (i < count ? i : count - 1)];
        points_gather(Q, w->which, padded, &w->Q);
        cell_answers here = answers_from(out, first, Q->D, s->width);
        ask_panel(s, e, count, padded, how, w, &here);
    }
}
