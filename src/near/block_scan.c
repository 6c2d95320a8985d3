/* All points against a block of queries: the products a.b of some points and the queries at a
 * time, then a look at those that |a|^2 + |b|^2 - 2 a.b, less its rounding error, does not rule
 * out. */
#include "near/block_scan.h"

#include "near/distances.h"
#include "linalg/blas.h"
#include "linalg/clones.h"

#include <float.h>

enum { WIDTH = 16 }; /* points that are ruled out together */

typedef double quad __attribute__((vector_size(32), aligned(8)));
typedef long long quad_mask __attribute__((vector_size(32)));

/* The first i >= from with  S_i + shrink norm_i <= limit,  or n. */
CLONED
static size_t next_within(size_t from, size_t n, const double *S, const double *norm, double shrink,
                          double limit)
{
    for (; from < n; from++) {
        for (; from + WIDTH <= n; from += WIDTH) {
            const quad *s = (const quad *)(S + from), *b = (const quad *)(norm + from);
            quad_mask beyond = (s[0] + shrink * b[0] > limit) & (s[1] + shrink * b[1] > limit) &
                               (s[2] + shrink * b[2] > limit) & (s[3] + shrink * b[3] > limit);
            if (!(beyond[0] & beyond[1] & beyond[2] & beyond[3]))
                break;
        }
        if (from < n && !(S[from] + shrink * norm[from] > limit)) /* not a number: within */
            break;
    }
    return from;
}

/* Rounding makes the product's distance wrong by at most about 3 (D + 2) u
 * (|a|^2 + |b|^2), and the true one is itself rounded by 2 (D + 2) u of the same;
 * u = DBL_EPSILON / 2.  Points nearer than the limit by the product less
 * 4 (D + 4) DBL_EPSILON (|a|^2 + |b|^2) include all that are really nearer. */
static void offer_column(const points *Z, size_t first, size_t n, const double *z, double norm,
                         const double *S, nearest *best)
{
    double shrink = 1.0 - 4.0 * (double)(Z->D + 4) * DBL_EPSILON;
    double tiny = (double)(Z->D + 1) * DBL_MIN; /* what underflow may have taken away */
    size_t i = 0;
    for (;;) {
        i = next_within(i, n, S, Z->norm + first, shrink, best->limit.key + tiny - shrink * norm);
        if (i >= n)
            return;
        nearest_offer(best, squared_distance(Z->D, Z->Z + (first + i) * Z->D, z), first + i);
        i++;
    }
}

/* A step through the blocks that visits each once and early ones from everywhere,
 * so that rows sorted by position do not bring every query's nearest rows last. */
static size_t scattered_step(size_t blocks)
{
    size_t step = (size_t)(0.618 * (double)blocks) + 1;
    for (;; step++) {
        size_t a = blocks, b = step;
        while (b > 0) {
            size_t r = a % b;
            a = b;
            b = r;
        }
        if (a == 1)
            return step;
    }
}

void block_scan(const points *Z, const points *Q, double *S, nearest *best)
{
    size_t D = Z->D, blocks = (Z->n + SCAN_POINTS - 1) / SCAN_POINTS;
    size_t step = scattered_step(blocks), block = 0;
    for (size_t t = 0; t < blocks; t++, block = (block + step) % blocks) {
        size_t first = block * SCAN_POINTS;
        size_t n = Z->n - first < SCAN_POINTS ? Z->n - first : SCAN_POINTS;
        blas_gemm('T', 'N', n, Q->n, D, -2.0, Z->Z + first * D, D, Q->Z, D, 0.0, S, SCAN_POINTS);
        for (size_t j = 0; j < Q->n; j++)
            offer_column(Z, first, n, Q->Z + j * D, Q->norm[j], S + j * SCAN_POINTS, &best[j]);
    }
}
