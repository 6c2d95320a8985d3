/* Kernel matrices: entries a second against exponentials a second; and whether theta
 * matters, that is whether numbers below the normal range slow anything down. */
#include "suite.h"

#include "base/memory.h"
#include "gp/covariance.h"
#include "linalg/blas.h"

#include <math.h>

typedef struct {
    const kernel *k;
    points Z;
    double *K, *slopes; /* slopes may be NULL */
    int threads;
} matrix_run;

static double matrix_seconds(void *context)
{
    matrix_run *r = context;
    double start = wall_seconds();
    hyper theta = {.kernel = r->k, .D = r->Z.D, .signal = 1.0, .share = 0.5, .reach = 4.0};
    pair_slopes slopes = {.slope = r->slopes};
    check(covariance_self(&theta, &r->Z, r->K, r->slopes ? &slopes : NULL, r->threads));
    return wall_seconds() - start;
}

/* m points, inputs divided by length-scales of `scale` sqrt(D). */
static matrix_run matrix_new(suite *s, const kernel *k, size_t m, size_t D, double scale)
{
    problem b = problem_new(k, 1, m, D);
    for (size_t d = 0; d < D; d++)
        b.theta.lengthscale[d] *= scale;
    matrix_run r = {.k = k, .Z = problem_queries(&b, m), .threads = suite_threads(s)};
    must(NEW_ARRAY(r.K, m * m));
    problem_free(&b);
    return r;
}

static void matrix_free(matrix_run *r)
{
    points_free(&r->Z);
    mem_free(r->K);
    mem_free(r->slopes);
}

static timing matrix_timing(matrix_run *r, const char *what)
{
    double entries = 0.5 * (double)r->Z.n * (double)(r->Z.n + 1);
    timing t = {.size = r->Z.n,
                .D = r->Z.D,
                .limit = &limit_exp,
                .work = entries,
                .items = 1.0,
                .slope = 2.0,
                .run = matrix_seconds,
                .context = r};
    snprintf(t.name, sizeof t.name, "%s%s%s", r->k->name, r->slopes ? ", with slopes" : "", what);
    return t;
}

/* All kernels side by side; said aloud for the largest size only. */
static void compare_kernels(suite *s, size_t m, size_t D, int say)
{
    enum { KERNELS = 4 };
    matrix_run r[KERNELS];
    timing t[KERNELS] = {0};
    for (int i = 0; i < KERNELS; i++) {
        r[i] = matrix_new(s, kernel_at(i), m, D, 1.0);
        must(NEW_ARRAY(r[i].slopes, m * m));
        t[i] = matrix_timing(&r[i], "");
    }
    suite_measure(s, t, KERNELS, suite_quick(s) ? 1 : 9);
    for (int i = 1; say && i < KERNELS; i++)
        suite_claim(s, 0, t[i].seconds / t[0].seconds, 1.5, "kernel matrix, %s over se, D = %zu",
                    r[i].k->name, D);
    for (int i = 0; i < KERNELS; i++)
        matrix_free(&r[i]);
}

/* Length-scales ever shorter: entries near 1, near 1e-160, 0. */
static void compare_scales(suite *s, size_t m, size_t D)
{
    static const double scales[] = {1.0, 0.052, 0.001};
    matrix_run r[3];
    timing t[3] = {0};
    for (int i = 0; i < 3; i++) {
        char what[40];
        snprintf(what, sizeof what, ", l = %g sqrt(D)", scales[i]);
        r[i] = matrix_new(s, &kernel_se, m, D, scales[i]);
        t[i] = matrix_timing(&r[i], what);
    }
    suite_measure(s, t, 3, suite_quick(s) ? 1 : 9);
    for (int i = 1; i < 3; i++)
        suite_claim(s, 0, t[i].seconds / t[0].seconds, 1.1,
                    "kernel matrix, l = %g sqrt(D) over l = sqrt(D), D = %zu", scales[i], D);
    for (int i = 0; i < 3; i++)
        matrix_free(&r[i]);
}

/* ---- A product whose terms are all below the normal range ---- */

typedef struct {
    size_t n;
    const double *A;
    double *C;
} product_run;

static quorum_status product(void *context, size_t item, int worker)
{
    (void)item, (void)worker;
    product_run *r = context;
    blas_gemm('N', 'N', r->n, r->n, r->n, 1.0, r->A, r->n, r->A, r->n, 0.0, r->C, r->n);
    return QUORUM_OK;
}

/* As a worker of the library does it: flushed. */
static double flushed_seconds(void *context)
{
    double start = wall_seconds();
    check(parallel_for(1, 1, product, context));
    return wall_seconds() - start;
}

static double unflushed_seconds(void *context)
{
    double start = wall_seconds();
    product(context, 0, 0);
    return wall_seconds() - start;
}

static void compare_flushing(suite *s)
{
    size_t n = suite_pick(s, 512, 64);
    product_run r = {.n = n};
    double *A;
    must(NEW_ARRAY(A, n * n));
    must(NEW_ARRAY(r.C, n * n));
    for (size_t i = 0; i < n * n; i++)
        A[i] = 1e-160 * (1.0 + (double)(i % 13));
    r.A = A;
    timing t[2] = {0};
    for (int i = 0; i < 2; i++) {
        t[i] = (timing){.size = n,
                        .threads = 1,
                        .limit = &limit_gemm,
                        .work = 2.0 * pow((double)n, 3.0),
                        .items = 1.0,
                        .run = i ? unflushed_seconds : flushed_seconds,
                        .context = &r};
        snprintf(t[i].name, sizeof t[i].name, "DGEMM of subnormal terms, %s",
                 i ? "not flushed" : "flushed");
    }
    suite_measure(s, t, 2, suite_quick(s) ? 1 : 5);
    suite_claim(s, 1, t[1].seconds / t[0].seconds, NAN,
                "DGEMM of subnormal terms, not flushed over flushed");
    mem_free(A);
    mem_free(r.C);
}

void stage_kernel(suite *s)
{
    size_t largest = suite_pick(s, 1000, 40);
    for (size_t m = largest / 4; m <= largest; m *= 2)
        compare_kernels(s, m, 9, m == largest);
    compare_kernels(s, largest, 8, 1);
    compare_kernels(s, largest, 90, 1);
    compare_scales(s, largest, 9);
    compare_flushing(s);
}
