/* Fit: standardise, train shared hyperparameters, partition, learn the graph if it is asked for. */
#include "fit/theta.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/text_buffer.h"
#include "fit/calibrate.h"
#include "archive/json.h"
#include "rows/scaling.h"
#include "linalg/blas.h"
#include "team/team.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Data ---- */

static quorum_status check_rows(const sliced_rows *r)
{
    team_slice held = held_rows(r);
    for (size_t i = 0; i < held.count; i++) {
        size_t row = held.first + i + 1;
        for (size_t d = 0; d < r->D; d++)
            if (!isfinite(r->X[i * r->D + d]))
                return failure(QUORUM_E_DATA, "row %zu, input %zu is %g: inputs must be finite",
                               row, d + 1, r->X[i * r->D + d]);
        if (!isfinite(r->y[i]))
            return failure(QUORUM_E_DATA, "row %zu: the target is %g: it must be finite", row,
                           r->y[i]);
    }
    return QUORUM_OK;
}

static quorum_status check_target(const sliced_rows *r)
{
    double first = team_rank() == 0 ? r->y[0] : 0.0;
    size_t others = 0;
    team_send(&first, sizeof first);
    for (size_t i = 0; i < held_rows(r).count; i++)
        others += r->y[i] != first;
    team_add(&others, 1);
    if (others > 0)
        return QUORUM_OK;
    return failure(QUORUM_E_DATA,
                   "the target is constant (%.17g, %zu row%s): there is nothing to learn", first,
                   r->n, r->n == 1 ? "" : "s");
}

static quorum_status check_data(const sliced_rows *r)
{
    if (!r->X || !r->y || r->n == 0 || r->D == 0)
        return failure(QUORUM_E_ARGUMENT, "fit needs at least one row and one input");
    if (r->n > INT_MAX || r->D > 100000)
        return failure(QUORUM_E_ARGUMENT,
                       "%zu rows of %zu inputs are more than this build can take", r->n, r->D);
    TRY(team_agree(check_rows(r)));
    return check_target(r);
}

/* Sums over the rows in their order, whichever rank has them. */
typedef struct {
    const double *X; /* D x count: this rank's */
    size_t count, D, n;
    double *unit; /* D: powers of two near the largest magnitudes */
    double *mean, *scale;
    char *constant; /* D: 1 where a column does not vary */
} scaling_job;

static void add_to_largest(void *context)
{
    const scaling_job *j = context;
    scaling_add_to_largest(j->count, j->D, j->X, j->unit);
}

static void add_to_mean(void *context)
{
    const scaling_job *j = context;
    scaling_add_to_mean(j->count, j->D, j->X, j->n, j->unit, j->mean);
}

static void add_to_variance(void *context)
{
    const scaling_job *j = context;
    scaling_add_to_variance(j->count, j->D, j->X, j->n, j->unit, j->mean, j->scale);
}

static void learn_scaling(const scaling_job *j)
{
    memset(j->unit, 0, j->D * sizeof *j->unit);
    memset(j->mean, 0, j->D * sizeof *j->mean);
    memset(j->scale, 0, j->D * sizeof *j->scale);
    team_in_turn(j->unit, j->D * sizeof *j->unit, add_to_largest, (void *)j);
    scaling_find_units(j->D, j->unit);
    team_in_turn(j->mean, j->D * sizeof *j->mean, add_to_mean, (void *)j);
    team_in_turn(j->scale, j->D * sizeof *j->scale, add_to_variance, (void *)j);
    scaling_finish(j->D, j->unit, j->mean, j->scale, j->constant);
}

static quorum_status standardise_target(quorum_model *m, const double *y, size_t count, double *t)
{
    double unit;
    char constant;
    learn_scaling(&(scaling_job){y, count, 1, m->n, &unit, &m->y_mean, &m->y_scale, &constant});
    scaling_apply(count, 1, y, &m->y_mean, &m->y_scale, t);
    if (!constant)
        return QUORUM_OK;
    return failure(QUORUM_E_DATA,
                   "the target varies by no more than rounding about its mean %.17g: there is "
                   "nothing to learn",
                   m->y_mean);
}

/* A constant input's mean is its value, without what rounding leaves of a sum. */
static void keep_constant_values(quorum_model *m, const sliced_rows *given)
{
    for (size_t d = 0; d < m->D; d++)
        if (m->constant[d] && team_rank() == 0)
            m->x_mean[d] = given->X[d];
    team_send(m->x_mean, m->D * sizeof *m->x_mean);
}

