/* Ranges of dates.  With times of day there are colons in FROM and TO: as many in the one as in the other. */
#include "grid_dates.h"

#include "cells.h"
#include "talk.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Texts ---- */

typedef struct {
    const char *from, *to; /* in the axis's text ... */
    size_t from_bytes, to_bytes;
    size_t count;
} date_range;

/* The text up to `end` has this many colons; *place: that with so many before it. */
static size_t count_colons(const char *text, const char *end, size_t wanted, const char **place)
{
    size_t count = 0;
    for (const char *p = text; p < end; p++) {
        if (*p != ':')
            continue;
        if (count++ == wanted)
            *place = p;
    }
    return count;
}

/* "FROM:TO:COUNT"; false: the text is something else. */
static bool split_range(const char *text, date_range *r)
{
    const char *last = strrchr(text, ':'), *middle = NULL;
    char *end;
    if (!last)
        return false;
    size_t colons = count_colons(text, last, 0, &middle);
    if (colons % 2 == 0)
        return false;
    count_colons(text, last, colons / 2, &middle);
    double count = strtod(last + 1, &end);
    *r = (date_range){.from = text, .from_bytes = (size_t)(middle - text), .to = middle + 1};
    r->to_bytes = (size_t)(last - r->to);
    r->count = count >= 1.0 && count <= GRID_MOST_VALUES ? (size_t)count : 0;
    return end != last + 1 && *end == '\0' && count == floor(count) && r->count > 0;
}

void write_date(double seconds, const char *form, FILE *file)
{
    double whole = floor(seconds), rest = seconds - whole;
    time_t at = (time_t)whole;
    struct tm t;
    if (!gmtime_r(&at, &t))
        return;
    int year = t.tm_year + 1900, month = t.tm_mon + 1, zoned = strstr(form, " zone") != NULL;
    char mark = form[form[0] == 'y' ? 4 : 2];
    if (form[0] == 'y')
        fprintf(file, "%04d%c%02d%c%02d", year, mark, month, mark, t.tm_mday);
    else
        fprintf(file, "%02d%c%02d%c%04d", form[0] == 'd' ? t.tm_mday : month, mark,
                form[0] == 'd' ? month : t.tm_mday, mark, year);
    if (zoned || t.tm_hour || t.tm_min || t.tm_sec || rest > 0.0)
        fprintf(file, "T%02d:%02d:%02d", t.tm_hour, t.tm_min, t.tm_sec);
    if (rest > 0.0)
        fprintf(file, ".%06d", (int)fmin(floor(rest * 1e6 + 0.5), 999999.0));
    if (zoned)
        fputc('Z', file);
}

/* ---- Both ends as the model reads them ---- */

/* A row of the grid's first values, of axis `which` the text [p, p + n), as the library reads it. */
static void write_line(const grid *g, size_t which, const char *p, size_t n, FILE *file)
{
    for (size_t i = 0; i < g->axes; i++) {
        const quorum_axis *a = &g->axis[i];
        date_range r;
        fputs(i > 0 ? "," : "", file);
        if (i == which)
            fprintf(file, "%.*s", (int)n, p);
        else if (a->text && split_range(a->text, &r))
            fprintf(file, "%.*s", (int)r.from_bytes, r.from);
        else if (a->text)
            cell_write("", a->text, file);
        else if (g->form[i])
            write_date(a->value[0], g->form[i], file);
        else
            fprintf(file, "%.17g", a->value[0]);
    }
    fputc('\n', file);
}

/* The header and two rows. */
static char *write_ends(const grid *g, size_t which, const date_range *r, size_t *bytes)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, bytes);
    if (!file)
        return NULL;
    for (size_t i = 0; i < g->axes; i++) {
        fputs(i > 0 ? "," : "", file);
        cell_write("", g->axis[i].name, file);
    }
    fputc('\n', file);
    write_line(g, which, r->from, r->from_bytes, file);
    write_line(g, which, r->to, r->to_bytes, file);
    if (fclose(file) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Their seconds, of column d; a date that the model cannot read is an error. */
static quorum_status read_ends(const grid *g, size_t which, const date_range *r, size_t d,
                               const char *option, const quorum_model *model,
                               const quorum_info *info, const arguments *given, double ends[2])
{
    quorum_stream_request wanted = {.label = option};
    quorum_stream *stream = NULL;
    size_t bytes = 0, rows = 0;
    char *text = write_ends(g, which, r, &bytes);
    double *X = malloc(2 * info->inputs * sizeof *X);
    quorum_status status = text && X ? QUORUM_OK : QUORUM_E_MEMORY;
    if (status >= 0)
        status = quorum_stream_open_lines(model, 0, &wanted, given->options, &stream);
    if (status >= 0)
        status = quorum_stream_feed(stream, text, bytes);
    if (status >= 0)
        status = quorum_stream_next(stream, 2, X, NULL, &rows);
    ends[0] = rows == 2 ? X[d] : NAN;
    ends[1] = rows == 2 ? X[info->inputs + d] : NAN;
    quorum_stream_close(stream);
    free(text);
    free(X);
    return status;
}

static int take_dates(grid *g, size_t i, size_t d, const char *option, const quorum_model *model,
                      const quorum_info *info, const arguments *given)
{
    quorum_axis *a = &g->axis[i];
    date_range r;
    double ends[2];
    if (!a->text || !split_range(a->text, &r))
        return EXIT_DONE;
    quorum_status status = read_ends(g, i, &r, d, option, model, info, given, ends);
    if (status < 0)
        return library_failure(given, status);
    if (!isfinite(ends[0]) || !isfinite(ends[1]))
        return failure(given, "--%s: %s=%s is not a range of dates, FROM:TO:COUNT", option, a->name,
                       a->text);
    if (g->rows > SIZE_MAX / 64 / r.count)
        return usage_error(given->command, "--%s: too many rows", option);
    free((char *)a->text);
    a->text = NULL;
    a->units = "seconds since 1970-01-01 00:00:00";
    g->form[i] = info->date[d];
    g->rows *= r.count;
    return grid_fill_axis(a, ends[0], ends[1], r.count)
               ? EXIT_DONE
               : failure(given, "out of memory for a grid");
}

int grid_take_dates(grid *g, const char *option, const quorum_model *model, const arguments *given)
{
    quorum_info info;
    quorum_status status = quorum_inspect(model, &info);
    int code = status < 0 ? library_failure(given, status) : EXIT_DONE;
    for (size_t i = 0; i < g->axes && code == EXIT_DONE; i++)
        for (size_t d = 0; info.date && d < info.columns && code == EXIT_DONE; d++)
            if (info.date[d] && strcmp(info.names[d], g->axis[i].name) == 0)
                code = take_dates(g, i, d, option, model, &info, given);
    return code;
}
