/* quorum_predict: plan -> block of queries -> a predictor's mean and variance -> add noise, scale
 * by the spread, undo standardising. */
#include "base/memory.h"
#include "base/parallel.h"
#include "encode/nodes.h"
#include "predict/block.h"
#include "predict/distance.h"
#include "predict/local.h"
#include "team/work.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    CHUNK = 65536,        /* queries that a caller should pass at once at most ...              */
    CELLS_CHUNK = 1 << 20 /* ... to cells, whose experts, more than are kept, serve them together */
};
static const double SCRATCH_SHARE = 1.0 / 64.0; /* memory that stays for the next call ... */
static const double SCRATCH_MOST = 64e6;        /* ... in bytes at most                    */

/* w->mean, var, spread and noise at n queries, standardised, in the space of aggregation. */
static quorum_status predict_block(const plan *p, size_t n, block_space *w, tally *t)
{
    size_t slopes = n * p->m->rows.D * sizeof *w->spread_slope;
    for (size_t q = 0; q < n; q++) {
        w->spread[q] = 1.0;
        w->noise[q] = p->m->theta.noise;
        w->doubt[q] = 0.0;
    }
    if (w->spread_slope) {
        memset(w->spread_slope, 0, slopes);
        memset(w->doubt_slope, 0, slopes);
        memset(w->noise_slope, 0, slopes);
    }
    return p->how->answer(p, n, w, t);
}

/* The order in which queries are taken: neighbours together where each query has its
 * own experts, or an expert has queries of its own, so that a block shares them. */
static quorum_status order_queries(const plan *p, const double *X, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    if ((!plan_is_local(p) && !p->how->order) || n <= p->block)
        return QUORUM_OK;
    const quorum_model *m = p->m;
    double *Z;
    points Q = {0};
    if (!NEW_ARRAY(Z, n * m->rows.D))
        return failure(QUORUM_E_MEMORY, "out of memory for ordering %zu queries", n);
    model_standardise(m, n, X, Z);
    quorum_status status = points_new(n, m->rows.D, &Q);
    if (status == QUORUM_OK) {
        points_scale(&Q, n, Z, NULL, m->theta.lengthscale);
        status = p->how->order ? p->how->order(p, &Q, order) : order_by_experts(p->c, &Q, order);
    }
    points_free(&Q);
    mem_free(Z);
    return status;
}

/* ---- Levels that were not in the training data (encode/nodes.h) ----
 *
 * A query that has some is predicted at combinations of known levels, and what is predicted there is
 * averaged; the variance of the means over the combinations is added to the doubt. */

static_assert((int)MOST_NODES <= (int)QUERY_MULTIPLE, "a block holds them");

/* Predictions at the nodes of some queries, a whole query's in one block. */
typedef struct {
    level_nodes *nodes; /* D: of each category; NULL: no level is new */
    double *X;          /* block x D                                  */
    size_t *which;      /* block: 0, 1, ...                           */
    size_t count;       /* nodes that are there ...                   */
    node_set *set;      /* ... groups: of each query (block) ...      */
    size_t *query;      /* ... and its place in its own block         */
    size_t groups;
    block_space block;
} node_space;

static void node_space_free(node_space *s)
{
    mem_free(s->nodes);
    mem_free(s->X);
    mem_free(s->which);
    mem_free(s->set);
    mem_free(s->query);
    block_free(&s->block);
}

static quorum_status node_space_new(const plan *p, node_space *s)
{
    const encoding *e = &p->m->encoding;
    size_t b = p->block;
    if (!NEW_ZEROED(s->nodes, e->inputs) || !NEW_ARRAY(s->X, b * e->inputs) ||
        !NEW_ARRAY(s->which, b) || !NEW_ARRAY(s->set, b) || !NEW_ARRAY(s->query, b))
        return failure(QUORUM_E_MEMORY, "out of memory for levels that are new");
    for (size_t i = 0; i < b; i++)
        s->which[i] = i;
    for (size_t d = 0; d < e->inputs; d++)
        if (e->of[d].levels > 0)
            TRY(level_nodes_choose(&e->of[d], &s->nodes[d]));
    return block_new(b, e->inputs, p->with_slopes, &s->block);
}

/* to (D) += weight times from. */
static void add_slopes(size_t D, double weight, const double *from, double *to)
{
    for (size_t d = 0; d < D; d++)
        to[d] += weight * from[d];
}

