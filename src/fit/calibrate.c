/* Calibration: how wide intervals have to be in truth.
 *
 * Some training rows are taken out of their experts, predicted from the others with
 * the model's own hyperparameters, and compared with what they were.  This is done in
 * rounds of few rows, so that the rows that are left are as dense as a query will find
 * them.  The ratios |y - mean| / std, sorted, are kept; model/calibration.c uses them. */
#include "fit/calibrate.h"

#include "base/memory.h"
#include "base/random.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_HELD_OUT = 5000, /* rows                        */
    SHARE_HELD_OUT = 2,   /* one row in so many          */
    SHARE_OF_ROUND = 100, /* of all rows, in one round   */
    LEAST_HELD_OUT = 20   /* fewer say nothing           */
};

/* ---- A model without the rows that are held out ---- */

/* round[i] = 1, 2, .. for the rows to take out in the first round, the second, ..; 0: never.
 * Every expert keeps one row at least. */
static quorum_status choose_rows(const quorum_model *m, unsigned char *round, size_t *count)
{
    size_t wanted = m->rows.n / SHARE_HELD_OUT, *rows = NULL, *left = NULL;
    size_t together = m->rows.n / SHARE_OF_ROUND > 1 ? m->rows.n / SHARE_OF_ROUND : 1;
    quorum_status status = QUORUM_OK;
    wanted = wanted > MOST_HELD_OUT ? MOST_HELD_OUT : wanted;
    if (!NEW_ARRAY(rows, m->rows.n) || !NEW_ARRAY(left, m->M)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for calibrating on %zu rows", wanted);
        goto done;
    }
    for (size_t i = 0; i < m->rows.n; i++)
        rows[i] = i;
    for (size_t e = 0; e < m->M; e++)
        left[e] = m->offset[e + 1] - m->offset[e];
    parts all = model_parts(m);
    rng r = rng_seed(m->seed, STREAM_CALIBRATE);
    rng_shuffle(&r, rows, m->rows.n);
    *count = 0;
    for (size_t i = 0; i < m->rows.n && *count < wanted; i++) {
        size_t e = part_of_row(&all, rows[i]);
        if (left[e] < 2)
            continue;
        left[e]--;
        round[rows[i]] = (unsigned char)(1 + (*count)++ / together);
    }
    if (*count < LEAST_HELD_OUT)
        status = failure(QUORUM_E_DATA,
                         "calibrate can hold out %zu of %zu rows, and needs %d: leave it off",
                         *count, m->rows.n, LEAST_HELD_OUT);
done:
    mem_free(rows);
    mem_free(left);
    return status;
}

/* Copies of the arrays that prediction looks at; the rest stays empty. */
static quorum_status copy_settings(const quorum_model *m, quorum_model *to)
{
    size_t D = m->rows.D;
    NEW_ARRAY(to->units.x_mean, D);
    NEW_ARRAY(to->units.x_scale, D);
    NEW_ARRAY(to->units.constant, D);
    NEW_ARRAY(to->theta.lengthscale, D);
    NEW_ZEROED(to->columns.names, D + 1);
    if (!to->units.x_mean || !to->units.x_scale || !to->units.constant || !to->theta.lengthscale ||
        !to->columns.names)
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    memcpy(to->units.x_mean, m->units.x_mean, D * sizeof *m->units.x_mean);
    memcpy(to->units.x_scale, m->units.x_scale, D * sizeof *m->units.x_scale);
    memcpy(to->units.constant, m->units.constant, D);
    if (m->units.rotation) {
        if (!NEW_ARRAY(to->units.rotation, D * D))
            return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
        memcpy(to->units.rotation, m->units.rotation, D * D * sizeof *m->units.rotation);
    }
    memcpy(to->theta.lengthscale, m->theta.lengthscale, D * sizeof *m->units.x_mean);
    to->graph_how = m->graph_how;
    to->units.y_mean = m->units.y_mean;
    to->units.y_scale = m->units.y_scale;
    to->seed = m->seed;
    return line_copy(D, &m->units, &to->units);
}

/* The ranking, if there is one, is all that prediction wants of the graph. */
static quorum_status copy_ranking(const quorum_model *m, quorum_model *to)
{
    if (!m->learned.graph.ranking)
        return QUORUM_OK;
    if (!NEW_ARRAY(to->learned.graph.ranking, m->M))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    memcpy(to->learned.graph.ranking, m->learned.graph.ranking,
           m->M * sizeof *m->learned.graph.ranking);
    return QUORUM_OK;
}

