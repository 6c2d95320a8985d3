/* quorum_importance: what the predictions depend on (docs/importance.md), input by input.
 *
 * Permutation.  x_j is permuted among the rows, PERMUTATIONS times, and the rows are predicted again:
 *
 *   increase = mean_i (loss(y_i, prediction with another row's x_j) - loss(y_i, prediction)),
 *
 * the loss being the squared error, or minus the log density.
 *
 * First-order share, of the rows' own distribution: with m_i the mean of f over the other rows that
 * have about the same x_j, whose differences from f_i, x_j given, have nothing to do with f_i,
 *
 *   Var(E[f | x_j]) = mean_i (f_i - mean f)(m_i - mean f).
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
 * v_i = (f_i - mean f)^2 and b the slope of t on v, that share is b + mean(t - b v) / Var f, in which
 * what of t goes with v is of all rows. */
#include "base/memory.h"
#include "base/random.h"
#include "explain/alike.h"
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
    double *f, *off;     /* n: the mean without offset; (f - mean f)^2                       */
    double *room, *more; /* n                                                                */
    double *mean, *std;  /* used: of a prediction                                            */
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

/* The value is unbiased, but draws of its terms would take m as given: those of 2 f m - m^2 vary as the
 * share itself does, and have a bias that is taken off. */
static quorum_status find_first(work *w, const input_group *g, double middle, quorum_estimate *out)
{
    quorum_estimate drawn;
    TRY(likeness_means(&w->alike, g, w->f, w->room));
    for (size_t i = 0; i < w->s.n; i++)
        w->more[i] = (w->f[i] - middle) * (w->room[i] - middle);
    TRY(redraw_ratio(of_all(w, w->more), of_all(w, w->off), 1, w->s.seed, out));
    for (size_t i = 0; i < w->s.n; i++)
        w->more[i] = 2.0 * w->more[i] - (w->room[i] - middle) * (w->room[i] - middle);
    TRY(redraw_ratio(of_all(w, w->more), of_all(w, w->off), 1, w->s.seed, &drawn));
    out->low = drawn.low + (out->value - drawn.value);
    out->high = drawn.high + (out->value - drawn.value);
    return QUORUM_OK;
}

/* The slope of w->more on v, over the used rows; 0 where v does not vary. */
static double slope_on_variance(const work *w)
{
    const study *s = &w->s;
    double t_mean = study_mean(s->used, s->some.weight, w->more), v_mean = 0.0, whole = 0.0;
    double product = 0.0, square = 0.0;
    for (size_t i = 0; i < s->used; i++) {
        v_mean += s->some.weight[i] * w->off[s->row[i]];
        whole += s->some.weight[i];
    }
    v_mean /= whole;
    for (size_t i = 0; i < s->used; i++) {
        double v = w->off[s->row[i]] - v_mean;
        product += s->some.weight[i] * v * (w->more[i] - t_mean);
        square += s->some.weight[i] * v * v;
    }
    return square > 0.0 ? product / square : 0.0;
}

/* The share of which w->more has the terms. */
static quorum_status estimate_total(work *w, quorum_estimate *out)
{
    const study *s = &w->s;
    double slope = slope_on_variance(w);
    for (size_t i = 0; i < s->used; i++)
        w->more[i] -= slope * w->off[s->row[i]];
    TRY(redraw_ratio(of_used(w, w->more), of_all(w, w->off), s->used == s->n, s->seed, out));
    out->value += slope;
    out->low += slope;
    out->high += slope;
    return QUORUM_OK;
}

static quorum_status find_total(work *w, const input_group *g, quorum_estimate *out)
{
    study *s = &w->s;
    TRY(likeness_near(&w->alike, g, SWAPS, w->near));
    memset(w->more, 0, s->used * sizeof *w->more);
    for (size_t k = 0; k < SWAPS; k++) {
        for (size_t i = 0; i < s->used; i++)
            w->from[i] = w->near[i * SWAPS + k];
        study_swap(s, g, w->from);
        TRY(predict_function(w, 0, w->room));
        for (size_t i = 0; i < s->used; i++) {
            double change = w->room[i] - w->f[s->row[i]];
            w->more[i] += 0.5 * change * change / SWAPS;
        }
    }
    return estimate_total(w, out);
}

/* In the column's units; of a place the unit is degrees along a great circle, of levels there is
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
    return info->constant[d] ? INFINITY : info->input_lengthscale[d] * info->x_scale[d];
}

static quorum_status explain_input(work *w, const input_group *g, size_t number, double middle,
                                   quorum_input_importance *out)
{
    const quorum_estimate none = {NAN, NAN, NAN};
    *out = (quorum_input_importance){.column = g->column[0],
                                     .also = g->column[1],
                                     .squared_error = none,
                                     .nlpd = none,
                                     .lengthscale = lengthscale_of(&w->s.info, g)};
    if (w->s.all.y)
        TRY(permute(w, g, number, out));
    TRY(find_first(w, g, middle, &out->first));
    return find_total(w, g, &out->total);
}

/* ---- All of them ---- */

static quorum_status reserve(work *w)
{
    size_t n = w->s.n, used = w->s.used;
    double **of_all_rows[] = {&w->f, &w->off, &w->room, &w->more};
    double **of_used_rows[] = {&w->mean,        &w->std,      &w->before.squared, &w->before.nlpd,
                               &w->now.squared, &w->now.nlpd, &w->grown.squared,  &w->grown.nlpd};
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
    mem_free(w->mean);
    mem_free(w->std);
    row_losses_free(&w->before);
    row_losses_free(&w->now);
    row_losses_free(&w->grown);
    mem_free(w->from);
    mem_free(w->near);
    likeness_free(&w->alike);
    study_free(&w->s);
}

/* The rows as they are: f and its variance, and losses; *middle is mean f. */
static quorum_status predict_rows(work *w, double *middle, quorum_importance_summary *about)
{
    study *s = &w->s;
    TRY(predict_function(w, 1, w->f));
    *middle = study_mean(s->n, s->all.weight, w->f);
    for (size_t i = 0; i < s->n; i++)
        w->off[i] = (w->f[i] - *middle) * (w->f[i] - *middle);
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
    double middle;
    about->inputs = study_groups(&w->s, groups);
    w->s.steps = 1 + about->inputs * SWAPS;
    if (w->s.all.y)
        w->s.steps += 1 + about->inputs * PERMUTATIONS;
    TRY(reserve(w));
    TRY(predict_rows(w, &middle, about));
    TRY(likeness_find(&w->s, &w->alike));
    for (size_t k = 0; k < about->inputs; k++)
        TRY(explain_input(w, &groups[k], k, middle, &out[k]));
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
