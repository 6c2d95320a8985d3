/* Eight numbers side by side, in as many registers as processors in use hold at a time: one operation is done to
 * all of them, each rounded as if it were alone. */
#ifndef QRM_LINALG_LANES_H
#define QRM_LINALG_LANES_H

#include "linalg/clones.h"

#if defined(__AVX__) || (defined(__x86_64__) && defined(QRM_HAS_CLONES))
#define LANES_OF_PART 4 /* AVX2 */
#else
#define LANES_OF_PART 2
#endif

#define LANES_INLINED static inline __attribute__((always_inline))

enum { LANES = 8, LANE_PARTS = LANES / LANES_OF_PART };

typedef double lane_part
    __attribute__((vector_size(LANES_OF_PART * sizeof(double)), aligned(sizeof(double))));

typedef struct {
    lane_part at[LANE_PARTS];
} lanes8;

LANES_INLINED lanes8 lanes_load(const double *from)
{
    const lane_part *parts = (const lane_part *)(const void *)from;
    lanes8 x;
#pragma GCC unroll 4
    for (int i = 0; i < LANE_PARTS; i++)
        x.at[i] = parts[i];
    return x;
}

LANES_INLINED void lanes_store(lanes8 x, double *to)
{
    lane_part *parts = (lane_part *)(void *)to;
#pragma GCC unroll 4
    for (int i = 0; i < LANE_PARTS; i++)
        parts[i] = x.at[i];
}

/* sum + (t - z)^2 */
LANES_INLINED lanes8 lanes_add_distance(lanes8 sum, lanes8 t, double z)
{
#pragma GCC unroll 4
    for (int i = 0; i < LANE_PARTS; i++) {
        lane_part off = t.at[i] - z;
        sum.at[i] += off * off;
    }
    return sum;
}

#endif
