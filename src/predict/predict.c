/* Predict: block of queries -> the experts at each query's table -> their posteriors ->
 * aggregate -> add noise, scale by the spread, undo standardising. */
#include "model/model.h"

#include "predict/joint.h"
#include "predict/local.h"
#include "predict/nearest.h"
#include "aggregate/npae.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "linalg/blas.h"
#include "team/team.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    CI_BLOCK = 8192,       /* queries of a block at most: independent rules, neighbourhoods alone */
    NPAE_BLOCK = 1024,     /* NPAE on the same experts everywhere                           */
    LOCAL_PER_EXPERT = 32, /* NPAE on each query's own experts: so many queries for each of the
                                experts that may take part, so that a pair's covariance matrix
                                serves several queries ...                                  */
    LOCAL_MOST = 65536,    /* ... at most                                                   */
    CHUNK = 65536,         /* queries that a caller should pass at once at most             */
    AUTO_MOST = 16         /* experts that local:auto seats at most                         */
};
static const double BLOCK_SHARE = 0.2;  /* of the memory option: a block                */
static const double FACTOR_SHARE = 0.2; /* factors made for a block when they are not kept */
static const double FEW_SHARE = 0.01;   /* rows that every rank of a team may have       */
static const double SCRATCH_SHARE = 1.0 / 64.0; /* memory that stays for the next call ...       */
static const double SCRATCH_MOST = 64e6;        /* ... in bytes at most                          */
static const double AUTO_TOLERANCE = 0.01; /* local:auto stops when the variance falls by less */

/* One call's plan. */
typedef struct {
    const quorum_model *m;
    const settings *s;
    const progress *progress;
    const rule *rule;
    const committee *c;
    const neighbour_index *index; /* NULL: no neighbourhoods, ...                      */
    const near_holdings *held;    /* ... or each rank searches its own rows            */
    selection chosen;
    size_t *experts, count; /* of the committee that may take part                     */
    size_t used;            /* experts of the model that may take part                 */
    size_t neighbours;      /* rows of each query's own expert, 0: none                */
    int threads, mean_only;
    double memory;
    size_t block; /* queries of a block                                      */
} plan;

/* Counts of a call. */
typedef struct {
    quorum_report events;
    double seats; /* taken, over all queries */
} tally;

/* Space for one block. */
typedef struct {
    double *X;          /* block x D: standardised */
    points Q;           /* scaled, padded          */
    double *mean, *var; /* block                   */
    double *spread;     /* block: factor of the variance, noise included */
} block_space;

/* ---- Plan ---- */

static size_t pad(size_t b)
{
    return (b + QUERY_MULTIPLE - 1) / QUERY_MULTIPLE * QUERY_MULTIPLE;
}

static size_t rows_of(const committee *c, const size_t *experts, size_t count)
{
    size_t rows = 0;
    for (size_t i = 0; i < count; i++)
        rows += part_size(&c->parts, experts[i]);
    return rows;
}

static int is_local(const plan *p)
{
    return p->chosen.local > 0 || p->chosen.local_auto;
}

/* Experts that one query is predicted from. */
static size_t seats_wanted(const plan *p)
{
    size_t K = p->chosen.local_auto ? AUTO_MOST : p->chosen.local;
    return K > 0 && K < p->count ? K : p->count;
}

static size_t local_block(size_t experts)
{
    size_t b = LOCAL_PER_EXPERT * experts;
    return b < CI_BLOCK ? CI_BLOCK : b < LOCAL_MOST ? b : LOCAL_MOST;
}

/* Bytes of the largest factor that may be asked for. */
static double largest_factor(const plan *p)
{
    size_t most = 0;
    for (size_t i = 0; i < p->count; i++) {
        size_t m = part_size(&p->c->parts, p->experts[i]);
        most = m > most ? m : most;
    }
    return 8.0 * (double)most * (double)(most + 1);
}

/* One factor at a time is the least that memory has to hold. */
static quorum_status check_factors(const plan *p)
{
    double needed = largest_factor(p);
    if (needed < p->memory)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY,
                   "an expert's factor needs %.2f GB, more than memory (%.2f GB) allows: raise "
                   "memory, predict by method nearest, or fit more experts",
                   needed / 1e9, p->memory / 1e9);
}

