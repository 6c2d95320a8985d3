/* A grid of queries, "lon=-95.9:-91.3:500,lat=34.3:37.1:300,c=3": every combination of its axes' values is a
 * row, the axis that is named first varying fastest. */
#ifndef QUORUM_CLI_GRID_H
#define QUORUM_CLI_GRID_H

#include "arguments.h"
#include "quorum.h"

enum { MOST_AXES = 16, GRID_MOST_VALUES = 10000000 /* of an axis */ };

typedef struct {
    size_t axes;                 /* 0: no grid is asked for                       */
    quorum_axis axis[MOST_AXES]; /* names, values and texts are the grid's        */
    size_t rows, fed;            /* of the grid, and given so far                 */
    const char *form[MOST_AXES]; /* of dates, the model's; NULL of others         */
} grid;

/* Understands the text; the exit code, after saying what is wrong.  Free in any case. */
int grid_parse(grid *g, const char *text, const char *option, const arguments *given);
void grid_free(grid *g);

/* Adds an axis of `count` values from `from` to `to`; false: out of memory. */
bool grid_add_range(grid *g, const char *name, double from, double to, size_t count);

/* Values of an axis; false: out of memory. */
bool grid_fill_axis(quorum_axis *a, double from, double to, size_t count);

/* Every axis must be an input of the model, or its offset or known noise; ranges of dates become values. */
int grid_check(grid *g, const char *option, const quorum_model *model, const arguments *given);

/* A stream of its rows, with all axes kept as columns, and up to `most` rows more for it to read. */
quorum_status grid_open(grid *g, const char *option, const quorum_model *model,
                        const quorum_options *options, quorum_stream **stream);
quorum_status grid_feed(grid *g, quorum_stream *stream, size_t most);

#endif
