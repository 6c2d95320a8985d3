/* New rows predicted by the model as it is before it takes them: scores, and the ratios
 *
 *   z = (w(y) - mu) / s     mu, s: mean and uncalibrated deviation of w(y), the target or its logarithm
 *
 * by the prediction that the model's calibration is for, or the default one.  Of many rows a sample is predicted,
 * so that this takes no longer than some hundred GPs of the neighbourhoods' size. */
#include "update/update.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>

enum { MOST_SCORED = 2000, LEAST_SCORED_ROWS = 100 };
static const double SCORE_WORK = 1.5e10; /* rows times the cube of their neighbours */

void change_prediction(const quorum_model *m, char text[NEIGHBOURS_TEXT], settings *s)
{
    const calibration *c = &m->calibration;
    recipe r;
    if (c->count == 0 || !c->how.rule)
        return;
    s->method = c->how.rule->name;
    s->select = c->select;
    s->neighbours = "auto";
    s->space = c->how.space;
    s->graph_on = c->how.graph_on;
    if (model_recipe(m, s, &r) >= 0 && r.neighbours == c->how.neighbours)
        return;
    snprintf(text, NEIGHBOURS_TEXT, "%zu", c->how.neighbours);
    s->neighbours = text;
}

/* ---- Which rows ---- */

static size_t count_scored(const change *c, const settings *s)
{
    recipe r;
    size_t n = c->asked.n, most = MOST_SCORED;
    if (model_recipe(c->m, s, &r) >= 0 && r.neighbours > 0) {
        double size = (double)r.neighbours, rows = SCORE_WORK / (size * size * size);
        most = (size_t)fmin(MOST_SCORED, fmax(LEAST_SCORED_ROWS, rows));
    }
    return n < most ? n : most;
}

/* Exactly `wanted` of the new rows, all sets of them equally likely. */
static void draw_rows(const change *c, size_t wanted, size_t *which)
{
    size_t n = c->asked.n, count = 0;
    rng r = rng_seed(c->m->seed, STREAM_UPDATE);
    for (size_t i = 0; i < n; i++)
        if (rng_below(&r, n - i) < wanted - count)
            which[count++] = i;
}

/* ---- What is predicted of them ---- */

typedef struct {
    change *c;
    size_t count, *which;
    row_set rows;
    double *mean, *std; /* count */
} scoring;

static quorum_status prepare(scoring *s)
{
    change *c = s->c;
    NEW_ARRAY(s->which, s->count);
    NEW_ARRAY(s->mean, s->count);
    NEW_ARRAY(s->std, s->count);
    NEW_ARRAY(c->z, s->count);
    NEW_ARRAY(c->weight, s->count);
    if (!s->which || !s->mean || !s->std || !c->z || !c->weight)
        return failure(QUORUM_E_MEMORY, "out of memory for predicting %zu new rows", s->count);
    draw_rows(c, s->count, s->which);
    TRY(rows_new(&c->asked, s->count, &s->rows));
    rows_take(&c->asked, s->which, s->count, &s->rows);
    return QUORUM_OK;
}

static double row_counts(const row_set *rows, size_t i)
{
    return rows->weight ? rows->weight[i] : 1.0;
}

static void take_ratios(scoring *s, double scale)
{
    change *c = s->c;
    const unit_change *u = &c->m->units;
    for (size_t i = 0; i < s->count; i++) {
        double mu = s->mean[i], std = s->std[i], y = warp_forward(u, s->rows.y[i]);
        warp_moments_back(u, &mu, &std);
        double error = y - mu, z = error == 0.0 ? 0.0 : error / (std / scale);
        c->z[i] = fmax(-LARGEST_RATIO, fmin(LARGEST_RATIO, z));
        c->weight[i] = row_counts(&s->rows, i);
    }
    c->report.scored = s->count;
}

static quorum_status take_metrics(const scoring *s, const quorum_options *o)
{
    quorum_info info;
    quorum_distribution d;
    quorum_scores scores = {0};
    TRY(quorum_inspect(s->c->m, &info));
    TRY(quorum_distribution_of(s->c->m, o, &d));
    quorum_scores_add_weighted(&scores, &info, s->count, s->rows.y, s->mean, s->std, &d,
                               s->rows.weight);
    quorum_scores_finish(&scores, &s->c->report.metrics);
    return QUORUM_OK;
}

static quorum_status predict(scoring *s, const quorum_options *o)
{
    const change *c = s->c;
    TRY(prepare(s));
    quorum_prediction out = {
        .mean = s->mean, .std = s->std, .offset = s->rows.offset, .noise_std = s->rows.error};
    TRY(quorum_predict(c->m, s->rows.X, s->count, o, &out, NULL));
    take_ratios(s, model_calibration_scale(c->m, options_values(o)));
    return take_metrics(s, o);
}

/* As predictions are made by default, but for threads and memory. */
static void keep_machine(const change *c, quorum_options *o)
{
    o->values.threads = c->s->threads;
    o->values.memory = c->s->memory;
    o->values.missing = c->m->holes.of ? MISSING_IMPUTE : o->values.missing;
    o->progress = *options_progress(c->options);
}

quorum_status change_score(change *c)
{
    char text[NEIGHBOURS_TEXT];
    if (c->asked.n == 0)
        return QUORUM_OK;
    quorum_options *o = quorum_options_new();
    if (!o)
        return failure(QUORUM_E_MEMORY, "out of memory for predicting the new rows");
    keep_machine(c, o);
    change_prediction(c->m, text, &o->values);
    scoring s = {.c = c, .count = count_scored(c, &o->values)};
    quorum_status status = predict(&s, o);
    mem_free(s.which);
    mem_free(s.mean);
    mem_free(s.std);
    rows_free(&s.rows);
    quorum_options_free(o);
    return status;
}