/* Queries of a block: as many as memory allows, up to what speed can use. */
static size_t block_size(const plan *p, size_t queries)
{
    size_t seats = seats_wanted(p), most = CI_BLOCK, b;
    double rows = 0.0, each = 8.0 * (4.0 * (double)p->m->D + 8.0);
    if (rule_is_joint(p->rule)) {
        if (is_local(p))
            most = local_block(p->count);
        else if (p->count > 0)
            most = NPAE_BLOCK;
        if (p->count > 0)
            rows = (double)rows_of(p->c, p->experts, p->count) / (double)p->count * (double)seats;
        each += 16.0 * (double)p->neighbours;
    }
    if (is_local(p))
        each += assembly_query_bytes(local_candidates(seats, p->count), 0.0);
    each += assembly_query_bytes(seats + 1, rows);
    double room = p->memory - largest_factor(p);
    double fit = fmin(BLOCK_SHARE * p->memory, room) / each;
    b = fit < (double)most ? (size_t)fit : most;
    b = b / QUERY_MULTIPLE * QUERY_MULTIPLE;
    if (b < QUERY_MULTIPLE)
        b = QUERY_MULTIPLE;
    return b < pad(queries) ? b : pad(queries);
}

/* GRBCM: the committee becomes the base (the most important expert's part when
 * experts were selected) and the joined experts. */
static quorum_status take_base(plan *p, const size_t *ranking, int selected)
{
    size_t base = SIZE_MAX, *all;
    for (size_t r = 0; selected && p->count > 1 && base == SIZE_MAX; r++)
        for (size_t i = 0; i < p->count; i++)
            if (p->experts[i] == ranking[r])
                base = ranking[r];
    TRY(model_base_committee(p->m, p->experts, p->count, base, p->s, p->progress, &p->c));
    if (!NEW_ARRAY(all, p->c->parts.M))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", p->c->parts.M);
    for (size_t i = 0; i < p->c->parts.M; i++)
        all[i] = i;
    mem_free(p->experts);
    p->experts = all;
    p->count = p->c->parts.M;
    return QUORUM_OK;
}

static quorum_status choose_experts(plan *p, const double *X, size_t n)
{
    const size_t *ranking = p->m->graph.ranking;
    expert_graph fresh = {0};
    quorum_status status = QUORUM_OK;
    if (selection_is_by_rank(&p->chosen) && p->s->graph_on == GRAPH_ON_TEST) {
        TRY(model_graph_on(p->m, X, n, p->s, p->progress, &fresh));
        ranking = fresh.ranking;
    }
    TRY_OR_DONE(selection_members(&p->chosen, p->m->M, ranking, p->experts, &p->count));
    p->used = p->count;
    if (p->rule->kind == TAKES_BASE)
        TRY_OR_DONE(take_base(p, ranking, p->count < p->m->M));
done:
    expert_graph_free(&fresh);
    return status;
}

/* Rows, scaled in two orders, and a tree: so little that every rank may have all of it. */
static int rows_are_few(const plan *p)
{
    double each = 8.0 * (5.0 * (double)p->m->D + 6.0);
    return each * (double)p->m->n < FEW_SHARE * p->memory;
}

/* Experts that are asked one by one are asked where they live, and neighbourhoods alone can be
 * brought together from all ranks, which is dearer than having the rows; but pairs of experts,
 * and a base that all share, need rows that other ranks own. */
static int needs_all_rows(const plan *p)
{
    int pairs = p->rule->kind == TAKES_COVARIANCE;
    return pairs || p->rule->kind == TAKES_BASE || (p->neighbours > 0 && rows_are_few(p));
}

static quorum_status follow_recipe(plan *p)
{
    recipe r;
    TRY(model_recipe(p->m, p->s, &r));
    TRY(model_check_recipe(p->m, &r));
    p->rule = r.rule;
    p->chosen = r.chosen;
    p->neighbours = r.neighbours;
    return QUORUM_OK;
}

