/* What the files of a stream share (streams.c, stream_columns.c, stream_rows.c, stream_lines.c). */
#ifndef QRM_API_STREAM_H
#define QRM_API_STREAM_H

#include "data/reader.h"
#include "model/model.h"

/* A column beside inputs, target and offset. */
typedef struct {
    int wanted;
    size_t at;      /* its place among the selected columns: it may be one of the others */
    double *values; /* room: of the last rows                                      */
} extra_column;

/* What a stream of lines was opened with; the caller keeps what is pointed to. */
typedef struct {
    int json;
    const quorum_options *options;
    quorum_stream_request wanted;
    int begun;    /* on every process: a first line was understood */
    char *header; /* JSON: that of the rows that are read now, "" of lists; NULL: none yet */
} line_input;

struct quorum_stream {
    reader *reader; /* of the process that reads; NULL on the others, and before the first line */
    line_input *lines; /* NULL: a file */
    const quorum_model *m;
    size_t inputs;         /* of the model ...                                              */
    size_t columns, width; /* ... made of selected columns: these, then the target and the offset as
                              wanted                                                        */
    int with_target, with_offset;
    extra_column column;         /* one more column that was asked for                */
    extra_column noise, weights; /* of known noise and of weights                     */
    double *rows;                /* room x width                          */
    double *offset;              /* room: of the last rows, where wanted  */
    size_t room, before;         /* before: rows that were given before the last */
    char **kept_names;           /* kept: of the columns that are kept as text */
    size_t kept;
    size_t last;          /* rows that were given last */
    double memory;        /* the option's bytes */
    level_table *tables;  /* inputs: of the model's categories, of the process that reads ... */
    level_table **levels; /* ... width: those of the selected columns, NULL of numbers; or NULL */
    char *holes;          /* width: 1 where a missing cell is no fault; NULL: nowhere; likewise */
    int fill;             /* option missing: impute                                         */
    date_form *dates;     /* width: of columns of dates, likewise; NULL: there are none     */
};

/* What a stream is opened with: a file, or bytes of text. */
typedef struct {
    const char *path;
    const quorum_stream_request *wanted;
    const quorum_model *m;
    const quorum_options *options;
    quorum_stream *s;
    const char *text; /* bytes of it, instead of a file; NULL: a file */
    size_t bytes;
} stream_opening;

/* ---- stream_columns.c ---- */

/* The columns that are read, and what their cells may be: of the process that reads, from its reader.  columns has
 * room for the model's inputs, target and offset, and three more. */
quorum_status stream_match(const stream_opening *o, size_t *columns);

/* ---- streams.c ---- */

/* With nothing read yet; NULL: no memory. */
quorum_stream *stream_new(const quorum_model *m, int with_target, const quorum_options *options);

/* As new, but for what a stream of lines was opened with. */
void stream_begin_anew(quorum_stream *s, const quorum_model *m, int with_target,
                       const quorum_options *options);

/* Scores need all numbers of a row, and filling needs to know what it costs. */
quorum_status stream_check_missing(const quorum_model *m, const quorum_stream_request *wanted,
                                   const quorum_options *options);

/* Opens the reader, and tells all processes what it has. */
quorum_status stream_read_head(stream_opening *o);

#endif
