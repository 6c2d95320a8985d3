/* The columns' names and numbers (columns.h). */
#include "columns.h"

#include "cells.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NUMBER = 32, JSON_KEY_ROOM = 1024 };

typedef quorum_status decide_function(const quorum_model *model, const quorum_options *options,
                                      size_t n, const double *mean, const double *std,
                                      double threshold, double *out);

struct decision_column {
    const char *flag;
    char number[LONGEST_NUMBER]; /* the threshold as it was given */
    double threshold;
    decide_function *decide;
    double *value; /* capacity */
};

/* In the order of their columns. */
static const struct {
    const char *flag;
    decide_function *decide;
} kinds[] = {
    {"above", quorum_probability_above},
    {"below", quorum_probability_below},
    {"improvement-above", quorum_improvement_above},
    {"improvement-below", quorum_improvement_below},
};

/* ---- Flags ---- */

static bool read_threshold(const char *text, size_t length, decision_column *d)
{
    char *end;
    if (length == 0 || length >= sizeof d->number)
        return false;
    memcpy(d->number, text, length);
    d->number[length] = '\0';
    d->threshold = strtod(d->number, &end);
    return *end == '\0' && isfinite(d->threshold) && !strpbrk(d->number, "xX \t");
}

static int add_decision(extra_columns *c, size_t kind, const char *text, size_t length,
                        const arguments *given)
{
    decision_column d = {.flag = kinds[kind].flag, .decide = kinds[kind].decide};
    if (!read_threshold(text, length, &d))
        return usage_error(given->command,
                           "--%s %.*s: a number is wanted, or several as in 10,20.5", d.flag,
                           (int)(length < 40 ? length : 40), text);
    decision_column *grown = realloc(c->decisions, (c->count + 1) * sizeof *grown);
    if (!grown)
        return failure(given, "out of memory for a column");
    c->decisions = grown;
    c->decisions[c->count++] = d;
    return EXIT_DONE;
}

static int add_decisions(extra_columns *c, size_t kind, const arguments *given)
{
    const char *text = argument_value(given, kinds[kind].flag);
    int code = EXIT_DONE;
    while (text && code == EXIT_DONE) {
        size_t length = strcspn(text, ",");
        code = add_decision(c, kind, text, length, given);
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
    return code;
}

int columns_parse(extra_columns *c, const arguments *given)
{
    *c = (extra_columns){.gradient = argument_value(given, "gradient") != NULL,
                         .novelty = argument_value(given, "novelty") != NULL,
                         .with_std = !option_is_on(given, "mean-only")};
    int code = EXIT_DONE;
    for (size_t k = 0; code == EXIT_DONE && k < sizeof kinds / sizeof *kinds; k++)
        code = add_decisions(c, k, given);
    if (code == EXIT_DONE && !c->with_std && (c->novelty || c->count > 0))
        code = usage_error(given->command, "--%s needs the variance, which --mean-only leaves out",
                           c->novelty ? "novelty" : c->decisions[0].flag);
    return code;
}

void columns_free(extra_columns *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->decisions[i].value);
    free(c->decisions);
    free(c->novelties);
    free(c->mean_gradient);
    free(c->std_gradient);
    *c = (extra_columns){0};
}

/* ---- Numbers ---- */

static bool make_room(double **array, size_t count)
{
    free(*array);
    *array = malloc((count ? count : 1) * sizeof **array);
    return *array != NULL;
}

static bool make_all_room(extra_columns *c, size_t rows)
{
    bool fits = !c->with_std || make_room(&c->novelties, rows);
    for (size_t i = 0; fits && i < c->count; i++)
        fits = make_room(&c->decisions[i].value, rows);
    if (fits && c->gradient)
        fits = make_room(&c->mean_gradient, rows * c->inputs) &&
               (!c->with_std || make_room(&c->std_gradient, rows * c->inputs));
    return fits;
}

int columns_reserve(extra_columns *c, size_t inputs, size_t rows, const arguments *given,
                    quorum_prediction *out)
{
    c->inputs = inputs;
    if (rows > c->capacity) {
        if (!make_all_room(c, rows))
            return failure(given, "out of memory for %zu rows; --memory makes blocks smaller",
                           rows);
        c->capacity = rows;
    }
    out->mean_gradient = c->mean_gradient;
    out->std_gradient = c->std_gradient;
    out->novelty = c->novelties;
    return EXIT_DONE;
}

