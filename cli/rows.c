/* Blocks of rows from a stream, with arrays that grow to the largest block. */
#include "rows.h"

#include "progress.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

quorum_status rows_open(row_block *b, const char *path, const quorum_model *model, bool with_target,
                        size_t results, const arguments *given)
{
    quorum_stream_request wanted = {.with_target = with_target};
    return rows_open_with(b, path, model, &wanted, results, given);
}

/* An empty block for the model. */
static quorum_status start_block(row_block *b, const quorum_model *model, size_t results)
{
    quorum_info info;
    memset(b, 0, sizeof *b);
    b->results = results;
    quorum_status status = quorum_inspect(model, &info);
    if (status >= 0) {
        b->inputs = info.inputs;
        b->with_offset = info.offset_name != NULL;
    }
    return status;
}

quorum_status rows_open_with(row_block *b, const char *path, const quorum_model *model,
                             const quorum_stream_request *wanted, size_t results,
                             const arguments *given)
{
    quorum_status status = start_block(b, model, results);
    if (status < 0)
        return status;
    b->with_target = wanted->with_target;
    b->with_column = wanted->column != NULL;
    status = quorum_stream_open_with(path, model, wanted, given->options, &b->stream);
    if (status >= 0)
        kept_start(&b->kept, b->stream, given);
    if (status >= 0 && quorum_stream_converted(b->stream) == 1)
        note(given, "%s: the column names are not UTF-8 and were read as Windows-1252",
             strcmp(path, "-") == 0 ? "standard input" : path);
    return status;
}

quorum_status rows_open_grid(row_block *b, grid *g, const quorum_model *model, size_t results,
                             const arguments *given)
{
    quorum_status status = start_block(b, model, results);
    if (status < 0)
        return status;
    b->grid = g;
    status = grid_open(g, "--grid", model, given->options, &b->stream);
    if (status >= 0)
        kept_start(&b->kept, b->stream, given);
    return status;
}

void rows_close(row_block *b)
{
    quorum_stream_close(b->stream);
    kept_free(&b->kept);
    free(b->X);
    free(b->y);
    free(b->offset);
    free(b->column);
    free(b->noise_room);
    free(b->weight_room);
    for (size_t k = 0; k < MAX_RESULTS; k++)
        free(b->result[k]);
    memset(b, 0, sizeof *b);
}

size_t rows_limit(size_t limit, const arguments *given)
{
    const char *graph_on = quorum_options_get(given->options, "graph-on");
    return graph_on && strcmp(graph_on, "test") == 0 ? ALL_ROWS : limit;
}

static bool grow(double **array, size_t count)
{
    double *grown = realloc(*array, count * sizeof(double));
    if (grown)
        *array = grown;
    return grown != NULL;
}

static int reserve(row_block *b, size_t rows, const arguments *given)
{
    if (rows <= b->capacity)
        return EXIT_DONE;
    bool fits = grow(&b->X, rows * b->inputs) && (!b->with_target || grow(&b->y, rows)) &&
                (!b->with_offset || grow(&b->offset, rows)) &&
                (!b->with_column || grow(&b->column, rows)) && grow(&b->noise_room, rows) &&
                grow(&b->weight_room, rows);
    for (size_t k = 0; fits && k < b->results; k++)
        fits = grow(&b->result[k], rows);
    if (!fits)
        return failure(given, "out of memory for %zu rows; --memory makes blocks smaller", rows);
    b->capacity = rows;
    return EXIT_DONE;
}

static void note_notation(row_block *b, const arguments *given)
{
    if (!b->said_comma && quorum_stream_decimal_comma(b->stream))
        note(given, "numbers are read with decimal commas; --decimal says which mark is meant");
    b->said_comma = quorum_stream_decimal_comma(b->stream);
}

/* The values of rows without holes: in one with a hole all are NaN. */
static void copy_whole(double *to, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isnan(from[i]))
            *to++ = from[i];
}

/* The values of the rows that were just read behind those that are there; NULL: there are none. */
static const double *take_values(const row_block *b, const double *values, size_t added,
                                 double *room)
{
    if (!values)
        return NULL;
    copy_whole(room + b->count, values, added);
    return room;
}

/* Appends up to `limit` rows to those that are there; *added is 0 at the end. */
static int append(row_block *b, size_t limit, const arguments *given, size_t *added)
{
    double *X = b->X + b->count * b->inputs, *y = b->with_target ? b->y + b->count : NULL;
    size_t whole;
    quorum_status status = b->grid ? grid_feed(b->grid, b->stream, limit) : QUORUM_OK;
    if (status >= 0)
        status = quorum_stream_next(b->stream, limit, X, y, added);
    progress_hide();
    if (status < 0)
        return library_failure(given, status);
    note_notation(b, given);
    if (b->with_offset)
        copy_whole(b->offset + b->count, quorum_stream_offset(b->stream), *added);
    if (b->with_column)
        memcpy(b->column + b->count, quorum_stream_column(b->stream),
               *added * sizeof *b->column); /* with the target: all rows are whole */
    b->noise = take_values(b, quorum_stream_noise_std(b->stream), *added, b->noise_room);
    b->weights = take_values(b, quorum_stream_weights(b->stream), *added, b->weight_room);
    int code = kept_append(&b->kept, *added, b->inputs, X, &whole, given);
    b->count += whole;
    return code;
}

static int read_all(row_block *b, const arguments *given)
{
    size_t added = 1;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && added > 0) {
        if (b->count == b->capacity)
            code = reserve(b, b->capacity ? 2 * b->capacity : 4096, given);
        if (code == EXIT_DONE)
            code = append(b, b->capacity - b->count, given, &added);
    }
    return code;
}

int rows_next(row_block *b, size_t limit, const arguments *given)
{
    size_t added = 0;
    b->count = 0;
    kept_clear(&b->kept);
    if (limit == ALL_ROWS)
        return read_all(b, given);
    int code = reserve(b, limit, given);
    return code == EXIT_DONE ? append(b, limit, given, &added) : code;
}
