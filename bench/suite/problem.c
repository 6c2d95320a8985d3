#include "suite.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

void *must(void *pointer)
{
    if (!pointer) {
        fprintf(stderr, "quorum_bench: out of memory\n");
        exit(1);
    }
    return pointer;
}

void check(quorum_status status)
{
    if (status < 0) {
        fprintf(stderr, "quorum_bench: %s\n", quorum_message());
        exit(1);
    }
}

problem problem_new(const kernel *k, size_t M, size_t m, size_t D)
{
    problem b = {0};
    size_t n = M * m;
    must(NEW_ARRAY(b.X, n * D));
    must(NEW_ARRAY(b.y, n));
    must(NEW_ARRAY(b.offset, M + 1));
    must(NEW_ARRAY(b.experts, M));
    b.theta = (hyper){.kernel = k, .D = D, .signal = 1.0, .noise = 0.1, .share = 0.5, .reach = 4.0};
    must(NEW_ARRAY(b.theta.lengthscale, D));
    rng r = rng_seed(1, 1);
    for (size_t i = 0; i < n * D; i++)
        b.X[i] = rng_normal(&r);
    for (size_t i = 0; i < n; i++)
        b.y[i] = sin(b.X[i * D]) + 0.3 * rng_normal(&r);
    for (size_t e = 0; e <= M; e++)
        b.offset[e] = e * m;
    for (size_t e = 0; e < M; e++)
        b.experts[e] = e;
    for (size_t d = 0; d < D; d++)
        b.theta.lengthscale[d] = sqrt((double)D);
    b.p = (parts){.rows = rows_view_of(n, D, b.X, b.y), .M = M, .offset = b.offset};
    return b;
}

void problem_free(problem *b)
{
    mem_free(b->X);
    mem_free(b->y);
    mem_free(b->offset);
    mem_free(b->experts);
    mem_free(b->theta.lengthscale);
    *b = (problem){0};
}

points random_points(size_t n, size_t D, unsigned seed)
{
    points p;
    check(points_new(n, D, &p));
    double *X, *one;
    must(NEW_ARRAY(X, n * D));
    must(NEW_ARRAY(one, D));
    rng r = rng_seed(seed, 5);
    for (size_t i = 0; i < n * D; i++)
        X[i] = 2.0 * rng_uniform(&r) - 1.0;
    for (size_t d = 0; d < D; d++)
        one[d] = 1.0;
    points_scale(&p, n, X, NULL, one);
    mem_free(X);
    mem_free(one);
    return p;
}

points problem_queries(const problem *b, size_t count)
{
    points Q;
    check(points_new(count, b->p.rows.D, &Q));
    points_scale(&Q, count, b->X, NULL, b->theta.lengthscale);
    return Q;
}

void made_data(size_t rows, unsigned seed, double **X, double **y)
{
    must(*X = mem_alloc(rows * MADE_INPUTS, sizeof **X));
    must(*y = mem_alloc(rows, sizeof **y));
    rng r = rng_seed(seed, 6);
    for (size_t i = 0; i < rows; i++) {
        double *x = *X + i * MADE_INPUTS;
        for (size_t d = 0; d < MADE_INPUTS; d++)
            x[d] = 2.0 * rng_uniform(&r) - 1.0;
        (*y)[i] = sin(3.0 * x[0]) + cos(2.0 * x[1] * x[2]) + x[4] * x[5] + 0.2 * rng_normal(&r);
    }
}