quorum_status columns_decide(extra_columns *c, const quorum_model *model,
                             const quorum_options *options, const quorum_prediction *v, size_t rows)
{
    for (size_t i = 0; i < c->count; i++) {
        decision_column *d = &c->decisions[i];
        quorum_status status =
            d->decide(model, options, rows, v->mean, v->std, d->threshold, d->value);
        if (status < 0)
            return status;
    }
    return QUORUM_OK;
}

/* ---- Text ---- */

static void write_name(const char *prefix, const char *name, FILE *file)
{
    fputc(',', file);
    cell_write(prefix, name, file);
}

/* "improvement_below_" */
static void write_decision_name(const decision_column *d, FILE *file)
{
    fputc(',', file);
    for (const char *at = d->flag; *at; at++)
        fputc(*at == '-' ? '_' : *at, file);
    fprintf(file, "_%s", d->number);
}

void columns_write_header(const extra_columns *c, const quorum_model *model, FILE *file)
{
    quorum_info info;
    if (c->novelty)
        fputs(",novelty", file);
    for (size_t i = 0; i < c->count; i++)
        write_decision_name(&c->decisions[i], file);
    if (!c->gradient || quorum_inspect(model, &info) < 0)
        return;
    for (size_t d = 0; d < info.inputs; d++)
        write_name("dmean_", info.names[d], file);
    for (size_t d = 0; c->with_std && d < info.inputs; d++)
        write_name("dstd_", info.names[d], file);
}

static void write_numbers(size_t n, const double *numbers, FILE *file)
{
    for (size_t i = 0; i < n; i++)
        fprintf(file, ",%.17g", numbers[i]);
}

void columns_write_row(const extra_columns *c, size_t row, FILE *file)
{
    if (c->novelty)
        write_numbers(1, c->novelties + row, file);
    for (size_t i = 0; i < c->count; i++)
        write_numbers(1, c->decisions[i].value + row, file);
    if (c->mean_gradient)
        write_numbers(c->inputs, c->mean_gradient + row * c->inputs, file);
    if (c->std_gradient)
        write_numbers(c->inputs, c->std_gradient + row * c->inputs, file);
}

static double *copy_numbers(size_t n, const double *numbers, double *out)
{
    memcpy(out, numbers, n * sizeof *out);
    return out + n;
}

void columns_values(const extra_columns *c, size_t row, double *out)
{
    if (c->novelty)
        *out++ = c->novelties[row];
    for (size_t i = 0; i < c->count; i++)
        *out++ = c->decisions[i].value[row];
    if (c->mean_gradient)
        out = copy_numbers(c->inputs, c->mean_gradient + row * c->inputs, out);
    if (c->std_gradient)
        copy_numbers(c->inputs, c->std_gradient + row * c->inputs, out);
}

/* ---- JSON ---- */

static void put_joined(const char *prefix, const char *name, const double *value, json_writer *w)
{
    char key[JSON_KEY_ROOM];
    snprintf(key, sizeof key, "%s%s", prefix, name);
    json_member_number(w, key, value ? *value : NAN);
}

static void put_decision(const decision_column *d, const size_t *row, json_writer *w)
{
    char key[JSON_KEY_ROOM];
    snprintf(key, sizeof key, "%s_%s", d->flag, d->number);
    for (char *at = key; at < key + strlen(d->flag); at++)
        *at = (char)(*at == '-' ? '_' : *at);
    json_member_number(w, key, row ? d->value[*row] : NAN);
}

static void put_gradient(const char *prefix, const double *gradient, const quorum_info *info,
                         const size_t *row, json_writer *w)
{
    for (size_t d = 0; d < info->inputs; d++)
        put_joined(prefix, info->names[d], row ? gradient + *row * info->inputs + d : NULL, w);
}

void columns_put_row(const extra_columns *c, const quorum_model *model, const size_t *row,
                     json_writer *w)
{
    quorum_info info;
    if (c->novelty)
        put_joined("novelty", "", row ? c->novelties + *row : NULL, w);
    for (size_t i = 0; i < c->count; i++)
        put_decision(&c->decisions[i], row, w);
    if (!c->gradient || quorum_inspect(model, &info) < 0)
        return;
    put_gradient("dmean_", c->mean_gradient, &info, row, w);
    if (c->with_std)
        put_gradient("dstd_", c->std_gradient, &info, row, w);
}