static quorum_status make_plan(const quorum_model *m, const quorum_options *options,
                               const double *X, size_t n, plan *p)
{
    quorum_status status = QUORUM_OK;
    *p = (plan){.m = m, .s = options_values(options), .progress = options_progress(options)};
    TRY(team_agree(blas_check()));
    p->threads = options_threads(p->s);
    p->memory = options_memory(p->s);
    TRY(follow_recipe(p));
    if (needs_all_rows(p))
        TRY(model_hold_all(m));
    if (p->chosen.kind == SELECT_NONE)
        TRY(model_rows(m, &p->c));
    else
        TRY(model_committee(m, p->s, p->progress, &p->c));
    if (p->neighbours > 0 && model_is_whole(m))
        TRY(model_neighbour_index(m, p->s, &p->index));
    else if (p->neighbours > 0)
        TRY(model_near_holdings(m, p->s, &p->held));
    if (!NEW_ARRAY(p->experts, m->M))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", m->M);
    TRY_OR_DONE(choose_experts(p, X, n));
    TRY_OR_DONE(check_factors(p));
    p->mean_only = p->s->mean_only && p->count == 1 && p->neighbours == 0 && p->rule->trusts_one;
    p->block = block_size(p, n);
done:
    if (status < 0) {
        mem_free(p->experts);
        p->experts = NULL;
    }
    return status;
}

/* ---- One block ---- */

static void block_free(block_space *w)
{
    points_free(&w->Q);
    mem_free(w->X);
    mem_free(w->mean);
    mem_free(w->var);
    mem_free(w->spread);
}

static quorum_status block_new(const plan *p, block_space *w)
{
    size_t b = p->block;
    *w = (block_space){0};
    if (points_new(b, p->m->D, &w->Q) == QUORUM_OK && NEW_ARRAY(w->X, b * p->m->D) &&
        NEW_ARRAY(w->mean, b) && NEW_ARRAY(w->var, b) && NEW_ARRAY(w->spread, b))
        return QUORUM_OK;
    block_free(w);
    return failure(QUORUM_E_MEMORY, "out of memory for a block of %zu queries: lower memory", b);
}

/* Standardises and scales the listed queries; the padding repeats the last one. */
static void take_queries(const plan *p, const double *X, const size_t *which, size_t n,
                         block_space *w)
{
    const quorum_model *m = p->m;
    for (size_t i = 0; i < pad(n); i++)
        model_standardise(m, 1, X + which[i < n ? i : n - 1] * m->D, w->X + i * m->D);
    points_scale(&w->Q, pad(n), w->X, NULL, m->theta.lengthscale);
}

/* Seats K experts at each of the n queries Q. */
static quorum_status seat(const plan *p, assembly *a, size_t K, size_t n,
                          const neighbourhoods *near, size_t *unsure)
{
    *unsure = 0;
    if (is_local(p) && K < p->count)
        return seat_local(a, p->experts, p->count, K, n, near, FACTOR_SHARE * p->memory, p->threads,
                          unsure);
    assembly_seat_all(a, p->experts, p->count);
    return QUORUM_OK;
}

/* Rules over opinions: v_i = s_f^2 - explained, plus s^2 in observed space. */
static quorum_status combine_opinions(const plan *p, size_t n, block_space *w, tally *t)
{
    const hyper *theta = &p->m->theta;
    double noise = p->s->space == SPACE_OBSERVED ? theta->noise : 0.0;
    size_t seats = seats_wanted(p), unsure;
    assembly a;
    quorum_status status = QUORUM_OK;
    TRY(assembly_new(p->c, &w->Q, seats, &a));
    TRY_OR_DONE(seat(p, &a, seats, n, NULL, &unsure));
    t->events.unsure += unsure;
    TRY_OR_DONE(assembly_ask(&a, !p->mean_only, 0, FACTOR_SHARE * p->memory, p->threads));
    t->seats += (double)seats * (double)n;
    if (p->mean_only) {
        memcpy(w->mean, a.mean, a.b * sizeof *w->mean);
        memset(w->var, 0, a.b * sizeof *w->var);
        goto done;
    }
    for (size_t k = 0; k < seats * a.b; k++)
        a.explained[k] = fmax(theta->signal - a.explained[k], DBL_EPSILON * theta->signal) + noise;
    opinions o = {
        .p = seats, .b = a.b, .mean = a.mean, .var = a.explained, .prior = theta->signal + noise};
    consensus out = {.mean = w->mean, .var = w->var, .real = n};
    p->rule->combine(&o, &out);
    t->events.prior_fallbacks += out.fallbacks;
done:
    assembly_free(&a);
    return status;
}

/* What the joint aggregation of some queries is made of. */
typedef struct {
    assembly a;
    neighbourhoods near;
    double *pairs;
} joint_space;

static void joint_free(joint_space *j)
{
    assembly_free(&j->a);
    neighbourhoods_free(&j->near);
    mem_free(j->pairs);
}

