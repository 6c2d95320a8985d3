/* Rows of a query or test file, a block at a time, and room for their results. */
#ifndef QUORUM_CLI_ROWS_H
#define QUORUM_CLI_ROWS_H

#include "arguments.h"
#include "grid.h"
#include "kept.h"
#include "quorum.h"

enum { ALL_ROWS = 0, MAX_RESULTS = 4 };

typedef struct {
    quorum_stream *stream;
    size_t inputs, results; /* results: how many arrays below are wanted    */
    bool with_target;
    bool said_comma;        /* that numbers have decimal commas             */
    size_t count, capacity; /* rows now in X and y; rows there is room for  */
    double *X;              /* capacity x inputs                            */
    double *y;              /* capacity; NULL without target                */
    bool with_offset;
    double *offset;                   /* capacity; NULL: the model has no offset      */
    double *noise_room, *weight_room; /* capacity                              */
    const double *noise, *weights;    /* once rows are read; NULL: the file has none */
    bool with_column;
    double *column; /* capacity, NaN where a cell is missing; NULL: no further column is wanted */
    double *result[MAX_RESULTS]; /* capacity each; NULL where not wanted         */
    grid *grid;                  /* that rows come from; NULL: a file             */
    kept_rows kept;              /* rows of the file: count of them have no hole  */
} row_block;

/* Opens the file; close in any case. */
quorum_status rows_open(row_block *b, const char *path, const quorum_model *model, bool with_target,
                        size_t results, const arguments *given);

/* The same with what else is wanted of the file. */
quorum_status rows_open_with(row_block *b, const char *path, const quorum_model *model,
                             const quorum_stream_request *wanted, size_t results,
                             const arguments *given);

/* The same of a grid instead of a file. */
quorum_status rows_open_grid(row_block *b, grid *g, const quorum_model *model, size_t results,
                             const arguments *given);
void rows_close(row_block *b);

/* Reads up to `limit` rows, or ALL_ROWS; kept.rows is 0 at the end of the file, and count, of those
 * without holes (missing=nan), may be 0 before.  Without such rows both are the same.
 * Returns an exit code, after saying what went wrong if it is not EXIT_DONE. */
int rows_next(row_block *b, size_t limit, const arguments *given);

/* `limit`, or ALL_ROWS with graph-on=test: the graph is that of all the queries. */
size_t rows_limit(size_t limit, const arguments *given);

#endif
