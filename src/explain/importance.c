/* quorum_importance: what the predictions depend on (docs/importance.md), input by input.
 *
 * Permutation.  x_j is permuted among the rows, PERMUTATIONS times, and the rows are predicted again:
 *
 *   increase = mean_i (loss(y_i, prediction with another row's x_j) - loss(y_i, prediction)),
 *
 * the loss being the squared error, or minus the log density.
 *
 * First-order share, of the rows' own distribution: with h = f less the effects of inputs that have
 * nothing to do with x_j (main_effects.h), m_i the mean of h over the other rows that have about the same
 * x_j, whose differences from h_i, x_j given, have nothing to do with h_i,
 *
 *   Var(E[f | x_j]) = mean_i (h_i - mean h)(m_i - mean h).
 *
 * Total share, Jansen's estimator under that distribution: row i gets x_j of a row k that is alike in
 * the inputs that x_j goes with, which is as good as drawn from x_j given the others,
 *
 *   E[Var(f | all but x_j)] = mean_i (f(x_i) - f(x_kj, the rest of x_i))^2 / 2,
 *
 * averaged over the SWAPS nearest.  Of independent inputs both are Sobol's.
 *
 * Rows that are predicted once are cheap: Var f and the first-order shares are of up to ONCE times as
 * many rows as those that are changed and predicted again.  With t_i the terms of the total share,
 * v_i = (f_i - mean f)^2 less what inputs have in common by chance (main_effects.h), whose mean is
 * Var f, and b the slope of t on v, that share is b + mean(t - b v) / Var f, in which what of t goes with
 * v is of all rows.  Where x_j goes with no other input, and k is any row, the same is done before with
 * c_i = (g_j(x_i) - g_j(x_k))^2 / 2, g_j the input's effect: its mean over all pairs of rows is known. */
#include "base/memory.h"
#include "base/random.h"
#include "explain/main_effects.h"
#include "explain/redraw.h"

#include <math.h>
#include <string.h>

enum { PERMUTATIONS = 5, SWAPS = 5, ONCE = 10 };

/* What a prediction of the used rows costs, row by row. */
typedef struct {
    double *squared, *nlpd; /* used */
} row_losses;

typedef struct {
    study s;
    likeness alike;
    quorum_distribution z;
    double *f, *off;            /* n: the mean without offset; v */
    double *room, *more, *rest; /* n                                                      */
    main_effects effects;
    double *mean, *std, *apart;    /* used: of a prediction; what t is compared with          */
    row_losses before, now, grown; /* of the rows as they are, changed, and by how much      */
    size_t *from, *near;           /* used, and used x SWAPS                                  */
} work;

static row_numbers of_all(const work *w, const double *value)
{
    return (row_numbers){w->s.n, w->s.all.weight, value};
}

static row_numbers of_used(const work *w, const double *value)
{
    return (row_numbers){w->s.used, w->s.some.weight, value};
}

/* ---- Losses ---- */

static double minus_log_density(const work *w, size_t i)
{
    quorum_scores one = {0};
    quorum_metrics m;
    quorum_scores_add_model(&one, &w->s.info, 1, &w->s.some.y[i], &w->mean[i], &w->std[i], &w->z);
    quorum_scores_finish(&one, &m);
    return m.nlpd;
}

static void take_losses(const work *w, row_losses *out)
{
    for (size_t i = 0; i < w->s.used; i++) {
        double error = w->s.some.y[i] - w->mean[i];
        out->squared[i] = error * error;
        out->nlpd[i] = minus_log_density(w, i);
    }
}

/* ---- Predictions ---- */

static quorum_status predict_losses(work *w, row_losses *out)
{
    quorum_prediction p = {.mean = w->mean, .std = w->std};
    w->s.options.values.mean_only = 0;
    TRY(study_predict(&w->s, &p));
    take_losses(w, out);
    return QUORUM_OK;
}

/* The means alone, without what is added to them. */
static quorum_status predict_function(work *w, int all, double *f)
{
    quorum_prediction p = {.mean = f};
    w->s.options.values.mean_only = 1;
    TRY(all ? study_predict_all(&w->s, &p) : study_predict(&w->s, &p));
    for (size_t i = 0; p.offset && i < (all ? w->s.n : w->s.used); i++)
        f[i] -= p.offset[i];
    return QUORUM_OK;
}

/* ---- One input ---- */