/* Takes what was predicted of a query back. */
static void clear_prediction(size_t D, block_space *w, size_t q)
{
    w->mean[q] = w->var[q] = w->spread[q] = w->doubt[q] = w->noise[q] = 0.0;
    double *const slopes[] = {w->mean_slope, w->var_slope, w->spread_slope, w->doubt_slope,
                              w->noise_slope};
    for (size_t k = 0; w->mean_slope && k < sizeof slopes / sizeof *slopes; k++)
        memset(slopes[k] + q * D, 0, D * sizeof *slopes[k]);
}

/* All that is predicted of query `from` of a block, times the weight, to that of another. */
static void add_prediction(size_t D, double weight, const block_space *a, size_t from,
                           block_space *b, size_t to)
{
    b->mean[to] += weight * a->mean[from];
    b->var[to] += weight * a->var[from];
    b->spread[to] += weight * a->spread[from];
    b->doubt[to] += weight * a->doubt[from];
    b->noise[to] += weight * a->noise[from];
    if (!a->mean_slope)
        return;
    add_slopes(D, weight, a->mean_slope + from * D, b->mean_slope + to * D);
    add_slopes(D, weight, a->var_slope + from * D, b->var_slope + to * D);
    add_slopes(D, weight, a->spread_slope + from * D, b->spread_slope + to * D);
    add_slopes(D, weight, a->doubt_slope + from * D, b->doubt_slope + to * D);
    add_slopes(D, weight, a->noise_slope + from * D, b->noise_slope + to * D);
}

/* The variance of the means a over the nodes from `first` on, with its slopes 2 widen cov(a, slope). */
static void add_variance_of_levels(const node_set *set, size_t D, const double *a,
                                   const block_space *nodes, size_t first, block_space *w, size_t q)
{
    double mean, variance, unit = 2.0 * set->widen / (double)(set->count - (set->count > 1));
    node_set_join(set, a, &mean, &variance);
    w->doubt[q] += variance;
    for (size_t j = 0; nodes->mean_slope && j < set->count; j++)
        add_slopes(D, unit * (a[j] - mean), nodes->mean_slope + (first + j) * D,
                   w->doubt_slope + q * D);
}

/* What a linear trend adds at a node beyond what it adds at the query. */
static double line_beyond(const quorum_model *m, const double *node, const double *query)
{
    const double *line = m->units.line;
    size_t D = m->rows.D;
    return line ? line_at(D, line, node) - line_at(D, line, query) : 0.0;
}

/* The predictions at a query's nodes, which begin at `first`, are the query's. */
static void join_nodes(const plan *p, const node_space *s, size_t group, size_t first,
                       block_space *w)
{
    const node_set *set = &s->set[group];
    size_t D = p->m->rows.D, q = s->query[group];
    double a[MOST_NODES], each = 1.0 / (double)set->count;
    clear_prediction(D, w, q);
    for (size_t j = 0; j < set->count; j++) {
        double beyond = line_beyond(p->m, s->block.X + (first + j) * D, w->X + q * D);
        a[j] = s->block.mean[first + j] + beyond;
        add_prediction(D, each, &s->block, first + j, w, q);
        w->mean[q] += each * beyond;
    }
    add_variance_of_levels(set, D, a, &s->block, first, w, q);
}

/* Predicts the nodes that are there, and joins them. */
static quorum_status predict_nodes(const plan *p, node_space *s, block_space *w)
{
    tally nobody = {0};
    size_t first = 0;
    if (s->count == 0)
        return QUORUM_OK;
    block_take(p, s->X, s->which, s->count, &s->block);
    TRY(predict_block(p, s->count, &s->block, &nobody));
    for (size_t g = 0; g < s->groups; g++) {
        join_nodes(p, s, g, first, w);
        first += s->set[g].count;
    }
    s->count = s->groups = 0;
    return QUORUM_OK;
}

/* The predictions of the block's queries with new levels. */
static quorum_status settle_new_levels(const plan *p, const double *X, const size_t *which,
                                       size_t n, node_space *s, block_space *w)
{
    const encoding *e = &p->m->encoding;
    size_t D = p->m->rows.D;
    for (size_t q = 0; q < n; q++) {
        const double *x = X + which[q] * D;
        if (!encoding_needs_nodes(e, x))
            continue;
        node_set set = node_set_of(e, s->nodes, x);
        if (s->count + set.count > p->block)
            TRY(predict_nodes(p, s, w));
        s->set[s->groups] = set;
        s->query[s->groups++] = q;
        for (size_t j = 0; j < set.count; j++, s->count++)
            node_set_fill(e, s->nodes, &set, j, x, s->X + s->count * D);
    }
    return predict_nodes(p, s, w);
}

/* ---- Missing cells (encode/holes.h) ---- */

