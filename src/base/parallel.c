/* parallel_for by threads that live for one call: an atomic counter hands out the items, the
 * calling thread is worker 0 and, when it has no more to do, waits and asks whether to stop. */
#include "base/parallel.h"

#include "base/progress.h"
#include "base/subnormals.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WORKERS = 256, KEPT_MESSAGE = 1024, WAIT_NANOSECONDS = 100000000 };

typedef struct {
    parallel_body body;
    void *context;
    size_t n;
    atomic_size_t next;
    atomic_int stop;
    progress_watch *watch;   /* of the caller                */
    atomic_size_t *done;     /* items, for its progress; NULL */
    pthread_mutex_t lock;    /* guards what is below         */
    pthread_cond_t finished; /* a thread has                 */
    int running;             /* threads besides the caller's */
    size_t failed_item;
    quorum_status failed_status;
    char failed_message[KEPT_MESSAGE];
} job;

typedef struct {
    job *job;
    int worker;
} worker_start;

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
    float_state state = flush_subnormals();
    while (!atomic_load_explicit(&j->stop, memory_order_relaxed)) {
        size_t item = atomic_fetch_add(&j->next, 1);
        if (item >= j->n)
            break;
        quorum_status status = progress_go_on();
        if (status >= 0)
            status = j->body(j->context, item, worker);
        if (status < 0)
            note_failure(j, item, status);
        else if (j->done)
            atomic_fetch_add_explicit(j->done, 1, memory_order_relaxed);
    }
    set_float_state(state);
}

static void *thread_main(void *argument)
{
    worker_start *start = argument;
    job *j = start->job;
    progress_follow(j->watch);
    run_items(j, start->worker);
    pthread_mutex_lock(&j->lock);
    j->running--;
    pthread_cond_signal(&j->finished);
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

static struct timespec moment_from_now(long nanoseconds)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += nanoseconds;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* Until the others are done; whoever wants to stop is heard all the while, and the others see
 * it where they look. */
static void await_others(job *j)
{
    pthread_mutex_lock(&j->lock);
    while (j->running > 0) {
        struct timespec until = moment_from_now(WAIT_NANOSECONDS);
        pthread_cond_timedwait(&j->finished, &j->lock, &until);
        pthread_mutex_unlock(&j->lock);
        (void)progress_go_on();
        pthread_mutex_lock(&j->lock);
    }
    pthread_mutex_unlock(&j->lock);
}

static int start_thread(job *j, pthread_t *thread, worker_start *start)
{
    pthread_mutex_lock(&j->lock);
    int started = pthread_create(thread, NULL, thread_main, start) == 0;
    j->running += started;
    pthread_mutex_unlock(&j->lock);
    return started;
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
    assert(threads >= 1);
    job j = {.body = body,
             .context = context,
             .n = n,
             .watch = progress_watched(),
             .done = progress_claim(n),
             .failed_item = SIZE_MAX};
    pthread_t thread[MAX_WORKERS];
    worker_start start[MAX_WORKERS];
    int workers = parallel_workers(threads, n);
    int started = 1; /* worker 0 is the caller */
    pthread_mutex_init(&j.lock, NULL);
    pthread_cond_init(&j.finished, NULL);
    for (int w = 1; w < workers; w++) {
        start[w] = (worker_start){.job = &j, .worker = w};
        if (!start_thread(&j, &thread[w], &start[w]))
            break; /* fewer threads do the same work */
        started++;
    }
    run_items(&j, 0);
    await_others(&j);
    for (int w = 1; w < started; w++)
        pthread_join(thread[w], NULL);
    pthread_cond_destroy(&j.finished);
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
