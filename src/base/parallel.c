#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { MAX_WORKERS = 256, KEPT_MESSAGE = 1024 };

typedef struct {
    parallel_body body;
    void *context;
    size_t n;
    atomic_size_t next;
    atomic_int stop;
    pthread_mutex_t lock; /* guards the three below */
    size_t failed_item;
    quorum_status failed_status;
    char failed_message[KEPT_MESSAGE];
} job;

typedef struct {
    job *job;
    int worker;
} worker_start;

static unsigned long flush_subnormals(void)
{
#if defined(__x86_64__)
    unsigned int old = _mm_getcsr();
    _mm_setcsr(old | 0x8040u); /* FTZ and DAZ */
    return old;
#elif defined(__aarch64__)
    unsigned long old;
    __asm__ volatile("mrs %0, fpcr" : "=r"(old));
    __asm__ volatile("msr fpcr, %0" : : "r"(old | (1ul << 24)));
    return old;
#else
    return 0;
#endif
}

static void restore_subnormals(unsigned long old)
{
#if defined(__x86_64__)
    _mm_setcsr((unsigned int)old);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(old));
#else
    (void)old;
#endif
}

static void note_failure(job *j, size_t item, quorum_status status)
{
    atomic_store(&j->stop, 1);
    pthread_mutex_lock(&j->lock);
    if (item < j->failed_item) {
        j->failed_item = item;
        j->failed_status = status;
        snprintf(j->failed_message, sizeof j->failed_message, "%s", quorum_message());
    }
    pthread_mutex_unlock(&j->lock);
}

static void run_items(job *j, int worker)
{
    unsigned long state = flush_subnormals();
    while (!atomic_load_explicit(&j->stop, memory_order_relaxed)) {
        size_t item = atomic_fetch_add(&j->next, 1);
        if (item >= j->n)
            break;
        quorum_status status = j->body(j->context, item, worker);
        if (status < 0)
            note_failure(j, item, status);
    }
    restore_subnormals(state);
}

static void *thread_main(void *argument)
{
    worker_start *start = argument;
    run_items(start->job, start->worker);
    return NULL;
}

int parallel_workers(int threads, size_t n)
{
    if (threads > MAX_WORKERS)
        threads = MAX_WORKERS;
    if ((size_t)threads > n)
        threads = (int)n;
    return threads < 1 ? 1 : threads;
}

quorum_status parallel_for(int threads, size_t n, parallel_body body, void *context)
{
    job j = {.body = body, .context = context, .n = n, .failed_item = SIZE_MAX};
    pthread_t thread[MAX_WORKERS];
    worker_start start[MAX_WORKERS];
    int workers = parallel_workers(threads, n);
    int started = 1; /* worker 0 is the caller */
    pthread_mutex_init(&j.lock, NULL);
    for (int w = 1; w < workers; w++) {
        start[w] = (worker_start){.job = &j, .worker = w};
        if (pthread_create(&thread[w], NULL, thread_main, &start[w]) != 0)
            break; /* fewer threads do the same work */
        started++;
    }
    run_items(&j, 0);
    for (int w = 1; w < started; w++)
        pthread_join(thread[w], NULL);
    pthread_mutex_destroy(&j.lock);
    if (j.failed_item != SIZE_MAX)
        return failure(j.failed_status, "%s", j.failed_message);
    return QUORUM_OK;
}

int parallel_processors(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double wall_seconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double processor_seconds(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}
