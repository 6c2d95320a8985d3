/* Numbers in ascending order (sorted.h). */
#include "sorted.h"

#include <math.h>
#include <stdlib.h>

int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

size_t sort_column(const double *table, size_t rows, size_t columns, size_t d, double *sorted)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
        if (!isnan(table[i * columns + d]))
            sorted[count++] = table[i * columns + d];
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    return count;
}