/* NPAE at the queries Q, K experts at each and the neighbourhood at the last seat. */
static quorum_status aggregate_jointly(const plan *p, const points *Q, size_t K, joint_space *j,
                                       npae_result *out, size_t *unsure)
{
    size_t seats = K + (p->neighbours > 0);
    neighbourhoods *near = p->neighbours > 0 ? &j->near : NULL;
    TRY(assembly_new(p->c, Q, seats, &j->a));
    if (!NEW_ZEROED(j->pairs, seats * (seats - 1) / 2 * Q->n))
        return failure(QUORUM_E_MEMORY, "out of memory for the covariances of %zu experts", seats);
    if (near) {
        TRY(neighbourhoods_new(Q->n, out->real, p->neighbours, p->m->spread, near));
        if (p->index)
            TRY(neighbourhoods_find(p->c, p->index, Q, p->threads, near));
    }
    *unsure = 0;
    if (K > 0) {
        TRY(seat(p, &j->a, K, out->real, near, unsure));
        TRY(assembly_ask(&j->a, 1, 1, FACTOR_SHARE * p->memory, p->threads));
        TRY(npae_pairs(&j->a, p->threads, j->pairs));
    }
    if (near && p->index)
        TRY(nearest_seat(&j->a, seats - 1, near, p->threads, j->pairs));
    else if (near)
        TRY(nearest_seat_scattered(&j->a, seats - 1, p->held, near, p->threads));
    return npae_solve(&j->a, j->pairs, p->threads, out);
}

static void count_events(const npae_result *out, size_t seats, size_t n, tally *t)
{
    t->events.clamped += out->clamped;
    t->events.jittered += out->jittered;
    t->events.pseudo_inverses += out->pseudo_inverses;
    t->seats += (double)seats * (double)n;
}

static quorum_status combine_jointly(const plan *p, size_t n, block_space *w, tally *t)
{
    joint_space j = {0};
    npae_result out = {.mean = w->mean, .var = w->var, .real = n};
    size_t K = seats_wanted(p), unsure = 0;
    quorum_status status = aggregate_jointly(p, &w->Q, K, &j, &out, &unsure);
    count_events(&out, K, n, t);
    t->events.unsure += unsure;
    for (size_t q = 0; status >= 0 && q < n && p->neighbours > 0; q++)
        w->spread[q] = j.near.spread[q];
    joint_free(&j);
    return status;
}

/* local:auto: 1, 2, 4, ... experts, until the variance falls by less than the tolerance;
 * queries that are settled leave. */
static quorum_status combine_gradually(const plan *p, size_t n, block_space *w, tally *t)
{
    size_t left = n, most = seats_wanted(p), unsure = 0, *active = NULL;
    double *mean = NULL, *var = NULL;
    points Q = {0};
    quorum_status status = points_new(w->Q.n, p->m->D, &Q);
    if (status < 0)
        return status;
    if (!NEW_ARRAY(active, w->Q.n) || !NEW_ARRAY(mean, w->Q.n) || !NEW_ARRAY(var, w->Q.n)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n);
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        active[i] = i;
        w->var[i] = INFINITY;
    }
    for (size_t K = 1; left > 0; K = 2 * K < most ? 2 * K : most) {
        joint_space j = {0};
        npae_result out = {.mean = mean, .var = var, .real = left};
        size_t stay = 0;
        for (size_t i = left; i < pad(left); i++)
            active[i] = active[left - 1];
        points_gather(&w->Q, active, pad(left), &Q);
        status = aggregate_jointly(p, &Q, K < p->count ? K : p->count, &j, &out, &unsure);
        for (size_t i = 0; status >= 0 && i < left && p->neighbours > 0; i++)
            w->spread[active[i]] = j.near.spread[i];
        joint_free(&j);
        if (status < 0)
            goto done;
        for (size_t i = 0; i < left; i++) {
            size_t q = active[i];
            int settled = K == most || var[i] >= w->var[q] * (1.0 - AUTO_TOLERANCE);
            w->mean[q] = mean[i];
            w->var[q] = var[i];
            if (settled)
                t->seats += (double)K;
            else
                active[stay++] = q;
        }
        count_events(&out, 0, 0, t);
        left = stay;
    }
    t->events.unsure += unsure; /* of the last round */
    for (size_t i = n; i < w->Q.n; i++)
        w->mean[i] = w->var[i] = 0.0; /* padding */