/* Queries without holes; empty where the model knows nothing of them. */
typedef struct {
    const quorum_model *m;
    const double *given; /* n x D                                              */
    size_t n;
    int fill;       /* option missing: impute                                  */
    double *X;      /* n x D: filled; NULL: they are as they were given        */
    double *beyond; /* n: the variance of their holes, the model's units       */
    size_t count;   /* queries with cells that were filled ...                 */
    size_t anew;    /* ... of which training rows have none in the column      */
} filled_queries;

static void filled_free(filled_queries *q)
{
    mem_free(q->X);
    mem_free(q->beyond);
}

static int has_holes(const hole_rule *h, const double *x)
{
    for (size_t d = 0; d < h->columns; d++)
        if (isnan(x[d]))
            return 1;
    return 0;
}

static quorum_status filled_new(filled_queries *q)
{
    size_t D = q->m->rows.D;
    for (size_t i = 0; q->fill && i < q->n; i++)
        q->count += (size_t)has_holes(&q->m->holes, q->given + i * D);
    if (!NEW_ARRAY(q->beyond, q->n) || (q->count > 0 && !NEW_ARRAY(q->X, q->n * D)))
        return failure(QUORUM_E_MEMORY, "out of memory for the holes of %zu queries", q->n);
    if (q->X)
        memcpy(q->X, q->given, q->n * D * sizeof *q->X);
    return QUORUM_OK;
}

static quorum_status fill_here(void *context)
{
    filled_queries *q = context;
    const quorum_model *m = q->m;
    size_t D = m->rows.D;
    double unit = m->units.y_scale * m->units.y_scale;
    TRY(filled_new(q));
    for (size_t i = 0; i < q->n; i++) {
        int anew = 0;
        double sum = q->X ? holes_fill(&m->holes, &m->made, q->X + i * D, &anew)
                          : holes_variance(&m->holes, q->given + i * D);
        q->beyond[i] = sum / unit;
        q->anew += (size_t)anew;
    }
    return QUORUM_OK;
}

static quorum_status fill_queries(filled_queries *q)
{
    return q->m->holes.of && q->n > 0 ? team_all(QUORUM_OK, fill_here, q) : QUORUM_OK;
}

/* ---- All blocks ---- */

/* What all blocks of a call use. */
typedef struct {
    const plan *p;
    const double *X; /* n x D: the queries */
    size_t n;
    block_space block;
    node_space levels; /* of queries with new levels */
    size_t *order;     /* n */
} prediction_space;

static quorum_status prepare(void *context)
{
    prediction_space *s = context;
    TRY(block_new(s->p->block, s->p->m->rows.D, s->p->with_slopes, &s->block));
    if (!NEW_ARRAY(s->order, s->n))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", s->n);
    if (model_count_new_levels(s->p->m, s->X, s->n) > 0)
        TRY(node_space_new(s->p, &s->levels));
    return order_queries(s->p, s->X, s->n, s->order);
}

/* The block without its noise, as with latent=true. */
static quorum_status write_latent(const plan *p, const block_space *w, const size_t *which,
                                  size_t n, const quorum_prediction *latent)
{
    settings s = *p->s;
    plan quiet = *p;
    s.latent = 1;
    quiet.s = &s;
    tally nobody = {0};
    return block_write(&quiet, w, which, n, latent, &nobody);
}

/* What further targets have at the same queries. */
static quorum_status write_others(const plan *p, const block_space *w, const size_t *which,
                                  size_t n)
{
    for (size_t k = 0; k < p->others; k++) {
        shared_target *t = &p->shared[k];
        plan own = *p;
        block_space block = *w;
        own.m = t->m;
        block.mean = t->near.mean;
        block.spread = t->near.spread;
        block_take_errors(&own, t->out->noise_std, which, n, &block);
        TRY(block_write(&own, &block, which, n, t->out, &t->t));
        if (t->out->distance)
            TRY(block_distances(&own, &block, which, n, t->out->distance));
    }
    return QUORUM_OK;
}

