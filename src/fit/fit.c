/* Fit: encode categories, standardise, train shared hyperparameters, partition, learn the graph if it is asked for. */
#include "fit/fitting.h"

#include "fit/atoms.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/text_buffer.h"
#include "calibrate/calibrate.h"
#include "cells/kept_cells.h"
#include "theta/line.h"
#include "archive/json.h"
#include "rows/bend.h"
#include "rows/scaling.h"
#include "table/row_weights.h"
#include "linalg/blas.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether calibration takes rows out of the model once it is there. */
static int holds_out(const settings *s)
{
    return s->calibrate == CALIBRATE_YES || s->calibrate == CALIBRATE_STRICT;
}

/* ---- Data ---- */

static quorum_status check_some(void *context, const row_range *range, int worker)
{
    size_t D = *(const size_t *)context;
    (void)worker;
    for (size_t i = 0; i < range->rows.n; i++) {
        const double *x = range->rows.X + i * D;
        size_t row = range->first + i + 1;
        for (size_t d = 0; d < D; d++)
            if (!isfinite(x[d]))
                return failure(QUORUM_E_DATA, "row %zu, input %zu is %g: inputs must be finite",
                               row, d + 1, x[d]);
        if (!isfinite(range->rows.y[i]))
            return failure(QUORUM_E_DATA, "row %zu: the target is %g: it must be finite", row,
                           range->rows.y[i]);
        if (range->rows.offset && !isfinite(range->rows.y[i] - range->rows.offset[i]))
            return failure(QUORUM_E_DATA,
                           "row %zu: the target is %g and the offset %g: both and their difference "
                           "must be finite",
                           row, range->rows.y[i], range->rows.offset[i]);
    }
    return QUORUM_OK;
}

typedef struct {
    double first; /* the target of row 0     */
    int varies;   /* whether there is another */
} target_check;

static void compare_targets(void *context, const row_range *range)
{
    target_check *c = context;
    if (range->first == 0 && range->rows.n > 0)
        c->first = range->rows.y[0];
    for (size_t i = 0; i < range->rows.n && !c->varies; i++)
        c->varies = range->rows.y[i] != c->first;
}

static quorum_status check_target(const scattered_rows *r)
{
    target_check c = {0};
    TRY(rows_fold(QUORUM_OK, r, &c, sizeof c, compare_targets, &c));
    if (c.varies)
        return QUORUM_OK;
    return failure(QUORUM_E_DATA,
                   "the target is constant (%.17g, %zu row%s): there is nothing to learn", c.first,
                   r->n, r->n == 1 ? "" : "s");
}

static quorum_status check_sizes(const scattered_rows *r)
{
    if (!r->held.X || !r->held.y || r->n == 0 || r->held.D == 0)
        return failure(QUORUM_E_ARGUMENT, "fit needs at least one row and one input");
    if (r->n > INT_MAX || r->held.D > 100000)
        return failure(QUORUM_E_ARGUMENT,
                       "%zu rows of %zu inputs are more than this build can take", r->n, r->held.D);
    return QUORUM_OK;
}

static quorum_status check_data(quorum_status ready, const scattered_rows *r)
{
    size_t D = r->held.D;
    if (ready >= 0)
        ready = check_sizes(r);
    TRY(rows_map(ready, r, 1, check_some, &D, NULL, 0));
    return check_target(r);
}

/* ---- Standardising ---- */

