/* Streams of lines: a server's requests as csv or JSON, fed as they come. */
#include "api/stream.h"

#include "base/memory.h"
#include "columns/json_row.h"

#include <string.h>

quorum_status quorum_stream_open_lines(const quorum_model *m, int json,
                                       const quorum_stream_request *wanted,
                                       const quorum_options *options, quorum_stream **stream)
{
    if (!m || !wanted || !stream)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_stream_open_lines: model, request and stream must not be NULL");
    *stream = NULL;
    if (json && !team_is_alone())
        return failure(QUORUM_E_ARGUMENT, "lines of JSON are read by one process, not by %d",
                       quorum_team_size());
    TRY(stream_check_missing(m, wanted, options));
    quorum_stream *s = stream_new(m, wanted->with_target, options);
    if (!s || !NEW_ZEROED(s->lines, 1)) {
        quorum_stream_close(s);
        return failure(QUORUM_E_MEMORY, "out of memory for reading lines");
    }
    *s->lines = (line_input){.json = json != 0, .options = options, .wanted = *wanted};
    *stream = s;
    return QUORUM_OK;
}

/* Begins anew with these lines, the first of which may be a header. */
static quorum_status open_text(quorum_stream *s, const char *text, size_t bytes)
{
    const quorum_model *m = s->m;
    const line_input *in = s->lines;
    stream_opening o = {.path = in->wanted.label ? in->wanted.label : "request",
                        .wanted = &in->wanted,
                        .m = m,
                        .options = in->options,
                        .s = s,
                        .text = text,
                        .bytes = bytes};
    stream_begin_anew(s, m, in->wanted.with_target, in->options);
    quorum_status status = stream_read_head(&o);
    s->lines->begun = status >= 0;
    if (status < 0) /* the next line may be a header again */
        stream_begin_anew(s, m, in->wanted.with_target, in->options);
    return status;
}

typedef struct {
    reader *reader;
    const char *text;
    size_t bytes;
} feeding;

static quorum_status feed_reader(void *context)
{
    const feeding *f = context;
    return reader_feed(f->reader, f->text, f->bytes);
}

static quorum_status feed_csv(quorum_stream *s, const char *text, size_t bytes)
{
    feeding f = {s->reader, text, bytes};
    return s->lines->begun ? team_first(QUORUM_OK, feed_reader, &f) : open_text(s, text, bytes);
}

/* Rows with the names of the one before go on; others begin anew. */
static quorum_status feed_row(quorum_stream *s, json_row *row)
{
    line_input *in = s->lines;
    if (!s->reader || strcmp(in->header, row->header) != 0) {
        mem_free(in->header);
        in->header = row->header;
        row->header = NULL;
        if (!in->header[0])
            return open_text(s, row->row, strlen(row->row));
        TRY(open_text(s, in->header, strlen(in->header)));
    }
    return reader_feed(s->reader, row->row, strlen(row->row));
}

/* Of a model without names of its own, x1, x2, ... are found by their place. */
static quorum_status feed_json(quorum_stream *s, const char *text, size_t bytes)
{
    json_row row;
    const char *const *order =
        s->m->columns.has_names ? NULL : (const char *const *)s->m->columns.names;
    TRY(json_row_read(text, bytes, order, s->columns, &row));
    quorum_status status = feed_row(s, &row);
    json_row_free(&row);
    return status;
}

quorum_status quorum_stream_feed(quorum_stream *s, const char *text, size_t bytes)
{
    if (!s || !text || !s->lines)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_stream_feed: text and a stream of lines must be given");
    return (s->lines->json ? feed_json : feed_csv)(s, text, bytes);
}