/* from (used): each used row once, in random order. */
static void shuffle(work *w, size_t number)
{
    rng r = rng_seed(w->s.seed + number, STREAM_EXPLAIN);
    memcpy(w->from, w->s.row, w->s.used * sizeof *w->from);
    rng_shuffle(&r, w->from, w->s.used);
}

static quorum_status permute(work *w, const input_group *g, size_t number,
                             quorum_input_importance *out)
{
    study *s = &w->s;
    memset(w->grown.squared, 0, s->used * sizeof *w->grown.squared);
    memset(w->grown.nlpd, 0, s->used * sizeof *w->grown.nlpd);
    for (size_t k = 0; k < PERMUTATIONS; k++) {
        shuffle(w, 1000 * (number + 1) + k);
        study_swap(s, g, w->from);
        TRY(predict_losses(w, &w->now));
        for (size_t i = 0; i < s->used; i++) {
            w->grown.squared[i] += (w->now.squared[i] - w->before.squared[i]) / PERMUTATIONS;
            w->grown.nlpd[i] += (w->now.nlpd[i] - w->before.nlpd[i]) / PERMUTATIONS;
        }
    }
    row_numbers ones = of_used(w, NULL);
    TRY(redraw_ratio(of_used(w, w->grown.squared), ones, 1, s->seed, &out->squared_error));
    return redraw_ratio(of_used(w, w->grown.nlpd), ones, 1, s->seed, &out->nlpd);
}

/* ---- Shares ---- */

/* The interval of `drawn`, about another value. */
static quorum_estimate moved(quorum_estimate drawn, double value)
{
    return (quorum_estimate){value, drawn.low + (value - drawn.value),
                             drawn.high + (value - drawn.value)};
}

/* a + b, whose errors have little to do with each other. */
static quorum_estimate sum_of(quorum_estimate a, quorum_estimate b)
{
    double value = a.value + b.value;
    return (quorum_estimate){value, value - hypot(a.value - a.low, b.value - b.low),
                             value + hypot(a.high - a.value, b.high - b.value)};
}

/* The value is unbiased, but draws of its terms would take m as given: those of 2 h m - m^2 vary as the
 * share itself does, and have a bias that is taken off. */
static quorum_status find_first(work *w, size_t j, quorum_estimate *out)
{
    const study *s = &w->s;
    quorum_estimate drawn;
    double *h = w->rest, *m = w->room;
    main_effects_rest(&w->effects, j, h);
    TRY(likeness_means(&w->alike, &w->effects.groups[j], h, m));
    double middle = study_mean(s->n, s->all.weight, h);
    for (size_t i = 0; i < s->n; i++)
        w->more[i] = (h[i] - middle) * (m[i] - middle);
    TRY(redraw_ratio(of_all(w, w->more), of_all(w, w->off), 1, s->seed, out));
    for (size_t i = 0; i < s->n; i++)
        w->more[i] = 2.0 * w->more[i] - (m[i] - middle) * (m[i] - middle);
    TRY(redraw_ratio(of_all(w, w->more), of_all(w, w->off), 1, s->seed, &drawn));
    *out = moved(drawn, out->value);
    return QUORUM_OK;
}

/* The slope of y on x, over the used rows; 0 where x does not vary. */
static double slope_on(const study *s, const double *x, const double *y)
{
    const double *weight = s->some.weight;
    double x_mean = study_mean(s->used, weight, x), y_mean = study_mean(s->used, weight, y);
    double product = 0.0, square = 0.0;
    for (size_t i = 0; i < s->used; i++) {
        product += weight[i] * (x[i] - x_mean) * (y[i] - y_mean);
        square += weight[i] * (x[i] - x_mean) * (x[i] - x_mean);
    }
    return square > 0.0 ? product / square : 0.0;
}

/* mean c over all rows i, x_k being that of any row: (1/2) ((g_i - u)^2 + s^2), u and s^2 the plain mean
 * and variance of g, over Var f.  Its draws are those of (g_i - u)^2, in which both rows vary. */
static quorum_status share_of_effect(work *w, const double *g, quorum_estimate *out)
{
    const study *s = &w->s;
    double mean = 0.0, square = 0.0;
    quorum_estimate drawn;
    for (size_t i = 0; i < s->n; i++)
        mean += g[i] / (double)s->n;
    for (size_t i = 0; i < s->n; i++) {
        w->rest[i] = (g[i] - mean) * (g[i] - mean);
        square += w->rest[i] / (double)s->n;
    }
    TRY(redraw_ratio(of_all(w, w->rest), of_all(w, w->off), 1, s->seed, &drawn));
    double variance = study_mean(s->n, s->all.weight, w->off);
    *out = moved(drawn, variance > 0.0 ? 0.5 * (drawn.value + square / variance) : 0.0);
    return QUORUM_OK;
}

