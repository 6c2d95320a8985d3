/* Method cells: each query is predicted by the experts of the cells around it (cell_expert.h),
 *
 *   mean_e = k*' C^-1 y,   v_e = s_f^2 - k*' C^-1 k*,   o_e = spread_e (v_e + s^2)
 *
 * joined as a product in which each fades towards the borders (cell_seats.h).  Queries of a cell are
 * asked together, and a query's answer depends on that query alone.
 *
 * In a gap, or outside, the rows of the nearest cell are not those around the query, and lie on one side:
 * a query that is far from its cell is predicted by a GP on its own nearest rows (predict/by_nearest.c),
 * as many as an expert has. */
#include "cells/cell_seats.h"
#include "cells/cell_slopes.h"
#include "cells/cell_store.h"
#include "cells/kept_cells.h"
#include "cells/query_sorts.h"

#include "base/memory.h"
#include "linalg/blas.h"
#include "near/ranked.h"
#include "predict/predictor.h"
#include "team/work.h"

#include <math.h>

static const double ROUNDING = 1e-14;  /* of s_f^2: not worth counting            */
static const double KEPT_SHARE = 0.25; /* of memory: kept experts, half of that for those of another
                                          size that come second, and so on         */

static int is_cells(const rule *r)
{
    return r->kind == TAKES_CELLS;
}

/* ---- The plan ---- */

typedef struct {
    const quorum_model *model;
    cell_source source;
    size_t m;
    int threads;
} store_request;

static quorum_status make_store(void *context, void **out)
{
    const store_request *r = context;
    cell_store *store = NULL;
    cell_map map = {0};
    quorum_status status = cells_of_model(r->model, r->source.Z, r->m, r->threads, &map);
    if (status == QUORUM_OK)
        status = cell_store_new(&r->source, r->m, &map, &store);
    else
        cell_map_free(&map);
    *out = store;
    return status;
}

static void free_store(void *store)
{
    cell_store_free(store);
}

static const attachment_kind CELLS = {make_store, free_store};

static double expert_bytes(const plan *p)
{
    size_t D = p->m->rows.D;
    return cell_expert_bytes(p->neighbours, D, p->m->units.line ? D + 1 : 0);
}

/* One expert at a time is the least that memory has to hold. */
static quorum_status check_memory(const plan *p)
{
    double needed = expert_bytes(p);
    if (needed < p->memory)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY,
                   "a cell's expert of %zu rows needs %.2f GB, more than memory (%.2f GB) allows: "
                   "raise memory, or give fewer neighbours",
                   p->neighbours, needed / 1e9, p->memory / 1e9);
}

/* Each of them may have an expert in hand that is not kept. */
static int workers_for(const plan *p, size_t cells)
{
    double fit = (1.0 - KEPT_SHARE) * p->memory / expert_bytes(p);
    int workers = parallel_workers(p->threads, cells);
    return fit < (double)workers ? (fit > 1.0 ? (int)fit : 1) : workers;
}

/* Room for the experts of the place-th size that this model was asked for. */
static double room_for(const plan *p)
{
    return KEPT_SHARE * p->memory * exp2(-(double)p->cells_place);
}

static quorum_status plan_cells(plan *p, const double *X, size_t n)
{
    const quorum_model *m = p->m;
    store_request r = {.model = m, .m = p->neighbours, .threads = p->threads};
    void *store;
    (void)X;
    (void)n;
    TRY(check_memory(p));
    TRY(model_hold_all(m));
    TRY(model_rows(m, p->s, &p->c));
    TRY(plan_neighbours(p, MANY_QUERIES)); /* cells look for their rows too */
    TRY(model_points(m, &r.source.Z));     /* there already: the search is over them */
    r.source.theta = &m->theta;
    r.source.centre = p->c->centre;
    r.source.experts = p->c->parts.M;
    r.source.local_noise = m->local_noise;
    r.source.rows = &m->rows;
    r.source.index = p->index;
    r.source.width = m->units.line ? m->rows.D + 1 : 0;
    TRY(model_attachment(m, &CELLS, r.m, &r, &store, &p->cells_place));
    p->cells = store;
    return QUORUM_OK;
}

