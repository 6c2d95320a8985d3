/* The rows of a stream, a chunk at a time: inputs, targets, offsets and further columns apart. */
#include "api/stream.h"

#include "base/memory.h"
#include "columns/reading.h"

#include <math.h>
#include <string.h>

/* Of the memory, what a chunk may take: who reads all rows by doubling holds four times that. */
static const double CHUNK_SHARE = 0.25;

/* Up to `most` rows of the selected columns. */
typedef struct {
    reader *reader;
    size_t most, rows;
    double *table;
} chunk;

static quorum_status read_chunk(void *context)
{
    chunk *c = context;
    return reader_next(c->reader, c->most, c->table, &c->rows);
}

static quorum_status next_rows(quorum_status ready, quorum_stream *s, size_t most, double *table,
                               size_t *rows)
{
    chunk c = {.reader = s->reader, .most = most, .table = table};
    *rows = s->last = 0;
    quorum_status status = team_first(ready, read_chunk, &c);
    TRY(status);
    team_send(&c.rows, sizeof c.rows);
    team_send(table, c.rows * s->width * sizeof *table);
    *rows = s->last = c.rows;
    return status;
}

/* 0: no memory. */
static int extra_room(extra_column *x, size_t rows)
{
    mem_free(x->values);
    x->values = NULL;
    return !x->wanted || NEW_ARRAY(x->values, rows);
}

static quorum_status make_room(quorum_stream *s, size_t rows)
{
    if (rows <= s->room)
        return QUORUM_OK;
    mem_free(s->rows);
    mem_free(s->offset);
    s->room = 0;
    NEW_ARRAY(s->rows, rows * s->width);
    NEW_ARRAY(s->offset, rows);
    int fits = s->rows && s->offset;
    fits = extra_room(&s->column, rows) && fits;
    fits = extra_room(&s->noise, rows) && fits;
    fits = extra_room(&s->weights, rows) && fits;
    if (!fits)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows", rows);
    s->room = rows;
    return QUORUM_OK;
}

/* The inputs of a row, all NaN where a column is, unless that is filled later. */
static void make_row(const quorum_stream *s, const double *columns, double *x)
{
    int usable = 1;
    for (size_t d = 0; d < s->columns; d++)
        usable &= s->fill || !isnan(columns[d]);
    if (usable && s->m->made.count > 0)
        made_apply(&s->m->made, 1, columns, x);
    else if (usable)
        memcpy(x, columns, s->columns * sizeof *x);
    for (size_t d = 0; !usable && d < s->inputs; d++)
        x[d] = NAN;
}

static quorum_status check_place(const quorum_stream *s, const double *columns, size_t i)
{
    return made_check(&s->m->made, columns, "row", s->before + i + 1, s->m->columns.names);
}

/* Of a row that has all its numbers. */
static quorum_status check_extra(const quorum_stream *s, const extra_column *x, const char *what,
                                 size_t i, const double *X)
{
    if (!x->wanted || isnan(X[0]) || (x->values[i] >= 0.0 && isfinite(x->values[i])))
        return QUORUM_OK;
    return failure(QUORUM_E_DATA, "row %zu: its %s is %g: it must be finite and not negative",
                   s->before + i + 1, what, x->values[i]);
}

/* The inputs, the targets, the offsets and more columns apart. */
static quorum_status next_apart(quorum_stream *s, size_t most, double *X, double *y, size_t *rows)
{
    quorum_status ready = make_room(s, most);
    extra_column *const extra[] = {&s->column, &s->noise, &s->weights};
    s->before += s->last;
    TRY(next_rows(ready, s, most, s->rows, rows));
    for (size_t i = 0; i < *rows; i++) {
        const double *row = s->rows + i * s->width;
        TRY(check_place(s, row, i));
        make_row(s, row, X + i * s->inputs);
        if (s->with_target)
            y[i] = row[s->columns];
        if (s->with_offset)
            s->offset[i] = row[s->columns + (size_t)s->with_target];
        for (size_t k = 0; k < sizeof extra / sizeof *extra; k++)
            if (extra[k]->wanted)
                extra[k]->values[i] = row[extra[k]->at];
        TRY(check_extra(s, &s->noise, "noise-std", i, X + i * s->inputs));
        TRY(check_extra(s, &s->weights, "weight", i, X + i * s->inputs));
    }
    return QUORUM_OK;
}

quorum_status quorum_stream_next(quorum_stream *s, size_t max_rows, double *X, double *y,
                                 size_t *rows)
{
    if (!s || !X || !rows || (s->with_target && !y))
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_stream_next: stream, X, y and rows must not be NULL");
    if ((double)max_rows * (double)s->width * sizeof *X > CHUNK_SHARE * s->memory)
        return failure(
            QUORUM_E_MEMORY,
            "%zu rows of %zu columns at once take more than memory, which is %.0f MB, has "
            "for them; give more with --memory",
            max_rows, s->width, s->memory / (1 << 20));
    if (s->lines && !s->lines->begun) { /* nothing was fed */
        *rows = 0;
        return QUORUM_OK;
    }
    if (s->width > s->columns || s->inputs > s->columns || s->column.wanted || s->noise.wanted ||
        s->weights.wanted)
        return next_apart(s, max_rows, X, y, rows);
    return next_rows(QUORUM_OK, s, max_rows, X, rows);
}
