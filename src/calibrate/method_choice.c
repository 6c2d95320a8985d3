/* What method auto is: nearest, or cells where they predict as well and cost much less.
 *
 * Some rows are held out together, and predicted by both from the others.  With errors e and standard
 * deviations d of rows with weights w, the log density being that of a Student t with 4 degrees of
 * freedom and variance d^2,
 *
 *   error = sum w e_cells^2 / sum w e_nearest^2,   gain = sum w (log p_cells - log p_nearest) / sum w
 *
 * Cells lose where they are worse in either by more than AS_GOOD and by more than the standard error
 * of the difference.  Their cost is counted, for as many queries as rows (docs/performance.md, "Cells"):
 * m^3 / 3 operations a query of nearest against (16/3 + 3) (5 m / 4)^2. */
#include "base/memory.h"
#include "calibrate/calibrate.h"
#include "calibrate/held_out.h"
#include "base/random.h"
#include "team/work.h"

#include <math.h>

enum {
    LEAST_ROWS = 4000,  /* with fewer, cells are few and large beside all rows */
    MOST_ROWS = 200000, /* with more, few queries would pay too long for factors */
    HELD = 256,         /* rows held out                                       */
    METHODS = 2
};
static const double MOST_NUMBERS = 2e7; /* of all inputs: every process has them all */
static const double AS_GOOD = 0.01;
static const double CHEAPER = 3.0; /* so many times */

/* ---- Cost ---- */

/* Whether cells take a fraction of the operations, with experts as large as neighbourhoods say. */
static int are_cheaper(size_t neighbours)
{
    double m = (double)neighbours, B = m * CELL_NEIGHBOURS / OWN_NEIGHBOURS;
    return m * m * m / 3.0 >= CHEAPER * (16.0 / 3.0 + 3.0) * B * B;
}

/* A linear metric of more freedom than there are rows is calibrated by another fit (fit/ways.c). */
static int is_wide(const quorum_model *m)
{
    return (double)m->rows.D * (double)m->rows.D >= (double)m->rows.n;
}

static int may_compare(const quorum_model *m, const settings *s)
{
    recipe r;
    return options_method_is_auto(s) && options_neighbours_are_auto(s) && m->neighbours > 0 &&
           s->share == SHARE_NONE && s->train == TRAIN_NEIGHBOURS && s->theta[0] == '\0' &&
           m->rows.n >= LEAST_ROWS && m->rows.n <= MOST_ROWS &&
           (double)m->rows.n * (double)m->rows.D <= MOST_NUMBERS && !is_wide(m) &&
           model_recipe(m, s, &r) == QUORUM_OK && r.rule->kind == TAKES_ROWS &&
           are_cheaper(r.neighbours);
}

/* ---- Held-out rows ---- */

typedef struct {
    held_out rows;
    unsigned char *round;     /* n     */
    double *error[METHODS];   /* HELD: squares                                 */
    double *density[METHODS]; /* HELD: log density, but for the same constant  */
} comparison;

static void comparison_free(comparison *c)
{
    held_out_free(&c->rows);
    mem_free(c->round);
    for (int k = 0; k < METHODS; k++) {
        mem_free(c->error[k]);
        mem_free(c->density[k]);
    }
}

static quorum_status take_rows(comparison *c)
{
    row_choice choice;
    quorum_status status = row_choice_new(c->rows.m, c->round, &choice);
    choice.wanted = choice.together = HELD;
    if (status == QUORUM_OK) {
        row_choice_draw(&choice, STREAM_METHOD);
        row_choice_take_out(&choice);
    }
    row_choice_free(&choice);
    return status;
}

static quorum_status prepare(void *context)
{
    comparison *c = context;
    int has_room = NEW_ZEROED(c->round, c->rows.m->rows.n) != NULL;
    for (int k = 0; k < METHODS; k++)
        has_room = NEW_ARRAY(c->error[k], HELD) && NEW_ARRAY(c->density[k], HELD) && has_room;
    if (!has_room)
        return failure(QUORUM_E_MEMORY, "out of memory for comparing methods");
    TRY(take_rows(c));
    c->rows.round = c->round;
    c->rows.which = 1;
    return held_out_make(&c->rows);
}

static quorum_status predict_by(comparison *c, int k, const char *method,
                                const quorum_options *options)
{
    quorum_options how = *options;
    double unit = c->rows.m->units.y_scale;
    how.values.latent = how.values.mean_only = 0;
    how.values.method = method;
    TRY(held_out_predict(&c->rows, &how));
    for (size_t i = 0; i < c->rows.count; i++) {
        double e = (c->rows.y[i] - c->rows.mean[i]) / unit, d = c->rows.std[i] / unit;
        c->error[k][i] = e * e;
        c->density[k][i] = -log(d) - 2.5 * log1p(0.5 * e * e / (d * d));
    }
    return QUORUM_OK;
}

/* ---- The choice ---- */

/* sum w (b - a) / sum w and its standard error. */
typedef struct {
    double mean, error;
} difference;

static difference compare(const comparison *c, double *const value[METHODS])
{
    double sum = 0.0, squares = 0.0, all = 0.0;
    for (size_t i = 0; i < c->rows.count; i++) {
        sum += c->rows.weight[i] * (value[1][i] - value[0][i]);
        all += c->rows.weight[i];
    }
    for (size_t i = 0; i < c->rows.count; i++) {
        double off = c->rows.weight[i] * (value[1][i] - value[0][i] - sum / all);
        squares += off * off;
    }
    return (difference){sum / all, sqrt(squares) / all};
}

static double mean_error(const comparison *c)
{
    double sum = 0.0, all = 0.0;
    for (size_t i = 0; i < c->rows.count; i++) {
        sum += c->rows.weight[i] * c->error[0][i];
        all += c->rows.weight[i];
    }
    return sum / all;
}

static int is_worse(double loss, double error)
{
    return !(loss <= fmax(AS_GOOD, error));
}

static method_choice choose(const comparison *c)
{
    double level = mean_error(c);
    difference error = compare(c, c->error), gain = compare(c, c->density);
    int as_good = level > 0.0 && !is_worse(error.mean / level, error.error / level) &&
                  !is_worse(-gain.mean, gain.error);
    return (method_choice){.compared = level > 0.0,
                           .by_cells = as_good,
                           .error = level > 0.0 ? 1.0 + error.mean / level : 1.0,
                           .gain = gain.mean};
}

quorum_status model_choose_method(quorum_model *m, const quorum_options *options)
{
    comparison c = {.rows = {.m = m}};
    const settings *s = options_values(options);
    if (!may_compare(m, s))
        return QUORUM_OK;
    TRY(model_hold_all(m));
    quorum_status status = team_all(QUORUM_OK, prepare, &c);
    if (status == QUORUM_OK)
        status = predict_by(&c, 0, rule_nearest.name, options);
    if (status == QUORUM_OK)
        status = predict_by(&c, 1, rule_cells.name, options);
    if (status == QUORUM_OK)
        m->method = choose(&c);
    comparison_free(&c);
    if (status < 0 && status != QUORUM_E_NUMERIC && status != QUORUM_E_MEMORY)
        return status;
    if (status != QUORUM_OK)
        return QUORUM_OK; /* then nothing is known */
    return progress_report(options_progress(options), "method", 1.0,
                           "cells: squared error %.4f of nearest's, log density a row %+.4f",
                           m->method.error, m->method.gain);
}
