/* A table of short texts with aligned columns. */
#ifndef QUORUM_CLI_TABLE_H
#define QUORUM_CLI_TABLE_H

#include "arguments.h"

#include <stdbool.h>
#include <stddef.h>

enum { CELL_SIZE = 64, MAX_COLUMNS = 24 };

typedef struct {
    const char *align; /* a letter for each column: 'l' flush left, 'r' flush right */
    size_t columns, cells, capacity;
    bool failed;             /* a cell found no memory                */
    char (*cell)[CELL_SIZE]; /* row by row; the first row is the head */
} table;

/* One title for each letter of `align`, at most MAX_COLUMNS.  Cells are then added from left to right,
 * row by row, at most CELL_SIZE - 1 bytes of each without control characters. */
void table_start(table *t, const char *align, const char *const *titles);
void table_add(table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A real number: four decimals, or three significant digits where these would say less; "-" when
 * it is not finite. */
void table_add_real(table *t, double value);

/* Prints the table, or says that memory ran out, and frees it; returns the exit code. */
int table_finish(table *t, const arguments *given);

#endif
