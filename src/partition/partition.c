/* The table of partitions, and divide: labels by one of them, sizes kept within bounds, rows
 * sorted by label. */
#include "partition/partition.h"

#include "base/memory.h"

#include <string.h>

static const partition *const table[] = {
    &partition_kmeans,
    &partition_kdtree,
    &partition_random,
};

int partition_count(void)
{
    return (int)(sizeof table / sizeof *table);
}

const partition *partition_at(int i)
{
    return i >= 0 && i < partition_count() ? table[i] : NULL;
}

const partition *partition_by_name(const char *name)
{
    for (int i = 0; i < partition_count(); i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

/* Counting sort of the rows by label; empty labels vanish. */
static quorum_status sort_by_label(size_t n, size_t labels, const size_t *label, division *out)
{
    division d = {.n = n};
    quorum_status status = QUORUM_OK;
    size_t *start = NULL;
    if (!NEW_ZEROED(start, labels + 1) || !NEW_ARRAY(d.order, n) ||
        !NEW_ARRAY(d.offset, labels + 1)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for sorting %zu rows by expert", n);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        start[label[i] + 1]++;
    d.offset[0] = 0;
    for (size_t e = 0; e < labels; e++) {
        if (start[e + 1] > 0) {
            d.offset[d.M + 1] = d.offset[d.M] + start[e + 1];
            d.M++;
        }
        start[e + 1] += start[e];
    }
    for (size_t i = 0; i < n; i++)
        d.order[start[label[i]]++] = i;
done:
    mem_free(start);
    if (status < 0)
        division_free(&d);
    *out = d;
    return status;
}

quorum_status divide(const partition *how, const partition_problem *problem, size_t floor,
                     size_t cap, division *out)
{
    size_t *label = NULL, count = problem->parts;
    quorum_status status = QUORUM_OK;
    *out = (division){0};
    if (!NEW_ARRAY(label, problem->n))
        return failure(QUORUM_E_MEMORY, "out of memory for the experts of %zu rows", problem->n);
    TRY_OR_DONE(how->split(problem, label));
    TRY_OR_DONE(balance_sizes(problem, floor, cap, label, &count));
    TRY_OR_DONE(sort_by_label(problem->n, count, label, out));
done:
    mem_free(label);
    return status;
}

void division_free(division *d)
{
    mem_free(d->order);
    mem_free(d->offset);
    *d = (division){0};
}
