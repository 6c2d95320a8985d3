/* A table of short texts with aligned columns. */
#ifndef QUORUM_CLI_TABLE_H
#define QUORUM_CLI_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum { CELL_SIZE = 64, MAX_COLUMNS = 24 };

typedef struct {
    const char *align; /* a letter for each column: 'l' flush left, 'r' flush right */
    size_t columns, cells, capacity;
    char (*cell)[CELL_SIZE]; /* row by row; the first row is the head */
} table;

/* One title for each letter of `align`, at most MAX_COLUMNS.  Cells are then added from left to right,
 * row by row; those that find no memory are left out. */
void table_start(table *t, const char *align, const char *const *titles);
void table_add(table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_print(const table *t, FILE *file);
void table_free(table *t);

#endif
