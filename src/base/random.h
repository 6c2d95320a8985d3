/* Random numbers: xoshiro256++ seeded by splitmix64.  The same seed gives the
 * same numbers on every machine. */
#ifndef QRM_BASE_RANDOM_H
#define QRM_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t s[4];
} rng;

/* Different purposes (partition, reference, ...) take different streams. */
rng rng_seed(uint64_t seed, uint64_t stream);
uint64_t rng_next(rng *r);
double rng_uniform(rng *r);             /* [0, 1)                       */
double rng_normal(rng *r);              /* mean 0, variance 1           */
size_t rng_below(rng *r, size_t bound); /* 0 .. bound-1, without bias   */
void rng_shuffle(rng *r, size_t *items, size_t n);

#endif