/* latent: the same without the noise, or NULL. */
static quorum_status predict_all(const plan *p, const double *X, size_t n,
                                 const quorum_prediction *out, const quorum_prediction *latent,
                                 tally *t)
{
    prediction_space s = {.p = p, .X = X, .n = n};
    quorum_status status;
    TRY_OR_DONE(team_all(QUORUM_OK, prepare, &s));
    for (size_t first = 0; first < n; first += p->block) {
        size_t count = n - first < p->block ? n - first : p->block;
        TRY_OR_DONE(progress_stretch(p->progress, "predict", first, count, n, "queries"));
        block_take(p, X, s.order + first, count, &s.block);
        block_take_errors(p, out->noise_std, s.order + first, count, &s.block);
        TRY_OR_DONE(predict_block(p, count, &s.block, t));
        if (s.levels.nodes)
            TRY_OR_DONE(settle_new_levels(p, X, s.order + first, count, &s.levels, &s.block));
        for (size_t q = 0; p->beyond && q < count; q++)
            s.block.doubt[q] += p->beyond[s.order[first + q]];
        TRY_OR_DONE(block_write(p, &s.block, s.order + first, count, out, t));
        if (out->distance)
            TRY_OR_DONE(block_distances(p, &s.block, s.order + first, count, out->distance));
        if (latent)
            TRY_OR_DONE(write_latent(p, &s.block, s.order + first, count, latent));
        TRY_OR_DONE(write_others(p, &s.block, s.order + first, count));
    }
    TRY_OR_DONE(progress_report(p->progress, "predict", 1.0, "%zu of %zu queries", n, n));
done:
    mem_free(s.order);
    block_free(&s.block);
    node_space_free(&s.levels);
    return status;
}

quorum_status predict_margins(const plan *p, const double *X, size_t n,
                              const quorum_prediction *out, const quorum_prediction *latent)
{
    tally t = {0};
    return predict_all(p, X, n, out, latent, &t);
}

quorum_status predict_by_plan(const plan *p, const double *X, size_t n,
                              const quorum_prediction *out, tally *t)
{
    return predict_all(p, X, n, out, NULL, t);
}

static int wants_slopes(const quorum_prediction *out)
{
    return out->mean_gradient || out->std_gradient;
}

