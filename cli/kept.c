/* Kept columns of a block of rows (kept.h).  The cells' texts stand in one block of text. */
#include "kept.h"

#include "cells.h"
#include "talk.h"
#include "team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the memory, what the texts of all rows at once may take. */
static const double TEXT_SHARE = 0.25;

const char *kept_wanted(const arguments *given)
{
    const char *list = argument_value(given, "keep");
    return list ? list : argument_value(given, "row-number") ? "" : NULL;
}

void kept_start(kept_rows *k, const quorum_stream *stream, const arguments *given)
{
    *k = (kept_rows){.stream = stream,
                     .numbered = argument_value(given, "row-number") != NULL,
                     .columns = quorum_stream_kept_columns(stream)};
}

void kept_free(kept_rows *k)
{
    free(k->hole);
    free(k->number);
    free(k->start);
    free(k->text);
    *k = (kept_rows){0};
}

void kept_clear(kept_rows *k)
{
    k->rows = k->used = 0;
}

/* ---- Names ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* `sorted` are the kept names, with "row" where that is wanted. */
static int check_twice(char **sorted, size_t count, const arguments *given)
{
    for (size_t i = 0; i + 1 < count; i++)
        if (strcmp(sorted[i], sorted[i + 1]) == 0)
            return failure(given,
                           "--keep: two columns would be named \"%s\" in the result; keep one of "
                           "them (a number from 1 says which), or rename it in %s",
                           sorted[i], given->operands[1]);
    return EXIT_DONE;
}

static int check_own(kept_rows *k, char **sorted, size_t count, const char *header, char *name,
                     const arguments *given)
{
    for (k->own = 0; header; k->own++) {
        header = cell_take(header, name);
        if (bsearch(&name, sorted, count, sizeof *sorted, compare_texts))
            return failure(given,
                           "--keep: column \"%s\" of %s has the name of a column of the result; "
                           "rename it, or keep other columns",
                           name, given->operands[1]);
    }
    return EXIT_DONE;
}

/* The names before the command's own, sorted. */
static void sort_names(const kept_rows *k, char **sorted)
{
    static char row[] = "row";
    for (size_t i = 0; i < k->columns; i++)
        sorted[i] = (char *)quorum_stream_kept_name(k->stream, i);
    if (k->numbered)
        sorted[k->columns] = row;
    qsort(sorted, k->columns + k->numbered, sizeof *sorted, compare_texts);
}

static int check_names(kept_rows *k, const char *header, const arguments *given)
{
    size_t count = k->columns + k->numbered;
    char **sorted = malloc((count + 1) * sizeof *sorted), *name = malloc(strlen(header) + 1);
    int code = EXIT_FAILED;
    if (sorted && name) {
        sort_names(k, sorted);
        code = check_twice(sorted, count, given);
        if (code == EXIT_DONE)
            code = check_own(k, sorted, count, header, name, given);
    } else {
        failure(given, "out of memory for %zu names", count);
    }
    free(sorted);
    free(name);
    return code;
}

int kept_check(kept_rows *k, names_writer *write, const void *context, const arguments *given)
{
    char *header = NULL;
    size_t size;
    FILE *file = open_memstream(&header, &size);
    if (file)
        write(context, file);
    bool whole = file && !ferror(file);
    if (file && fclose(file) != 0)
        whole = false;
    int code = whole && header ? check_names(k, header, given) /* without memory there is none */
                               : failure(given, "out of memory for the header");
    free(header);
    return code;
}

void kept_write_names(const kept_rows *k, FILE *file)
{
    if (k->numbered)
        fputs("row,", file);
    for (size_t i = 0; i < k->columns; i++) {
        cell_write("", quorum_stream_kept_name(k->stream, i), file);
        fputc(',', file);
    }
}

/* ---- Rows ---- */

static bool grow(void **array, size_t count, size_t size)
{
    void *grown = realloc(*array, (count ? count : 1) * size);
    if (grown)
        *array = grown;
    return grown != NULL;
}

static bool room_for_rows(kept_rows *k, size_t rows)
{
    if (rows <= k->room)
        return true;
    if (k->rows > 0 && rows < 2 * k->room)
        rows = 2 * k->room;
    if (!grow((void **)&k->hole, rows, sizeof *k->hole) ||
        !grow((void **)&k->number, rows, sizeof *k->number) ||
        !grow((void **)&k->start, rows * k->columns, sizeof *k->start))
        return false;
    k->room = rows;
    return true;
}

static bool append_text(kept_rows *k, const char *text)
{
    size_t bytes = strlen(text) + 1, capacity = k->capacity ? k->capacity : 4096;
    while (capacity - k->used < bytes)
        capacity *= 2;
    if (capacity > k->capacity && !grow((void **)&k->text, capacity, 1))
        return false;
    k->capacity = capacity;
    memcpy(k->text + k->used, text, bytes);
    k->used += bytes;
    return true;
}