static quorum_status share_scales(const fitting *f)
{
    quorum_model *m = f->m;
    if (!f->made || f->made->count == 0)
        return QUORUM_OK;
    if (!NEW_ARRAY(m->same, m->rows.D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu inputs", m->rows.D);
    if (made_share_scales(f->made, m->rows.D, m->same) == m->rows.D) {
        mem_free(m->same);
        m->same = NULL;
    }
    return QUORUM_OK;
}

static quorum_status room_to_standardise(fitting *f)
{
    quorum_model *m = f->m;
    NEW_ARRAY(m->units.x_mean, m->rows.D);
    NEW_ARRAY(m->units.x_scale, m->rows.D);
    NEW_ARRAY(m->units.constant, m->rows.D);
    if (!m->units.x_mean || !m->units.x_scale || !m->units.constant)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu inputs", m->rows.D);
    TRY(share_scales(f));
    row_set like = f->given->held;
    like.offset = NULL; /* y is about it already */
    return rows_new(&like, f->given->held.n, &f->own);
}

/* A constant input's mean is its value, without what rounding leaves of a sum. */
static quorum_status keep_constant_values(fitting *f)
{
    quorum_model *m = f->m;
    row_set first;
    size_t row = 0;
    quorum_status ready = rows_new(&f->given->held, 1, &first);
    quorum_status status = rows_fetch(ready, f->given, &row, 1, &first);
    for (size_t d = 0; status >= 0 && d < m->rows.D; d++)
        if (m->units.constant[d])
            m->units.x_mean[d] = first.X[d];
    rows_free(&first);
    return status;
}

/* Inputs of levels that stand apart keep their 0 and 1, so that one length-scale is the same for all; a
 * level that no row has is an input too, unless all rows have the same one. */
static void keep_levels(const fitting *f)
{
    unit_change *u = &f->m->units;
    const made_inputs *made = f->made;
    for (size_t k = 0; made && k < made->count; k++) {
        size_t d = made->columns + k, first = d - made->of[k].level;
        int varies = 0;
        if (made->of[k].kind != MADE_LEVEL || made->of[k].level > 0)
            continue;
        for (size_t l = 0; l < made->of[k].levels; l++)
            varies |= !u->constant[first + l];
        for (size_t l = 0; varies && l < made->of[k].levels; l++) {
            u->constant[first + l] = 0;
            u->x_mean[first + l] = 0.0;
            u->x_scale[first + l] = 1.0;
        }
    }
}

/* Means and deviations of the inputs, of bent ones as they are then. */
static quorum_status learn_scales(const fitting *f, quorum_status ready)
{
    unit_change *u = &f->m->units;
    scattered_rows rows = *f->given;
    if (u->bend_width && ready >= 0) {
        bends_apply(f->own.n, f->own.D, rows.held.X, u->bend_at, u->bend_width, f->own.X);
        rows.held.X = f->own.X;
    }
    return scaling_learn(ready, &rows, u->x_mean, u->x_scale, u->constant);
}

quorum_status standardise_inputs(fitting *f, quorum_status ready)
{
    quorum_model *m = f->m;
    TRY(learn_scales(f, ready));
    TRY(keep_constant_values(f));
    keep_levels(f);
    TRY(model_check_varying(m));
    if (f->made)
        made_share_scale(f->made, m->units.constant, m->units.x_scale);
    model_standardise(m, f->own.n, f->given->held.X, f->own.X);
    rows_copy_fields(&f->given->held, 0, f->own.n, &f->own, 0);
    return QUORUM_OK;
}

static quorum_status standardise(fitting *f, quorum_status ready)
{
    if (ready >= 0)
        ready = room_to_standardise(f);
    rows_note(f->given->held.n);
    TRY(standardise_inputs(f, bends_begin(f, ready)));
    f->rows = rows_scattered(f->m->rows.n, &f->own);
    if (f->s->warp == WARP_LOG && f->m->units.warp != WARP_LOG)
        TRY(warp_begin(f->m, f->given, NULL));
    TRY(target_standardise(f->m, f->s, f->given, &f->own));
    if (f->s->trend != TREND_LINEAR || count_warps(f->m, f->s) > 0)
        return QUORUM_OK; /* or a line once the warp is chosen */
    return line_begin(f->m, f->given, &f->rows);
}

static quorum_status copy_names(quorum_model *m, const char *const *names)
{
    m->columns.has_names = names != NULL;
    if (!NEW_ZEROED(m->columns.names, m->rows.D + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (size_t i = 0; i <= m->rows.D; i++) {
        char made_up[32];
        snprintf(made_up, sizeof made_up, i < m->rows.D ? "x%zu" : "y", i + 1);
        m->columns.names[i] = mem_copy_text(names ? names[i] : made_up);
        if (!m->columns.names[i])
            return failure(QUORUM_E_MEMORY, "out of memory for column names");
    }
    return QUORUM_OK;
}

/* A made-up name is none of the others, which are made up then too. */
static quorum_status copy_other_name(const fitting *f, const char *role, const char *given,
                                     const char *made_up, char **name)
{
    const char *own = given ? given : made_up;
    TRY(check_other_column(f->names, f->m->rows.D, role, own));
    if (!(*name = mem_copy_text(own)))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    return QUORUM_OK;
}

/* Of the columns that are neither inputs nor the target, as far as there are any. */
static quorum_status copy_other_names(fitting *f)
{
    const quorum_data *d = f->about;
    model_columns *c = &f->m->columns;
    if (d && d->offset)
        TRY(copy_other_name(f, "the offset", d->offset_name, "offset", &c->offset));
    if (d && d->weight)
        TRY(copy_other_name(f, "the weights", d->weight_name, "weight", &c->weights));
    if (d && d->noise_std)
        TRY(copy_other_name(f, "the noise-std", d->noise_name, "noise_std", &c->noise_std));
    return QUORUM_OK;
}

/* ---- What a fit to some of the rows has learned ---- */

static quorum_status adopt(void *context)
{
    fitting *f = context;
    row_set like = f->given->held;
    like.offset = NULL;
    TRY(strict_adopt(f->learned, f->m));
    return rows_new(&like, f->given->held.n, &f->own);
}

/* Instead of standardising and training. */
static quorum_status adopt_learned(fitting *f, quorum_status ready)
{
    TRY(team_all(ready, adopt, f));
    strict_standardise(f->m, &f->given->held, &f->own);
    f->rows = rows_scattered(f->m->rows.n, &f->own);
    return QUORUM_OK;
}

/* ---- What targets share ---- */

static quorum_status adopt_what_is_shared(void *context)
{
    fitting *f = context;
    TRY(shared_adopt(f->shared, f->m));
    return rows_new(&f->given->held, f->given->held.n, &f->own);
}

/* All further targets in their own units, before the first is fitted; rows that were left out, or a target that is
 * constant, let each be predicted by itself. */
static void standardise_further(fitting *f)
{
    further_targets *all = f->further;
    for (size_t t = 0; t < all->targets; t++) {
        quorum_model other = *f->m;
        scattered_rows given = *f->given;
        row_set own = f->own;
        given.held.y = f->about->target_y[t + 1];
        own.y = all->y + t * all->n;
        if (target_standardise(&other, f->s, &given, &own) < 0)
            all->targets = 0;
    }
}

static void mark_shared(fitting *f)
{
    if (!f->further || f->further->n != f->own.n)
        return;
    if (f->further->turn == 0)
        standardise_further(f);
    further_targets_mark(f->further, &f->rows.held);
}

static void unmark_shared(fitting *f)
{
    f->rows.held.further = NULL;
    f->rows.held.number = NULL;
}

/* Instead of training: the target's own units and spread. */
static quorum_status adopt_shared(fitting *f, quorum_status ready)
{
    quorum_model *m = f->m;
    TRY(team_all(ready, adopt_what_is_shared, f));
    rows_note(f->given->held.n);
    model_standardise(m, f->own.n, f->given->held.X, f->own.X);
    rows_copy_fields(&f->given->held, 0, f->own.n, &f->own, 0);
    f->rows = rows_scattered(m->rows.n, &f->own);
    TRY(target_standardise(m, f->s, f->given, &f->own));
    mark_shared(f);
    return theta_is_shared(m, f->s, f->p, f->given, &f->rows, &f->found);
}

/* ---- Partition ---- */

static quorum_status count_experts(const quorum_model *m, const settings *s, size_t *M)
{
    double wanted = s->experts > 0.0 ? s->experts : round((double)m->rows.n / s->expert_size);
    *M = wanted < 1.0 ? 1 : (size_t)wanted;
    if (*M > m->rows.n)
        return failure(QUORUM_E_DATA,
                       "%zu experts for %zu rows: every expert needs a row; ask for fewer", *M,
                       m->rows.n);
    return QUORUM_OK;
}

/* The rows as theta sees them, x_d / l_d, with partition-metric=learned. */
typedef struct {
    const fitting *f;
    double *X; /* to be freed */
} metric_rows;

static quorum_status scale_by_theta(void *context)
{
    metric_rows *r = context;
    const quorum_model *m = r->f->m;
    const row_set *own = &r->f->own;
    if (!NEW_ARRAY(r->X, own->n * own->D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows of %zu inputs", m->rows.n,
                       m->rows.D);
    scale_inputs(own->n, own->D, own->X, m->theta.lengthscale, r->X);
    return QUORUM_OK;
}

/* Sizes that an expert may have. */
static quorum_status expert_sizes(const quorum_model *m, const settings *s, size_t M, size_t *floor,
                                  size_t *cap)
{
    size_t mean = (m->rows.n + M - 1) / M;
    *cap = s->max_size > 0.0 ? (size_t)s->max_size : 2 * mean;
    *floor = s->min_size > 0.0 ? (size_t)s->min_size : (mean + 9) / 10;
    if (*floor <= *cap)
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT, "min-size (%zu) is larger than max-size (%zu)", *floor, *cap);
}

static quorum_status divide_rows(const fitting *f, division *d)
{
    quorum_model *m = f->m;
    size_t M, floor, cap;
    metric_rows scaled = {.f = f};
    TRY(count_experts(m, f->s, &M));
    TRY(expert_sizes(m, f->s, M, &floor, &cap));
    TRY(progress_report(f->p, "partition", 0.0, "%zu rows, %zu experts", m->rows.n, M));
    m->partition = partition_at(f->s->partition);
    quorum_status status = QUORUM_OK;
    if (f->s->partition_metric == PARTITION_LEARNED)
        status = team_all(QUORUM_OK, scale_by_theta, &scaled);
    scattered_rows seen = f->rows;
    if (scaled.X)
        seen.held.X = scaled.X;
    partition_problem problem = {.rows = &seen,
                                 .parts = M,
                                 .seed = m->seed,
                                 .threads = options_threads(f->s),
                                 .progress = f->p};
    if (status >= 0)
        status = divide(m->partition, &problem, floor, cap, d);
    mem_free(scaled.X);
    return status;
}

/* The standardised rows into the model, sorted by expert: each process has those of its experts,
 * or all where all are needed. */
static quorum_status take_rows(const fitting *f, division *d)
{
    quorum_model *m = f->m;
    m->M = d->M;
    m->row = d->order;
    m->offset = d->offset;
    d->order = d->offset = NULL;
    quorum_status ready = model_own_rows(m, &f->own);
    TRY(holdings_take(ready, &m->held, &f->rows, m->row, &m->rows));
    return f->s->overlap > 0.0 || holds_out(f->s) ? model_hold_all(m) : QUORUM_OK;
}

static void forget_rows(fitting *f)
{
    rows_free(&f->own);
}

static quorum_status split_rows(fitting *f)
{
    division d;
    TRY(divide_rows(f, &d));
    quorum_status status = take_rows(f, &d);
    division_free(&d);
    forget_rows(f);
    return status;
}

/* Every expert also takes near rows from outside its part. */
static quorum_status overlap_experts(fitting *f)
{
    quorum_model *m = f->m;
    double overlap = f->s->overlap, memory = options_memory(f->s);
    if (overlap == 0.0)
        return QUORUM_OK;
    parts own = model_parts(m);
    double needed = held_parts_bytes(&own, overlap);
    if (needed > memory)
        return failure(QUORUM_E_MEMORY,
                       "the rows of experts that overlap by %g need %.2f GB, more than memory "
                       "(%.2f GB) allows: lower overlap",
                       overlap, needed / 1e9, memory / 1e9);
    TRY(progress_report(f->p, "overlap", -1.0, "%zu experts", m->M));
    return extra_rows_choose(&own, m->theta.lengthscale, overlap, options_threads(f->s), &m->extra);
}

/* ---- Graph ---- */

/* Learned now only where it was asked for by name: the default prediction does not use it, and one
 * that does learns it then. */
static quorum_status learn_graph(fitting *f)
{
    const expert_graph *g;
    graph_options *how = &f->m->graph_how;
    TRY(options_graph(f->s, how));
    int asked_for = how->graph == GRAPH_GLASSO || how->graph == GRAPH_LASSO;
    return asked_for ? model_graph(f->m, f->s, f->p, &g) : QUORUM_OK;
}

/* ---- The pipeline ---- */

/* A prediction that cannot be calibrated is refused before the work, as far as the options tell. */
static quorum_status check_calibration(const quorum_model *m, const settings *s)
{
    quorum_model planned = {.rows.n = m->rows.n};
    recipe r;
    if (!holds_out(s))
        return QUORUM_OK;
    TRY(count_experts(m, s, &planned.M));
    TRY(model_recipe(&planned, s, &r));
    return recipe_check(&r);
}

/* All options as JSON text, kept in the model; where its checkpoint and its start were is no part of it, and what
 * its calibration is for is kept with that. */
static quorum_status remember_options(quorum_model *m, const quorum_options *options)
{
    text_buffer buffer = {0};
    json_writer w = json_writer_to(text_buffer_put, &buffer, 0);
    json_begin_object(&w);
    for (int i = 0; i < quorum_option_count(); i++) {
        const char *name = quorum_option_at(i)->name;
        if (!strstr(quorum_option_at(i)->used_by, "fit") || options_serve_calibration(name) ||
            strcmp(name, "checkpoint") == 0 || strcmp(name, "start") == 0)
            continue;
        json_key(&w, name);
        json_put_text(&w, quorum_options_get(options, name));
    }
    json_end(&w);
    quorum_status status = json_status(json_finish(&w), "the options");
    if (status >= 0)
        m->history.options = text_buffer_take(&buffer);
    text_buffer_free(&buffer);
    return status;
}

static quorum_status check_warp(const fitting *f)
{
    if (f->s->warp != WARP_LOG)
        return QUORUM_OK;
    if (f->given->held.error && !f->holes)
        return failure(QUORUM_E_ARGUMENT, "warp log does not go with noise-std, which is known in "
                                          "the target's units and not in its logarithm's");
    if (!f->given->held.offset)
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT, "warp log does not go with an offset: what is added to the "
                                      "target is no part of its logarithm");
}

/* What one process can tell before the work, and what the model keeps of the request. */
static quorum_status prepare(fitting *f)
{
    quorum_model *m = f->m;
    m->seed = (uint64_t)f->s->seed;
    m->history.trend = f->s->trend;
    m->columns.has_errors = f->given->held.error != NULL;
    TRY(check_column_names(f->names, m->rows.D));
    TRY(blas_check());
    TRY(check_calibration(m, f->s));
    TRY(check_warp(f));
    TRY(bends_check(f->s));
    TRY(copy_names(m, f->names));
    TRY(copy_other_names(f));
    return remember_options(m, f->options);
}

static quorum_status train_before(fitting *f)
{
    TRY(open_checkpoint(f->m, &f->rows, f->options, &f->kept));
    TRY(choose_warp(f));
    TRY(theta_before_partition(f->m, f->s, f->p, f->given, &f->rows, f->searches, f->kept,
                               &f->found));
    return f->s->train == TRAIN_PARTS ? QUORUM_OK : line_settle(f->m, f->s, f->given, &f->rows);
}

/* While the rows are at hand as training has them. */
static quorum_status calibrate_early(fitting *f)
{
    size_t experts;
    TRY(count_experts(f->m, f->s, &experts));
    return model_calibrate_left_out(f->m, f->s, experts, &f->rows);
}

static quorum_status train_after(fitting *f)
{
    f->event = theta_after_partition(f->m, f->s, f->p, f->kept, &f->found);
    TRY(f->event);
    if (f->s->train == TRAIN_PARTS)
        TRY(line_settle_parts(f->m, f->s));
    return QUORUM_OK;
}

static quorum_status complete(void *model)
{
    return model_complete(model);
}

static quorum_status show_levels(void *model)
{
    return model_show_levels(model);
}

/* Rows that were left out in turn were predicted by nearest; what is held out is predicted as queries
 * will be. */
static quorum_status calibrate(fitting *f)
{
    calibration *c = &f->m->calibration;
    if (!holds_out(f->s) && c->count > 0)
        TRY(calibration_is_for(c, f->m, f->s));
    if (!f->learned && !f->shared && f->event == QUORUM_OK)
        TRY(model_choose_method(f->m, f->options));
    TRY(keep_cells(f->m, f->s));
    if (!holds_out(f->s))
        return QUORUM_OK;
    const char *held = f->split ? f->split->held : NULL;
    return f->pool ? model_pool_ratios(f->m, f->options, held, f->pool)
                   : model_calibrate(f->m, f->options, held);
}

/* A stage, and the seconds it takes. */
static quorum_status timed(quorum_status (*stage)(fitting *f), fitting *f, double *seconds)
{
    double start = wall_seconds();
    quorum_status status = stage(f);
    *seconds += wall_seconds() - start;
    return status;
}

/* All that comes before the partition. */
static quorum_status begin(fitting *f)
{
    quorum_status ready = prepare(f);
    if (f->learned)
        return adopt_learned(f, ready);
    if (f->shared) {
        TRY(adopt_shared(f, ready));
        TRY(timed(calibrate_early, f, &f->m->history.seconds_calibrate));
        unmark_shared(f);
        return QUORUM_OK;
    }
    TRY(standardise(f, ready));
    TRY(timed(train_before, f, &f->m->history.seconds_train));
    return timed(calibrate_early, f, &f->m->history.seconds_calibrate);
}

/* QUORUM_AT_BOUND where the search ended on one. */
static quorum_status look_at_bounds(const fitting *f)
{
    double weight;
    if (f->s->theta[0] != '\0')
        return QUORUM_OK;
    TRY(rows_mean_weight(f->given, &weight));
    return model_say_bounds(f->m, weight);
}

/* table -> standardise -> kernel and theta -> partition -> overlap (-> graph of the experts)
 * (train=parts, the paper's way: theta after the partition) */
static quorum_status fit(fitting *f)
{
    quorum_model *m = f->m;
    TRY(begin(f));
    TRY(timed(split_rows, f, &m->history.seconds_partition));
    if (!f->learned && !f->shared)
        TRY(timed(train_after, f, &m->history.seconds_train));
    TRY(timed(overlap_experts, f, &m->history.seconds_partition));
    TRY(timed(learn_graph, f, &m->history.seconds_graph));
    TRY(team_all(QUORUM_OK, complete, m));
    TRY(timed(calibrate, f, &m->history.seconds_calibrate));
    if (f->event != QUORUM_OK || f->shared)
        return f->event;
    return look_at_bounds(f);
}

static quorum_status fit_and_time(fitting *f)
{
    progress_watch watch;
    options_watch(f->options, "fit", &watch);
    quorum_status status = timed(fit, f, &f->m->history.seconds_total);
    progress_watch_end(&watch);
    checkpoint_close(f->kept);
    forget_rows(f);
    return status;
}

/* Positions of levels are effects on what is modelled, which is known by now unless warp=auto. */
static quorum_status code_levels(fitting *f, coded_rows *coded)
{
    const quorum_model *from = f->learned ? f->learned : f->shared;
    const double *shift = NULL;
    if (f->s->warp == WARP_LOG && !from) {
        TRY(warp_begin(f->m, f->given, NULL));
        shift = &f->m->units.shift;
    }
    return code_rows(QUORUM_OK, f->given, &f->categories, f->made, from ? &from->encoding : NULL,
                     shift, coded);
}

/* The fit of rows of numbers; the model's encoding comes after it, so that nothing is encoded twice. */
static quorum_status fit_coded(fitting *f)
{
    const scattered_rows *given = f->given;
    coded_rows coded = {0};
    quorum_status status = code_levels(f, &coded);
    f->given = &coded.rows;
    f->coded = &coded;
    if (status >= 0)
        status = fit_and_time(f);
    f->given = given;
    f->coded = NULL;
    if (status >= 0) {
        f->m->encoding = coded.encoding;
        coded.encoding = (encoding){0};
        quorum_status shown = team_all(QUORUM_OK, show_levels, f->m);
        status = shown < 0 ? shown : status;
    }
    coded_rows_free(&coded);
    return status;
}

quorum_status fit_rows(fitting *f, quorum_model **model)
{
    quorum_model *m = f->m = model_new();
    quorum_status status =
        check_data(m ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for a model"), f->given);
    if (m && status >= 0) {
        m->rows.n = f->given->n;
        m->place = f->made ? made_place(f->made) : 0;
        m->rows.D = m->columns.target = m->columns.offset_place = f->given->held.D;
        status = atoms_count(f->given, &m->history.atoms);
    }
    if (m && status >= 0)
        status = f->categories.levels ? fit_coded(f) : fit_and_time(f);
    if (status < 0)
        quorum_model_free(m);
    else
        *model = m;
    return status;
}
