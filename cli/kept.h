/* Rows as the query file has them, so that results can be joined back: kept columns, the numbers of
 * rows, and which rows have holes and therefore no result. */
#ifndef QUORUM_CLI_KEPT_H
#define QUORUM_CLI_KEPT_H

#include "arguments.h"
#include "quorum.h"

#include <stdio.h>

enum { HOLES_LISTED = 10 };

typedef struct {
    const quorum_stream *stream;
    bool numbered;     /* --row-number                                      */
    size_t columns;    /* that are kept                                     */
    size_t own;        /* columns of the command's own, behind the kept     */
    size_t rows, room; /* of the block                                      */
    bool *hole;        /* room                                              */
    size_t *number;    /* room: in the file, from 1; 0: not asked for       */
    size_t *start;     /* room x columns: where each cell begins in `text`  */
    char *text;
    size_t used, capacity;
    size_t seen, holes;            /* rows of all blocks, and those with holes */
    size_t hole_row[HOLES_LISTED]; /* the first of them                        */
    bool said_windows;             /* that cells are not UTF-8                 */
} kept_rows;

/* What the stream is to keep for --keep and --row-number; NULL: nothing. */
const char *kept_wanted(const arguments *given);

/* Begins with a stream that was opened so. */
void kept_start(kept_rows *k, const quorum_stream *stream, const arguments *given);
void kept_free(kept_rows *k);

/* Fails where two columns of the result would have the same name; `write` writes those of the
 * command's own columns, as csv has them. */
typedef void names_writer(const void *context, FILE *file);
int kept_check(kept_rows *k, names_writer *write, const void *context, const arguments *given);

void kept_clear(kept_rows *k); /* before a block */

/* Takes over `added` rows that the stream gave last, X (added x inputs); those with holes are taken out
 * of X: *whole rows are left. */
int kept_append(kept_rows *k, size_t added, size_t inputs, double *X, size_t *whole,
                const arguments *given);

/* "row,id,lon," and a row of these.  A row with a hole is written whole. */
void kept_write_names(const kept_rows *k, FILE *file);
void kept_write_row(const kept_rows *k, size_t row, FILE *file);

/* `count` empty cells and a line end, behind other cells of the row or alone. */
void write_empty_cells(size_t count, bool behind_others, FILE *file);

/* Notes: rows that were left out, or have no result. */
void kept_tell(const kept_rows *k, const arguments *given);

/* "row 3", "rows 3, 9 and 4 more": the rows that the stream has dropped. */
typedef struct {
    char text[400];
} row_list;
row_list dropped_rows(const quorum_stream *stream);

#endif
