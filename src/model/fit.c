/* Fit: standardise, train shared hyperparameters, partition, learn the graph. */
#include "model/theta.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "data/scaling.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STREAM_REFERENCE = 5, /* random stream: see rng_seed                                   */
    GRAPH_EXPERTS = 500   /* graph=auto: beyond, all experts' factors and M^3 cost too much */
};

/* ---- Data ---- */

static quorum_status check_data(const double *X, const double *y, size_t n, size_t D)
{
    if (!X || !y || n == 0 || D == 0)
        return failure(QUORUM_E_ARGUMENT, "fit needs at least one row and one input");
    if (n > INT_MAX || D > 100000)
        return failure(QUORUM_E_ARGUMENT,
                       "%zu rows of %zu inputs are more than this build can take", n, D);
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < D; d++)
            if (!isfinite(X[i * D + d]))
                return failure(QUORUM_E_DATA, "row %zu, input %zu is %g: inputs must be finite",
                               i + 1, d + 1, X[i * D + d]);
        if (!isfinite(y[i]))
            return failure(QUORUM_E_DATA, "row %zu: the target is %g: it must be finite", i + 1,
                           y[i]);
    }
    for (size_t i = 1; i < n; i++)
        if (y[i] != y[0])
            return QUORUM_OK;
    return failure(QUORUM_E_DATA,
                   "the target is constant (%.17g, %zu row%s): there is nothing to learn", y[0], n,
                   n == 1 ? "" : "s");
}

static quorum_status standardise(quorum_model *m, const double *X, const double *y, double **Z,
                                 double **t)
{
    if (!NEW_ARRAY(m->x_mean, m->D) || !NEW_ARRAY(m->x_scale, m->D) ||
        !NEW_ARRAY(*Z, m->n * m->D) || !NEW_ARRAY(*t, m->n))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows of %zu inputs", m->n, m->D);
    scaling_learn(m->n, m->D, X, m->x_mean, m->x_scale);
    scaling_apply(m->n, m->D, X, m->x_mean, m->x_scale, *Z);
    scaling_learn(m->n, 1, y, &m->y_mean, &m->y_scale);
    for (size_t i = 0; i < m->n; i++)
        (*t)[i] = (y[i] - m->y_mean) / m->y_scale;
    return QUORUM_OK;
}

