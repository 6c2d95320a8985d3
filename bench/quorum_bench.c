/* How near the library's stages come to this machine's DGEMM rate, measured in
 * the same run.  Machines are shared and noisy: every stage is timed several
 * times in turn with DGEMM and the best of each is compared.
 *
 *   quorum_bench [--csv FILE] [--threads N] */
#include "aggregate/npae.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "experts/committee.h"
#include "experts/train.h"
#include "linalg/blas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5 };

/* ---- A made-up problem: M experts of m rows, D inputs ---- */

typedef struct {
    parts p;
    hyper theta;
    double *X, *y;
    size_t *offset, *experts;
} problem;

static void *must(void *pointer)
{
    if (!pointer) {
        fprintf(stderr, "quorum_bench: out of memory\n");
        exit(1);
    }
    return pointer;
}

static void check(quorum_status status)
{
    if (status < 0) {
        fprintf(stderr, "quorum_bench: %s\n", quorum_message());
        exit(1);
    }
}

static problem make_problem(const kernel *k, size_t M, size_t m, size_t D)
{
    problem b = {0};
    size_t n = M * m;
    b.X = must(mem_alloc(n * D, sizeof(double)));
    b.y = must(mem_alloc(n, sizeof(double)));
    b.offset = must(mem_alloc(M + 1, sizeof(size_t)));
    b.experts = must(mem_alloc(M, sizeof(size_t)));
    b.theta = (hyper){.kernel = k, .D = D, .signal = 1.0, .noise = 0.1};
    b.theta.lengthscale = must(mem_alloc(D, sizeof(double)));
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
    b.p = (parts){.n = n, .D = D, .M = M, .X = b.X, .y = b.y, .offset = b.offset};
    return b;
}

static void free_problem(problem *b)
{
    mem_free(b->X);
    mem_free(b->y);
    mem_free(b->offset);
    mem_free(b->experts);
    mem_free(b->theta.lengthscale);
}

/* ---- DGEMM: one product of order 1000 a thread ---- */

enum { GEMM_ORDER = 1000 };

typedef struct {
    double *A, *B, *C;
} gemm_job;

static quorum_status one_gemm(void *context, size_t item, int worker)
{
    (void)worker;
    gemm_job *g = context;
    size_t n = GEMM_ORDER;
    blas_gemm('N', 'N', n, n, n, 1.0, g->A, n, g->B, n, 0.0, g->C + item * n * n, n);
    return QUORUM_OK;
}

static double gemm_rate(int threads)
{
    size_t n = GEMM_ORDER, items = 2 * (size_t)threads;
    gemm_job g = {must(mem_alloc(n * n, 8)), must(mem_alloc(n * n, 8)),
                  must(mem_alloc(items * n * n, 8))};
    for (size_t i = 0; i < n * n; i++)
        g.A[i] = g.B[i] = 1e-3 * (double)(i % 97);
    double start = wall_seconds();
    check(parallel_for(threads, items, one_gemm, &g));
    double seconds = wall_seconds() - start;
    mem_free(g.A);
    mem_free(g.B);
    mem_free(g.C);
    return 2.0 * pow((double)n, 3.0) * (double)items / seconds;
}

/* ---- Stages: each returns flops per second ---- */

/* One evaluation of value and gradient of all experts, m^3 flops an expert. */
static double training_rate(const problem *b, int threads)
{
    double value, *gradient = must(mem_alloc(b->p.D + 2, sizeof(double))), flops = 0.0;
    training_options o = {.threads = threads, .memory = 1e12};
    double start = wall_seconds();
    check(total_likelihood(&b->p, b->experts, b->p.M, &o, &b->theta, &value, gradient));
    double seconds = wall_seconds() - start;
    for (size_t e = 0; e < b->p.M; e++)
        flops += pow((double)part_size(&b->p, e), 3.0);
    mem_free(gradient);
    return flops / seconds;
}

static points queries(const problem *b, size_t count)
{
    points Q;
    check(points_new(count, b->p.D, &Q));
    points_scale(&Q, count, b->X, NULL, b->theta.lengthscale);
    return Q;
}

/* Means and variances of all experts at the queries, m^2 flops a query. */
static double posterior_rate(const problem *b, const committee *c, int threads)
{
    points Q = queries(b, 1024);
    assembly a;
    check(assembly_new(c, &Q, b->p.M, &a));
    assembly_seat_all(&a, b->experts, b->p.M);
    double start = wall_seconds(), flops = 0.0;
    check(assembly_ask(&a, 1, 0, 1e9, threads));
    double seconds = wall_seconds() - start;
    for (size_t e = 0; e < b->p.M; e++)
        flops += pow((double)part_size(&b->p, e), 2.0) * (double)Q.n;
    assembly_free(&a);
    points_free(&Q);
    return flops / seconds;
}