done:
    points_free(&Q);
    mem_free(active);
    mem_free(mean);
    mem_free(var);
    return status;
}

/* w->mean, var and spread at n queries, standardised, in the space of aggregation. */
static quorum_status predict_block(const plan *p, size_t n, block_space *w, tally *t)
{
    for (size_t q = 0; q < n; q++)
        w->spread[q] = 1.0;
    if (!rule_is_joint(p->rule) || p->mean_only)
        return combine_opinions(p, n, w, t);
    if (p->chosen.local_auto && p->count > 1)
        return combine_gradually(p, n, w, t);
    return combine_jointly(p, n, w, t);
}

/* ---- Results in the caller's units ---- */

/* What to add to the aggregated variance: the noise, unless it is wanted latent or
 * the opinions were noisy already. */
static double missing_noise(const plan *p)
{
    int has_noise = !rule_is_joint(p->rule) && p->s->space == SPACE_OBSERVED;
    return p->m->theta.noise * ((p->s->latent ? 0.0 : 1.0) - (has_noise ? 1.0 : 0.0));
}

/* What was asked for of one query: finite, and an interval that is one. */
static quorum_status check_query(const plan *p, const quorum_prediction *out, size_t q)
{
    const double *const arrays[] = {out->mean, out->std, out->lower, out->upper};
    size_t asked = p->s->mean_only ? 1 : sizeof arrays / sizeof *arrays;
    int good = 1;
    for (size_t a = 0; a < asked; a++)
        good = good && (!arrays[a] || isfinite(arrays[a][q]));
    if (good && asked > 1)
        good = (!out->std || out->std[q] >= 0.0) &&
               (!out->lower || !out->upper || out->lower[q] <= out->upper[q]);
    if (good)
        return QUORUM_OK;
    return failure(QUORUM_E_NUMERIC,
                   "query %zu has no prediction that is a finite number; the target's mean is %g "
                   "and its standard deviation %g: numbers that large or small are best rescaled "
                   "before fit",
                   q + 1, p->m->y_mean, p->m->y_scale);
}

static quorum_status write_block(const plan *p, const block_space *w, const size_t *which, size_t n,
                                 const quorum_prediction *out)
{
    const quorum_model *m = p->m;
    double noise = missing_noise(p);
    double z = model_interval_reach(m, p->s, p->s->interval);
    double scale = model_calibration_scale(m, p->s);
    for (size_t q = 0; q < n; q++) {
        double mean = m->y_mean + m->y_scale * w->mean[q];
        double var = w->spread[q] * fmax(0.0, w->var[q] + noise);
        double std = p->s->mean_only ? NAN : m->y_scale * sqrt(var);
        if (out->mean)
            out->mean[which[q]] = mean;
        if (out->std)
            out->std[which[q]] = scale * std;
        if (out->lower)
            out->lower[which[q]] = mean - z * std;
        if (out->upper)
            out->upper[which[q]] = mean + z * std;
        TRY(check_query(p, out, which[q]));
    }
    return QUORUM_OK;
}

static void fill_nan(const quorum_prediction *out, size_t n)
{
    double *const arrays[] = {out->mean, out->std, out->lower, out->upper};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        for (size_t i = 0; arrays[a] && i < n; i++)
            arrays[a][i] = NAN;
}

/* The order in which queries are taken: neighbours together where each query has its
 * own experts, so that a block shares them. */
static quorum_status order_queries(const plan *p, const double *X, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    if (!is_local(p) || n <= p->block)
        return QUORUM_OK;
    const quorum_model *m = p->m;
    double *Z;
    points Q = {0};
    if (!NEW_ARRAY(Z, n * m->D))
        return failure(QUORUM_E_MEMORY, "out of memory for ordering %zu queries", n);
    model_standardise(m, n, X, Z);
    quorum_status status = points_new(n, m->D, &Q);
    if (status == QUORUM_OK) {
        points_scale(&Q, n, Z, NULL, m->theta.lengthscale);
        status = order_by_experts(p->c, &Q, order);
    }
    points_free(&Q);
    mem_free(Z);
    return status;
}

