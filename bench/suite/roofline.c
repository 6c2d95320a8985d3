/* What this machine can do: the limits themselves, and LAPACK's share of them. */
#include "suite.h"

#include "base/memory.h"
#include "linalg/blas.h"

#include <math.h>
#include <string.h>

/* ---- The limits, on 1 and 2 threads ---- */

static void measure_limits(suite *s)
{
    static const limit *const limits[] = {&limit_gemm, &limit_exp, &limit_bandwidth};
    timing t[6] = {0};
    size_t count = 0;
    for (int threads = 1; threads <= 2; threads++)
        for (int k = 0; k < 3; k++) {
            t[count] = (timing){.size = (size_t)threads,
                                .threads = threads,
                                .limit = limits[k],
                                .work = 1e9,
                                .items = 1.0};
            snprintf(t[count].name, sizeof t[count].name, "%s alone", limits[k]->name);
            count++;
        }
    suite_measure(s, t, count, suite_quick(s) ? 1 : 5);
    for (int k = 0; k < 3; k++)
        suite_claim(s, 1, t[k].seconds / t[3 + k].seconds, NAN, "%s, 2 threads over 1",
                    limits[k]->name);
}

/* ---- LAPACK and the symmetric products, one matrix a thread ---- */

typedef struct {
    void (*call)(size_t m, double *A);
    size_t m;
    int threads;
    const double *from; /* m x m                                  */
    double *A;          /* threads x 2 m^2: the matrix and a second */
} lapack_run;

static quorum_status one_matrix(void *context, size_t item, int worker)
{
    (void)worker;
    lapack_run *r = context;
    r->call(r->m, r->A + item * 2 * r->m * r->m);
    return QUORUM_OK;
}

static double lapack_seconds(void *context)
{
    lapack_run *r = context;
    size_t square = r->m * r->m;
    for (int k = 0; k < r->threads; k++)
        memcpy(r->A + (size_t)k * 2 * square, r->from, square * sizeof *r->A);
    double start = wall_seconds();
    check(parallel_for(r->threads, (size_t)r->threads, one_matrix, r));
    return wall_seconds() - start;
}

static void factor(size_t m, double *A)
{
    blas_cholesky(m, A, m);
}

static void invert(size_t m, double *A)
{
    blas_inverse_lower(m, A, m);
}

static void gram(size_t m, double *A)
{
    blas_gram_lower(m, m, 1.0, A, m, 0.0, A + m * m, m);
}

/* Positive definite, and as a lower factor harmless to invert. */
static double *make_matrix(size_t m)
{
    double *A;
    must(NEW_ARRAY(A, m * m));
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < m; i++)
            A[j * m + i] = i == j ? 1.0 : 0.5 / (1.0 + fabs((double)i - (double)j));
    return A;
}

static void measure_lapack(suite *s, size_t m)
{
    static const struct {
        const char *name;
        void (*call)(size_t m, double *A);
        double flops; /* times m^3 */
    } calls[] = {
        {"DPOTRF", factor, 1.0 / 3.0}, {"DPOTRI", invert, 2.0 / 3.0}, {"DSYRK", gram, 1.0}};
    int threads = suite_threads(s);
    lapack_run run[3];
    timing t[3] = {0};
    double *from = make_matrix(m), *A;
    must(NEW_ARRAY(A, 2 * m * m * (size_t)threads));
    for (size_t k = 0; k < 3; k++) {
        run[k] = (lapack_run){calls[k].call, m, threads, from, A};
        t[k] = (timing){.size = m,
                        .limit = &limit_gemm,
                        .work = calls[k].flops * pow((double)m, 3.0) * threads,
                        .items = threads,
                        .slope = 3.0,
                        .run = lapack_seconds,
                        .context = &run[k]};
        snprintf(t[k].name, sizeof t[k].name, "%s", calls[k].name);
    }
    suite_measure(s, t, 3, suite_quick(s) ? 1 : 7);
    mem_free(from);
    mem_free(A);
}

void stage_roofline(suite *s)
{
    measure_limits(s);
    for (size_t m = suite_pick(s, 128, 32); m <= suite_pick(s, 2048, 64); m *= 2)
        measure_lapack(s, m);
}
