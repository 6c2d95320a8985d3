/* Predict: block of queries -> experts' posteriors -> the chosen experts' ->
 * aggregate -> add noise, undo standardising. */
#include "model/model.h"

#include "aggregate/npae.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/scaling.h"
#include "linalg/normal.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    CI_BLOCK = 8192,   /* queries of a block at most: independent rules             */
    NPAE_BLOCK = 1024, /* and NPAE, where a block's kernel entries are shared by all */
    CHUNK = 65536      /* queries that a caller should pass at once at most          */
};
static const double BLOCK_SHARE = 0.2;  /* of the memory option: a block's posteriors      */
static const double FACTOR_SHARE = 0.2; /* factors made for a block when they are not kept */

/* One call's plan. */
typedef struct {
    const quorum_model *m;
    const settings *s;
    const progress *progress;
    const rule *rule;
    const committee *c;
    size_t *experts, count; /* of the committee that take part                     */
    size_t used;            /* experts of the model that take part                 */
    int threads, mean_only;
    double memory;
    size_t block; /* queries of a block                                  */
} plan;

/* Space for one block. */
typedef struct {
    double *X; /* block x D */
    points Q;
    double *mean;      /* count x block */
    double *explained; /* count x block; then variances */
    double **gamma;    /* count */
    double *gammas;
    double *out_mean, *out_var; /* block */
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

/* Queries of a block: as many as memory allows, up to what speed can use. */
static size_t block_size(rule_kind kind, size_t count, size_t rows, size_t D, double memory,
                         size_t queries)
{
    double each = 8.0 * (3.0 * (double)count + 4.0 * (double)D + 8.0);
    size_t most = CI_BLOCK;
    if (kind == TAKES_COVARIANCE) {
        each += npae_query_bytes(count, rows);
        most = NPAE_BLOCK;
    }
    double fit = BLOCK_SHARE * memory / each;
    size_t b = fit < (double)most ? (size_t)fit : most;
    b = b / QUERY_MULTIPLE * QUERY_MULTIPLE;
    if (b < QUERY_MULTIPLE)
        b = QUERY_MULTIPLE;
    return b < pad(queries) ? b : pad(queries);
}

/* GRBCM: the committee becomes the base (the most important expert's part when
 * experts were selected) and the joined experts. */
static quorum_status take_base(plan *p, const size_t *ranking, int selected)
{
    size_t base = selected && p->count > 1 ? ranking[0] : SIZE_MAX;
    if (base != SIZE_MAX) { /* the most important of those that take part */
        int listed = 0;
        for (size_t r = 0; r < p->m->M && !listed; r++)
            for (size_t i = 0; i < p->count && !listed; i++)
                if (p->experts[i] == ranking[r]) {
                    base = ranking[r];
                    listed = 1;
                }
    }
    TRY(model_base_committee(p->m, p->experts, p->count, base, p->s, p->progress, &p->c));
    size_t *all;
    if (!NEW_ARRAY(all, p->c->parts.M))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", p->c->parts.M);
    for (size_t i = 0; i < p->c->parts.M; i++)
        all[i] = i;
    mem_free(p->experts);
    p->experts = all;
    p->count = p->c->parts.M;
    return QUORUM_OK;
}

/* The ranking of the model's own graph, or of one learned on these queries. */
static quorum_status graph_on_queries(plan *p, const double *X, size_t n, expert_graph *g);

static quorum_status make_plan(const quorum_model *m, const quorum_options *options,
                               const double *X, size_t n, plan *p)
{
    selection chosen;
    expert_graph fresh = {0};
    quorum_status status = QUORUM_OK;
    *p = (plan){.m = m, .s = options_values(options), .progress = options_progress(options)};
    p->threads = options_threads(p->s);
    p->memory = options_memory(p->s);
    TRY(options_method(p->s, &p->rule, &chosen));
    TRY(model_committee(m, p->s, p->progress, &p->c));
    if (!NEW_ARRAY(p->experts, m->M))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", m->M);
    const size_t *ranking = m->graph.ranking;
    int by_rank = chosen.kind == SELECT_MOST || chosen.kind == SELECT_LEAST;
    if (by_rank && p->s->graph_on == GRAPH_ON_TEST) {
        TRY_OR_DONE(graph_on_queries(p, X, n, &fresh));
        ranking = fresh.ranking;
    }
    TRY_OR_DONE(selection_members(&chosen, m->M, ranking, p->experts, &p->count));
    p->used = p->count;
    if (p->rule->kind == TAKES_BASE)
        TRY_OR_DONE(take_base(p, ranking, p->count < m->M));
    p->mean_only = p->s->mean_only && p->count == 1 && p->rule->trusts_one;
    p->block = block_size(p->rule->kind, p->count, rows_of(p->c, p->experts, p->count), m->D,
                          p->memory, n);
done:
    expert_graph_free(&fresh);
    if (status < 0)
        mem_free(p->experts);
    return status;
}

/* ---- One block ---- */

static void block_free(block_space *w)
{
    points_free(&w->Q);
    mem_free(w->X);
    mem_free(w->mean);
    mem_free(w->explained);
    mem_free(w->gamma);
    mem_free(w->gammas);
    mem_free(w->out_mean);
    mem_free(w->out_var);
}

static quorum_status block_new(const plan *p, block_space *w)
{
    size_t b = p->block, rows = rows_of(p->c, p->experts, p->count);
    int joint = p->rule->kind == TAKES_COVARIANCE;
    *w = (block_space){0};
    if (points_new(b, p->m->D, &w->Q) == QUORUM_OK && NEW_ARRAY(w->X, b * p->m->D) &&
        NEW_ARRAY(w->mean, p->count * b) && NEW_ARRAY(w->explained, p->count * b) &&
        NEW_ARRAY(w->out_mean, b) && NEW_ARRAY(w->out_var, b) && NEW_ARRAY(w->gamma, p->count) &&
        (!joint || NEW_ARRAY(w->gammas, rows * b)))
        return QUORUM_OK;
    block_free(w);
    return failure(QUORUM_E_MEMORY, "out of memory for a block of %zu queries: lower memory", b);
}

/* Standardises and scales n queries; the padding repeats the last one. */
static void take_queries(const plan *p, const double *X, size_t n, block_space *w)
{
    const quorum_model *m = p->m;
    size_t padded = pad(n);
    scaling_apply(n, m->D, X, m->x_mean, m->x_scale, w->X);
    for (size_t i = n; i < padded; i++)
        memcpy(w->X + i * m->D, w->X + (n - 1) * m->D, m->D * sizeof *w->X);
    points_scale(&w->Q, padded, w->X, NULL, m->theta.lengthscale);
}

/* Rules over opinions: v_i = s_f^2 - explained, plus s^2 in observed space. */
static quorum_status combine_opinions(const plan *p, block_space *w, quorum_report *report)
{
    size_t b = w->Q.n;
    const hyper *theta = &p->m->theta;
    double noise = p->s->space == SPACE_OBSERVED ? theta->noise : 0.0;
    posteriors wanted = {.mean = w->mean, .explained = p->mean_only ? NULL : w->explained};
    TRY(committee_posteriors(p->c, p->experts, p->count, &w->Q, FACTOR_SHARE * p->memory,
                             p->threads, &wanted));
    if (p->mean_only) {
        memcpy(w->out_mean, w->mean, b * sizeof *w->mean);
        memset(w->out_var, 0, b * sizeof *w->out_var);
        return QUORUM_OK;
    }
    double *var = w->explained;
    for (size_t k = 0; k < p->count * b; k++)
        var[k] = fmax(theta->signal - var[k], DBL_EPSILON * theta->signal) + noise;
    opinions o = {
        .p = p->count, .b = b, .mean = w->mean, .var = var, .prior = theta->signal + noise};
    consensus out = {.mean = w->out_mean, .var = w->out_var};
    p->rule->combine(&o, &out);
    report->prior_fallbacks += out.fallbacks;
    return QUORUM_OK;
}

static npae_block joint_block(const plan *p, const block_space *w)
{
    return (npae_block){.c = p->c,
                        .experts = p->experts,
                        .p = p->count,
                        .b = w->Q.n,
                        .mean = w->mean,
                        .explained = w->explained,
                        .gamma = w->gamma};
}

static quorum_status joint_posteriors(const plan *p, block_space *w)
{
    double *at = w->gammas;
    for (size_t i = 0; i < p->count; i++) {
        w->gamma[i] = at;
        at += part_size(&p->c->parts, p->experts[i]) * w->Q.n;
    }
    posteriors wanted = {.mean = w->mean, .explained = w->explained, .gamma = w->gamma};
    return committee_posteriors(p->c, p->experts, p->count, &w->Q, FACTOR_SHARE * p->memory,
                                p->threads, &wanted);
}

static quorum_status combine_jointly(const plan *p, block_space *w, quorum_report *report)
{
    TRY(joint_posteriors(p, w));
    npae_block block = joint_block(p, w);
    npae_result out = {.mean = w->out_mean, .var = w->out_var};
    TRY(npae_aggregate(&block, p->threads, &out));
    report->clamped += out.clamped;
    report->jittered += out.jittered;
    report->pseudo_inverses += out.pseudo_inverses;
    return QUORUM_OK;
}

/* w->out_mean and out_var at n queries, standardised, in the space of aggregation. */
static quorum_status predict_block(const plan *p, const double *X, size_t n, block_space *w,
                                   quorum_report *report)
{
    take_queries(p, X, n, w);
    if (p->rule->kind == TAKES_COVARIANCE && !p->mean_only)
        return combine_jointly(p, w, report);
    return combine_opinions(p, w, report);
}

/* ---- Results in the caller's units ---- */

/* What to add to the aggregated variance: the noise, unless it is wanted latent or
 * the opinions were noisy already. */
static double missing_noise(const plan *p)
{
    int has_noise = p->rule->kind != TAKES_COVARIANCE && p->s->space == SPACE_OBSERVED;
    return p->m->theta.noise * ((p->s->latent ? 0.0 : 1.0) - (has_noise ? 1.0 : 0.0));
}

static void write_block(const plan *p, const block_space *w, size_t first, size_t n,
                        const quorum_prediction *out)
{
    const quorum_model *m = p->m;
    double noise = missing_noise(p);
    double z = normal_quantile(0.5 + 0.5 * p->s->interval);
    for (size_t q = 0; q < n; q++) {
        double mean = m->y_mean + m->y_scale * w->out_mean[q];
        double std = p->s->mean_only ? NAN : m->y_scale * sqrt(fmax(0.0, w->out_var[q] + noise));
        if (out->mean)
            out->mean[first + q] = mean;
        if (out->std)
            out->std[first + q] = std;
        if (out->lower)
            out->lower[first + q] = mean - z * std;
        if (out->upper)
            out->upper[first + q] = mean + z * std;
    }
}

static void fill_nan(const quorum_prediction *out, size_t n)
{
    double *const arrays[] = {out->mean, out->std, out->lower, out->upper};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        for (size_t i = 0; arrays[a] && i < n; i++)
            arrays[a][i] = NAN;
}

static quorum_status check_queries(const quorum_model *m, const double *X, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < m->D; d++)
            if (!isfinite(X[i * m->D + d]))
                return failure(QUORUM_E_DATA, "query %zu, input %s is %g: inputs must be finite",
                               i + 1, m->names[d], X[i * m->D + d]);
    return QUORUM_OK;
}