/* All pairs of experts at a block of queries, 2 m_i m_j b flops a pair. */
static double pair_rate(const problem *b, const committee *c, int threads)
{
    points Q = queries(b, 1024);
    size_t M = b->p.M;
    double *pairs = must(mem_alloc(M * (M - 1) / 2 * Q.n, 8)), flops = 0.0;
    assembly a;
    check(assembly_new(c, &Q, M, &a));
    assembly_seat_all(&a, b->experts, M);
    check(assembly_ask(&a, 1, 1, 1e9, threads));
    double start = wall_seconds();
    check(npae_pairs(&a, threads, pairs));
    double seconds = wall_seconds() - start;
    for (size_t j = 1; j < M; j++)
        for (size_t i = 0; i < j; i++)
            flops += 2.0 * (double)(part_size(&b->p, i) * part_size(&b->p, j) * Q.n);
    assembly_free(&a);
    points_free(&Q);
    mem_free(pairs);
    return flops / seconds;
}

/* ---- The table ---- */

typedef struct {
    const char *stage;
    size_t m, D;
    double rate, gemm;
} row;

static void print_row(FILE *csv, const row *r, int threads)
{
    printf("%-34s %6zu %4zu %9.1f %9.1f %7.0f %%\n", r->stage, r->m, r->D, r->rate / 1e9,
           r->gemm / 1e9, 100.0 * r->rate / r->gemm);
    fflush(stdout);
    if (csv)
        fprintf(csv, "%s,%zu,%zu,%d,%.3f,%.3f,%.4f\n", r->stage, r->m, r->D, threads, r->rate / 1e9,
                r->gemm / 1e9, r->rate / r->gemm);
}

typedef struct {
    const char *name;
    const kernel *k;
    size_t M, m, D;
} size_case;

static void run_case(FILE *csv, const size_case *s, int threads)
{
    problem b = make_problem(s->k, s->M, s->m, s->D);
    committee c;
    check(committee_new(&b.p, &b.theta, 1e12, threads, NULL, &c));
    double best[3] = {0}, gemm = 0.0;
    for (int r = 0; r < ROUNDS; r++) {
        gemm = fmax(gemm, gemm_rate(threads));
        best[0] = fmax(best[0], training_rate(&b, threads));
        best[1] = fmax(best[1], posterior_rate(&b, &c, threads));
        best[2] = fmax(best[2], pair_rate(&b, &c, threads));
    }
    static const char *const stages[] = {"training value and gradient", "posteriors",
                                         "pairs of experts"};
    for (int k = 0; k < 3; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s %s", stages[k], s->name);
        row line = {name, s->m, s->D, best[k], gemm};
        print_row(csv, &line, threads);
    }
    committee_free(&c);
    free_problem(&b);
}

static void run_all(FILE *csv, int threads)
{
    const size_case cases[] = {
        {"se", &kernel_se, 12, 250, 9},  {"se", &kernel_se, 10, 500, 9},
        {"se", &kernel_se, 10, 500, 32}, {"matern32", &kernel_matern32, 10, 500, 9},
        {"se", &kernel_se, 6, 1000, 9},
    };
    printf("BLAS kernels %s, %d threads, GFLOP/s, best of %d\n", quorum_blas_kernel(), threads,
           ROUNDS);
    printf("%-34s %6s %4s %9s %9s %9s\n", "stage", "m", "D", "rate", "DGEMM", "share");
    if (csv)
        fprintf(csv, "stage,m,D,threads,gflops,dgemm_gflops,share\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(csv, &cases[i], threads);
}

int main(int argc, char **argv)
{
    int threads = parallel_processors();
    FILE *csv = NULL;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--threads") == 0)
            threads = atoi(argv[i + 1]) > 0 ? atoi(argv[i + 1]) : 1;
        else if (i + 1 < argc && strcmp(argv[i], "--csv") == 0)
            csv = fopen(argv[i + 1], "w");
        else {
            fprintf(stderr, "usage: quorum_bench [--csv FILE] [--threads N]\n");
            return 2;
        }
    }
    run_all(csv, threads);
    if (csv && fclose(csv) != 0)
        return 1;
    return 0;
}