/* The rows that are not held out, still sorted by expert: nobody holds the others. */
static quorum_status copy_rows(const quorum_model *m, const char *held, quorum_model *to)
{
    size_t at = 0;
    TRY(rows_new(&m->rows, to->rows.n, &to->rows));
    if (!NEW_ARRAY(to->offset, m->M + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    to->offset[0] = 0;
    for (size_t e = 0; e < m->M; e++) {
        for (size_t i = m->offset[e]; i < m->offset[e + 1]; i++)
            if (!held[i])
                rows_copy(&m->rows, i, 1, &to->rows, at++);
        to->offset[e + 1] = at;
    }
    parts own = model_parts(m);
    return extra_rows_without(&own, &m->extra, held, &to->extra);
}

static quorum_status without_rows(const quorum_model *m, const char *held, size_t count,
                                  quorum_model **out)
{
    quorum_model *to = model_new();
    if (!to)
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    to->rows.D = m->rows.D;
    to->M = m->M;
    to->rows.n = m->rows.n - count;
    to->theta = m->theta;
    to->spread = m->spread;
    to->neighbours = m->neighbours;
    to->theta.lengthscale = NULL;
    quorum_status status = copy_settings(m, to);
    if (status == QUORUM_OK)
        status = copy_ranking(m, to);
    if (status == QUORUM_OK)
        status = copy_rows(m, held, to);
    if (status < 0)
        quorum_model_free(to);
    else
        *out = to;
    return status;
}

/* ---- Ratios ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* One round: a model without the rows that it holds out, and what that predicts for them. */
typedef struct {
    const quorum_model *m;
    const unsigned char *round;
    int which;
    quorum_model *reduced;
    char *held;         /* n: 1 where a row is held out  */
    size_t count;       /* rows that are                 */
    double *X, *y;      /* count x D, count: in units    */
    double *mean, *std; /* count                         */
} calibration_round;

static void round_free(calibration_round *r)
{
    mem_free(r->held);
    quorum_model_free(r->reduced);
    mem_free(r->X);
    mem_free(r->y);
    mem_free(r->mean);
    mem_free(r->std);
}

/* The held-out rows in their units. */
static quorum_status copy_held_out(calibration_round *r)
{
    const quorum_model *m = r->m;
    size_t D = m->rows.D, at = 0;
    if (!NEW_ARRAY(r->X, r->count * D) || !NEW_ARRAY(r->y, r->count) ||
        !NEW_ARRAY(r->mean, r->count) || !NEW_ARRAY(r->std, r->count))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating on %zu rows", r->count);
    for (size_t i = 0; i < m->rows.n; i++) {
        if (!r->held[i])
            continue;
        model_in_units(m, m->rows.X + i * D, r->X + at * D);
        r->y[at++] = model_target_in_units(m, m->rows.X + i * D, m->rows.y[i]);
    }
    return QUORUM_OK;
}

static quorum_status prepare_round(void *context)
{
    calibration_round *r = context;
    if (!NEW_ARRAY(r->held, r->m->rows.n))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    for (size_t i = 0; i < r->m->rows.n; i++)
        r->count += (size_t)(r->held[i] = r->round[i] == r->which);
    if (r->count == 0)
        return QUORUM_OK;
    TRY(without_rows(r->m, r->held, r->count, &r->reduced));
    return copy_held_out(r);
}

/* Takes out the rows of one round, predicts them and adds their ratios. */
static quorum_status one_round(calibration_round *r, const quorum_options *options, calibration *c)
{
    quorum_status status = team_all(QUORUM_OK, prepare_round, r);
    quorum_prediction out = {.mean = r->mean, .std = r->std};
    if (status >= 0 && r->count > 0)
        status = quorum_predict(r->reduced, r->X, r->count, options, &out, NULL);
    for (size_t i = 0; status >= 0 && i < r->count; i++)
        c->ratio[c->count++] = fabs(r->y[i] - r->mean[i]) / r->std[i];
    return status;
}

/* Round after round, until no row is left to take out. */
static quorum_status all_rounds(const quorum_model *m, const unsigned char *round,
                                const quorum_options *options, calibration *c)
{
    size_t taken = 1;
    for (int which = 1; taken > 0; which++) {
        calibration_round r = {.m = m, .round = round, .which = which};
        quorum_status status = one_round(&r, options, c);
        taken = r.count;
        round_free(&r);
        TRY(status);
    }
    return QUORUM_OK;
}

static void summarise(calibration *c)
{
    double sum = 0.0;
    qsort(c->ratio, c->count, sizeof *c->ratio, ascending);
    for (size_t i = 0; i < c->count; i++)
        sum += c->ratio[i] * c->ratio[i];
    c->scale = sqrt(sum / (double)c->count);
}

/* Rows are compared with what was observed, noise and all, whatever is to be predicted later. */
static quorum_options of_observations(const quorum_options *options)
{
    quorum_options o = *options;
    o.values.latent = o.values.mean_only = 0;
    return o;
}

/* Of all rows: those who predict without some of them have no graph of their own. */
static quorum_status learn_ranking(const quorum_model *m, const recipe *how,
                                   const quorum_options *options)
{
    const size_t *ranking;
    if (how->graph_on == GRAPH_ON_TEST)
        return QUORUM_OK;
    return model_ranking(m, &how->chosen, options_values(options), options_progress(options),
                         &ranking);
}

/* What calibration begins with. */
typedef struct {
    const quorum_model *m;
    const settings *s;
    calibration c;
    unsigned char *round; /* n */
} calibrating;

static quorum_status check_prediction(void *context)
{
    calibrating *k = context;
    TRY(calibration_is_for(&k->c, k->m, k->s));
    return model_check_recipe(k->m, &k->c.how);
}

static quorum_status choose_rounds(void *context)
{
    calibrating *k = context;
    size_t count = 0;
    if (!NEW_ZEROED(k->round, k->m->rows.n))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    TRY(choose_rows(k->m, k->round, &count));
    if (!NEW_ARRAY(k->c.ratio, count))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating on %zu rows", count);
    return QUORUM_OK;
}

quorum_status model_calibrate(quorum_model *m, const quorum_options *options)
{
    const quorum_options how = of_observations(options);
    calibrating k = {.m = m, .s = options_values(options)};
    quorum_status status = QUORUM_OK;
    TRY_OR_DONE(team_all(QUORUM_OK, check_prediction, &k));
    TRY_OR_DONE(learn_ranking(m, &k.c.how, options));
    TRY_OR_DONE(team_all(QUORUM_OK, choose_rounds, &k));
    TRY_OR_DONE(all_rounds(m, k.round, &how, &k.c));
    summarise(&k.c);
done:
    mem_free(k.round);
    if (status < 0)
        calibration_free(&k.c);
    else
        m->calibration = k.c;
    return status;
}
