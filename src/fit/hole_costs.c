/* What missing cells cost: v_d of every column d, learned before the fit (encode/holes.h).
 *
 * A first fit, to two thirds of at most PILOT rows drawn at random, predicts the others as they are, and
 * once more for every column as if its cell were missing.  With m and s^2 the one latent mean and its
 * variance, m_d and s_d^2 the other, all of w(y),
 *
 *   v_d = max(0, mean of (m_d - m)^2 - (s_d^2 - s^2))
 *
 * over the rows that have the cell: of all that are held out, or as many as make QUERIES predictions of
 * all columns together.  Where m is the mean of w(y) given the cells, the mean of (m_d - m)^2 is by how
 * much the mean squared error grows without one of them, whatever m_d is; what of it comes from m_d
 * being known from few rows is in a prediction's variance anyway.  w is the warp that the first fit has
 * chosen, and which the fit takes over.  A level that is not known brings its own variance
 * (encode/nodes.h), and has v_d = 0. */
#include "fit/hole_costs.h"

#include "base/memory.h"
#include "base/random.h"
#include "fit/drawn_rows.h"
#include "gp/noise.h"
#include "linalg/normal.h"

#include <math.h>
#include <string.h>

enum { PILOT = 6144, QUERIES = 16384, LEAST_ROWS = 30 };

typedef struct {
    const fitting *f;
    const made_inputs *made;
    hole_rule *holes;
    size_t D;
    drawn_rows rows;
    quorum_model *m; /* the first fit                        */
    double *X;       /* held x D: being asked                */
    double *at;      /* held x 2: what is predicted ...      */
    double *whole;   /* ... of the rows as they are          */
} pilot;

static void pilot_free(pilot *p)
{
    drawn_rows_free(&p->rows);
    quorum_model_free(p->m);
    mem_free(p->X);
    mem_free(p->at);
    mem_free(p->whole);
}

static quorum_status fail_memory(void)
{
    return failure(QUORUM_E_MEMORY, "out of memory for learning what missing cells cost");
}

/* ---- Rows ---- */

static quorum_status check_rows(size_t n)
{
    return n >= LEAST_ROWS
               ? QUORUM_OK
               : failure(QUORUM_E_DATA,
                         "%zu rows are too few to learn what missing cells cost: missing=impute "
                         "needs %d; give drop",
                         n, LEAST_ROWS);
}

static quorum_status prepare(void *context)
{
    pilot *p = context;
    size_t held = p->rows.held_count;
    return NEW_ARRAY(p->X, held * p->D) && NEW_ARRAY(p->at, 2 * held) &&
                   NEW_ARRAY(p->whole, 2 * held)
               ? QUORUM_OK
               : fail_memory();
}

static quorum_status take_rows(pilot *p)
{
    const fitting *f = p->f;
    TRY(check_rows(f->given->n));
    TRY(drawn_rows_draw(f->given, PILOT, (uint64_t)f->s->seed, STREAM_HOLES, &p->rows));
    return team_all(QUORUM_OK, prepare, p);
}

/* ---- The first fit ---- */

/* As it was asked for, but for what is made of experts and held-out rows. */
static quorum_status first_fit(pilot *p)
{
    quorum_options o = *p->f->options;
    fitting f = *p->f;
    o.values.calibrate = CALIBRATE_NO;
    o.values.graph = GRAPH_AUTO;
    o.values.checkpoint = "";
    o.values.method = "nearest"; /* it will be asked few rows */
    o.values.overlap = o.values.experts = o.values.min_size = o.values.max_size = 0.0;
    f.given = &p->rows.rows;
    f.options = &o;
    f.s = &o.values;
    return fit_rows(&f, &p->m);
}

/* ---- What it predicts ---- */

/* p->at: medians and quantiles one deviation above of what is latent, which a warp keeps, at the first
 * `count` of p->X. */
static quorum_status predict(pilot *p, const quorum_options *options, size_t count)
{
    const double probability[] = {0.5, normal_probability(1.0)};
    quorum_prediction out = {.offset = p->rows.rest.offset,
                             .probability = probability,
                             .probabilities = 2,
                             .quantile = p->at};
    return quorum_predict(p->m, p->X, count, options, &out, NULL);
}

static quorum_status predict_as_they_are(pilot *p, const quorum_options *options)
{
    memcpy(p->X, p->rows.rest.X, p->rows.held_count * p->D * sizeof *p->X);
    TRY(predict(p, options, p->rows.held_count));
    memcpy(p->whole, p->at, 2 * p->rows.held_count * sizeof *p->at);
    return QUORUM_OK;
}

/* Mean and variance of w(y) by the two quantiles. */
static void moments(const unit_change *u, const double *quantile, double *mean, double *variance)
{
    *mean = warp_forward(u, quantile[0]);
    double std = warp_forward(u, quantile[1]) - *mean;
    *variance = std * std;
}