static double query_bytes(const plan *p)
{
    double D = (double)p->m->rows.D, width = (double)plan_line_width(p);
    double pairs = 8.0 * CELL_SEATS * (10.0 + width);
    if (p->with_slopes)
        pairs += 8.0 * CELL_SEATS * D * (4.0 + width);
    return 2.0 * pairs + by_nearest.query_bytes(p); /* where some are far, of both sorts */
}

static size_t block_most(const plan *p)
{
    (void)p;
    return BLOCK_MOST;
}

/* ---- Queries by cells ---- */

/* Those that are far from their cells come last. */
static quorum_status order_by_cells(const plan *p, const points *Q, size_t *order)
{
    const cell_map *map = cell_store_map(p->cells);
    ranked *sorted = NULL;
    char *is_far = NULL;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(sorted, Q->n) || !NEW_ARRAY(is_far, Q->n))
        status = failure(QUORUM_E_MEMORY, "out of memory for ordering %zu queries", Q->n);
    if (status == QUORUM_OK)
        status = cell_map_find(map, Q, p->threads, order, is_far);
    for (size_t q = 0; status == QUORUM_OK && q < Q->n; q++)
        sorted[q] = (ranked){(double)(order[q] + (is_far[q] ? map->cells : 0)), q};
    if (status == QUORUM_OK)
        ranked_sort(sorted, Q->n);
    for (size_t i = 0; i < Q->n; i++)
        order[i] = status < 0 ? i : sorted[i].row;
    mem_free(sorted);
    mem_free(is_far);
    return status;
}

/* A block's pairs of a query and an expert of it, cell after cell, and what the experts say in that
 * order. */
typedef struct {
    const plan *p;
    const points *Q;
    size_t n, seats, pairs, width; /* pairs = n seats: pair q seats + s is query q's s-th */
    size_t *seat;                  /* pairs: the cell ...                                */
    double *weight;                /* pairs: ... its share, and then its weight         */
    ranked *sorted;                /* pairs                                              */
    size_t *query;                 /* pairs, in the order of cells                       */
    size_t *place;                 /* pairs: where in that order each is                 */
    size_t groups;                 /* cells that have queries                            */
    size_t *cell;                  /* groups                                             */
    size_t *start;                 /* groups + 1: where their pairs start                */
    double *share_slope;           /* pairs x D, of query after query; NULL: not wanted  */
    cell_answers said;
    int workers;
    cell_space *space; /* workers */
} cell_job;

static void job_free(cell_job *j)
{
    for (int w = 0; j->space && w < j->workers; w++)
        cell_space_free(&j->space[w]);
    const cell_slopes *s = &j->said.slope;
    void *const rooms[] = {
        j->space,       j->seat,       j->weight,    j->sorted,      j->query,
        j->place,       j->cell,       j->start,     j->said.mean,   j->said.explained,
        j->said.spread, j->said.noise, j->said.lift, j->share_slope, s->mean,
        s->explained,   s->spread,     s->lift};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        mem_free(rooms[i]);
}

/* query, place, cell and start, from the pairs' cells. */
static void group_pairs(cell_job *j)
{
    for (size_t i = 0; i < j->pairs; i++)
        j->sorted[i] = (ranked){(double)j->seat[i], i};
    ranked_sort(j->sorted, j->pairs);
    for (size_t i = 0; i < j->pairs; i++) {
        size_t pair = j->sorted[i].row, cell = j->seat[pair];
        j->query[i] = pair / j->seats;
        j->place[pair] = i;
        if (i == 0 || cell != j->cell[j->groups - 1]) {
            j->cell[j->groups] = cell;
            j->start[j->groups++] = i;
        }
    }
    j->start[j->groups] = j->pairs;
}

