/* From a model file to what is written of it:
 *
 *     load -> refuse what is not covered -> the model's numbers -> compare with the library -> write
 *
 * What is written is text that is compiled into this command too: before anything is written, its answers at some
 * rows and between them are compared with the library's. */
#include "export/exporting.h"

#include "hyperparameters.h"
#include "progress.h"
#include "talk.h"
#include "targets.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 2000000 }; /* of the rows, that compilers take */
enum { ASKED = 64 };             /* queries that are compared        */
static const double TEN_DIGITS = 1e-10;
static const double SLOPES_COST = 1e3; /* digits of derivatives, whose sums cancel more */

/* Whether an option of the fit, in the JSON object of them, had this value. */
static bool was_fitted_with(const quorum_info *info, const char *name, const char *value)
{
    char wanted[64];
    size_t length = (size_t)snprintf(wanted, sizeof wanted, "\"%s\":", name);
    const char *at = info->options ? strstr(info->options, wanted) : NULL;
    if (!at)
        return false;
    at += length + strspn(at + length, " \"");
    return strncmp(at, value, strlen(value)) == 0 && at[strlen(value)] == '"';
}

/* Why this model cannot be exported, or NULL. */
static const char *uncovered(const quorum_info *info)
{
    if (info->levels)
        return "it has inputs that are categories";
    if (info->date || info->place > 0 || info->columns != info->inputs)
        return "some of its inputs are made of others: of dates, periods or places";
    if (info->offset_name)
        return "its predictions need an offset";
    if (info->weights_name || info->noise_name)
        return "its rows have weights or known noise";
    if (strcmp(info->trend, "linear") == 0)
        return "it has a linear trend";
    if (was_fitted_with(info, "missing", "impute"))
        return "it fills missing cells";
    if (info->rows * (info->inputs + 1) > MOST_NUMBERS)
        return "it has too many rows: more than 2,000,000 numbers";
    return NULL;
}

/* ---- The comparison ---- */

/* Query i: a row, or a point between it and another row and a bit beyond. */
static void make_query(const quorum_info *info, const double *table, size_t i, double *x)
{
    size_t D = info->inputs, a = i * 7919 % info->rows, b = (i * 104729 + 1) % info->rows;
    double along = i % 2 ? 0.0 : 0.1 * (double)(i % 16);
    for (size_t d = 0; d < D; d++)
        x[d] = table[a * D + d] + along * (table[b * D + d] - table[a * D + d]);
}

/* What may differ, in units of |mean| + std: 10 digits, or where the noise is so small that rounding
 * alone costs more, what it may cost: eps m s_f^2 / s_n^2, the condition of C. */
static double allowance(const quorum_info *info, const exported *e)
{
    double condition = (double)e->model.neighbours * info->signal_variance / info->noise_variance;
    return fmax(TEN_DIGITS, DBL_EPSILON * condition);
}

/* The largest difference between the library's answers and those of the file, in such units;
 * infinite where the file has none. */
static double largest_difference(const exported *e, const double *X, const quorum_prediction *p)
{
    double largest = 0.0, own[4];
    for (size_t i = 0; i < ASKED; i++) {
        const double theirs[4] = {p->mean[i], p->std[i], p->lower[i], p->upper[i]};
        double unit = p->std[i] + fabs(p->mean[i]);
        if (exported_predict(e, X + i * e->model.inputs, own) != 0)
            return INFINITY;
        for (int k = 0; k < 4; k++)
            largest = fmax(largest, fabs(own[k] - theirs[k]) / unit);
    }
    return largest;
}

/* The same of derivatives, each times the input's scale, in units of the largest of the query's and std: where the slope
 * is small, so is what matters. */
static double largest_of_slopes(const exported *e, const quorum_info *info, const double *X,
                                const quorum_prediction *p, double *own /* 2 inputs */)
{
    size_t D = info->inputs;
    double largest = 0.0;
    for (size_t i = 0; i < ASKED; i++) {
        double unit = p->std[i];
        if (exported_slopes(e, X + i * D, own, own + D) != 0)
            return INFINITY;
        for (size_t d = 0; d < D; d++)
            unit = fmax(unit, fabs(p->mean_gradient[i * D + d]) * input_unit(info, d));
        for (size_t d = 0; d < D; d++) {
            double apart = fmax(fabs(own[d] - p->mean_gradient[i * D + d]),
                                fabs(own[D + d] - p->std_gradient[i * D + d]));
            largest = fmax(largest, apart * input_unit(info, d) / unit);
        }
    }
    return largest;
}

