/* Experts in the order of work, the largest first, equal ones by number, and who works on which. */
#include "rows/parts.h"

#include "base/memory.h"
#include "team/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* A factor of m rows takes m^3 steps. */
static double factor_cost(const parts *p, size_t e)
{
    return pow((double)part_size(p, e), 3.0);
}

static quorum_status out_of_memory(size_t experts)
{
    return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", experts);
}

quorum_status share_by_size(const parts *p, work_share *out)
{
    double *cost;
    *out = (work_share){0};
    if (!NEW_ARRAY(cost, p->M))
        return out_of_memory(p->M);
    for (size_t e = 0; e < p->M; e++)
        cost[e] = factor_cost(p, e);
    quorum_status status = work_share_new(cost, p->M, out);
    mem_free(cost);
    return status;
}

void parts_free(parts *p)
{
    rows_free(&p->rows);
    mem_free(p->offset);
    mem_free(p->row);
    mem_free(p->home);
    mem_free(p->held);
    *p = (parts){0};
}
