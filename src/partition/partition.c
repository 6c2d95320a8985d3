/* The table of partitions, and divide: labels by one of them, sizes kept within bounds, rows
 * sorted by label. */
#include "partition/partition.h"

#include "base/memory.h"

#include <string.h>

static const partition *const table[] = {
    &partition_kmeans,
    &partition_kdtree,
    &partition_random,
    &partition_communication,
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

/* Counting sort of the rows by label; empty labels vanish.  start: labels + 1, scratch. */
static void sort_by_label(const size_t *label, size_t labels, size_t *start, division *d)
{
    memset(start, 0, (labels + 1) * sizeof *start);
    for (size_t i = 0; i < d->n; i++)
        start[label[i] + 1]++;
    d->offset[0] = 0;
    for (size_t e = 0; e < labels; e++) {
        if (start[e + 1] > 0) {
            d->offset[d->M + 1] = d->offset[d->M] + start[e + 1];
            d->M++;
        }
        start[e + 1] += start[e];
    }
    for (size_t i = 0; i < d->n; i++)
        d->order[start[label[i]]++] = i;
}

/* All memory comes first: after the last call that a team makes together, nothing can fail. */
quorum_status divide(const partition *how, const partition_problem *problem, size_t floor,
                     size_t cap, division *out)
{
    division d = {.n = problem->rows->n};
    size_t *label, *start, count = problem->parts, most = most_labels(problem, cap);
    quorum_status status = QUORUM_OK;
    NEW_ARRAY(label, d.n);
    NEW_ARRAY(start, most + 1);
    NEW_ARRAY(d.order, d.n);
    NEW_ARRAY(d.offset, most + 1);
    if (!label || !start || !d.order || !d.offset)
        status = failure(QUORUM_E_MEMORY, "out of memory for the experts of %zu rows", d.n);
    status = how->split(status, problem, label);
    status = balance_sizes(status, problem, floor, cap, label, &count);
    if (status >= 0)
        sort_by_label(label, count, start, &d);
    else
        division_free(&d);
    mem_free(label);
    mem_free(start);
    *out = d;
    return status;
}

void division_free(division *d)
{
    mem_free(d->order);
    mem_free(d->offset);
    *d = (division){0};
}
