/* What unit tests share. */
#ifndef QRM_TESTS_SUPPORT_H
#define QRM_TESTS_SUPPORT_H

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* |a - b| <= tolerance * max(1, |b|), saying both when not. */
#define assert_close(a, b, tolerance)                                                              \
    do {                                                                                           \
        double close_a_ = (a), close_b_ = (b);                                                     \
        if (!(fabs(close_a_ - close_b_) <= (tolerance)*fmax(1.0, fabs(close_b_))))                 \
            fail_msg("%s = %.17g, expected %.17g", #a, close_a_, close_b_);                        \
    } while (0)

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        quorum_status ok_status_ = (call);                                                         \
        if (ok_status_ < 0)                                                                        \
            fail_msg("%s: %s", #call, quorum_message());                                           \
    } while (0)

#define assert_says(text)                                                                          \
    do {                                                                                           \
        if (!strstr(quorum_message(), (text)))                                                     \
            fail_msg("expected \"%s\" in \"%s\"", (text), quorum_message());                       \
    } while (0)

static inline double *random_normals(size_t n, uint64_t seed)
{
    double *x = mem_alloc(n, sizeof *x);
    rng r = rng_seed(seed, 99);
    for (size_t i = 0; i < n; i++)
        x[i] = rng_normal(&r);
    return x;
}

/* y = sin(2 x_1) + x_2 / 2 + noise: smooth, learnable. */
static inline double *smooth_targets(const double *X, size_t n, size_t D, double noise)
{
    double *y = mem_alloc(n, sizeof *y);
    rng r = rng_seed(7, 98);
    for (size_t i = 0; i < n; i++)
        y[i] = sin(2.0 * X[i * D]) + (D > 1 ? 0.5 * X[i * D + 1] : 0.0) + noise * rng_normal(&r);
    return y;
}

#endif
