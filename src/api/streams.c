/* Query streams: rows of a file in chunks, with the columns that a model takes (stream_columns.c) and columns that
 * are kept as text; here they are opened, asked and closed.  In a team the first process reads, and every chunk goes
 * to all, but for what is kept: that is for who writes, which is the first process. */
#include "api/stream.h"

#include "base/memory.h"
#include "columns/reading.h"

#include <stdint.h>
#include <string.h>

static void stream_start(quorum_stream *s, const quorum_model *m, int with_target,
                         const quorum_options *options)
{
    s->m = m;
    s->inputs = m->rows.D;
    s->columns = model_table_columns(m);
    s->with_target = with_target != 0;
    s->with_offset = m->columns.offset != NULL;
    s->width = s->columns + (size_t)(s->with_target + s->with_offset);
    s->memory = options_memory(options_values(options));
    s->fill = options_values(options)->missing == MISSING_IMPUTE;
}

quorum_stream *stream_new(const quorum_model *m, int with_target, const quorum_options *options)
{
    quorum_stream *s;
    if (NEW_ZEROED(s, 1))
        stream_start(s, m, with_target, options);
    return s;
}

/* Gives all back but what a stream of lines was opened with. */
static void stream_clear(quorum_stream *s)
{
    line_input *lines = s->lines;
    reader_close(s->reader);
    mem_free(s->rows);
    mem_free(s->offset);
    mem_free(s->column.values);
    mem_free(s->noise.values);
    mem_free(s->weights.values);
    for (size_t k = 0; s->kept_names && k < s->kept; k++)
        mem_free(s->kept_names[k]);
    mem_free(s->kept_names);
    mem_free(s->dates);
    mem_free(s->holes);
    for (size_t d = 0; s->tables && d < s->inputs; d++)
        levels_free(&s->tables[d]);
    mem_free(s->tables);
    mem_free(s->levels);
    memset(s, 0, sizeof *s);
    s->lines = lines;
}

void stream_begin_anew(quorum_stream *s, const quorum_model *m, int with_target,
                       const quorum_options *options)
{
    stream_clear(s);
    stream_start(s, m, with_target, options);
}

void quorum_stream_close(quorum_stream *s)
{
    if (!s)
        return;
    stream_clear(s);
    if (s->lines)
        mem_free(s->lines->header);
    mem_free(s->lines);
    mem_free(s);
}

/* ---- Opening ---- */

/* Of lines: JSON has a notation of its own, and its header is known. */
static reader_options how_to_open(const stream_opening *o)
{
    const line_input *lines = o->s->lines;
    reader_options how = how_to_read(o->options, READ_QUERIES);
    if (!lines)
        return how;
    how.text = o->text;
    how.text_bytes = o->bytes;
    how.query = NULL;
    if (lines->json) {
        how.header = lines->header[0] ? HEADER_YES : HEADER_NO;
        how.decimal = DECIMAL_POINT;
        how.thousands = how.comment = '\0';
    }
    return how;
}

static quorum_status open_reader(void *context)
{
    const stream_opening *o = context;
    reader_options how = how_to_open(o);
    size_t *columns;
    if (!NEW_ARRAY(columns, o->m->rows.D + 5))
        return failure(QUORUM_E_MEMORY, "out of memory for reading %s", o->path);
    quorum_status status = reader_open(o->path, &how, &o->s->reader);
    if (status == QUORUM_OK)
        status = stream_match(o, columns);
    mem_free(columns);
    return status;
}

/* What the process that reads has found goes to all. */
static void send_columns(quorum_stream *s)
{
    extra_column *const extra[] = {&s->column, &s->noise, &s->weights};
    team_send(&s->width, sizeof s->width);
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++)
        team_send(extra[i], sizeof *extra[i]); /* no values yet */
}

/* Room for the names of the kept columns, and on the process that reads the names. */
static quorum_status copy_kept_names(void *context)
{
    quorum_stream *s = context;
    const size_t *columns = NULL;
    if (s->reader)
        reader_kept_columns(s->reader, &columns);
    int fits = NEW_ZEROED(s->kept_names, s->kept) != NULL;
    for (size_t k = 0; fits && s->reader && k < s->kept; k++)
        fits = (s->kept_names[k] = mem_copy_text(reader_name(s->reader, columns[k]))) != NULL;
    return fits ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for column names");
}