static bool append_row(kept_rows *k, size_t row, bool hole)
{
    k->hole[k->rows] = hole;
    k->number[k->rows] = quorum_stream_row(k->stream, row);
    k->seen++;
    if (hole && k->holes < HOLES_LISTED)
        k->hole_row[k->holes] = k->seen;
    k->holes += hole;
    for (size_t i = 0; i < k->columns; i++) {
        k->start[k->rows * k->columns + i] = k->used;
        if (!append_text(k, quorum_stream_kept(k->stream, row, i)))
            return false;
    }
    k->rows++;
    return true;
}

/* Cells of a file whose header is UTF-8, or has no letters of its own. */
static void note_windows(kept_rows *k, const arguments *given)
{
    bool found = quorum_stream_converted(k->stream) == 2;
    if (found && !k->said_windows)
        note(given, "%s: cells that are kept are not UTF-8 and were read as Windows-1252",
             strcmp(given->operands[1], "-") == 0 ? "standard input" : given->operands[1]);
    k->said_windows = found;
}

static int append(kept_rows *k, size_t added, size_t inputs, double *X, size_t *whole,
                  const arguments *given)
{
    bool drops = strcmp(quorum_options_get(given->options, "missing"), "nan") == 0;
    *whole = 0;
    if (!room_for_rows(k, k->rows + added))
        return failure(given, "out of memory for %zu rows", k->rows + added);
    for (size_t i = 0; i < added; i++) {
        double *row = X + i * inputs;
        bool hole = drops && isnan(row[0]);
        if (!append_row(k, i, hole))
            return failure(given, "out of memory for the columns that are kept");
        if (!hole && (*whole)++ < i)
            memcpy(row - (i + 1 - *whole) * inputs, row, inputs * sizeof *row);
    }
    size_t bytes = k->used + k->rows * k->columns * sizeof *k->start;
    if ((double)bytes > TEXT_SHARE * quorum_options_memory(given->options))
        return failure(given,
                       "the columns that are kept take more than memory, which is %.0f MB, has "
                       "for them; keep fewer, or give more with --memory",
                       quorum_options_memory(given->options) / (1 << 20));
    note_windows(k, given);
    return EXIT_DONE;
}

int kept_append(kept_rows *k, size_t added, size_t inputs, double *X, size_t *whole,
                const arguments *given)
{
    int code = append(k, added, inputs, X, whole, given);
    return k->columns > 0 ? team_code(code) : code;
}

/* Alone on its line an empty cell is in quotes, or readers would pass over it. */
void write_empty_cells(size_t count, bool behind_others, FILE *file)
{
    if (count == 1 && !behind_others)
        fputs("\"\"", file);
    for (size_t i = 1; i < count; i++)
        fputc(',', file);
    fputc('\n', file);
}

void kept_write_row(const kept_rows *k, size_t row, FILE *file)
{
    if (k->numbered)
        fprintf(file, "%zu,", k->number[row]);
    for (size_t i = 0; i < k->columns; i++) {
        cell_write("", k->text + k->start[row * k->columns + i], file);
        fputc(',', file);
    }
    if (k->hole[row])
        write_empty_cells(k->own, k->numbered || k->columns > 0, file);
}

/* ---- Notes ---- */

/* "row 3" or "rows 3, 9 and 4 more" */
static row_list list_rows(const size_t *numbers, size_t listed, size_t count)
{
    row_list out;
    size_t used = (size_t)snprintf(out.text, sizeof out.text, "row%s", plural(count));
    for (size_t i = 0; i < listed; i++) {
        const char *before = i == 0 ? " " : i + 1 == count ? " and " : ", ";
        used +=
            (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%zu", before, numbers[i]);
    }
    if (listed < count)
        snprintf(out.text + used, sizeof out.text - used, " and %zu more", count - listed);
    return out;
}

row_list dropped_rows(const quorum_stream *stream)
{
    size_t numbers[HOLES_LISTED], listed = 0;
    while (listed < HOLES_LISTED &&
           (numbers[listed] = quorum_stream_dropped_row(stream, listed)) > 0)
        listed++;
    return list_rows(numbers, listed, quorum_stream_dropped(stream));
}

void kept_tell(const kept_rows *k, const arguments *given)
{
    size_t dropped = quorum_stream_dropped(k->stream);
    size_t listed = k->holes < HOLES_LISTED ? k->holes : HOLES_LISTED;
    if (dropped)
        note(given,
             "%zu row%s with missing cells left out: the result has fewer rows than %s (%s); "
             "--missing nan keeps them with empty cells",
             dropped, plural(dropped), given->operands[1], dropped_rows(k->stream).text);
    if (k->holes)
        note(given, "%zu row%s with missing cells %s empty cells in the result: %s", k->holes,
             plural(k->holes), k->holes == 1 ? "has" : "have",
             list_rows(k->hole_row, listed, k->holes).text);
}