static quorum_status make_answers(cell_job *j)
{
    int with_variance = j->seats > 1 || !plan_skips_variance(j->p); /* several are weighed by it */
    NEW_ARRAY(j->said.mean, j->pairs);
    if (with_variance) {
        NEW_ARRAY(j->said.explained, j->pairs);
        NEW_ARRAY(j->said.spread, j->pairs);
        NEW_ARRAY(j->said.noise, j->pairs);
    }
    if (j->width > 0)
        NEW_ARRAY(j->said.lift, j->pairs * j->width);
    if (j->said.mean &&
        (!with_variance || (j->said.explained && j->said.spread && j->said.noise)) &&
        (j->width == 0 || j->said.lift))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", j->n);
}

static quorum_status make_slopes(cell_job *j)
{
    size_t each = j->pairs * j->Q->D;
    cell_slopes *s = &j->said.slope;
    NEW_ARRAY(j->share_slope, each);
    NEW_ARRAY(s->mean, each);
    NEW_ARRAY(s->explained, each);
    NEW_ARRAY(s->spread, each);
    if (j->width > 0)
        NEW_ARRAY(s->lift, each * j->width);
    if (j->share_slope && s->mean && s->explained && s->spread && (s->lift || j->width == 0))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for the gradients of %zu queries", j->n);
}

static quorum_status make_pairs(cell_job *j)
{
    NEW_ARRAY(j->seat, j->pairs);
    NEW_ARRAY(j->weight, j->pairs);
    NEW_ARRAY(j->sorted, j->pairs);
    NEW_ARRAY(j->query, j->pairs);
    NEW_ARRAY(j->place, j->pairs);
    NEW_ARRAY(j->cell, j->pairs);
    NEW_ARRAY(j->start, j->pairs + 1);
    if (j->seat && j->weight && j->sorted && j->query && j->place && j->cell && j->start)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", j->n);
}

static quorum_status job_new(const plan *p, const points *Q, size_t n, cell_job *j)
{
    const cell_map *map = cell_store_map(p->cells);
    points queries = points_view(Q, 0, n);
    size_t seats = cell_seats(map);
    *j = (cell_job){.p = p,
                    .Q = Q,
                    .n = n,
                    .seats = seats,
                    .pairs = n * seats,
                    .workers = 1,
                    .width = plan_line_width(p)};
    TRY(make_pairs(j));
    TRY(make_answers(j));
    if (p->with_slopes)
        TRY(make_slopes(j));
    TRY(cell_seats_find(map, &queries, p->threads, j->seat, j->weight, j->share_slope));
    group_pairs(j);
    j->workers = workers_for(p, j->groups);
    if (!NEW_ZEROED(j->space, (size_t)j->workers))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n);
    for (int w = 0; w < j->workers; w++) {
        TRY(cell_space_new(p->neighbours, Q->D, &j->space[w]));
        if (p->with_slopes)
            TRY(cell_space_want_slopes(p->neighbours, Q->D, &j->space[w]));
    }
    return QUORUM_OK;
}

static quorum_status ask_cell(void *context, size_t item, int worker)
{
    cell_job *j = context;
    cell_store *store = j->p->cells;
    size_t first = j->start[item], count = j->start[item + 1] - first;
    const cell_expert *e;
    cell_answers here = {.mean = j->said.mean + first,
                         .explained = j->said.explained ? j->said.explained + first : NULL,
                         .spread = j->said.spread ? j->said.spread + first : NULL,
                         .noise = j->said.noise ? j->said.noise + first : NULL,
                         .lift = j->said.lift ? j->said.lift + first * j->width : NULL,
                         .slope = cell_slopes_from(&j->said.slope, first, j->Q->D, j->width)};
    TRY(cell_store_take(store, j->cell[item], room_for(j->p), &e));
    cell_expert_ask(cell_store_source(store), e, j->Q, j->query + first, count, j->p->spread,
                    &j->space[worker], &here);
    cell_store_release(store, j->cell[item], e);
    return QUORUM_OK;
}

/* ---- Answers ---- */

enum { ANSWERS = 9 };

