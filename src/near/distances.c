/* s(x, y) = sum_d (x_d - y_d)^2 of one pair, of eight points at once and of eight boxes at once;
 * every lane rounds like the loop over one pair. */
#include "near/distances.h"

#include "linalg/clones.h"

/* GCC obeys this in every clone.  clang does not, so it builds the baseline
 * only, which cannot fuse on x86-64. */
#if defined(__clang__)
#define UNFUSED_CLONES
#else
#pragma GCC optimize("fp-contract=off")
#define UNFUSED_CLONES CLONED
#endif

enum { STRIP = 16 }; /* coordinates between two looks at the limit */

typedef double quad __attribute__((vector_size(32)));
typedef long long quad_mask __attribute__((vector_size(32)));

double squared_distance(size_t D, const double *x, const double *y)
{
    double s = 0.0;
    for (size_t d = 0; d < D; d++)
        s += (x[d] - y[d]) * (x[d] - y[d]);
    return s;
}

UNFUSED_CLONES
void group_distances(size_t groups, size_t D, const double *T, const double *q, double limit,
                     double *s)
{
    for (size_t g = 0; g < groups; g++) {
        const quad *t = (const quad *)(T + g * D * LANES);
        quad s0 = {0}, s1 = {0};
        for (size_t d = 0; d < D;) {
            size_t end = D - d < STRIP + STRIP / 2 ? D : d + STRIP;
            for (; d < end; d++) {
                quad x0 = t[2 * d] - q[d], x1 = t[2 * d + 1] - q[d];
                s0 += x0 * x0;
                s1 += x1 * x1;
            }
            quad_mask beyond = (s0 > limit) & (s1 > limit);
            if (beyond[0] & beyond[1] & beyond[2] & beyond[3])
                break;
        }
        quad *out = (quad *)(s + g * LANES);
        out[0] = s0;
        out[1] = s1;
    }
}

/* max(a, 0) in every lane */
#define POSITIVE(a) ((quad)((quad_mask)(a) & ((a) > 0.0)))

UNFUSED_CLONES
void box_distances(size_t D, const double *boxes, const double *q, double *s)
{
    const quad *b = (const quad *)boxes;
    quad s0 = {0}, s1 = {0};
    for (size_t d = 0; d < D; d++, b += 4) {
        quad below0 = b[0] - q[d], below1 = b[1] - q[d];
        quad above0 = q[d] - b[2], above1 = q[d] - b[3];
        quad x0 = POSITIVE(below0) + POSITIVE(above0); /* at most one is not zero */
        quad x1 = POSITIVE(below1) + POSITIVE(above1);
        s0 += x0 * x0;
        s1 += x1 * x1;
    }
    ((quad *)s)[0] = s0;
    ((quad *)s)[1] = s1;
}