static quorum_status predict_all(const plan *p, const double *X, size_t n,
                                 const quorum_prediction *out, quorum_report *report)
{
    block_space w;
    TRY(block_new(p, &w));
    quorum_status status = QUORUM_OK;
    for (size_t first = 0; first < n; first += p->block) {
        size_t count = n - first < p->block ? n - first : p->block;
        TRY_OR_DONE(progress_report(p->progress, "predict", (double)first / (double)n,
                                    "%zu of %zu queries", first, n));
        TRY_OR_DONE(predict_block(p, X + first * p->m->D, count, &w, report));
        write_block(p, &w, first, count, out);
    }
    TRY_OR_DONE(progress_report(p->progress, "predict", 1.0, "%zu of %zu queries", n, n));
done:
    block_free(&w);
    return status;
}

quorum_status quorum_predict(const quorum_model *m, const double *X, size_t rows,
                             const quorum_options *options, const quorum_prediction *out,
                             quorum_report *report)
{
    if (!m || !out || (!X && rows > 0))
        return failure(QUORUM_E_ARGUMENT, "quorum_predict: model, X and out must not be NULL");
    double start = wall_seconds();
    quorum_report counts = {0};
    plan p = {0};
    quorum_status status = check_queries(m, X, rows);
    if (status == QUORUM_OK && rows > 0)
        status = make_plan(m, options, X, rows, &p);
    if (status == QUORUM_OK && rows > 0) {
        status = predict_all(&p, X, rows, out, &counts);
        mem_free(p.experts);
    }
    if (status < 0)
        fill_nan(out, rows);
    counts.experts_used = (double)p.used;
    counts.seconds = wall_seconds() - start;
    if (report)
        *report = counts;
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

/* ---- The paper's graph on the test inputs ---- */

static quorum_status graph_on_queries(plan *p, const double *X, size_t n, expert_graph *g)
{
    const quorum_model *m = p->m;
    graph_options o = m->graph_how;
    o.budget = FACTOR_SHARE * p->memory;
    o.threads = p->threads;
    o.progress = p->progress;
    size_t padded = pad(n);
    double *Z;
    points Q = {0};
    if (!NEW_ZEROED(Z, padded * m->D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n);
    scaling_apply(n, m->D, X, m->x_mean, m->x_scale, Z);
    quorum_status status = points_new(padded, m->D, &Q);
    if (status == QUORUM_OK) {
        points_scale(&Q, padded, Z, NULL, m->theta.lengthscale);
        status = expert_graph_learn(p->c, &Q, n, &o, g);
    }
    points_free(&Q);
    mem_free(Z);
    return status;
}

/* ---- Joint covariance ---- */

static void joint_to_units(const plan *p, size_t n, size_t b, const block_space *w,
                           const double *cov, double *mean, double *covariance)
{
    const quorum_model *m = p->m;
    double unit = m->y_scale * m->y_scale, noise = p->s->latent ? 0.0 : m->theta.noise;
    for (size_t q = 0; q < n; q++) {
        if (mean)
            mean[q] = m->y_mean + m->y_scale * w->out_mean[q];
        for (size_t r = 0; r < n; r++)
            covariance[q * n + r] = unit * (cov[q * b + r] + (q == r ? noise : 0.0));
    }
}

static quorum_status predict_jointly(plan *p, const double *X, size_t n, double *mean,
                                     double *covariance)
{
    block_space w;
    double *weights = NULL, *cov = NULL;
    quorum_status status = QUORUM_OK;
    if (p->block < pad(n))
        return failure(
            QUORUM_E_MEMORY,
            "the joint covariance of %zu queries does not fit memory (%.2f GB): ask for at "
            "most %zu at a time",
            n, p->memory / 1e9, p->block);
    TRY(block_new(p, &w));
    if (!NEW_ARRAY(weights, p->count * p->block) || !NEW_ARRAY(cov, p->block * p->block)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for the covariance of %zu queries", n);
        goto done;
    }
    take_queries(p, X, n, &w);
    TRY_OR_DONE(joint_posteriors(p, &w));
    npae_block block = joint_block(p, &w);
    npae_result out = {.mean = w.out_mean, .var = w.out_var, .weights = weights};
    TRY_OR_DONE(npae_aggregate(&block, p->threads, &out));
    TRY_OR_DONE(npae_joint_covariance(&block, weights, &w.Q, p->threads, cov));
    joint_to_units(p, n, w.Q.n, &w, cov, mean, covariance);
done:
    mem_free(weights);
    mem_free(cov);
    block_free(&w);
    return status;
}

quorum_status quorum_predict_joint(const quorum_model *m, const double *X, size_t rows,
                                   const quorum_options *options, double *mean, double *covariance)
{
    plan p = {0};
    if (!m || !X || !covariance || rows == 0)
        return failure(
            QUORUM_E_ARGUMENT,
            "quorum_predict_joint: model, X and covariance must not be NULL, rows not 0");
    quorum_prediction out = {.mean = mean};
    quorum_status status = check_queries(m, X, rows);
    if (status == QUORUM_OK)
        status = make_plan(m, options, X, rows, &p);
    if (status == QUORUM_OK) {
        if (p.rule->kind != TAKES_COVARIANCE)
            status = failure(QUORUM_E_ARGUMENT, "method %s has no joint covariance; use npae",
                             p.rule->name);
        else
            status = predict_jointly(&p, X, rows, mean, covariance);
        mem_free(p.experts);
    }
    if (status < 0) {
        fill_nan(&out, rows);
        for (size_t i = 0; i < rows * rows; i++)
            covariance[i] = NAN;
    }
    return status;
}
