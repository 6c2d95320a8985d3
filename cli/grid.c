/* Axes: value i of COUNT from FROM to TO is FROM + (TO - FROM) i / (COUNT - 1).  Rows go to the library as
 * lines of csv, so that levels and dates mean what they mean in a query file. */
#include "grid.h"

#include "cells.h"
#include "date_values.h"
#include "grid_dates.h"
#include "talk.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Axes ---- */

bool grid_fill_axis(quorum_axis *a, double from, double to, size_t count)
{
    double *value = malloc(count * sizeof *value);
    for (size_t i = 0; value && i < count; i++)
        value[i] = i == 0           ? from
                   : i + 1 == count ? to
                                    : from + (to - from) * ((double)i / (double)(count - 1));
    a->value = value;
    a->count = count;
    return value != NULL;
}

static char *copy_bytes(const char *text, size_t n)
{
    char *copy = malloc(n + 1);
    if (copy) {
        memcpy(copy, text, n);
        copy[n] = '\0';
    }
    return copy;
}

bool grid_add_range(grid *g, const char *name, double from, double to, size_t count)
{
    quorum_axis *a = &g->axis[g->axes++];
    *a = (quorum_axis){.name = copy_bytes(name, strlen(name))};
    g->rows = (g->rows ? g->rows : 1) * count;
    return a->name && grid_fill_axis(a, from, to, count);
}

void grid_free(grid *g)
{
    for (size_t i = 0; i < g->axes; i++) {
        free((char *)g->axis[i].name);
        free((double *)g->axis[i].value);
        free((char *)g->axis[i].text);
    }
    *g = (grid){0};
}

/* ---- Words ---- */

/* What follows the quoted text at the front, in which "" stands for "; NULL: the quote is left open. */
static const char *skip_quoted(const char *text)
{
    do {
        text = strchr(text + 1, '"');
    } while (text && text[1] == '"' && text++);
    return text ? text + 1 : NULL;
}

/* [text, end), without the quotes where it stands in such. */
static char *copy_word(const char *text, const char *end)
{
    char *copy = *text == '"' ? copy_bytes(text + 1, (size_t)(end - text) - 2)
                              : copy_bytes(text, (size_t)(end - text));
    for (char *c = copy; c && *text == '"' && (c = strchr(c, '"')); c++)
        memmove(c, c + 1, strlen(c));
    return copy;
}

/* All of [text, end) is a finite number. */
static bool is_number(const char *text, const char *end, double *value)
{
    char word[64], *stop;
    size_t n = (size_t)(end - text);
    if (n == 0 || n >= sizeof word)
        return false;
    memcpy(word, text, n);
    word[n] = '\0';
    *value = strtod(word, &stop);
    return *stop == '\0' && isfinite(*value) && !strpbrk(word, "xX \t");
}

/* "FROM:TO:COUNT" in [text, end); false: it begins so, but is none. */
static bool read_range(const char *text, const char *end, double *from, double *to, double *count)
{
    const char *first = memchr(text, ':', (size_t)(end - text));
    const char *second = first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;
    return second && is_number(text, first, from) && is_number(first + 1, second, to) &&
           is_number(second + 1, end, count) && *count >= 1.0 && *count <= GRID_MOST_VALUES &&
           *count == floor(*count);
}

static bool looks_like_range(const char *text, const char *end)
{
    double value;
    const char *colon = memchr(text, ':', (size_t)(end - text));
    return colon && is_number(text, colon, &value);
}

/* The values of an axis, which has its name. */
static int read_values(quorum_axis *a, const char *text, const char *end, const char *option,
                       const arguments *given)
{
    double from, to, count;
    bool fits;
    if (text == end)
        return usage_error(given->command, "--%s: \"%s\" has no value", option, a->name);
    if (read_range(text, end, &from, &to, &count)) {
        fits = grid_fill_axis(a, from, to, (size_t)count);
    } else if (looks_like_range(text, end)) {
        return usage_error(
            given->command, "--%s: '%.*s' is not FROM:TO:COUNT, with a whole COUNT from 1 to %d",
            option, (int)(end - text < 80 ? end - text : 80), text, GRID_MOST_VALUES);
    } else if (is_number(text, end, &from)) {
        fits = grid_fill_axis(a, from, from, 1);
    } else {
        a->count = 1;
        fits = (a->text = copy_word(text, end)) != NULL;
    }
    return fits ? EXIT_DONE : failure(given, "out of memory for a grid");
}

/* The name at the front, in quotes or up to '='; returns what follows '='; NULL: there is none. */
static const char *read_name(const char *text, quorum_axis *a)
{
    bool quoted = *text == '"';
    const char *end = quoted ? skip_quoted(text) : strchr(text, '=');
    if (!end || *end != '=' || end <= text + (quoted ? 2 : 0))
        return NULL;
    a->name = copy_word(text, end);
    return end + 1;
}

/* Where the value at the front ends, in quotes or not; NULL: a quote is left open, or does not end at a comma. */
static const char *find_end(const char *value)
{
    const char *end = *value == '"' ? skip_quoted(value) : value + strcspn(value, ",");
    return end && (*end == ',' || !*end) ? end : NULL;
}

static int check_twice(const grid *g, const char *option, const arguments *given)
{
    const char *last = g->axis[g->axes - 1].name;
    for (size_t i = 0; i + 1 < g->axes; i++)
        if (strcmp(g->axis[i].name, last) == 0)
            return usage_error(given->command, "--%s: \"%s\" comes twice", option, last);
    return EXIT_DONE;
}

