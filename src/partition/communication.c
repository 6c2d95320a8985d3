/* One part that knows a little of everything beside parts that know a region each: n / M rows
 * (rounded) drawn at random are the first, the communication expert of the GRBCM literature, and
 * k-means of M - 1 parts deals the others.  The centres are those of all rows: what is drawn is a
 * fair sample, so they are hardly others without it. */
#include "partition/partition.h"

#include "base/memory.h"
#include "base/random.h"

/* label[i] = 0 for n / M random rows; row: n, scratch. */
static void draw_first(const partition_problem *p, size_t *row, size_t *label)
{
    size_t n = p->rows->n;
    for (size_t i = 0; i < n; i++)
        row[i] = i;
    rng r = rng_seed(p->seed, STREAM_RANDOM_PARTS);
    rng_shuffle(&r, row, n);
    for (size_t i = 0; i < (n + p->parts / 2) / p->parts; i++)
        label[row[i]] = 0;
}

static quorum_status split(quorum_status ready, const partition_problem *p, size_t *label)
{
    partition_problem others = *p;
    size_t *row = NULL, n = p->rows->n;
    if (p->parts < 2)
        return partition_random.split(ready, p, label);
    if (ready >= 0 && !NEW_ARRAY(row, n))
        ready = failure(QUORUM_E_MEMORY, "out of memory for a random part of %zu rows", n);
    others.parts--;
    quorum_status status = partition_kmeans.split(ready, &others, label);
    if (status >= 0 && row) {
        for (size_t i = 0; i < n; i++)
            label[i]++;
        draw_first(p, row, label);
    }
    mem_free(row);
    return status;
}

const partition partition_communication = {"communication",
                                           "one part at random, the others by k-means", split};
