/* The limits: a matrix product, exponentials in the cache and reading from memory, as
 * many threads as the stage uses, each on its own numbers. */
#include "suite.h"

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/clones.h"
#include "linalg/vexp.h"

#include <math.h>

enum {
    TRIES = 3, /* short ones: on a busy machine one of them may run undisturbed */
    GEMM_ORDER = 768,
    QUICK_ORDER = 128,
    EXP_NUMBERS = 2048, /* in the first-level cache */
    EXP_ROUNDS = 4000,
    STREAM = 24 << 20, /* numbers read, far beyond the last cache */
    QUICK_STREAM = 1 << 18
};

static struct {
    size_t order, stream;
    int exp_rounds, threads;
    double *A, *B, *C; /* order^2, order^2, threads x order^2 */
    double *numbers;   /* stream                              */
    double *sink;      /* threads x 8                         */
} room;

void limits_start(int threads, int quick)
{
    room.threads = threads;
    room.order = quick ? QUICK_ORDER : GEMM_ORDER;
    room.stream = quick ? QUICK_STREAM : STREAM;
    room.exp_rounds = quick ? EXP_ROUNDS / 100 : EXP_ROUNDS;
    size_t square = room.order * room.order;
    must(NEW_ARRAY(room.A, square));
    must(NEW_ARRAY(room.B, square));
    must(NEW_ARRAY(room.C, square * (size_t)threads));
    must(NEW_ARRAY(room.numbers, room.stream));
    must(NEW_ZEROED(room.sink, 8 * (size_t)threads));
    for (size_t i = 0; i < square; i++)
        room.A[i] = room.B[i] = 1e-3 * (double)(i % 97);
    for (size_t i = 0; i < room.stream; i++)
        room.numbers[i] = (double)(i % 7);
}

void limits_stop(void)
{
    mem_free(room.A);
    mem_free(room.B);
    mem_free(room.C);
    mem_free(room.numbers);
    mem_free(room.sink);
}

/* One item a thread; returns how much work a second all of them did, at best. */
static double rate_of(parallel_body body, int threads, double work)
{
    double best = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        double start = wall_seconds();
        check(parallel_for(threads, (size_t)threads, body, &threads));
        best = fmin(best, wall_seconds() - start);
    }
    return work * (double)threads / best;
}

static quorum_status one_gemm(void *context, size_t item, int worker)
{
    (void)context, (void)worker;
    size_t n = room.order;
    blas_gemm('N', 'N', n, n, n, 1.0, room.A, n, room.B, n, 0.0, room.C + item * n * n, n);
    return QUORUM_OK;
}

static double gemm_rate(const void *context, int threads)
{
    (void)context;
    return rate_of(one_gemm, threads, 2.0 * pow((double)room.order, 3.0));
}

CLONED
static void exponentials(size_t n, const double *restrict x, double *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = exp_nonpositive(x[i]);
}

static quorum_status many_exponentials(void *context, size_t item, int worker)
{
    (void)context, (void)worker;
    double x[EXP_NUMBERS], y[EXP_NUMBERS], sum = 0.0;
    for (size_t i = 0; i < EXP_NUMBERS; i++)
        x[i] = -0.01 * (double)i;
    for (int r = 0; r < room.exp_rounds; r++) {
        exponentials(EXP_NUMBERS, x, y);
        sum += y[r % EXP_NUMBERS];
        x[0] = -sum * 1e-9; /* so that no round can be left out */
    }
    room.sink[item * 8] = sum;
    return QUORUM_OK;
}

static double exp_rate(const void *context, int threads)
{
    (void)context;
    return rate_of(many_exponentials, threads, (double)EXP_NUMBERS * room.exp_rounds);
}

CLONED
static double sum_of(size_t n, const double *restrict x)
{
    double sum[32] = {0};
    for (size_t i = 0; i + 32 <= n; i += 32)
        for (size_t k = 0; k < 32; k++)
            sum[k] += x[i + k];
    double total = 0.0;
    for (size_t k = 0; k < 32; k++)
        total += sum[k];
    return total;
}

static quorum_status read_numbers(void *context, size_t item, int worker)
{
    (void)worker;
    size_t threads = (size_t) * (int *)context, each = room.stream / threads;
    room.sink[item * 8] = sum_of(each, room.numbers + item * each);
    return QUORUM_OK;
}

static double read_rate(const void *context, int threads)
{
    (void)context;
    size_t each = room.stream / (size_t)threads;
    return rate_of(read_numbers, threads, 8.0 * (double)each);
}

const limit limit_gemm = {"DGEMM", "GFLOP/s", 1e9, gemm_rate, NULL};
const limit limit_exp = {"exp", "Gexp/s", 1e9, exp_rate, NULL};
const limit limit_bandwidth = {"memory", "GB/s", 1e9, read_rate, NULL};
