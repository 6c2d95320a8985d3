/* What to look after, in plain words, each with what to do. */
#include "hyperparameters.h"
#include "report/html.h"
#include "report/sections.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static const double HARDLY_BETTER = 0.95; /* squared error over the variance            */
static const double MANY_OUTSIDE = 0.05;  /* share of rows of which the data say nothing */
static const double CLEAR_BIAS = 4.0;     /* standard errors of the mean residual        */
static const double MANY_REPEATED = 0.05; /* share of rows that are training rows        */
enum { FEW_ROWS = 100 };

typedef struct {
    FILE *file;
    size_t count;
} warning_list;

__attribute__((format(printf, 2, 3))) static void warn(warning_list *l, const char *format, ...)
{
    char text[2048];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (l->count++ == 0)
        fputs("<ul class=\"warnings\">\n", l->file);
    fputs("<li>", l->file);
    html_text(l->file, text);
    fputs("</li>\n", l->file);
}

/* ---- What predictions say ---- */

static void look_at_scores(warning_list *l, const facts *f)
{
    if (f->scores.smse > HARDLY_BETTER && f->rows.count >= LEAST_ROWS)
        warn(l, "Predictions are hardly better than the training mean. The columns may say nothing "
                "about the target, or the rows differ from the training rows: look at where the "
                "data are.");
    if (f->rows.count < FEW_ROWS)
        warn(l,
             "There %s only %zu row%s to measure on, so every share is rough: the bands on the "
             "page say how rough. Give more rows by --test.",
             f->rows.count == 1 ? "is" : "are", f->rows.count, plural(f->rows.count));
}

