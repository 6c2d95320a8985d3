/* The search for hyperparameters when memory runs out inside the optimiser: every malloc and
 * calloc of a search fails in turn, and either it says so or the result has the same bits.
 *
 * This program has a malloc of its own in front of the C library's, which libraries that it loads
 * use too.  The sanitizers have their own: the tests are skipped there. */
#include "train/train.h"
#include "support.h"

#include <errno.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { CAN_FAIL = 1 };

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);

static long until_failure; /* 0: none */
static int sticky;

static int fails_now(void)
{
    if (until_failure == 0 || --until_failure > 0)
        return 0;
    until_failure = sticky;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __libc_calloc(count, size);
}
#else
enum { CAN_FAIL = 0 };
static long until_failure;
static int sticky;
#endif

enum { N = 60, D = 3 };

typedef struct {
    double *X, *y;
    size_t offset[2], expert;
    parts p;
} world;

static int set_up(void **state)
{
    world *w = calloc(1, sizeof *w);
    w->X = random_normals((size_t)N * D, 1);
    w->y = smooth_targets(w->X, N, D, 0.2);
    w->offset[1] = N;
    w->p = (parts){.rows = rows_view_of(N, D, w->X, w->y), .M = 1, .offset = w->offset};
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    until_failure = 0;
    mem_free(w->X);
    mem_free(w->y);
    free(w);
    return 0;
}

/* theta after a search in which allocation `at` fails (0: none); what is left of the count says
 * whether it came to that. */
static quorum_status search(world *w, long at, double *lengthscale)
{
    training_options o = {
        .max_evaluations = 60, .tolerance = 1e-6, .restarts = 1, .threads = 1, .memory = 1e9};
    hyper theta = {.kernel = &kernel_se, .D = D, .lengthscale = lengthscale};
    training_result result;
    until_failure = at;
    return train(&w->p, &w->expert, 1, &o, &theta, &result);
}

static void fail_each(world *w)
{
    double truth[D], found[D];
    long at = 1, failed = 0;
    if (!CAN_FAIL)
        skip();
    assert_ok(search(w, 0, truth));
    for (int came = 1; came; at++) {
        quorum_status status = search(w, at, found);
        came = until_failure == sticky;
        until_failure = 0;
        if (status == QUORUM_E_MEMORY)
            failed++;
        else if (status != QUORUM_OK || memcmp(found, truth, sizeof truth) != 0)
            fail_msg("allocation %ld: status %d, %s", at, (int)status, quorum_message());
        if (status == QUORUM_E_MEMORY)
            assert_says("out of memory");
    }
    assert_true(failed >= 6);
}

static void no_memory_in_the_optimiser_is_a_failure(void **state)
{
    sticky = 0;
    fail_each(*state);
}

static void no_more_memory_in_the_optimiser_is_a_failure(void **state)
{
    sticky = 1;
    fail_each(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_memory_in_the_optimiser_is_a_failure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_more_memory_in_the_optimiser_is_a_failure, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
