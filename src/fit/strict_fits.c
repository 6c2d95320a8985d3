/* Calibration by rows that nothing else was learned from: fits to some of the rows, which the others are
 * predicted by.
 *
 *   calibrate=strict:  a fit to four fifths of the rows; its theta, and all rows
 *   calibrate=auto:    the fit to all rows, and where these may know theta too well (is_wide, is_small)
 *                      the ratios of strict fits, one for each fold */
#include "fit/fitting.h"

#include "base/memory.h"
#include "calibrate/calibrate.h"

enum {
    FEWEST_ROWS = 200,    /* with fewer, quantiles of 95 % are those of a few rows  */
    ROWS_PER_NUMBER = 50, /* with more, theta knows the rows no better than others  */
    WANTED_RATIOS = 400   /* from as many folds as that takes                       */
};

/* Of the rows that are held out: `pool` has their ratios where the fit has one, otherwise the model. */
static quorum_status fit_fold(fitting *f, int fold, quorum_model **model)
{
    strict_split split;
    quorum_model *learned = NULL;
    quorum_options o = *f->options;
    o.values.calibrate = CALIBRATE_NO;
    o.values.graph = GRAPH_AUTO;
    o.values.overlap = 0.0;
    quorum_status status = strict_split_make(f->given, (uint64_t)f->s->seed, fold, &split);
    if (status >= 0) {
        fitting of_rest = *f;
        of_rest.given = &split.rest;
        of_rest.options = &o;
        of_rest.s = &o.values;
        status = fit_rows(&of_rest, &learned);
        f->event = of_rest.event;
    }
    f->split = &split;
    f->learned = learned;
    if (status >= 0)
        status = fit_rows(f, model);
    f->split = NULL;
    f->learned = NULL;
    quorum_model_free(learned);
    strict_split_free(&split);
    return status;
}

/* ---- Where left-out rows, which theta has seen, say too little of its errors ---- */

/* A linear metric has more freedom than there are rows. */
static int is_wide(const fitting *f)
{
    double D = (double)f->given->held.D;
    return D * D >= (double)f->given->n && f->s->metric != METRIC_ARD &&
           model_calibrates_unasked(f->given->n, f->s);
}

/* Inputs, and levels, whose positions are learned too. */
static double count_numbers(const fitting *f)
{
    size_t D = f->given->held.D;
    double count = (double)D;
    for (size_t d = 0; f->categories.levels && d < D; d++)
        count += (double)f->categories.levels[d];
    return count;
}

/* So few rows that none are left out in turn, and that theta may have learned them by heart. */
static int is_small(const fitting *f)
{
    size_t n = f->given->n;
    return n >= FEWEST_ROWS && !model_calibrates_unasked(n, f->s) &&
           (double)n <= ROWS_PER_NUMBER * count_numbers(f) && calibrates_unasked(f->s) &&
           options_method_is_auto(f->s) && options_neighbours_are_auto(f->s);
}

static int asks_for_folds(const fitting *f)
{
    return f->s->calibrate == CALIBRATE_AUTO && !f->shared && f->s->checkpoint[0] == '\0' &&
           (is_wide(f) || is_small(f));
}

static int count_folds(size_t n)
{
    size_t fold = n / STRICT_FOLDS, count = (WANTED_RATIOS + fold - 1) / fold;
    return count < STRICT_FOLDS ? (int)count : STRICT_FOLDS;
}

/* ---- Their calibration, for the fit to all rows ---- */

static quorum_status pool_folds(const fitting *f, findings *pool, double *seconds)
{
    int folds = count_folds(f->given->n);
    quorum_options o = *f->options;
    o.values.calibrate = CALIBRATE_STRICT;
    o.values.graph = GRAPH_AUTO;
    for (int fold = 0; fold < folds; fold++) {
        fitting apart = *f;
        quorum_model *strict = NULL;
        apart.options = &o;
        apart.s = &o.values;
        apart.pool = pool;
        TRY(progress_report(f->p, "calibrate", (double)fold / folds,
                            "fit %d of %d to all rows but a fifth", fold + 1, folds));
        TRY(fit_fold(&apart, fold, &strict));
        *seconds += strict->history.seconds_total;
        quorum_model_free(strict);
    }
    findings_summarise(pool);
    return QUORUM_OK;
}

/* Calibrates m by what fits to some of the rows showed on the others. */
static quorum_status take_calibration(const fitting *f, findings *pool, double seconds,
                                      quorum_model *m)
{
    calibration_free(&m->calibration);
    m->calibration = findings_take(pool);
    m->calibration.unasked = 1;
    m->history.seconds_calibrate += seconds;
    m->history.seconds_total += seconds;
    return calibration_is_for(&m->calibration, m, f->s);
}

/* Where the folds cannot be fitted the model stays as it is: nobody asked for them. */
static int is_no_fault(quorum_status status)
{
    return status == QUORUM_E_NUMERIC || status == QUORUM_E_DATA;
}

static quorum_status room_for_pool(void *context)
{
    const fitting *f = context;
    size_t n = f->given->n;
    if (findings_new(n, f->pool))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for calibrating on %zu rows", n);
}

static quorum_status fill_pool(fitting *f, findings *pool, double *seconds)
{
    f->pool = pool;
    quorum_status status = team_all(QUORUM_OK, room_for_pool, f);
    if (status >= 0)
        status = pool_folds(f, pool, seconds);
    f->pool = NULL;
    if (is_no_fault(status)) {
        findings_free(pool);
        return QUORUM_OK;
    }
    return status;
}

/* calibrate=auto where it takes fits to some of the rows: these, and then the fit, whose word is the last. */
static quorum_status fit_by_folds(fitting *f, quorum_model **model)
{
    findings pool = {0};
    double seconds = 0.0;
    quorum_status status = fill_pool(f, &pool, &seconds), taken = QUORUM_OK;
    if (status >= 0)
        status = fit_rows(f, model);
    if (status >= 0 && pool.c.count > 0 && (is_small(f) || (*model)->calibration.count > 0))
        taken = take_calibration(f, &pool, seconds, *model);
    findings_free(&pool);
    if (taken >= 0)
        return status;
    quorum_model_free(*model);
    *model = NULL;
    return taken;
}

quorum_status fit_calibrated(fitting *f, quorum_model **model)
{
    if (f->s->calibrate == CALIBRATE_STRICT)
        return fit_fold(f, 0, model);
    return asks_for_folds(f) ? fit_by_folds(f, model) : fit_rows(f, model);
}