/* "row 12", "rows 12, 7 and 3 more" */
static void list_rows(const dominant_rows *d, char *text, size_t size)
{
    size_t named = d->count < NAMED_ROWS ? d->count : NAMED_ROWS;
    size_t used = (size_t)snprintf(text, size, "row%s ", plural(d->count));
    for (size_t k = 0; k < named; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", k ? ", " : "", d->number[k]);
    if (named < d->count)
        snprintf(text + used, size - used, " and %zu more", d->count - named);
}

static void look_at_single_rows(warning_list *l, const facts *f)
{
    const dominant_rows *d = &f->dominant;
    char rows[200];
    if (d->count == 0)
        return;
    list_rows(d, rows, sizeof rows);
    warn(l,
         "%.0f %% of the squared error is that of %s alone: RMSE and the variance explained say "
         "little of "
         "the others. Look for wrong cells there; if they are right, go by the mean absolute error "
         "and CRPS, "
         "and try --warp auto where the target has a long tail.",
         100.0 * d->share, rows);
}

/* Mean residual against its standard error. */
static void look_at_bias(warning_list *l, const facts *f)
{
    const asked_rows *a = &f->rows;
    double weight = 0.0, bias = 0.0, squares = 0.0;
    for (size_t i = 0; i < a->count; i++) {
        weight += asked_weight(a, i);
        bias += asked_weight(a, i) * (a->y[i] - a->mean[i]);
    }
    bias /= weight;
    for (size_t i = 0; i < a->count; i++)
        squares += pow(asked_weight(a, i) * (a->y[i] - a->mean[i] - bias), 2.0);
    double error = sqrt(squares) / weight;
    if (fabs(bias) > CLEAR_BIAS * error && a->count >= FEW_ROWS)
        warn(l,
             "Predictions are too %s on average, by %s: these rows differ from the training "
             "rows in something that the columns do not say. 'quorum update' takes new rows in; "
             "a new fit is better.",
             bias > 0.0 ? "low" : "high", plain_number(fabs(bias)).text);
}

/* Whether the fit had this option (quorum_info.options is JSON). */
static bool was_fitted_with(const quorum_info *info, const char *option)
{
    return info->options && strstr(info->options, option);
}

/* `auto` leaves it out where there are few rows. */
static const char *how_to_calibrate(const quorum_info *info)
{
    return was_fitted_with(info, "\"calibrate\":\"auto\"")
               ? "there were too few rows for it, or another way of training; fit again with "
                 "--calibrate"
               : "fit again without --calibrate=no";
}

static void look_at_interval(warning_list *l, const facts *f)
{
    coverage c = find_coverage(&f->rows);
    double share = 100.0 * c.share[LEVEL_95];
    if (judge_coverage(&c) == TOO_NARROW && f->info.calibration_rows)
        warn(l,
             "The 95 %% interval is too narrow: only %.1f %% of the rows are inside. Calibration "
             "was on "
             "training rows, so these rows are of another kind: fit with rows like these.",
             share);
    if (judge_coverage(&c) == TOO_NARROW && !f->info.calibration_rows)
        warn(l,
             "The 95 %% interval is too narrow: only %.1f %% of the rows are inside. The model is "
             "not "
             "calibrated: %s.",
             share, how_to_calibrate(&f->info));
    if (judge_coverage(&c) == TOO_WIDE)
        warn(l,
             "The 95 %% interval is wider than it need be: %.1f %% of the rows are inside. "
             "Decisions by it "
             "are careful ones; for a narrower one fit with %s.",
             share, f->info.calibration_rows ? "rows like these" : "--calibrate");
}

static void look_at_places(warning_list *l, const facts *f)
{
    const asked_rows *a = &f->rows;
    double n = (double)a->count;
    size_t repeated = 0;
    for (size_t i = 0; i < a->count; i++)
        repeated += a->distance[i] == 0.0;
    if ((double)a->events.outside > MANY_OUTSIDE * n)
        warn(l,
             "%zu of %zu rows are outside the data: the training rows say next to nothing about "
             "them, and predictions there are little more than the trend. Collect rows there "
             "('quorum suggest' says which), or do not use these predictions.",
             a->events.outside, a->count);
    if ((double)repeated > MANY_REPEATED * n)
        warn(l,
             "%zu of %zu rows have the very inputs of a training row. If they are the same rows, "
             "errors look smaller than they will be: test on rows that were not in the fit.",
             repeated, a->count);
}

static void look_at_rows(warning_list *l, const facts *f)
{
    const quorum_report *e = &f->rows.events;
    if (f->rows.dropped)
        warn(l,
             "%zu rows with missing cells were left out. To predict them too, fit and report "
             "with --missing impute.",
             f->rows.dropped);
    if (e->unseen)
        warn(l,
             "%zu rows have a level that was not in the training data: they are predicted as an "
             "average one. Fit again with rows that have it.",
             e->unseen);
    if (e->off_constants)
        warn(l,
             "%zu rows have another value of a column that is constant in the training data: it "
             "has no effect. Fit with rows that have other values too.",
             e->off_constants);
    if (e->filled)
        warn(l,
             "%zu rows have missing cells that were filled in: their intervals are wider by what "
             "the cells "
             "would have told. Fill them in where you can.",
             e->filled);
    if (e->calibration_unused)
        warn(l,
             "The model is calibrated for predictions by %s, and these are others: their "
             "intervals are as they come. Leave --method and --neighbours as they were.",
             f->info.calibration_for);
    if (!f->test && f->info.weights_name)
        warn(l,
             "The model's rows have weights, which it does not keep row by row: left-out rows "
             "count as one each. Give --test with the column %s.",
             shown(f->info.weights_name).text);
}

/* ---- What the fit says ---- */

static void look_at_fit(warning_list *l, const facts *f)
{
    const quorum_info *info = &f->info;
    name_list constant = constant_names(info), idle = idle_names(info);
    if (*constant.text)
        warn(l,
             "These columns do not vary in the training data and have no effect: %s. --ignore "
             "leaves them out.",
             constant.text);
    if (*idle.text)
        warn(l,
             "The levels of these columns tell nothing of the target, beyond chance: %s. "
             "--ignore leaves them out.",
             idle.text);
    if (!info->calibration_rows)
        warn(l,
             "The model is not calibrated: its intervals are what the kernel says, and \"How sure "
             "is it?\" is "
             "their only test (%s).",
             how_to_calibrate(info));
    for (size_t i = 0; i < 2; i++)
        if (info->at_bound[info->inputs + i])
            warn(l,
                 "The variance of the %s ended on a bound of the search: the fit may not be the "
                 "best there is. Look "
                 "at the target for outliers or repeated values, or try another --kernel.",
                 i == 0 ? "signal" : "noise");
    if (info->graph_trouble)
        warn(l, "The expert graph: %s", info->graph_trouble);
}

int write_warnings(FILE *file, const facts *f)
{
    warning_list l = {.file = file};
    begin_section(file, "warnings", "What to look after");
    look_at_scores(&l, f);
    look_at_single_rows(&l, f);
    look_at_bias(&l, f);
    look_at_interval(&l, f);
    look_at_places(&l, f);
    look_at_rows(&l, f);
    look_at_fit(&l, f);
    fputs(l.count ? "</ul>\n" : "<p>Nothing.</p>\n", file);
    fputs("</section>\n", file);
    return EXIT_DONE;
}
