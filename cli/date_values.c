/* A date stands in a row of csv whose other cells are of any value that can be read, and the library says what
 * it is. */
#include "date_values.h"

#include "cells.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Writing ---- */

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

static void write_any(const quorum_info *info, size_t d, FILE *file)
{
    if (info->levels && info->levels[d] > 0)
        cell_write("", info->level[d][0], file);
    else if (info->date && info->date[d])
        write_date(0.0, info->date[d], file);
    else
        fputc('0', file);
}

/* The header, and one row. */
static char *write_row(const quorum_info *info, size_t d, const char *text, size_t bytes,
                       size_t *length)
{
    char *row = NULL;
    FILE *file = open_memstream(&row, length);
    if (!file)
        return NULL;
    for (size_t k = 0; k < info->columns; k++) {
        fputs(k > 0 ? "," : "", file);
        cell_write("", info->names[k], file);
    }
    if (info->offset_name) {
        fputc(',', file);
        cell_write("", info->offset_name, file);
    }
    fputc('\n', file);
    for (size_t k = 0; k < info->columns; k++) {
        fputs(k > 0 ? "," : "", file);
        if (k == d)
            fprintf(file, "%.*s", (int)bytes, text);
        else
            write_any(info, k, file);
    }
    fputs(info->offset_name ? ",0\n" : "\n", file);
    if (fclose(file) != 0) {
        free(row);
        return NULL;
    }
    return row;
}

/* ---- Reading ---- */

int date_read(const quorum_model *model, const quorum_info *info, size_t d, const char *text,
              size_t bytes, const char *option, const arguments *given, double *seconds)
{
    quorum_stream_request wanted = {.label = option};
    quorum_stream *stream = NULL;
    size_t length = 0, rows = 0;
    char *row = write_row(info, d, text, bytes, &length);
    double *X = malloc(info->inputs * sizeof *X);
    quorum_status status = row && X ? QUORUM_OK : QUORUM_E_MEMORY;
    if (status >= 0)
        status = quorum_stream_open_lines(model, 0, &wanted, given->options, &stream);
    if (status >= 0)
        status = quorum_stream_feed(stream, row, length);
    if (status >= 0)
        status = quorum_stream_next(stream, 1, X, NULL, &rows);
    *seconds = rows == 1 ? X[d] : NAN;
    quorum_stream_close(stream);
    free(row);
    free(X);
    if (status < 0)
        return library_failure(given, status);
    return isfinite(*seconds)
               ? EXIT_DONE
               : failure(given, "--%s: %s=%.*s: a date is wanted, as in the training data", option,
                         info->names[d], (int)bytes, text);
}

const char *date_range_colon(const char *text, const char *end)
{
    size_t colons = 0, before = 0;
    for (const char *p = text; p < end; p++)
        colons += *p == ':';
    if (colons % 2 == 0)
        return NULL;
    for (const char *p = text; p < end; p++)
        if (*p == ':' && before++ == colons / 2)
            return p;
    return NULL;
}
