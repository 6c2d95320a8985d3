/* Cells of a table that are passed on as text, whatever they hold, with the numbers of their rows: of
 * one chunk at a time. */
#ifndef QRM_DATA_KEPT_H
#define QRM_DATA_KEPT_H

#include "base/status.h"
#include "text/record.h"

#include <stddef.h>

typedef struct {
    int wanted;      /* 0: nothing is kept, and nothing below is used       */
    size_t *columns; /* count: which                                        */
    size_t count;    /* 0: the numbers of rows alone                        */
    size_t rows, room;
    size_t *number; /* room: a row's, from 1, among all rows of the file   */
    size_t *start;  /* room x count: where each cell begins in `text`      */
    char *text;     /* UTF-8, each cell with its final zero                */
    size_t used, capacity;
    int converted; /* a cell was Windows-1252                             */
} kept_cells;

/* Which columns; none of them asks for the numbers of rows alone. */
quorum_status kept_cells_choose(kept_cells *k, const size_t *columns, size_t count);

void kept_cells_clear(kept_cells *k); /* before a chunk */
void kept_cells_free(kept_cells *k);

/* Whether no further row should come, because texts take their share of `memory` (bytes). */
int kept_cells_is_full(const kept_cells *k, double memory);

/* A row of csv, cells as they stand there: quotes are taken off, blanks are not, and cells that the
 * row does not have are empty.  Cells that are not UTF-8 are read as Windows-1252; `windows`: all. */
quorum_status kept_cells_add_record(kept_cells *k, size_t number, const record *r, int windows);

/* A row of numbers (count), with 17 digits; NaN is an empty cell. */
quorum_status kept_cells_add_numbers(kept_cells *k, size_t number, const double *values);

/* The cell of a row of the chunk. */
const char *kept_cells_at(const kept_cells *k, size_t row, size_t column);

#endif