static quorum_status predict_all(const plan *p, const double *X, size_t n,
                                 const quorum_prediction *out, tally *t)
{
    block_space w;
    size_t *order = NULL;
    quorum_status status = QUORUM_OK;
    TRY(block_new(p, &w));
    if (!NEW_ARRAY(order, n)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n);
        goto done;
    }
    TRY_OR_DONE(order_queries(p, X, n, order));
    for (size_t first = 0; first < n; first += p->block) {
        size_t count = n - first < p->block ? n - first : p->block;
        TRY_OR_DONE(progress_report(p->progress, "predict", (double)first / (double)n,
                                    "%zu of %zu queries", first, n));
        take_queries(p, X, order + first, count, &w);
        TRY_OR_DONE(predict_block(p, count, &w, t));
        TRY_OR_DONE(write_block(p, &w, order + first, count, out));
    }
    TRY_OR_DONE(progress_report(p->progress, "predict", 1.0, "%zu of %zu queries", n, n));
done:
    mem_free(order);
    block_free(&w);
    return status;
}

/* Plan and prediction: all that allocates. */
static quorum_status predict_rows(const quorum_model *m, const double *X, size_t rows,
                                  const quorum_options *options, const quorum_prediction *out,
                                  tally *t)
{
    plan p = {0};
    quorum_status status = make_plan(m, options, X, rows, &p);
    if (status == QUORUM_OK)
        status = predict_all(&p, X, rows, out, t);
    t->events.experts_used =
        p.rule && p.rule->kind == TAKES_BASE ? (double)p.used : t->seats / (double)rows;
    mem_free(p.experts);
    return status;
}

/* All that can be said before there are queries. */
static quorum_status check_request(const quorum_model *m, const quorum_options *options, tally *t)
{
    const settings *s = options_values(options);
    recipe r;
    t->events.calibrated = model_is_calibrated(m, s);
    t->events.calibration_unused = model_misses_calibration(m, s);
    TRY(model_recipe(m, s, &r));
    TRY(model_check_recipe(m, &r));
    t->events.method = r.rule->name;
    return QUORUM_OK;
}

static double scratch_bytes(const quorum_options *options)
{
    return fmin(SCRATCH_SHARE * options_memory(options_values(options)), SCRATCH_MOST);
}

quorum_status quorum_predict(const quorum_model *m, const double *X, size_t rows,
                             const quorum_options *options, const quorum_prediction *out,
                             quorum_report *report)
{
    if (!m || !out || (!X && rows > 0))
        return failure(QUORUM_E_ARGUMENT, "quorum_predict: model, X and out must not be NULL");
    double start = wall_seconds();
    tally t = {0};
    quorum_status status = check_request(m, options, &t);
    if (status == QUORUM_OK)
        status = model_check_queries(m, X, rows);
    if (status == QUORUM_OK && rows > 0) {
        scratch_visit visit = scratch_enter(model_scratch(m), scratch_bytes(options));
        progress_watch watch;
        options_watch(options, "predict", &watch);
        status = predict_rows(m, X, rows, options, out, &t);
        progress_watch_end(&watch);
        scratch_leave(visit);
    }
    if (status < 0)
        fill_nan(out, rows);
    t.events.off_constants = status < 0 ? 0 : model_count_off_constants(m, X, rows);
    t.events.seconds = wall_seconds() - start;
    if (report)
        *report = t.events;
    return status;
}

size_t quorum_block_rows(const quorum_model *m, const quorum_options *options)
{
    if (!m)
        return 1;
    double each = 8.0 * (2.0 * (double)m->D + 8.0);
    double fit = 0.1 * options_memory(options_values(options)) / each;
    return fit < 1024.0 ? 1024 : fit > CHUNK ? CHUNK : (size_t)fit;
}

/* ---- Joint covariance ---- */

static quorum_status check_joint_results(size_t n, const double *mean, const double *covariance)
{
    for (size_t q = 0; q < n; q++)
        for (size_t k = 0; k < n; k++)
            if (!isfinite(covariance[q * n + k]) || (mean && !isfinite(mean[q])))
                return failure(QUORUM_E_NUMERIC,
                               "query %zu has no covariance that is a finite number: rescale the "
                               "target before fit if its numbers are very large",
                               q + 1);
    return QUORUM_OK;
}