static size_t list_answers(const cell_job *j, team_result *out)
{
    const cell_answers *a = &j->said;
    size_t D = j->Q->D, count = 0;
    const struct {
        double *data;
        size_t width;
    } answers[ANSWERS] = {{a->mean, 1},
                          {a->explained, 1},
                          {a->spread, 1},
                          {a->noise, 1},
                          {a->lift, j->width},
                          {a->slope.mean, D},
                          {a->slope.explained, D},
                          {a->slope.spread, D},
                          {a->slope.lift, D * j->width}};
    for (size_t i = 0; i < ANSWERS; i++)
        if (answers[i].data)
            out[count++] = (team_result){.data = answers[i].data,
                                         .width = answers[i].width * sizeof *answers[i].data,
                                         .start = j->start};
    return count;
}

/* The query's experts, their weights being of what each says of the variance. */
static void weigh_experts(const cell_job *j, size_t q, tally *t)
{
    const hyper *theta = &j->p->m->theta;
    double observed[CELL_SEATS];
    int clamped = 0;
    for (size_t s = 0; s < j->seats; s++) {
        size_t i = j->place[q * j->seats + s];
        double var = theta->signal - j->said.explained[i];
        clamped = clamped || var < -ROUNDING * theta->signal;
        observed[s] = j->said.spread[i] *
                      variance_left(theta->signal, j->said.explained[i], j->said.noise[i]);
    }
    cell_seats_weigh(j->seats, observed, j->weight + q * j->seats);
    t->events.clamped += (size_t)clamped;
}

/* sum_e w_e (mean_e, v_e, o_e); the spread is what makes sum w o of sum w (v + s^2). */
static void join_experts(const cell_job *j, size_t q, block_space *w)
{
    const hyper *theta = &j->p->m->theta;
    double mean = 0.0, var = 0.0, noise = 0.0, observed = 0.0;
    for (size_t s = 0; s < j->seats; s++) {
        size_t i = j->place[q * j->seats + s];
        double weight = j->weight[q * j->seats + s];
        double own = variance_left(theta->signal, j->said.explained[i], j->said.noise[i]);
        mean += weight * j->said.mean[i];
        var += weight * fmax(theta->signal - j->said.explained[i], 0.0);
        noise += weight * j->said.noise[i];
        observed += weight * (j->said.spread[i] * own);
    }
    w->mean[q] = mean;
    w->var[q] = var;
    w->noise[q] = noise;
    w->spread[q] = observed / (var + noise);
}

/* u' V u of the experts together, whose means are linear in y. */
static void join_doubt(const cell_job *j, size_t q, block_space *w)
{
    const quorum_model *m = j->p->m;
    double *lift = j->said.lift + j->place[q * j->seats] * j->width;
    for (size_t d = 0; d < j->width; d++) {
        double sum = 0.0;
        for (size_t s = 0; s < j->seats; s++) {
            size_t pair = q * j->seats + s;
            sum += j->weight[pair] * j->said.lift[j->place[pair] * j->width + d];
        }
        lift[d] = sum;
    }
    w->doubt[q] = model_line_doubt(m, w->X + q * m->rows.D, lift, lift);
}

/* 2 p' (f(x)' - lift'), p = V u, u = f(x) - lift, of the experts together; w' in weight_slope. */
static void join_doubt_slopes(const cell_job *j, size_t q, const cell_opinion *of,
                              const double *weight_slope, block_space *w)
{
    const quorum_model *m = j->p->m;
    size_t D = m->rows.D;
    double *u = w->u, *p = w->u + D + 1, *slope = w->doubt_slope + q * D;
    u[0] = 1.0;
    for (size_t d = 0; d < D; d++)
        u[d + 1] = w->X[q * D + d];
    for (size_t s = 0; s < j->seats; s++)
        for (size_t i = 0; i <= D; i++)
            u[i] -= of[s].weight * of[s].lift[i];
    for (size_t i = 0; i <= D; i++)
        p[i] = vec_dot(D + 1, m->units.line_covariance + i * (D + 1), u);
    for (size_t d = 0; d < D; d++) {
        slope[d] = 2.0 * p[d + 1] * m->theta.lengthscale[d];
        for (size_t s = 0; s < j->seats; s++)
            slope[d] -= 2.0 * (weight_slope[s * D + d] * vec_dot(D + 1, p, of[s].lift) +
                               of[s].weight * vec_dot(D + 1, p, of[s].slope.lift + d * (D + 1)));
    }
}