/* Takes b c off the terms t in w->more, of which w->apart has c; *known is b mean c. */
static quorum_status take_effect_off(work *w, size_t j, quorum_estimate *known)
{
    const study *s = &w->s;
    double slope = slope_on(s, w->apart, w->more);
    for (size_t i = 0; i < s->used; i++)
        w->more[i] -= slope * w->apart[i];
    TRY(share_of_effect(w, main_effect(&w->effects, j), known));
    *known = (quorum_estimate){slope * known->value, slope * known->low, slope * known->high};
    return QUORUM_OK;
}

/* The share of which w->more has the terms. */
static quorum_status estimate_total(work *w, quorum_estimate *out)
{
    const study *s = &w->s;
    for (size_t i = 0; i < s->used; i++)
        w->apart[i] = w->off[s->row[i]];
    double slope = slope_on(s, w->apart, w->more);
    for (size_t i = 0; i < s->used; i++)
        w->more[i] -= slope * w->apart[i];
    TRY(redraw_ratio(of_used(w, w->more), of_all(w, w->off), s->used == s->n, s->seed, out));
    out->value += slope;
    out->low += slope;
    out->high += slope;
    return QUORUM_OK;
}

static quorum_status find_total(work *w, size_t j, quorum_estimate *out)
{
    study *s = &w->s;
    const input_group *g = &w->effects.groups[j];
    const double *effect = main_effect(&w->effects, j);
    quorum_estimate known = {0.0, 0.0, 0.0};
    TRY(likeness_near(&w->alike, g, SWAPS, w->near));
    memset(w->more, 0, s->used * sizeof *w->more);
    memset(w->apart, 0, s->used * sizeof *w->apart);
    for (size_t k = 0; k < SWAPS; k++) {
        for (size_t i = 0; i < s->used; i++)
            w->from[i] = w->near[i * SWAPS + k];
        study_swap(s, g, w->from);
        TRY(predict_function(w, 0, w->room));
        for (size_t i = 0; i < s->used; i++) {
            double change = w->room[i] - w->f[s->row[i]];
            double apart = effect[w->from[i]] - effect[s->row[i]];
            w->more[i] += 0.5 * change * change / SWAPS;
            w->apart[i] += 0.5 * apart * apart / SWAPS;
        }
    }
    if (likeness_goes_alone(&w->alike, g))
        TRY(take_effect_off(w, j, &known));
    TRY(estimate_total(w, out));
    *out = sum_of(*out, known);
    return QUORUM_OK;
}

/* In the column's units, of one that is bent around its middle; of a place the unit is degrees along a great circle, of levels there is
 * none. */
static double lengthscale_of(const quorum_info *info, const input_group *g)
{
    size_t d = g->column[0];
    if (g->columns > 1) {
        for (d = info->place; d < info->place + 2 && info->constant[d];)
            d++;
        return 180.0 / M_PI * info->input_lengthscale[d] * info->x_scale[d];
    }
    if (info->levels && info->levels[d] > 0)
        return NAN;
    int is_bent = info->bend_width && info->bend_width[d] > 0.0;
    double unit = info->x_scale[d] * (is_bent ? info->bend_width[d] : 1.0);
    return info->constant[d] ? INFINITY : info->input_lengthscale[d] * unit;
}

static quorum_status explain_input(work *w, size_t number, quorum_input_importance *out)
{
    const input_group *g = &w->effects.groups[number];
    const quorum_estimate none = {NAN, NAN, NAN};
    *out = (quorum_input_importance){.column = g->column[0],
                                     .also = g->column[1],
                                     .squared_error = none,
                                     .nlpd = none,
                                     .lengthscale = lengthscale_of(&w->s.info, g)};
    if (w->s.all.y)
        TRY(permute(w, g, number, out));
    TRY(find_first(w, number, &out->first));
    return find_total(w, number, &out->total);
}

/* ---- All of them ---- */

