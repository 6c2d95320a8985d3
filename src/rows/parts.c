/* Experts in the order of work, the largest first, equal ones by number, and who works on which. */
#include "rows/parts.h"

#include "base/memory.h"
#include "team/team.h"

#include <math.h>
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

quorum_status spread_by_size(const parts *p, const size_t *experts, size_t count, int *owner)
{
    double *cost;
    if (!NEW_ARRAY(cost, count))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", count);
    for (size_t i = 0; i < count; i++)
        cost[i] = pow((double)part_size(p, experts[i]), 3.0);
    spread_by_cost(cost, count, team_size(), owner);
    mem_free(cost);
    return QUORUM_OK;
}
