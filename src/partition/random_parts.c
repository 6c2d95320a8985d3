/* Rows dealt at random into parts of equal size (+-1). */
#include "partition/partition.h"

#include "base/memory.h"
#include "base/random.h"

static quorum_status split(const partition_problem *p, size_t *label)
{
    for (size_t i = 0; i < p->n; i++)
        label[i] = i % p->parts;
    rng r = rng_seed(p->seed, STREAM_RANDOM_PARTS);
    rng_shuffle(&r, label, p->n);
    return QUORUM_OK;
}

const partition partition_random = {"random", "rows dealt at random, equal sizes", split};