/* The slopes of what the experts say together, once they are weighed and before the lifts are joined. */
static void join_slopes(const cell_job *j, size_t q, double *weight_slope, block_space *w)
{
    size_t D = j->Q->D;
    cell_opinion of[CELL_SEATS];
    joined_slopes out = {w->mean_slope + q * D, w->var_slope + q * D, w->noise_slope + q * D,
                         w->spread_slope + q * D, weight_slope};
    for (size_t s = 0; s < j->seats; s++) {
        size_t pair = q * j->seats + s, i = j->place[pair];
        of[s] = (cell_opinion){.weight = j->weight[pair],
                               .explained = j->said.explained[i],
                               .spread = j->said.spread[i],
                               .noise = j->said.noise[i],
                               .mean = j->said.mean[i],
                               .lift = j->said.lift ? j->said.lift + i * j->width : NULL,
                               .share_slope = j->share_slope + pair * D,
                               .slope = cell_slopes_from(&j->said.slope, i, D, j->width)};
    }
    cell_seats_join_slopes(j->seats, D, j->p->m->theta.signal, of, &out);
    if (j->said.lift)
        join_doubt_slopes(j, q, of, weight_slope, w);
}

static void take_answer(const cell_job *j, size_t q, block_space *w, tally *t)
{
    if (!j->said.explained) { /* the mean of one expert is wanted */
        w->mean[q] = j->said.mean[j->place[q]];
        w->var[q] = 0.0;
        return;
    }
    weigh_experts(j, q, t);
    join_experts(j, q, w);
    if (w->mean_slope) /* shares' own slopes are not needed again */
        join_slopes(j, q, j->share_slope + q * j->seats * j->Q->D, w);
    if (j->said.lift)
        join_doubt(j, q, w);
}

static quorum_status answer_near(const plan *p, size_t n, block_space *w, tally *t)
{
    cell_job j;
    team_result answers[ANSWERS];
    quorum_status ready = job_new(p, &w->Q, n, &j);
    size_t count = ready >= 0 ? list_answers(&j, answers) : 0;
    progress_expect(1.0);
    quorum_status status = team_map(ready, j.workers, j.groups, ask_cell, &j, answers, count);
    for (size_t q = 0; status == QUORUM_OK && q < n; q++)
        take_answer(&j, q, w, t);
    job_free(&j);
    return status;
}

/* ---- Near and far ---- */

static quorum_status answer_both(const plan *p, query_sorts *sorts, block_space *w, tally *t)
{
    TRY(query_sorts_divide(sorts, w));
    if (sorts->near.count > 0)
        TRY(answer_near(p, sorts->near.count, &sorts->near.w, t));
    TRY(by_nearest.answer(p, sorts->far.count, &sorts->far.w, t));
    query_sorts_join(sorts, w);
    return QUORUM_OK;
}

static quorum_status answer_cells(const plan *p, size_t n, block_space *w, tally *t)
{
    query_sorts sorts;
    quorum_status status = query_sorts_find(p, points_view(&w->Q, 0, n), &sorts);
    if (status == QUORUM_OK)
        status = sorts.far.count > 0 ? answer_both(p, &sorts, w, t) : answer_near(p, n, w, t);
    query_sorts_free(&sorts);
    return status;
}

const predictor by_cells = {.name = "cells",
                            .applies = is_cells,
                            .plan = plan_cells,
                            .query_bytes = query_bytes,
                            .block_most = block_most,
                            .order = order_by_cells,
                            .answer = answer_cells};
