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
    if (f->scores.smse > HARDLY_BETTER)
        warn(l, "Predictions are hardly better than the training mean. The columns may say nothing "
                "about the target, or the rows differ from the training rows: look at where the "
                "data are.");
    if (f->rows.count < FEW_ROWS)
        warn(l,
             "There are only %zu rows to measure on, so every share is rough: the bands on the "
             "page say how rough. Give more rows by --test.",
             f->rows.count);
}

/* Mean residual against its standard error. */
static void look_at_bias(warning_list *l, const facts *f)
{
    const asked_rows *a = &f->rows;
    double n = (double)a->count, sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < a->count; i++)
        sum += a->y[i] - a->mean[i];
    for (size_t i = 0; i < a->count; i++)
        squares += pow(a->y[i] - a->mean[i] - sum / n, 2.0);
    double bias = sum / n, error = sqrt(squares / n / n);
    if (fabs(bias) > CLEAR_BIAS * error && a->count >= FEW_ROWS)
        warn(l,
             "Predictions are too %s on average, by %s: these rows differ from the training "
             "rows in something that the columns do not say. 'quorum update' takes new rows in; "
             "a new fit is better.",
             bias > 0.0 ? "low" : "high", plain_number(fabs(bias)).text);
}

static void look_at_interval(warning_list *l, const facts *f)
{
    coverage c = find_coverage(&f->rows);
    double share = 100.0 * c.share[LEVEL_95];
    if (judge_coverage(&c) == TOO_NARROW)
        warn(l, "The 95 %% interval is too narrow: only %.1f %% of the rows are inside. %s", share,
             f->info.calibration_rows
                 ? "Calibration was on training rows, so these rows are of another kind: fit with "
                   "rows like these."
                 : "The model is not calibrated: fit again without --calibrate=no.");
    if (judge_coverage(&c) == TOO_WIDE)
        warn(l, "The 95 %% interval is wider than it need be: %.1f %% of the rows are inside.",
             share);
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

/* Whether the training rows may have had missing cells (quorum_info.options is JSON). */
static bool was_filled(const quorum_info *info)
{
    return info->options && strstr(info->options, "\"missing\":\"impute\"");
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
             "has no effect.",
             e->off_constants);
    if (e->filled)
        warn(l, "%zu rows have missing cells that were filled in.", e->filled);
    if (e->calibration_unused)
        warn(l,
             "The model is calibrated for predictions by %s, and these are others: their "
             "intervals are as they come. Leave --method and --neighbours as they were.",
             f->info.calibration_for);
    if (!f->test && was_filled(&f->info))
        warn(l, "The model was fitted with --missing impute and does not keep which cells were "
                "missing: left-out rows are asked with those cells filled in. Give --test.");
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
        warn(l, "The model is not calibrated: its intervals are what the kernel says, untested.");
    for (size_t i = 0; i < 2; i++)
        if (info->at_bound[info->inputs + i])
            warn(l,
                 "%s ended on a bound of the search: the fit may not be the best there is. Look "
                 "at the target for outliers or repeated values, or try another --kernel.",
                 hyperparameter_name(info, info->inputs + i).text);
    if (info->graph_trouble)
        warn(l, "The expert graph: %s", info->graph_trouble);
}

int write_warnings(FILE *file, const facts *f)
{
    warning_list l = {.file = file};
    begin_section(file, "warnings", "What to look after");
    look_at_scores(&l, f);
    look_at_bias(&l, f);
    look_at_interval(&l, f);
    look_at_places(&l, f);
    look_at_rows(&l, f);
    look_at_fit(&l, f);
    fputs(l.count ? "</ul>\n" : "<p>Nothing.</p>\n", file);
    fputs("</section>\n", file);
    return EXIT_DONE;
}