static quorum_status send_kept_names(quorum_stream *s)
{
    const size_t *columns;
    s->kept = s->reader ? reader_kept_columns(s->reader, &columns) : 0;
    team_send(&s->kept, sizeof s->kept);
    TRY(team_all(QUORUM_OK, copy_kept_names, s));
    for (size_t k = 0; k < s->kept; k++)
        TRY(team_send_text(QUORUM_OK, &s->kept_names[k]));
    return QUORUM_OK;
}

quorum_status stream_read_head(stream_opening *o)
{
    quorum_stream *s = o->s;
    quorum_status ready =
        s ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for reading %s", o->path);
    quorum_status status = team_first(ready, open_reader, o);
    if (status < 0 || !s) /* where one process has no room for a stream, all fail */
        return status;
    send_columns(s);
    return o->wanted->keep ? send_kept_names(s) : status;
}

quorum_status stream_check_missing(const quorum_model *m, const quorum_stream_request *wanted,
                                   const quorum_options *options)
{
    int missing = options_values(options)->missing;
    if (missing == MISSING_IMPUTE && !m->holes.of)
        return failure(QUORUM_E_ARGUMENT,
                       "option missing: impute needs a model that was fitted with it, and so knows "
                       "what missing cells cost; give drop or nan, or fit with --missing impute");
    if (!wanted->with_target || missing != MISSING_NAN)
        return QUORUM_OK;
    return failure(
        QUORUM_E_ARGUMENT,
        "option missing: nan keeps rows without a prediction in their place, and there is "
        "none to score; give drop, impute or error");
}

quorum_status quorum_stream_open(const char *path, const quorum_model *m, int with_target,
                                 const quorum_options *options, quorum_stream **stream)
{
    quorum_stream_request wanted = {.with_target = with_target};
    return quorum_stream_open_with(path, m, &wanted, options, stream);
}

quorum_status quorum_stream_open_with(const char *path, const quorum_model *m,
                                      const quorum_stream_request *wanted,
                                      const quorum_options *options, quorum_stream **stream)
{
    if (!path || !m || !wanted || !stream)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_stream_open: path, model, request and stream must not be NULL");
    *stream = NULL;
    TRY(stream_check_missing(m, wanted, options));
    quorum_stream *s = stream_new(m, wanted->with_target, options);
    stream_opening o = {.path = path, .wanted = wanted, .m = m, .options = options, .s = s};
    quorum_status status = stream_read_head(&o);
    if (status < 0) {
        quorum_stream_close(s);
        return status;
    }
    *stream = s;
    return status;
}

/* ---- What it knows ---- */

const double *quorum_stream_offset(const quorum_stream *s)
{
    return s && s->with_offset ? s->offset : NULL;
}

const double *quorum_stream_column(const quorum_stream *s)
{
    return s ? s->column.values : NULL;
}

size_t quorum_stream_column_place(const quorum_stream *s)
{
    return s && s->column.wanted && s->column.at < s->columns ? s->column.at : SIZE_MAX;
}

const double *quorum_stream_noise_std(const quorum_stream *s)
{
    return s ? s->noise.values : NULL;
}

const double *quorum_stream_weights(const quorum_stream *s)
{
    return s ? s->weights.values : NULL;
}

size_t quorum_stream_dropped(const quorum_stream *s)
{
    return s && s->reader ? reader_dropped(s->reader) : 0;
}

size_t quorum_stream_dropped_row(const quorum_stream *s, size_t i)
{
    return s && s->reader ? reader_dropped_row(s->reader, i) : 0;
}

const char *quorum_stream_why_dropped(const quorum_stream *s, size_t i)
{
    return s && s->reader ? reader_why_dropped(s->reader, i) : "";
}

size_t quorum_stream_kept_columns(const quorum_stream *s)
{
    return s ? s->kept : 0;
}

const char *quorum_stream_kept_name(const quorum_stream *s, size_t column)
{
    return s && column < s->kept ? s->kept_names[column] : "";
}

const char *quorum_stream_kept(const quorum_stream *s, size_t row, size_t column)
{
    int known = s && s->reader && row < s->last && column < s->kept;
    return known ? reader_kept(s->reader, row, column) : "";
}

size_t quorum_stream_row(const quorum_stream *s, size_t row)
{
    int known = s && s->reader && s->kept_names && row < s->last;
    return known ? reader_row_number(s->reader, row) : 0;
}

int quorum_stream_converted(const quorum_stream *s)
{
    if (!s || !s->reader)
        return 0;
    return reader_is_converted(s->reader) ? 1 : 2 * reader_kept_converted(s->reader);
}

int quorum_stream_decimal_comma(const quorum_stream *s)
{
    return s && s->reader ? reader_decimal_comma(s->reader) : 0;
}
