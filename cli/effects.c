/* quorum effects: how the prediction changes with one or two inputs, averaged over rows and row by
 * row, as csv or as a picture. */
#include "effects.h"

#include "axis_range.h"
#include "arguments.h"
#include "cells.h"
#include "command.h"
#include "explain.h"
#include "date_values.h"
#include "hyperparameters.h"
#include "output.h"
#include "picture.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_ALONG = 500,  /* averaged over, along one input ... */
    ROWS_ACROSS = 200, /* ... and two                        */
    POINTS_ALONG = 41,
    POINTS_ACROSS = 17,
    CURVES = 20 /* in a picture */
};

const double EFFECT_SUPPORTED = 0.5;

bool effect_is_category(const effect_found *f, size_t axis)
{
    return f->info->levels && f->info->levels[f->grid.column[axis]] > 0;
}

bool effect_is_date(const effect_found *f, size_t axis)
{
    return f->info->date && f->info->date[f->grid.column[axis]];
}

/* ---- The grid ---- */

static void stretch(double value, double *low, double *high)
{
    *low = fmin(*low, value); /* missing cells do not count */
    *high = fmax(*high, value);
}

/* Inputs hold no degrees of a place: those of the training rows. */
static int find_degrees(const explained *e, size_t column, double *low, double *high,
                        const arguments *given)
{
    size_t columns = e->info.columns;
    double *table = malloc(e->info.rows * columns * sizeof *table);
    if (!table)
        return failure(given, "out of memory for %zu rows", e->info.rows);
    quorum_status status = quorum_training_rows(e->model, table, NULL);
    for (size_t i = 0; status >= 0 && i < e->info.rows; i++)
        stretch(table[i * columns + column], low, high);
    free(table);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

/* Of DATA, whose inputs begin with the table's columns. */
static int find_range(const explained *e, size_t column, double *low, double *high,
                      const arguments *given)
{
    int code = EXIT_DONE;
    *low = INFINITY;
    *high = -INFINITY;
    if (is_of_place(&e->info, column))
        code = find_degrees(e, column, low, high, given);
    else
        for (size_t i = 0; i < e->rows.count; i++)
            stretch(e->rows.X[i * e->info.inputs + column], low, high);
    if (code != EXIT_DONE || *low < *high)
        return code;
    return failure(given, "%s: \"%s\" has one value in all rows: there is no effect to show",
                   given->operands[1], e->info.names[column]);
}

static int take_levels(effect_found *f, size_t k, const arguments *given)
{
    size_t levels = f->info->levels[f->grid.column[k]];
    f->values[k] = malloc(levels * sizeof *f->values[k]);
    if (!f->values[k])
        return failure(given, "out of memory for %zu levels", levels);
    for (size_t l = 0; l < levels; l++)
        f->values[k][l] = (double)l;
    f->grid.count[k] = levels;
    return EXIT_DONE;
}

static int take_range(effect_found *f, size_t k, double low, double high, size_t points,
                      const arguments *given)
{
    f->values[k] = malloc(points * sizeof *f->values[k]);
    if (!f->values[k])
        return failure(given, "out of memory for %zu points", points);
    for (size_t i = 0; i < points; i++)
        f->values[k][i] = low + (high - low) * ((double)i / (double)(points - 1));
    f->grid.count[k] = points;
    return EXIT_DONE;
}

static int read_axis(effect_found *f, const explained *e, const char *option, size_t points,
                     const arguments *given)
{
    size_t k = f->grid.axes++;
    axis_range a;
    int code = axis_read(e->model, &e->info, option, given, &a);
    f->grid.column[k] = a.column;
    if (code == EXIT_DONE && effect_is_category(f, k))
        return take_levels(f, k, given);
    if (code == EXIT_DONE && !a.ranged)
        code = find_range(e, a.column, &a.from, &a.to, given);
    return code == EXIT_DONE ? take_range(f, k, a.from, a.to, points, given) : code;
}

static int read_grid(effect_found *f, const explained *e, const arguments *given)
{
    bool plane = argument_value(given, "y") != NULL;
    size_t points;
    int code = count_flag(given, "points", 2, 1000, plane ? POINTS_ACROSS : POINTS_ALONG, &points);
    if (code == EXIT_DONE)
        code = read_axis(f, e, "x", points, given);
    if (code == EXIT_DONE && plane)
        code = read_axis(f, e, "y", points, given);
    if (code == EXIT_DONE && plane && f->grid.column[0] == f->grid.column[1])
        code = usage_error(given->command, "--x and --y are the same input");
    f->grid.value[0] = f->values[0];
    f->grid.value[1] = f->values[1];
    f->points = f->grid.count[0] * (plane ? f->grid.count[1] : 1);
    return code;
}

/* ---- The effect ---- */

static int reserve(effect_found *f, const arguments *given)
{
    quorum_effect_curves *c = &f->curves;
    size_t bytes = (f->points > 0 ? f->points : 1) * sizeof(double);
    c->mean = malloc(bytes);
    c->lower = malloc(bytes);
    c->upper = malloc(bytes);
    c->support = malloc(bytes);
    c->curves = c->wanted ? malloc(c->wanted * bytes) : NULL;
    bool fits = c->mean && c->lower && c->upper && c->support && (c->curves || c->wanted == 0);
    return fits ? EXIT_DONE : failure(given, "out of memory for %zu points", f->points);
}

static void effect_free(effect_found *f)
{
    free(f->values[0]);
    free(f->values[1]);
    free(f->curves.mean);
    free(f->curves.lower);
    free(f->curves.upper);
    free(f->curves.support);
    free(f->curves.curves);
}

static int find(effect_found *f, explained *e, const arguments *given)
{
    int code = read_grid(f, e, given);
    size_t most = e->most < e->rows.count ? e->most : e->rows.count;
    if (f->curves.wanted > most)
        f->curves.wanted = most;
    if (code == EXIT_DONE)
        code = reserve(f, given);
    if (code != EXIT_DONE)
        return code;
    quorum_status status =
        quorum_effect(e->model, &e->given, e->most, &f->grid, given->options, &f->curves, &f->used);
    progress_clear(&e->progress);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

/* ---- csv ---- */

static void write_value(const effect_found *f, size_t axis, size_t point, FILE *file)
{
    size_t place = axis == 0 ? point % f->grid.count[0] : point / f->grid.count[0];
    double value = f->values[axis][place];
    size_t d = f->grid.column[axis];
    if (effect_is_category(f, axis))
        cell_write("", f->info->level[d][place], file);
    else if (effect_is_date(f, axis))
        write_date(value, f->info->date[d], file);
    else
        fprintf(file, "%.17g", value);
}

static void write_csv(const effect_found *f, FILE *file)
{
    const quorum_effect_curves *c = &f->curves;
    for (size_t k = 0; k < f->grid.axes; k++) {
        cell_write("", input_name(f->info, f->grid.column[k]).text, file);
        fputc(',', file);
    }
    fputs("mean,lower,upper,support", file);
    for (size_t j = 0; j < c->wanted; j++)
        fprintf(file, ",curve_%zu", j + 1);
    fputc('\n', file);
    for (size_t i = 0; i < f->points; i++) {
        for (size_t k = 0; k < f->grid.axes; k++) {
            write_value(f, k, i, file);
            fputc(',', file);
        }
        fprintf(file, "%.17g,%.17g,%.17g,%.17g", c->mean[i], c->lower[i], c->upper[i],
                c->support[i]);
        for (size_t j = 0; j < c->wanted; j++)
            fprintf(file, ",%.17g", c->curves[j * f->points + i]);
        fputc('\n', file);
    }
}

/* ---- The command ---- */

static bool wants_picture(const arguments *given)
{
    const char *path = argument_value(given, "output");
    return path && is_picture(path);
}

static void draw(const void *f, FILE *file)
{
    draw_effect(f, file);
}

static int write_table(const effect_found *f, const arguments *given)
{
    output out = {0};
    int code = output_open(&out, given, argument_value(given, "output"));
    if (code == EXIT_DONE) {
        write_csv(f, out.file);
        code = output_commit(&out, given);
    }
    output_discard(&out);
    return code;
}

static int tell(const effect_found *f, const arguments *given)
{
    int code = wants_picture(given) ? picture_write(given, argument_value(given, "output"), draw, f)
                                    : write_table(f, given);
    size_t bare = 0;
    for (size_t i = 0; i < f->points; i++)
        bare += f->curves.support[i] < EFFECT_SUPPORTED ? 1 : 0;
    if (code == EXIT_DONE && bare > 0)
        note(given,
             "%zu of %zu points have a support below %.1f: most rows have no such values "
             "near them",
             bare, f->points, EFFECT_SUPPORTED);
    return code;
}

static int check_flags(effect_found *f, const arguments *given)
{
    const char *path = argument_value(given, "output");
    bool plane = argument_value(given, "y") != NULL;
    if (!argument_value(given, "x"))
        return usage_error(given->command, "--x is missing: the input whose effect is wanted");
    if (plane && wants_picture(given) && argument_value(given, "curves"))
        return usage_error(given->command, "--curves: a map has none; write csv, or leave --y out");
    int code = count_flag(given, "curves", 0, 1000, wants_picture(given) && !plane ? CURVES : 0,
                          &f->curves.wanted);
    f->interval = quorum_options_get(given->options, "interval");
    return code == EXIT_DONE && path ? picture_check(given, path) : code;
}

static int run_effects(const arguments *given)
{
    explained e = {0};
    effect_found f = {.info = &e.info};
    int code = check_flags(&f, given);
    if (code != EXIT_DONE)
        return code;
    detail_settings(given);
    progress_start(&e.progress, given);
    code = explained_read(&e, given, false, argument_value(given, "y") ? ROWS_ACROSS : ROWS_ALONG);
    if (code == EXIT_DONE)
        code = find(&f, &e, given);
    progress_clear(&e.progress);
    if (code == EXIT_DONE)
        code = tell(&f, given);
    effect_free(&f);
    explained_free(&e);
    return code;
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'."},
    {"DATA", "Rows to average over, with the model's inputs: csv, csv.gz, npy or npz. The training "
             "file will do."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"x", 0, "NAME", NULL, NULL,
     "The input, over the range of DATA or NAME=FROM:TO, in dates of a date; of a category all "
     "levels."},
    {"y", 0, "NAME", NULL, NULL, "A second input: all combinations of both."},
    {"curves", 0, "N", NULL, NULL,
     "Curves of so many single rows: columns curve_1 to curve_N of the csv. Default: none in csv, "
     "20 in a picture."},
    {"points", 0, "N", NULL, NULL, "Values along each input. Default: 41, with --y 17 along each."},
    {"rows", 0, "N", NULL, NULL,
     "Rows that are averaged over, drawn by the seed where DATA has more. Default: 500, with --y "
     "200."},
    SEED_FLAG,
    {"output", 'o', "FILE", NULL, NULL,
     "FILE.svg and FILE.png are pictures, any other name csv; csv on standard output when absent."},
    TARGET_FLAG_ONE,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command effects_command = {
    .name = "effects",
    .summary = "draw or write how the prediction changes with one or two inputs",
    .usage = "MODEL DATA --x NAME [--y NAME] [--curves N] [-o FILE] [options]",
    .description =
        "Partial dependence: the mean prediction over the rows of DATA, each with the input set to "
        "the same value, value after value; lower and upper are the mean ends of the rows' "
        "intervals for the function (that of the mean itself is no wider). Curves of single rows "
        "show whether the mean hides opposite effects. An average asks the model for combinations "
        "that may not occur: support, from 0 to 1, is the share of rows for which rows that are "
        "alike otherwise have about this value. Pictures fade what has a support below 0.5. An "
        "offset is left out. 'quorum plot' draws the model along an input with the others standing "
        "still.",
    .option_names = "weights header missing decimal thousands comment query method select "
                    "neighbours space interval interval-shape calibration threads memory",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum effects model.npz train.csv --x carat\n"
                "  quorum effects model.npz train.csv --x carat --curves 50 -o carat.svg\n"
                "  quorum effects model.npz train.csv --x lon=-10:30 --y lat=35:60 -o place.svg\n",
    .lists_methods = true,
    .run = run_effects,
};
