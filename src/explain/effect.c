/* quorum_effect: partial dependence and the curves of single rows (docs/importance.md).
 *
 * With x_J the one or two columns of the grid and v one of its points,
 *
 *   mean(v) = mean_i f(x_J = v, the rest of x_i),
 *
 * and likewise the ends of the intervals.  support(v) is the share of rows i for which one of the
 * rows that are alike in what x_J goes with, i itself among them, has about the value v: within
 * REACH_1 of the grid's range, of two columns REACH_2 in each, or the same level.  Rows that are alike
 * are looked for among more rows than are averaged over: predictions are what takes long. */
#include "base/memory.h"
#include "explain/alike.h"

#include <math.h>
#include <string.h>

enum { ALIKE_ROWS = 100, SUPPORT_ROWS = 2000 /* that they are looked for among */ };
static const double ALIKE_SHARE = 0.1; /* of the rows, where that is fewer than ALIKE_ROWS and x_J
                                          goes with other columns */
static const double REACH_1 = 0.05, REACH_2 = 0.1;

typedef struct {
    study s;
    likeness alike;
    const quorum_effect_grid *grid;
    quorum_effect_curves *out;
    size_t points;
    double *mean, *lower, *upper; /* used */
    size_t *near, alikes;         /* used x alikes */
    size_t *curve;                /* used: the number of the row's curve, from 1; 0: none */
    double reach[2];
} work;

/* ---- The grid ---- */

static double value_of(const work *w, size_t point, size_t axis)
{
    size_t place = axis == 0 ? point % w->grid->count[0] : point / w->grid->count[0];
    return w->grid->value[axis][place];
}

static input_group group_of(const quorum_effect_grid *grid)
{
    return grid->axes == 1 ? (input_group){{grid->column[0], grid->column[0]}, 1}
                           : (input_group){{grid->column[0], grid->column[1]}, 2};
}

static quorum_status check_value(const work *w, size_t axis, double v)
{
    size_t d = w->grid->column[axis];
    if (!isfinite(v))
        return failure(QUORUM_E_ARGUMENT, "%.200s: %g is no value", w->s.info.names[d], v);
    if (study_is_category(&w->s, d) &&
        !(v >= 0.0 && v < (double)w->s.info.levels[d] && v == floor(v)))
        return failure(QUORUM_E_ARGUMENT, "%.200s: %g is the number of no level, 0 to %zu",
                       w->s.info.names[d], v, w->s.info.levels[d] - 1);
    return QUORUM_OK;
}

static quorum_status check_grid(work *w)
{
    const quorum_effect_grid *g = w->grid;
    w->points = 1;
    for (size_t k = 0; k < g->axes; k++) {
        if (g->column[k] >= w->s.columns)
            return failure(QUORUM_E_ARGUMENT, "there is no column %zu: the model has %zu",
                           g->column[k], w->s.columns);
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < g->count[k]; i++) {
            TRY(check_value(w, k, g->value[k][i]));
            low = fmin(low, g->value[k][i]);
            high = fmax(high, g->value[k][i]);
        }
        w->points *= g->count[k];
        w->reach[k] = (g->axes > 1 ? REACH_2 : REACH_1) * (high - low);
    }
    if (g->axes == 2 && g->column[0] == g->column[1])
        return failure(QUORUM_E_ARGUMENT, "the two columns of an effect are the same");
    if (w->out->curves && w->out->wanted > w->s.used)
        return failure(QUORUM_E_ARGUMENT, "%zu curves are wanted of %zu rows", w->out->wanted,
                       w->s.used);
    return QUORUM_OK;
}

/* ---- Support ---- */

static int is_about(const work *w, size_t row, size_t point)
{
    for (size_t k = 0; k < w->grid->axes; k++) {
        size_t d = w->grid->column[k];
        double reach = study_is_category(&w->s, d) ? 0.0 : w->reach[k];
        double x = w->s.table[row * w->s.columns + d];
        if (!(fabs(x - value_of(w, point, k)) <= reach))
            return 0;
    }
    return 1;
}

/* Of a used row. */
static int is_supported(const work *w, size_t i, size_t point)
{
    int found = is_about(w, w->s.row[i], point);
    for (size_t k = 0; k < w->alikes && !found; k++)
        found = is_about(w, w->near[i * w->alikes + k], point);
    return found;
}

static double support_of(const work *w, size_t point)
{
    double sum = 0.0, weight = 0.0;
    for (size_t i = 0; i < w->s.used; i++) {
        sum += is_supported(w, i, point) ? w->s.some.weight[i] : 0.0;
        weight += w->s.some.weight[i];
    }
    return sum / weight;
}

/* ---- Curves ---- */

/* Rows that have curves, evenly over those that are averaged over. */
static void choose_curves(work *w)
{
    const study *s = &w->s;
    size_t wanted = w->out->curves ? w->out->wanted : 0;
    memset(w->curve, 0, s->used * sizeof *w->curve);
    for (size_t c = 0; c < wanted; c++) {
        size_t i = c * s->used / wanted;
        const double *row = s->table + s->row[i] * s->columns;
        w->curve[i] = c + 1;
        for (size_t k = 0; w->out->at && k < w->grid->axes; k++)
            w->out->at[c * w->grid->axes + k] = row[w->grid->column[k]];
    }
}