static quorum_status standardise(quorum_model *m, const sliced_rows *given, double **Z, double **t)
{
    size_t count = held_rows(given).count;
    double *unit;
    rows_note(count);
    NEW_ARRAY(m->x_mean, m->D);
    NEW_ARRAY(m->x_scale, m->D);
    NEW_ARRAY(m->constant, m->D);
    NEW_ARRAY(*Z, count * m->D);
    NEW_ARRAY(*t, count);
    NEW_ARRAY(unit, m->D);
    quorum_status status = QUORUM_OK;
    if (!m->x_mean || !m->x_scale || !m->constant || !*Z || !*t || !unit)
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu rows of %zu inputs", m->n, m->D);
    TRY_OR_DONE(team_agree(status));
    learn_scaling(
        &(scaling_job){given->X, count, m->D, m->n, unit, m->x_mean, m->x_scale, m->constant});
    keep_constant_values(m, given);
    TRY_OR_DONE(model_check_varying(m));
    model_standardise(m, count, given->X, *Z);
    status = standardise_target(m, given->y, count, *t);
done:
    mem_free(unit);
    return status;
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

/* The standardised rows into the model, sorted by expert: to the ranks that own them, and to
 * all where all work with all of them. */
static quorum_status take_rows(quorum_model *m, division *d, const training_rows *rows,
                               const settings *s)
{
    m->M = d->M;
    m->row = d->order;
    m->offset = d->offset;
    d->order = d->offset = NULL;
    quorum_status ready = model_own_rows(m);
    TRY(holdings_take(ready, &m->held, rows, m->row, m->X, m->y));
    return s->overlap > 0.0 || s->calibrate ? model_hold_all(m) : QUORUM_OK;
}

/* The rows as theta sees them, x_d / l_d, where metric=learned; *out is to be freed. */
static quorum_status learned_metric(const quorum_model *m, const training_rows *rows, double **out)
{
    size_t count = held_rows(rows).count;
    NEW_ARRAY(*out, count * m->D);
    TRY(team_agree(
        *out ? QUORUM_OK
             : failure(QUORUM_E_MEMORY, "out of memory for %zu rows of %zu inputs", m->n, m->D)));
    for (size_t i = 0; *out && i < count; i++)
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
    status = take_rows(m, &d, rows, s);
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

/* Learned now only where it was asked for by name: the default prediction does not use it, and one
 * that does learns it then. */
static quorum_status learn_graph(quorum_model *m, const settings *s, const progress *p)
{
    const expert_graph *g;
    TRY(options_graph(s, &m->graph_how));
    int asked_for = m->graph_how.graph == GRAPH_GLASSO || m->graph_how.graph == GRAPH_LASSO;
    return asked_for ? model_graph(m, s, p, &g) : QUORUM_OK;
}

/* ---- The pipeline ---- */

/* A prediction that cannot be calibrated is refused before the work, as far as the options tell. */
static quorum_status check_calibration(const quorum_model *m, const settings *s)
{
    quorum_model planned = {.n = m->n};
    recipe r;
    if (!s->calibrate)
        return QUORUM_OK;
    TRY(count_experts(m, s, &planned.M));
    TRY(model_recipe(&planned, s, &r));
    return recipe_check(&r);
}

/* All options as JSON text, kept in the model; where its checkpoint was is no part of it, and what
 * its calibration is for is kept with that. */
static quorum_status remember_options(quorum_model *m, const quorum_options *options)
{
    text_buffer buffer = {0};
    json_writer w = json_writer_to(text_buffer_put, &buffer, 0);
    json_begin_object(&w);
    for (int i = 0; i < quorum_option_count(); i++) {
        const char *name = quorum_option_at(i)->name;
        if (!strstr(quorum_option_at(i)->used_by, "fit") || options_serve_calibration(name) ||
            strcmp(name, "checkpoint") == 0)
            continue;
        json_key(&w, name);
        json_put_text(&w, quorum_options_get(options, name));
    }
    json_end(&w);
    quorum_status status = json_status(json_finish(&w), "the options");
    if (status >= 0)
        m->options = text_buffer_take(&buffer);
    text_buffer_free(&buffer);
    return status;
}

/* table -> standardise -> kernel and theta -> partition -> overlap (-> graph of the experts)
 * (train=parts, the paper's way: theta after the partition) */
static quorum_status fit(quorum_model *m, const sliced_rows *given, const char *const *names,
                         const quorum_options *options)
{
    const settings *s = options_values(options);
    const progress *p = options_progress(options);
    double *Z = NULL, *t = NULL, start = wall_seconds(), then;
    training_result found = {0};
    checkpoint *kept = NULL;
    quorum_status status = QUORUM_OK, event = QUORUM_OK;
    m->seed = (uint64_t)s->seed;
    TRY_OR_DONE(team_agree(blas_check()));
    TRY_OR_DONE(check_calibration(m, s));
    TRY_OR_DONE(copy_names(m, names));
    TRY_OR_DONE(remember_options(m, options));
    TRY_OR_DONE(standardise(m, given, &Z, &t));
    training_rows rows = {.n = m->n, .D = m->D, .X = Z, .y = t};
    then = wall_seconds();
    TRY_OR_DONE(open_checkpoint(m, &rows, options, &kept));
    TRY_OR_DONE(theta_before_partition(m, s, p, &rows, kept, &found));
    m->seconds_train = wall_seconds() - then;
    then = wall_seconds();
    TRY_OR_DONE(split_rows(m, s, p, &rows));
    mem_free(Z);
    mem_free(t);
    Z = t = NULL;
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
    then = wall_seconds();
    if (s->calibrate)
        TRY_OR_DONE(model_calibrate(m, options));
    m->seconds_calibrate = wall_seconds() - then;
    m->seconds_total = wall_seconds() - start;
    status = event != QUORUM_OK ? event : s->theta[0] == '\0' ? model_say_bounds(m) : QUORUM_OK;
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
    sliced_rows given = {.n = rows, .D = inputs, .X = X, .y = y};
    TRY(check_data(&given));
    TRY(team_agree(check_column_names(names, inputs)));
    quorum_model *m = model_new();
    if (!m)
        return failure(QUORUM_E_MEMORY, "out of memory for a model");
    m->n = rows;
    m->D = inputs;
    m->target = inputs;
    progress_watch watch;
    options_watch(options, "fit", &watch);
    quorum_status status = fit(m, &given, names, options);
    progress_watch_end(&watch);
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
