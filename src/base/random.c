/* splitmix64 makes the 256 bits of state out of seed and stream; xoshiro256++ goes on from
 * there. Normal numbers are by Box and Muller, numbers below a bound by rejection, shuffles by
 * Fisher and Yates. */
#include "base/random.h"

#include <assert.h>
#include <math.h>

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

rng rng_seed(uint64_t seed, uint64_t stream)
{
    rng r;
    uint64_t x = seed ^ (stream * 0xD1342543DE82EF95u);
    for (int i = 0; i < 4; i++)
        r.s[i] = splitmix(&x);
    return r;
}

uint64_t rng_next(rng *r)
{
    uint64_t *s = r->s;
    uint64_t result = rotate(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double rng_uniform(rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1.0p-53;
}

double rng_normal(rng *r)
{
    double u = 1.0 - rng_uniform(r); /* (0, 1] */
    double v = rng_uniform(r);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586476925 * v);
}

size_t rng_below(rng *r, size_t bound)
{
    assert(bound >= 1);
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t x;
    do
        x = rng_next(r);
    while (x >= limit);
    return (size_t)(x % bound);
}

void rng_shuffle(rng *r, size_t *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = rng_below(r, i);
        size_t t = items[i - 1];
        items[i - 1] = items[j];
        items[j] = t;
    }
}