static double offset_of(const work *w, size_t i)
{
    return w->s.some.offset ? w->s.some.offset[i] : 0.0;
}

/* The used rows' values without their offsets. */
static double mean_of(const work *w, double *values)
{
    for (size_t i = 0; i < w->s.used; i++)
        values[i] -= offset_of(w, i);
    return study_mean(w->s.used, w->s.some.weight, values);
}

static quorum_status predict_point(work *w, size_t point)
{
    study *s = &w->s;
    quorum_prediction p = {.mean = w->mean, .lower = w->lower, .upper = w->upper};
    for (size_t i = 0; i < s->used; i++)
        for (size_t k = 0; k < w->grid->axes; k++)
            s->changed[i * s->columns + w->grid->column[k]] = value_of(w, point, k);
    TRY(study_predict(s, &p));
    w->out->mean[point] = mean_of(w, w->mean);
    w->out->lower[point] = mean_of(w, w->lower);
    w->out->upper[point] = mean_of(w, w->upper);
    w->out->support[point] = support_of(w, point);
    for (size_t i = 0; i < s->used; i++)
        if (w->curve[i])
            w->out->curves[(w->curve[i] - 1) * w->points + point] = w->mean[i];
    return QUORUM_OK;
}

/* ---- The call ---- */

/* How many rows are alike. */
static void count_alike(work *w, const input_group *g)
{
    size_t n = w->s.n;
    size_t most = likeness_goes_alone(&w->alike, g) ? n - 1 : (size_t)(ALIKE_SHARE * (double)n);
    w->alikes = most < ALIKE_ROWS ? most : ALIKE_ROWS;
}

static quorum_status reserve(work *w)
{
    size_t used = w->s.used;
    int fits = NEW_ARRAY(w->mean, used) != NULL;
    fits = NEW_ARRAY(w->lower, used) && fits;
    fits = NEW_ARRAY(w->upper, used) && fits;
    fits = NEW_ARRAY(w->curve, used) && fits;
    fits = NEW_ARRAY(w->near, used * w->alikes) && fits;
    return fits ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for %zu rows", used);
}

static void work_free(work *w)
{
    mem_free(w->mean);
    mem_free(w->lower);
    mem_free(w->upper);
    mem_free(w->near);
    mem_free(w->curve);
    likeness_free(&w->alike);
    study_free(&w->s);
}

static quorum_status find_effect(work *w)
{
    input_group g = group_of(w->grid);
    TRY(check_grid(w));
    TRY(likeness_find(&w->s, &w->alike));
    count_alike(w, &g);
    TRY(reserve(w));
    choose_curves(w);
    TRY(likeness_near(&w->alike, &g, w->alikes, w->near));
    study_swap(&w->s, &g, w->s.row); /* as they are */
    w->s.steps = w->points;
    for (size_t point = 0; point < w->points; point++)
        TRY(predict_point(w, point));
    return QUORUM_OK;
}

static int is_incomplete(const quorum_effect_grid *g, const quorum_effect_curves *out)
{
    return !g || g->axes < 1 || g->axes > 2 || !g->value[0] || g->count[0] == 0 ||
           (g->axes == 2 && (!g->value[1] || g->count[1] == 0)) || !out || !out->mean ||
           !out->lower || !out->upper || !out->support;
}

static void fill_with_nan(const quorum_effect_grid *g, quorum_effect_curves *out)
{
    size_t count = g->count[0] * (g->axes == 2 ? g->count[1] : 1);
    for (size_t i = 0; i < count; i++)
        out->mean[i] = out->lower[i] = out->upper[i] = out->support[i] = NAN;
    for (size_t i = 0; out->curves && i < count * out->wanted; i++)
        out->curves[i] = NAN;
}

quorum_status quorum_effect(const quorum_model *model, const quorum_new_rows *rows, size_t most,
                            const quorum_effect_grid *grid, const quorum_options *options,
                            quorum_effect_curves *out, size_t *used)
{
    work w = {.grid = grid, .out = out};
    progress_watch watch;
    quorum_new_rows inputs;
    if (!model || !rows || !rows->X || rows->rows == 0 || is_incomplete(grid, out))
        return failure(QUORUM_E_ARGUMENT, "quorum_effect: model, rows, grid and the arrays of out "
                                          "must not be NULL, and there must be rows and values");
    inputs = *rows;
    inputs.y = NULL;
    options_watch(options, "effect", &watch);
    size_t looked_at = most > SUPPORT_ROWS ? most : most > 0 ? SUPPORT_ROWS : 0;
    quorum_status status = study_start(&w.s, model, &inputs, looked_at, most, options, "effect");
    w.s.options.values.latent = 1;
    w.s.options.values.mean_only = 0;
    if (status >= 0)
        status = find_effect(&w);
    if (status < 0)
        fill_with_nan(grid, out);
    if (used)
        *used = w.s.used;
    work_free(&w);
    progress_watch_end(&watch);
    return status;
}