static int compare(const arguments *given, const quorum_model *model, const quorum_info *info,
                   const double *table, bool has_slopes, exported *e)
{
    size_t D = info->inputs, slopes = has_slopes ? ASKED * D : 0;
    double *X = calloc((ASKED + 2) * D + 2 * slopes, sizeof *X), answers[4][ASKED];
    if (!X)
        return failure(given, "out of memory");
    double *own = X + ASKED * D, *gradients = own + 2 * D;
    quorum_prediction p = {
        .mean = answers[0], .std = answers[1], .lower = answers[2], .upper = answers[3]};
    if (has_slopes) {
        p.mean_gradient = gradients;
        p.std_gradient = gradients + slopes;
    }
    for (size_t i = 0; i < ASKED; i++)
        make_query(info, table, i, X + i * D);
    quorum_status status = quorum_predict(model, X, ASKED, given->options, &p, NULL);
    int code = status < 0 ? library_failure(given, status) : EXIT_DONE;
    if (code == EXIT_DONE)
        e->difference = largest_difference(e, X, &p);
    if (code == EXIT_DONE && has_slopes)
        e->slopes_difference = largest_of_slopes(e, info, X, &p, own);
    if (code == EXIT_DONE && !(e->difference <= allowance(info, e) &&
                               e->slopes_difference <= SLOPES_COST * allowance(info, e)))
        code =
            failure(given,
                    "%s cannot be exported: predictions would differ from the library's by %.1e "
                    "of their size; if it was made by an older version, fit again, or if its rows "
                    "hardly say anything of each other, with --local-noise no",
                    given->operands[0], fmax(e->difference, e->slopes_difference));
    free(X);
    return code;
}

/* ---- The way from MODEL to what is written ---- */

/* Letters and underscores: a name in C, whatever it is put together with. */
static bool is_identifier(const char *name)
{
    return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")];
}

static int export_rows(const arguments *given, const quorum_model *model, const quorum_info *info,
                       const export_way *way, double *table, double *y)
{
    exported e = {0};
    quorum_status status = quorum_training_rows(model, table, y);
    if (status >= 0)
        status = exported_new(model, info, given->options, table, y, &e);
    int code = status < 0 ? library_failure(given, status) : EXIT_DONE;
    if (code == EXIT_DONE && !e.numbers)
        code = failure(given, "out of memory");
    if (code == EXIT_DONE)
        code = compare(given, model, info, table, way->has_slopes, &e);
    if (code == EXIT_DONE)
        code = way->write(given, info, &e, table);
    exported_free(&e);
    return code;
}

static int export_model(const arguments *given, const quorum_model *model, const export_way *way)
{
    quorum_info info;
    quorum_status status = quorum_inspect(model, &info);
    if (status < 0)
        return library_failure(given, status);
    const char *why = uncovered(&info);
    if (why)
        return failure(given, "%s cannot be exported: %s", given->operands[0], why);
    double *table = calloc(info.rows * info.inputs, sizeof *table);
    double *y = calloc(info.rows, sizeof *y);
    int code = table && y ? export_rows(given, model, &info, way, table, y)
                          : failure(given, "out of memory");
    free(table);
    free(y);
    return code;
}

const char *export_name(const arguments *given)
{
    const char *name = argument_value(given, "name");
    return name ? name : "model";
}

void export_note(const arguments *given, const exported *e, const char *path)
{
    if (path)
        note(given,
             "%zu rows, %zu inputs, %zu neighbours; largest difference from the library at %d "
             "queries: %.1e of the prediction; %s written",
             e->model.rows, e->model.inputs, e->model.neighbours, ASKED, e->difference, path);
}

int export_run(const arguments *given, const export_way *way)
{
    const char *name = argument_value(given, "name");
    chosen_targets targets;
    progress shown;
    if (name && !is_identifier(name))
        return usage_error(given->command, "--name: '%s' is not a name in C", name);
    quorum_status status = quorum_options_set(given->options, "method", "nearest");
    if (status < 0)
        return library_failure(given, status);
    progress_start(&shown, given);
    int code = chosen_load_one(&targets, given);
    progress_clear(&shown);
    if (code == EXIT_DONE)
        code = export_model(given, targets.model[0], way);
    chosen_free(&targets);
    return code;
}
