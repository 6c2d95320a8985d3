/* What was fitted: data, ranges, kernel, metric, noise, seconds. */
#include "hyperparameters.h"
#include "report/html.h"
#include "report/sections.h"
#include "sorted.h"
#include "talk.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 60 }; /* in the table */

__attribute__((format(printf, 3, 4))) static void say(FILE *file, const char *what,
                                                      const char *format, ...)
{
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fputs("<dt>", file);
    html_text(file, what);
    fputs("</dt><dd>", file);
    html_text(file, text);
    fputs("</dd>\n", file);
}

static void say_data(FILE *file, const facts *f)
{
    const quorum_info *info = &f->info;
    say(file, "Model", "%s", f->given->operands[0]);
    say(file, "Data", "%zu rows, %zu column%s", info->rows, info->columns, plural(info->columns));
    say(file, "Target", "%s: mean %s, standard deviation %s", target_label(info).text,
        number_among(info->target_mean, info->target_scale).text,
        plain_number(info->target_scale).text);
    if (strcmp(info->warp, "none") != 0)
        say(file, "Warp", "the model is of %s", target_unit(info).text);
    if (info->offset_name)
        say(file, "Offset", "predictions are about the column %s", info->offset_name);
    if (info->weights_name)
        say(file, "Weights", "by the column %s", info->weights_name);
    if (info->noise_name)
        say(file, "Known noise", "by the column %s", info->noise_name);
}

static void say_model(FILE *file, const facts *f)
{
    const quorum_info *info = &f->info;
    say(file, "Kernel", info->kernels ? "%s, the best of %zu on left-out rows" : "%s", info->kernel,
        info->kernels);
    say(file, "Metric", "%s",
        info->rotation ? "linear: directions across the inputs" : "one length-scale an input");
    say(file, "Trend", "%s", info->trend);
    say(file, "Noise", "standard deviation %s in units of %s%s",
        plain_number(noise_deviation(info)).text, target_unit(info).text,
        info->local_noise ? ", and more or less where the rows around say so" : "");
    say(file, "Prediction by", "%s", f->rows.events.method ? f->rows.events.method : "auto");
    say(file, "Experts", "%zu (%s)", info->experts, info->partition);
    if (info->calibration_rows)
        say(file, "Calibrated", "on %zu held-out rows: deviations times %.3f",
            info->calibration_rows, info->calibration_scale);
    say(file, "Fitted in", "%.2f seconds", info->seconds_total);
}

/* ---- Columns ---- */

/* Of a category: the level that comes most often. */
static double most_frequent(const double *sorted, size_t n)
{
    size_t best = 0, run = 0, longest = 0;
    for (size_t i = 0; i < n; i++) {
        run = i > 0 && sorted[i] == sorted[i - 1] ? run + 1 : 1;
        if (run > longest) {
            longest = run;
            best = i;
        }
    }
    return sorted[best];
}

/* Rows below the smallest or above the largest training value, or with a level that is new. */
static size_t count_beyond(const facts *f, size_t d, double low, double high)
{
    size_t beyond = 0;
    double slack = is_category(&f->info, d) ? 0.0 : ROUNDING * input_unit(&f->info, d);
    for (size_t i = 0; i < f->rows.count; i++) {
        double x = f->rows.X[i * f->rows.inputs + d];
        beyond += x < low - slack || x > high + slack;
    }
    return beyond;
}

static void write_column(FILE *file, const facts *f, size_t d, double *sorted)
{
    const quorum_info *info = &f->info;
    size_t n = sort_column(f->X, f->info.rows, f->info.inputs, d, sorted);
    html_row(file);
    html_head_cell(file, "%s", input_name(info, d).text);
    if (n == 0) {
        html_cell(file, "no values");
    } else if (is_category(info, d)) {
        html_cell(file, "category");
        html_cell(file, "%zu levels", info->levels[d]);
        html_text_cell(file, value_of_column(info, d, most_frequent(sorted, n)).text);
        html_cell(file, " ");
    } else {
        html_cell(file, "%s", is_date(info, d) ? "date" : "number");
        html_cell(file, "%s", value_of_column(info, d, sorted[0]).text);
        html_cell(file, "%s", value_of_column(info, d, sorted[n / 2]).text);
        html_cell(file, "%s", value_of_column(info, d, sorted[n - 1]).text);
    }
    if (n > 0)
        html_cell(file, "%zu",
                  count_beyond(f, d, is_category(info, d) ? 0.0 : sorted[0],
                               is_category(info, d) ? HUGE_VAL : sorted[n - 1]));
    fputs("</tr>\n", file);
}

static int write_columns(FILE *file, const facts *f)
{
    static const char *const titles[] = {"column",          "kind",    "smallest",
                                         "middle, or most", "largest", "asked rows beyond"};
    size_t shown_columns = f->info.columns < MOST_COLUMNS ? f->info.columns : MOST_COLUMNS;
    double *sorted = malloc(f->info.rows * sizeof *sorted);
    if (!sorted)
        return failure(f->given, "out of memory for %zu rows", f->info.rows);
    html_table_begin(file, "Columns of the training rows", titles, 6);
    for (size_t d = 0; d < shown_columns; d++)
        write_column(file, f, d, sorted);
    html_table_end(file);
    if (shown_columns < f->info.columns) {
        fputs("<p>", file);
        html_say(file, "The first %zu of %zu columns.", shown_columns, f->info.columns);
        fputs("</p>\n", file);
    }
    free(sorted);
    return EXIT_DONE;
}

int write_fitted(FILE *file, const facts *f)
{
    begin_section(file, "fitted", "What was fitted");
    fputs("<dl class=\"facts\">\n", file);
    say_data(file, f);
    say_model(file, f);
    fputs("</dl>\n", file);
    int code = write_columns(file, f);
    fputs("</section>\n", file);
    return code;
}
