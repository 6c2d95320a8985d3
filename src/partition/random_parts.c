/* Rows dealt at random into parts of equal size (+-1). */
#include "partition/partition.h"

#include "base/memory.h"
#include "base/random.h"

static quorum_status split(quorum_status ready, const partition_problem *p, size_t *label)
{
    size_t n = p->rows->n;
    if (ready < 0)
        return ready;
    for (size_t i = 0; i < n; i++)
        label[i] = i % p->parts;
    rng r = rng_seed(p->seed, STREAM_RANDOM_PARTS);
    rng_shuffle(&r, label, n);
    return QUORUM_OK;
}

const partition partition_random = {"random", "rows dealt at random, equal sizes", split};