/* spread: of each query, or NULL. */
static void joint_to_units(const plan *p, size_t n, const npae_result *r, const double *cov,
                           const double *spread, double *mean, double *covariance)
{
    const quorum_model *m = p->m;
    size_t b = pad(n);
    double scale = m->y_scale * model_calibration_scale(m, p->s), unit = scale * scale;
    double noise = p->s->latent ? 0.0 : m->theta.noise;
    for (size_t q = 0; q < n; q++) {
        if (mean)
            mean[q] = m->y_mean + m->y_scale * r->mean[q];
        for (size_t k = 0; k < n; k++)
            covariance[q * n + k] = unit * (spread ? sqrt(spread[q] * spread[k]) : 1.0) *
                                    (cov[q * b + k] + (q == k ? noise : 0.0));
    }
}

static quorum_status predict_jointly(plan *p, const double *X, size_t n, double *mean,
                                     double *covariance)
{
    block_space w;
    joint_space j = {0};
    double *weights = NULL, *cov = NULL;
    size_t K = seats_wanted(p), b = pad(n), unsure = 0, *order = NULL;
    quorum_status status = QUORUM_OK;
    p->block = b;
    TRY(block_new(p, &w));
    if (!NEW_ARRAY(order, n) || !NEW_ARRAY(weights, (K + 1) * b) || !NEW_ARRAY(cov, b * b)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for the covariance of %zu queries", n);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    take_queries(p, X, order, n, &w);
    npae_result out = {.mean = w.mean, .var = w.var, .weights = weights, .real = n};
    TRY_OR_DONE(aggregate_jointly(p, &w.Q, K, &j, &out, &unsure));
    TRY_OR_DONE(
        joint_covariance(&j.a, weights, p->neighbours > 0 ? &j.near : NULL, p->threads, cov));
    joint_to_units(p, n, &out, cov, p->neighbours > 0 ? j.near.spread : NULL, mean, covariance);
    TRY_OR_DONE(check_joint_results(n, mean, covariance));
done:
    mem_free(order);
    mem_free(weights);
    mem_free(cov);
    joint_free(&j);
    block_free(&w);
    return status;
}

static quorum_status check_joint(const plan *p, size_t n)
{
    double rows = (double)p->c->parts.n;
    double needed = joint_bytes(pad(n), rows) +
                    (double)pad(n) * assembly_query_bytes(seats_wanted(p) + 1, rows);
    if (!rule_is_joint(p->rule))
        return failure(QUORUM_E_ARGUMENT, "method %s has no joint covariance; use nearest or npae",
                       p->rule->name);
    if (needed > p->memory)
        return failure(QUORUM_E_MEMORY,
                       "the joint covariance of %zu queries may need %.2f GB, more than memory "
                       "(%.2f GB) allows: ask for fewer at a time",
                       n, needed / 1e9, p->memory / 1e9);
    if (!isnormal(p->m->y_scale * p->m->y_scale))
        return failure(QUORUM_E_NUMERIC,
                       "the target's standard deviation is %g, and its square is not a number that "
                       "a covariance can be given in: rescale the target before fit",
                       p->m->y_scale);
    return QUORUM_OK;
}

/* A neighbourhood is known to one rank only, a covariance needs two of them. */
static quorum_status check_alone(void)
{
    return team_size() == 1
               ? QUORUM_OK
               : failure(QUORUM_E_ARGUMENT,
                         "the joint covariance is work for one process, not for %d", team_size());
}

quorum_status quorum_predict_joint(const quorum_model *m, const double *X, size_t rows,
                                   const quorum_options *options, double *mean, double *covariance)
{
    plan p = {0};
    progress_watch watch;
    if (!m || !X || !covariance || rows == 0)
        return failure(
            QUORUM_E_ARGUMENT,
            "quorum_predict_joint: model, X and covariance must not be NULL, rows not 0");
    quorum_prediction out = {.mean = mean};
    options_watch(options, "predict", &watch);
    quorum_status status = check_alone();
    if (status == QUORUM_OK)
        status = model_check_queries(m, X, rows);
    if (status == QUORUM_OK)
        status = make_plan(m, options, X, rows, &p);
    if (status == QUORUM_OK)
        status = check_joint(&p, rows);
    if (status == QUORUM_OK)
        status = predict_jointly(&p, X, rows, mean, covariance);
    progress_watch_end(&watch);
    mem_free(p.experts);
    if (status < 0) {
        fill_nan(&out, rows);
        for (size_t i = 0; i < rows * rows; i++)
            covariance[i] = NAN;
    }
    return status;
}
