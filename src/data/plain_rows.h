/* The usual rows of a csv text, nothing but numbers, read by several threads.
 *
 * A line is plain when it has the number of columns that it should have, no quote, and in each selected
 * column a decimal number with a point that is zero or a normal double, with no blank around it.  Any
 * other line is left to who reads records (data/csv.c), and has the same values there. */
#ifndef QRM_DATA_PLAIN_ROWS_H
#define QRM_DATA_PLAIN_ROWS_H

#include "base/status.h"

#include <locale.h>
#include <stddef.h>

typedef struct {
    char delimiter, newline;
    size_t columns;
    size_t *place; /* columns: of the column's number in a row; NOT_READ: it has none */
    size_t width;  /* of a row                                                   */
    locale_t c_locale;
} plain_table;

#define NOT_READ ((size_t)-1)

/* The places of `selected` (width columns); 0 in *fits where a column has two.  Frees nothing. */
quorum_status plain_table_new(size_t columns, const size_t *selected, size_t width, plain_table *t,
                              int *fits);

/* Reads plain lines from *p on, until `limit`, `most` rows or a line that is not plain, into out (rows
 * of `width`); moves *p behind them.  The rows do not depend on the number of threads. */
quorum_status plain_rows_read(const plain_table *t, int threads, const char **p, const char *limit,
                              size_t most, double *out, size_t *rows);

#endif