static int read_axis(grid *g, const char **text, const char *option, const arguments *given)
{
    if (g->axes == MOST_AXES)
        return usage_error(given->command, "--%s: more than %d inputs", option, MOST_AXES);
    quorum_axis *a = &g->axis[g->axes];
    *a = (quorum_axis){0};
    const char *value = read_name(*text, a), *end = value ? find_end(value) : NULL;
    if (!end) {
        free((char *)a->name);
        a->name = NULL;
        return usage_error(given->command,
                           "--%s: NAME=FROM:TO:COUNT or NAME=VALUE is wanted, separated by commas, "
                           "not '%.80s'",
                           option, *text);
    }
    if (!a->name)
        return failure(given, "out of memory for a grid");
    g->axes++;
    int code = read_values(a, value, end, option, given);
    *text = *end ? end + 1 : NULL;
    return code == EXIT_DONE ? check_twice(g, option, given) : code;
}

int grid_parse(grid *g, const char *text, const char *option, const arguments *given)
{
    int code = EXIT_DONE;
    *g = (grid){.rows = 1};
    while (text && code == EXIT_DONE) {
        code = read_axis(g, &text, option, given);
        size_t count = code == EXIT_DONE ? g->axis[g->axes - 1].count : 1;
        if (g->rows > SIZE_MAX / 64 / count)
            return usage_error(given->command, "--%s: too many rows", option);
        g->rows *= count;
    }
    return code;
}

/* ---- The model's inputs ---- */

static bool is_wanted(const quorum_info *info, const char *name)
{
    for (size_t d = 0; d < info->columns; d++)
        if (strcmp(info->names[d], name) == 0)
            return true;
    return (info->offset_name && strcmp(info->offset_name, name) == 0) ||
           (info->noise_name && strcmp(info->noise_name, name) == 0);
}

static bool has_axis(const grid *g, const char *name)
{
    for (size_t i = 0; i < g->axes; i++)
        if (strcmp(g->axis[i].name, name) == 0)
            return true;
    return false;
}

int grid_check(grid *g, const char *option, const quorum_model *model, const arguments *given)
{
    quorum_info info;
    quorum_status status = quorum_inspect(model, &info);
    if (status < 0)
        return library_failure(given, status);
    for (size_t i = 0; i < g->axes; i++)
        if (!is_wanted(&info, g->axis[i].name))
            return failure(given, "--%s: \"%s\" is no input of the model", option, g->axis[i].name);
    for (size_t d = 0; d < info.columns; d++)
        if (!has_axis(g, info.names[d]))
            return failure(given, "--%s: the input \"%s\" needs values too, or one: %s=VALUE",
                           option, info.names[d], info.names[d]);
    for (size_t d = 0; !info.named && d < info.columns; d++)
        if (strcmp(g->axis[d].name, info.names[d]) != 0)
            return failure(given,
                           "--%s: name the inputs of a model without column names in their order, "
                           "x1, x2, ...",
                           option);
    return grid_take_dates(g, option, model, given);
}

/* ---- Rows ---- */

/* With as many digits as read back exactly. */
static void write_number(double value, FILE *file)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    fputs(text, file);
}

static void write_row(const grid *g, size_t row, FILE *file)
{
    for (size_t i = 0; i < g->axes; i++) {
        const quorum_axis *a = &g->axis[i];
        if (i > 0)
            fputc(',', file);
        if (a->text)
            cell_write("", a->text, file);
        else if (g->form[i])
            write_date(a->value[row % a->count], g->form[i], file);
        else
            write_number(a->value[row % a->count], file);
        row /= a->count;
    }
    fputc('\n', file);
}

static void write_header(const grid *g, FILE *file)
{
    for (size_t i = 0; i < g->axes; i++) {
        if (i > 0)
            fputc(',', file);
        cell_write("", g->axis[i].name, file);
    }
    fputc('\n', file);
}

/* Rows of the grid, or before the first its header, as text for the stream; of several processes that of the first
 * is read. */
static quorum_status feed(const grid *g, size_t first, size_t rows, quorum_stream *stream)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    if (quorum_team_agree(file ? QUORUM_OK : QUORUM_E_MEMORY) < 0) {
        if (file)
            fclose(file);
        free(text);
        return QUORUM_E_MEMORY;
    }
    bool writes = quorum_team_rank() == 0;
    if (writes && rows == 0)
        write_header(g, file);
    for (size_t row = first; writes && row < first + rows; row++)
        write_row(g, row, file);
    bool whole = !ferror(file);
    whole = fclose(file) == 0 && whole;
    quorum_status status = quorum_team_agree(whole ? QUORUM_OK : QUORUM_E_MEMORY);
    if (status >= 0)
        status = quorum_stream_feed(stream, text, bytes);
    free(text);
    return status;
}

quorum_status grid_open(grid *g, const char *option, const quorum_model *model,
                        const quorum_options *options, quorum_stream **stream)
{
    quorum_stream_request wanted = {.keep = "all", .label = option};
    g->fed = 0;
    quorum_status status = quorum_stream_open_lines(model, 0, &wanted, options, stream);
    return status < 0 ? status : feed(g, 0, 0, *stream);
}

quorum_status grid_feed(grid *g, quorum_stream *stream, size_t most)
{
    size_t rows = g->rows - g->fed < most ? g->rows - g->fed : most;
    if (rows == 0)
        return QUORUM_OK;
    g->fed += rows;
    return feed(g, g->fed - rows, rows, stream);
}