/* Plan and prediction: all that allocates. */
static quorum_status predict_rows(const quorum_model *m, const double *X, size_t rows,
                                  const double *beyond, const quorum_options *options,
                                  const quorum_prediction *out, tally *t)
{
    plan p = {0};
    quorum_status status = plan_make(m, options, wants_slopes(out), X, rows, &p);
    p.beyond = beyond;
    if (status == QUORUM_OK)
        status = predict_all(&p, X, rows, out, NULL, t);
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

/* Offsets are given where the model has one, and are finite. */
static quorum_status check_offsets(const quorum_model *m, const double *offset, size_t rows)
{
    if (rows > 0 && m->columns.offset && !offset)
        return failure(
            QUORUM_E_ARGUMENT,
            "the model was fitted with an offset, %.200s, and predictions need its values "
            "at the queries",
            m->columns.offset);
    if (offset && !m->columns.offset)
        return failure(QUORUM_E_ARGUMENT,
                       "an offset is given, and the model was fitted without one");
    for (size_t i = 0; offset && i < rows; i++)
        if (!isfinite(offset[i]))
            return failure(QUORUM_E_DATA, "query %zu, offset %.200s is %g: it must be finite",
                           i + 1, m->columns.offset, offset[i]);
    return QUORUM_OK;
}

/* Known errors are in the target's units, which a logarithm has not. */
static quorum_status check_errors(const quorum_model *m, const double *noise_std, size_t rows)
{
    if (noise_std && m->units.warp != WARP_NONE && !m->columns.is_reduced)
        return failure(QUORUM_E_ARGUMENT, "known noise of queries does not go with the model's "
                                          "logarithm of the target: fit with warp none");
    for (size_t i = 0; noise_std && i < rows; i++)
        if (!(noise_std[i] >= 0.0 && isfinite(noise_std[i])))
            return failure(QUORUM_E_DATA,
                           "query %zu: its noise-std is %g: it must be finite and not negative",
                           i + 1, noise_std[i]);
    return QUORUM_OK;
}

/* Quantiles are asked for at probabilities. */
static quorum_status check_probabilities(const quorum_prediction *out)
{
    if (out->quantile && out->probabilities > 0 && !out->probability)
        return failure(QUORUM_E_ARGUMENT, "quantiles are asked for without their probabilities");
    for (size_t k = 0; out->quantile && k < out->probabilities; k++)
        if (!(out->probability[k] > 0.0 && out->probability[k] < 1.0))
            return failure(QUORUM_E_ARGUMENT,
                           "the quantile of probability %g: it must be between 0 and 1",
                           out->probability[k]);
    return QUORUM_OK;
}

static void add_offsets(const quorum_prediction *out, size_t rows)
{
    double *const arrays[] = {out->mean, out->lower, out->upper};
    for (size_t a = 0; out->offset && a < sizeof arrays / sizeof *arrays; a++)
        for (size_t i = 0; arrays[a] && i < rows; i++)
            arrays[a][i] += out->offset[i];
    for (size_t i = 0; out->offset && out->quantile && i < rows; i++)
        for (size_t k = 0; k < out->probabilities; k++)
            out->quantile[i * out->probabilities + k] += out->offset[i];
}

/* Slopes by longitude and latitude, which are no inputs themselves. */
static void add_place_slopes(const quorum_model *m, const double *x, const quorum_prediction *out,
                             size_t first)
{
    if (out->mean_gradient)
        made_slopes(&m->made, x, out->mean_gradient + first);
    if (out->std_gradient)
        made_slopes(&m->made, x, out->std_gradient + first);
}

static double scratch_bytes(const quorum_options *options)
{
    return fmin(SCRATCH_SHARE * options_memory(options_values(options)), SCRATCH_MOST);
}

quorum_status predict_check(const quorum_model *m, const double *X, size_t rows,
                            const quorum_options *options, const quorum_prediction *out, tally *t)
{
    TRY(check_request(m, options, t));
    TRY(model_check_queries(m, X, rows));
    if (options_values(options)->unseen == UNSEEN_ERROR)
        TRY(model_check_known_levels(m, X, rows));
    TRY(check_offsets(m, out->offset, rows));
    TRY(check_errors(m, out->noise_std, rows));
    return check_probabilities(out);
}

void predict_finish(const quorum_model *m, const double *X, size_t rows,
                    const quorum_prediction *out, quorum_status status, tally *t)
{
    if (status < 0)
        fill_nan(out, rows, m->rows.D);
    else
        add_offsets(out, rows);
    for (size_t i = 0; status >= 0 && m->place > 0 && i < rows; i++)
        add_place_slopes(m, X + i * m->rows.D, out, i * m->rows.D);
    t->events.unseen = status < 0 ? 0 : model_count_new_levels(m, X, rows);
    t->events.off_constants = status < 0 ? 0 : model_count_off_constants(m, X, rows);
}

quorum_status predict_watched(const quorum_model *m, const quorum_options *options,
                              quorum_status (*body)(void *context), void *context)
{
    scratch_visit visit = scratch_enter(model_scratch(m), scratch_bytes(options));
    progress_watch watch;
    options_watch(options, "predict", &watch);
    quorum_status status = body(context);
    progress_watch_end(&watch);
    scratch_leave(visit);
    return status;
}

/* A call, as predict_watched takes it. */
typedef struct {
    const quorum_model *m;
    const double *X;
    size_t rows;
    const double *beyond;
    const quorum_options *options;
    const quorum_prediction *out;
    tally *t;
} prediction_call;

static quorum_status predict_called(void *context)
{
    const prediction_call *c = context;
    return predict_rows(c->m, c->X, c->rows, c->beyond, c->options, c->out, c->t);
}

/* Queries whose holes are filled. */
static quorum_status predict_filled(const prediction_call *c)
{
    TRY(predict_check(c->m, c->X, c->rows, c->options, c->out, c->t));
    return c->rows > 0 ? predict_watched(c->m, c->options, predict_called, (void *)c) : QUORUM_OK;
}

quorum_status quorum_predict(const quorum_model *m, const double *X, size_t rows,
                             const quorum_options *options, const quorum_prediction *out,
                             quorum_report *report)
{
    if (!m || !out || (!X && rows > 0))
        return failure(QUORUM_E_ARGUMENT, "quorum_predict: model, X and out must not be NULL");
    double start = wall_seconds();
    tally t = {0};
    int fill = options_values(options)->missing == MISSING_IMPUTE;
    filled_queries q = {.m = m, .given = X, .n = rows, .fill = fill};
    quorum_status status = fill_queries(&q);
    prediction_call call = {m, q.X ? q.X : X, rows, q.beyond, options, out, &t};
    if (status == QUORUM_OK)
        status = predict_filled(&call);
    predict_finish(m, call.X, rows, out, status, &t);
    t.events.filled = status < 0 ? 0 : q.count;
    t.events.filled_anew = status < 0 ? 0 : q.anew;
    filled_free(&q);
    t.events.seconds = wall_seconds() - start;
    if (report)
        *report = t.events;
    return status;
}

static int is_by_cells(const quorum_model *m, const settings *s)
{
    recipe r;
    return model_recipe(m, s, &r) == QUORUM_OK && r.rule->kind == TAKES_CELLS;
}

size_t quorum_block_rows(const quorum_model *m, const quorum_options *options)
{
    if (!m)
        return 1;
    const settings *s = options_values(options);
    double each = 8.0 * (2.0 * (double)m->rows.D + 8.0),
           most = is_by_cells(m, s) ? CELLS_CHUNK : CHUNK;
    double fit = 0.1 * options_memory(s) / each;
    return fit < 1024.0 ? 1024 : (size_t)fmin(fit, most);
}
