/* Numbers in ascending order. */
#ifndef QUORUM_CLI_SORTED_H
#define QUORUM_CLI_SORTED_H

#include <stddef.h>

/* For qsort of numbers, none of them NaN. */
int compare_numbers(const void *a, const void *b);

/* Column d of a table (rows x columns) into sorted (rows), smallest first; returns how many numbers there are
 * without the missing ones. */
size_t sort_column(const double *table, size_t rows, size_t columns, size_t d, double *sorted);

#endif