/* (m_d - m)^2 - (s_d^2 - s^2) of held-out row i. */
static double cost_at(const pilot *p, size_t i)
{
    double mean, variance, whole_mean, whole_variance;
    moments(&p->m->units, p->at + 2 * i, &mean, &variance);
    moments(&p->m->units, p->whole + 2 * i, &whole_mean, &whole_variance);
    return (mean - whole_mean) * (mean - whole_mean) - (variance - whole_variance);
}

/* v_d by the first `count` held-out rows. */
static quorum_status learn_column(pilot *p, const quorum_options *options, size_t d, size_t count)
{
    double sum = 0.0, weight = 0.0;
    memcpy(p->X, p->rows.rest.X, count * p->D * sizeof *p->X);
    for (size_t i = 0; i < count; i++) {
        p->X[i * p->D + d] = NAN;
        holes_fill(p->holes, p->made, p->X + i * p->D, NULL);
    }
    TRY(predict(p, options, count));
    for (size_t i = 0; i < count; i++) {
        double w = row_weight(&p->rows.rest, i);
        if (holes_has(p->holes, p->rows.rest.X + i * p->D, d))
            continue;
        sum += w * cost_at(p, i);
        weight += w;
    }
    p->holes->of[d].variance = weight > 0.0 ? fmax(0.0, sum / weight) : 0.0;
    return QUORUM_OK;
}

/* Whether a hole there is a level that nothing is known of. */
static int is_new_level(const pilot *p, size_t d)
{
    const size_t *levels = p->f->categories.levels;
    return levels && levels[d] > 0 && p->holes->of[d].teller == NO_TELLER;
}

static quorum_status learn_columns(pilot *p, const quorum_options *options)
{
    size_t columns = p->holes->columns, share = QUERIES / columns;
    size_t least = share > LEAST_ROWS ? share : LEAST_ROWS;
    size_t count = least < p->rows.held_count ? least : p->rows.held_count;
    TRY(predict_as_they_are(p, options));
    for (size_t d = 0; d < columns; d++) {
        TRY(progress_report(p->f->p, "missing cells", (double)d / (double)columns,
                            "column %zu of %zu", d + 1, columns));
        if (!is_new_level(p, d) && !made_hides(p->made, d))
            TRY(learn_column(p, options, d, count));
    }
    return QUORUM_OK;
}

static quorum_status new_options(void *context)
{
    *(quorum_options **)context = quorum_options_new();
    return *(quorum_options **)context ? QUORUM_OK : fail_memory();
}

static quorum_status ask(pilot *p)
{
    quorum_options *options = NULL;
    quorum_status status = team_all(QUORUM_OK, new_options, &options);
    if (status >= 0) {
        options->values.threads = p->f->s->threads;
        options->values.memory = p->f->s->memory;
        options->values.latent = 1;
        status = learn_columns(p, options);
    }
    quorum_options_free(options);
    return status;
}

quorum_status holes_learn(const fitting *f, const made_inputs *made, hole_rule *holes, int *warp)
{
    pilot p = {.f = f, .made = made, .holes = holes, .D = f->given->held.D};
    quorum_status status = take_rows(&p);
    if (status >= 0)
        status = first_fit(&p);
    if (status >= 0) {
        *warp = p.m->units.warp;
        status = ask(&p);
    }
    pilot_free(&p);
    return status < 0 ? status : QUORUM_OK;
}

/* ---- Rows with holes ---- */

typedef struct {
    const scattered_rows *given;
    const hole_rule *holes;
    double *error;
    int some; /* a row has a hole that costs something */
} marking;

static quorum_status room_for_errors(void *context)
{
    marking *k = context;
    return NEW_ZEROED(k->error, k->given->held.n) ? QUORUM_OK : fail_memory();
}

static void look_for_costs(void *context, const row_range *range)
{
    marking *k = context;
    const row_set *rows = &range->rows;
    for (size_t i = 0; i < rows->n && !k->some; i++)
        k->some = holes_variance(k->holes, rows->X + i * rows->D) > 0.0;
}

quorum_status holes_in_rows(const scattered_rows *given, const hole_rule *holes,
                            scattered_rows *out, double **error)
{
    marking k = {.given = given, .holes = holes};
    const row_set *held = &given->held;
    *out = *given;
    *error = NULL;
    TRY(rows_fold(QUORUM_OK, given, &k.some, sizeof k.some, look_for_costs, &k));
    if (!k.some)
        return QUORUM_OK;
    quorum_status status = team_all(QUORUM_OK, room_for_errors, &k);
    *error = k.error;
    TRY(status);
    for (size_t i = 0; i < held->n; i++) {
        double known = held->error ? held->error[i] : 0.0;
        k.error[i] = hypot(known, sqrt(holes_variance(holes, held->X + i * held->D)));
    }
    out->held.error = k.error;
    return QUORUM_OK;
}
