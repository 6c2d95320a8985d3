/* Experts in the order of work: the largest first, equal ones by number. */
#include "rows/parts.h"

#include <stdlib.h>

static int larger_first(const void *a, const void *b, void *context)
{
    const parts *p = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    size_t m = part_size(p, x), n = part_size(p, y);
    if (m != n)
        return m > n ? -1 : 1;
    return x < y ? -1 : x > y;
}

void sort_by_size(const parts *p, size_t *experts, size_t count)
{
    qsort_r(experts, count, sizeof *experts, larger_first, (void *)p);
}