static quorum_status reserve(work *w)
{
    size_t n = w->s.n, used = w->s.used;
    double **of_all_rows[] = {&w->f, &w->off, &w->room, &w->more, &w->rest};
    double **of_used_rows[] = {&w->mean,          &w->std,         &w->before.squared,
                               &w->before.nlpd,   &w->now.squared, &w->now.nlpd,
                               &w->grown.squared, &w->grown.nlpd,  &w->apart};
    int fits = NEW_ARRAY(w->from, used) != NULL;
    fits = NEW_ARRAY(w->near, used * SWAPS) && fits;
    for (size_t k = 0; k < sizeof of_all_rows / sizeof *of_all_rows; k++)
        fits = NEW_ARRAY(*of_all_rows[k], n) && fits;
    for (size_t k = 0; k < sizeof of_used_rows / sizeof *of_used_rows; k++)
        fits = NEW_ARRAY(*of_used_rows[k], used) && fits;
    return fits ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for %zu rows", n);
}

static void row_losses_free(row_losses *l)
{
    mem_free(l->squared);
    mem_free(l->nlpd);
}

static void work_free(work *w)
{
    mem_free(w->f);
    mem_free(w->off);
    mem_free(w->room);
    mem_free(w->more);
    mem_free(w->rest);
    mem_free(w->mean);
    mem_free(w->std);
    mem_free(w->apart);
    main_effects_free(&w->effects);
    row_losses_free(&w->before);
    row_losses_free(&w->now);
    row_losses_free(&w->grown);
    mem_free(w->from);
    mem_free(w->near);
    likeness_free(&w->alike);
    study_free(&w->s);
}

/* The rows as they are: f and its variance, and losses. */
static quorum_status predict_rows(work *w, quorum_importance_summary *about)
{
    study *s = &w->s;
    TRY(predict_function(w, 1, w->f));
    double middle = study_mean(s->n, s->all.weight, w->f);
    for (size_t i = 0; i < s->n; i++)
        w->off[i] = (w->f[i] - middle) * (w->f[i] - middle);
    about->rows = s->used;
    about->once = s->n;
    about->variance = study_mean(s->n, s->all.weight, w->off);
    about->squared_error = about->nlpd = NAN;
    if (!s->all.y)
        return QUORUM_OK;
    TRY(quorum_distribution_of(s->m, &s->options, &w->z));
    study_swap(s, &(input_group){{0, 0}, 1}, s->row); /* as they are */
    TRY(predict_losses(w, &w->before));
    about->squared_error = study_mean(s->used, s->some.weight, w->before.squared);
    about->nlpd = study_mean(s->used, s->some.weight, w->before.nlpd);
    return QUORUM_OK;
}

static quorum_status explain_all(work *w, input_group *groups, quorum_input_importance *out,
                                 quorum_importance_summary *about)
{
    about->inputs = study_groups(&w->s, groups);
    w->s.steps = 1 + about->inputs * SWAPS;
    if (w->s.all.y)
        w->s.steps += 1 + about->inputs * PERMUTATIONS;
    TRY(reserve(w));
    TRY(predict_rows(w, about));
    TRY(likeness_find(&w->s, &w->alike));
    TRY(main_effects_find(&w->alike, groups, about->inputs, w->f, &w->effects));
    main_effects_off_chance(&w->effects, w->off, w->rest);
    for (size_t k = 0; k < about->inputs; k++)
        TRY(explain_input(w, k, &out[k]));
    return QUORUM_OK;
}

static quorum_status explain(const quorum_model *m, const quorum_new_rows *rows, size_t most,
                             const quorum_options *options, quorum_input_importance *out,
                             quorum_importance_summary *about)
{
    work w = {0};
    input_group *groups = NULL;
    quorum_status status;
    TRY_OR_DONE(study_start(&w.s, m, rows, ONCE * most, most, options, "importance"));
    w.s.options.values.latent = 0;
    if (!NEW_ARRAY(groups, w.s.columns)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu columns", w.s.columns);
        goto done;
    }
    status = explain_all(&w, groups, out, about);
done:
    mem_free(groups);
    work_free(&w);
    return status;
}

quorum_status quorum_importance(const quorum_model *model, const quorum_new_rows *rows, size_t most,
                                const quorum_options *options, quorum_input_importance *out,
                                quorum_importance_summary *about)
{
    progress_watch watch;
    if (!model || !rows || !rows->X || rows->rows == 0 || !out || !about)
        return failure(QUORUM_E_ARGUMENT, "quorum_importance: model, rows, out and about must not "
                                          "be NULL, and there must be rows");
    options_watch(options, "importance", &watch);
    quorum_status status = explain(model, rows, most, options, out, about);
    progress_watch_end(&watch);
    return status;
}