static quorum_status copy_names(quorum_model *m, const char *const *names)
{
    m->has_names = names != NULL;
    if (!NEW_ZEROED(m->names, m->D + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (size_t i = 0; i <= m->D; i++) {
        char made_up[32];
        snprintf(made_up, sizeof made_up, i < m->D ? "x%zu" : "y", i + 1);
        m->names[i] = mem_copy_text(names ? names[i] : made_up);
        if (!m->names[i])
            return failure(QUORUM_E_MEMORY, "out of memory for column names");
    }
    return QUORUM_OK;
}

/* ---- Partition ---- */

static quorum_status count_experts(const quorum_model *m, const settings *s, size_t *M)
{
    double wanted = s->experts > 0.0 ? s->experts : round((double)m->n / s->expert_size);
    *M = wanted < 1.0 ? 1 : (size_t)wanted;
    if (*M > m->n)
        return failure(QUORUM_E_DATA,
                       "%zu experts for %zu rows: every expert needs a row; ask for fewer", *M,
                       m->n);
    return QUORUM_OK;
}

/* Copies the standardised rows into the model, sorted by expert. */
static quorum_status take_rows(quorum_model *m, const division *d, const training_rows *rows)
{
    m->M = d->M;
    if (!NEW_ARRAY(m->X, m->n * m->D) || !NEW_ARRAY(m->y, m->n) || !NEW_ARRAY(m->row, m->n) ||
        !NEW_ARRAY(m->offset, m->M + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows", m->n);
    memcpy(m->offset, d->offset, (m->M + 1) * sizeof *m->offset);
    for (size_t i = 0; i < m->n; i++) {
        size_t from = d->order[i];
        memcpy(m->X + i * m->D, rows->X + from * m->D, m->D * sizeof *m->X);
        m->y[i] = rows->y[from];
        m->row[i] = from;
    }
    return QUORUM_OK;
}

/* The rows as theta sees them, x_d / l_d, where metric=learned; *out is to be freed. */
static quorum_status learned_metric(const quorum_model *m, const training_rows *rows, double **out)
{
    if (!NEW_ARRAY(*out, m->n * m->D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows of %zu inputs", m->n, m->D);
    for (size_t i = 0; i < m->n; i++)
        for (size_t d = 0; d < m->D; d++)
            (*out)[i * m->D + d] = rows->X[i * m->D + d] / m->theta.lengthscale[d];
    return QUORUM_OK;
}

static quorum_status split_rows(quorum_model *m, const settings *s, const progress *p,
                                const training_rows *rows)
{
    size_t M;
    double *scaled = NULL;
    TRY(count_experts(m, s, &M));
    size_t mean = (m->n + M - 1) / M;
    size_t cap = s->max_size > 0.0 ? (size_t)s->max_size : 2 * mean;
    size_t floor = s->min_size > 0.0 ? (size_t)s->min_size : (mean + 9) / 10;
    if (floor > cap)
        return failure(QUORUM_E_ARGUMENT, "min-size (%zu) is larger than max-size (%zu)", floor,
                       cap);
    m->partition = partition_at(s->partition);
    partition_problem problem = {.n = m->n,
                                 .D = m->D,
                                 .parts = M,
                                 .X = rows->X,
                                 .seed = m->seed,
                                 .threads = options_threads(s),
                                 .progress = p};
    division d;
    TRY(progress_report(p, "partition", 0.0, "%zu rows, %zu experts", m->n, M));
    if (s->metric == METRIC_LEARNED) {
        TRY(learned_metric(m, rows, &scaled));
        problem.X = scaled;
    }
    quorum_status status = divide(m->partition, &problem, floor, cap, &d);
    mem_free(scaled);
    TRY(status);
    status = take_rows(m, &d, rows);
    division_free(&d);
    return status;
}

/* Every expert also takes near rows from outside its part. */
static quorum_status overlap_experts(quorum_model *m, const settings *s, const progress *p)
{
    if (s->overlap == 0.0)
        return QUORUM_OK;
    parts own = model_parts(m);
    double needed = held_parts_bytes(&own, s->overlap);
    if (needed > options_memory(s))
        return failure(QUORUM_E_MEMORY,
                       "the rows of experts that overlap by %g need %.2f GB, more than memory "
                       "(%.2f GB) allows: lower overlap",
                       s->overlap, needed / 1e9, options_memory(s) / 1e9);
    TRY(progress_report(p, "overlap", -1.0, "%zu experts", m->M));
    return extra_rows_choose(&own, m->theta.lengthscale, s->overlap, options_threads(s), &m->extra);
}

/* ---- Graph ---- */

static quorum_status draw_references(quorum_model *m, const settings *s)
{
    size_t *rows, count = (size_t)s->graph_rows < m->n ? (size_t)s->graph_rows : m->n;
    if (!NEW_ARRAY(rows, m->n))
        return failure(QUORUM_E_MEMORY, "out of memory for the reference inputs");
    for (size_t i = 0; i < m->n; i++)
        rows[i] = i;
    rng r = rng_seed(m->seed, STREAM_REFERENCE);
    rng_shuffle(&r, rows, m->n);
    if (NEW_ARRAY(m->reference, count * m->D)) {
        m->references = count;
        for (size_t i = 0; i < count; i++)
            memcpy(m->reference + i * m->D, m->X + rows[i] * m->D, m->D * sizeof *m->X);
    }
    mem_free(rows);
    return m->reference ? QUORUM_OK
                        : failure(QUORUM_E_MEMORY, "out of memory for the reference inputs");
}

/* No edges, no weights; experts in the order of their numbers. */
static quorum_status leave_out_graph(quorum_model *m)
{
    if (!NEW_ZEROED(m->graph.importance, m->M) || !NEW_ARRAY(m->graph.ranking, m->M))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", m->M);
    for (size_t e = 0; e < m->M; e++)
        m->graph.ranking[e] = e;
    return QUORUM_OK;
}

static quorum_status learn_graph(quorum_model *m, const settings *s, const progress *p)
{
    const committee *c;
    points Q = {0};
    TRY(options_graph(s, &m->graph_how));
    if (m->graph_how.graph == GRAPH_AUTO && m->M > GRAPH_EXPERTS)
        return leave_out_graph(m);
    graph_options o = m->graph_how;
    o.budget = 0.3 * options_memory(s);
    o.threads = options_threads(s);
    o.progress = p;
    TRY(draw_references(m, s));
    TRY(model_committee(m, s, p, &c));
    TRY(model_reference_points(m, &Q));
    quorum_status status = expert_graph_learn(c, &Q, m->references, &o, &m->graph);
    points_free(&Q);
    return status;
}

/* ---- The pipeline ---- */

/* All options as JSON text, kept in the model; where its checkpoint was is no part of it. */
static quorum_status remember_options(quorum_model *m, const quorum_options *options)
{
    json_t *o = json_object();
    for (int i = 0; o && i < quorum_option_count(); i++) {
        const char *name = quorum_option_at(i)->name;
        if (strstr(quorum_option_at(i)->used_by, "fit") && strcmp(name, "checkpoint") != 0)
            json_object_set_new(o, name, json_string(quorum_options_get(options, name)));
    }
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    json_decref(o);
    m->options = text ? mem_copy_text(text) : NULL;
    free(text);
    return m->options ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for the options");
}

static quorum_status say_bounds(const quorum_model *m)
{
    for (size_t i = 0; i < m->D + 2; i++)
        if (m->at_bound[i])
            return failure(QUORUM_AT_BOUND, "%s ended on a bound of its range",
                           i < m->D    ? "a length-scale (an input that does not matter)"
                           : i == m->D ? "the signal variance"
                                       : "the noise variance");
    return QUORUM_OK;
}

/* table -> standardise -> kernel and theta -> partition -> overlap -> graph of the experts
 * (train=parts, the paper's way: theta after the partition) */
static quorum_status fit(quorum_model *m, const double *X, const double *y,
                         const char *const *names, const quorum_options *options)
{
    const settings *s = options_values(options);
    const progress *p = options_progress(options);
    double *Z = NULL, *t = NULL, start = wall_seconds(), then;
    training_result found = {0};
    checkpoint *kept = NULL;
    quorum_status status = QUORUM_OK, event = QUORUM_OK;
    m->seed = (uint64_t)s->seed;
    TRY_OR_DONE(copy_names(m, names));
    TRY_OR_DONE(remember_options(m, options));
    TRY_OR_DONE(standardise(m, X, y, &Z, &t));
    training_rows rows = {.X = Z, .y = t};
    then = wall_seconds();
    TRY_OR_DONE(open_checkpoint(m, &rows, options, &kept));
    TRY_OR_DONE(theta_before_partition(m, s, p, &rows, kept, &found));
    m->seconds_train = wall_seconds() - then;
    then = wall_seconds();
    TRY_OR_DONE(split_rows(m, s, p, &rows));
    mem_free(Z);
    Z = NULL;
    m->seconds_partition = wall_seconds() - then;
    then = wall_seconds();
    TRY_OR_DONE(event = theta_after_partition(m, s, p, kept, &found));
    m->seconds_train += wall_seconds() - then;
    then = wall_seconds();
    TRY_OR_DONE(overlap_experts(m, s, p));
    m->seconds_partition += wall_seconds() - then;
    then = wall_seconds();
    TRY_OR_DONE(learn_graph(m, s, p));
    m->seconds_graph = wall_seconds() - then;
    TRY_OR_DONE(model_complete(m));
    if (s->calibrate)
        TRY_OR_DONE(model_calibrate(m, options));
    m->seconds_total = wall_seconds() - start;
    status = event != QUORUM_OK ? event : s->theta[0] == '\0' ? say_bounds(m) : QUORUM_OK;
done:
    checkpoint_close(kept);
    mem_free(Z);
    mem_free(t);
    return status;
}

quorum_status quorum_fit(const double *X, const double *y, size_t rows, size_t inputs,
                         const char *const *names, const quorum_options *options,
                         quorum_model **model)
{
    if (!model)
        return failure(QUORUM_E_ARGUMENT, "quorum_fit: model must not be NULL");
    *model = NULL;
    TRY(check_data(X, y, rows, inputs));
    quorum_model *m = model_new();
    if (!m)
        return failure(QUORUM_E_MEMORY, "out of memory for a model");
    m->n = rows;
    m->D = inputs;
    m->target = inputs;
    quorum_status status = fit(m, X, y, names, options);
    if (status < 0)
        quorum_model_free(m);
    else
        *model = m;
    return status;
}

quorum_status quorum_fit_data(const quorum_data *data, const quorum_options *options,
                              quorum_model **model)
{
    if (!data || !model)
        return failure(QUORUM_E_ARGUMENT, "quorum_fit_data: data and model must not be NULL");
    quorum_status status = quorum_fit(data->X, data->y, data->rows, data->inputs,
                                      (const char *const *)data->names, options, model);
    if (status >= 0)
        (*model)->target = data->target;
    return status;
}
