/* Random numbers: xoshiro256++ seeded by splitmix64.  The same seed gives the
 * same numbers on every machine. */
#ifndef QRM_BASE_RANDOM_H
#define QRM_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t s[4];
} rng;

/* Each purpose draws from a stream of its own, so that one that draws more or less leaves the
 * others' numbers alone.  These are part of every result: they never change, and a new purpose takes
 * the next one. */
enum rng_stream {
    STREAM_RANDOM_PARTS = 1,  /* rows dealt into parts                           */
    STREAM_CENTRES = 2,       /* K-means: its sample and where it starts         */
    STREAM_BASE = 3,          /* rows of GRBCM's base                            */
    STREAM_TRAIN = 4,         /* experts that theta is trained on                */
    STREAM_REFERENCE = 5,     /* inputs that the graph is learned from           */
    STREAM_ORDER = 6,         /* order of the training blocks                    */
    STREAM_DEMO = 6,          /* rows of `quorum demo`, of a seed of their own   */
    STREAM_LOOK = 7,          /* rows of the first look at theta, or of a subset */
    STREAM_CALIBRATE = 8,     /* rows held out to calibrate                      */
    STREAM_GROUPS = 9,        /* K-means of many parts: the sample of its groups */
    STREAM_LINE = 10,         /* rows that a linear trend is found from          */
    STREAM_STRICT = 11,       /* rows held out before anything is learned        */
    STREAM_SAMPLE = 12,       /* joint draws: what is new at each query          */
    STREAM_SAMPLE_NOISE = 13, /* ... their noise                                 */
    STREAM_SAMPLE_LINE = 14,  /* ... and the errors of a linear trend            */
    STREAM_BEYOND = 15,       /* rows that are left out with all rows beyond     */
    STREAM_HOLES = 17,        /* rows that tell what missing cells cost          */
    STREAM_UPDATE = 18,       /* new rows that are predicted first, and chance   */
    STREAM_ENCODING = 20,     /* rows that two encodings of categories are tried on */
    STREAM_METHOD = 21,       /* rows that nearest and cells are compared on     */
    STREAM_EXPLAIN = 22       /* importance and effects: rows, permutations, draws */
};

rng rng_seed(uint64_t seed, uint64_t stream);
uint64_t rng_next(rng *r);
double rng_uniform(rng *r);             /* [0, 1)                       */
double rng_normal(rng *r);              /* mean 0, variance 1           */
size_t rng_below(rng *r, size_t bound); /* 0 .. bound-1, bound >= 1      */
void rng_shuffle(rng *r, size_t *items, size_t n);

#endif
