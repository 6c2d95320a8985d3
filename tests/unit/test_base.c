#include "base/parallel.h"
#include "base/progress.h"
#include "support.h"

#include <float.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static void messages_are_kept_and_prefixed(void **state)
{
    (void)state;
    assert_int_equal(failure(QUORUM_E_DATA, "row %d", 7), QUORUM_E_DATA);
    assert_string_equal(quorum_message(), "row 7");
    prefix_message("file %s", "a.csv");
    assert_string_equal(quorum_message(), "file a.csv: row 7");
    set_message("again: %s", quorum_message()); /* its own text as an argument */
    assert_string_equal(quorum_message(), "again: file a.csv: row 7");
    char longer[3000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    set_message("%s", longer);
    prefix_message("%s", longer);
    assert_true(strlen(quorum_message()) < 1024);
}

static void messages_carry_no_control_characters(void **state)
{
    (void)state;
    set_message("column \"%s\"", "\x1b]0;title\a\xC3\xB6\xF6\xC2\x9B");
    assert_string_equal(quorum_message(), "column \"\\x1b]0;title\\x07\xC3\xB6\\xf6\\xc2\\x9b\"");
    prefix_message("%s", "a\nb.csv");
    assert_string_equal(quorum_message(),
                        "a\\x0ab.csv: column \"\\x1b]0;title\\x07\xC3\xB6\\xf6\\xc2\\x9b\"");
    char longer[1100];
    memset(longer, '\x1b', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    set_message("%s", longer);
    assert_int_equal(strlen(quorum_message()), 1020); /* 255 whole escapes */
}

static void every_status_has_a_name(void **state)
{
    (void)state;
    for (int s = QUORUM_E_INTERNAL; s <= QUORUM_NO_SIGNAL; s++)
        assert_string_not_equal(quorum_status_name((quorum_status)s), "unknown");
    assert_string_equal(quorum_status_name((quorum_status)77), "unknown");
}

static void allocation_refuses_overflow(void **state)
{
    (void)state;
    assert_null(mem_alloc(SIZE_MAX / 4, 8));
    assert_null(mem_alloc(SIZE_MAX, 1));
    void *p = mem_alloc(0, 8);
    assert_non_null(p);
    mem_free(p);
    mem_fail_at(2);
    void *first = mem_alloc(1, 1);
    assert_non_null(first);
    assert_null(mem_alloc(1, 1));
    assert_null(mem_alloc(1, 1));
    mem_fail_at(0);
    mem_free(first);
}

static void random_numbers_repeat_and_are_uniform(void **state)
{
    (void)state;
    rng a = rng_seed(1, 2), b = rng_seed(1, 2), c = rng_seed(1, 3);
    assert_true(rng_next(&a) == rng_next(&b));
    assert_true(rng_next(&a) != rng_next(&c));
    /* the reference value fixes the generator across machines and versions */
    rng fixed = rng_seed(42, 0);
    assert_true(rng_next(&fixed) == 0xd0764d4f4476689full);
    double sum = 0.0, square = 0.0;
    size_t count[7] = {0};
    for (int i = 0; i < 100000; i++) {
        double z = rng_normal(&a);
        sum += z;
        square += z * z;
        count[rng_below(&a, 7)]++;
    }
    assert_true(fabs(sum / 1e5) < 0.02 && fabs(square / 1e5 - 1.0) < 0.03);
    for (int k = 0; k < 7; k++)
        assert_true(count[k] > 13800 && count[k] < 14800);
}

typedef struct {
    atomic_int runs[1000];
    int fail_from;
    int threads;
} tally;

static quorum_status count_item(void *context, size_t item, int worker)
{
    tally *t = context;
    assert_true(worker >= 0 && worker < t->threads);
    atomic_fetch_add(&t->runs[item], 1);
    if (t->fail_from && (int)item >= t->fail_from)
        return failure(QUORUM_E_NUMERIC, "item %zu", item);
    return QUORUM_OK;
}

static void every_item_runs_once(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8, 300};
    for (size_t k = 0; k < 5; k++) {
        tally t = {.threads = threads[k]};
        assert_ok(parallel_for(threads[k], 1000, count_item, &t));
        for (int i = 0; i < 1000; i++)
            assert_int_equal(t.runs[i], 1);
    }
    tally none = {.threads = 4};
    assert_ok(parallel_for(4, 0, count_item, &none));
}

static void the_first_failure_wins(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 8; threads *= 2) {
        tally t = {.threads = threads, .fail_from = 500};
        assert_int_equal(parallel_for(threads, 1000, count_item, &t), QUORUM_E_NUMERIC);
        assert_string_equal(quorum_message(), "item 500");
        assert_int_equal(t.runs[999], 0); /* it stopped handing out */
    }
}

static quorum_status subnormal_is_zero(void *context, size_t item, int worker)
{
    (void)context;
    (void)item;
    (void)worker;
    volatile double tiny = DBL_MIN;
    tiny = tiny * 0.5;
    return tiny == 0.0 ? QUORUM_OK : failure(QUORUM_E_NUMERIC, "subnormals are kept");
}

static void workers_flush_subnormals_and_callers_do_not(void **state)
{
    (void)state;
    assert_ok(parallel_for(2, 8, subnormal_is_zero, NULL));
    volatile double tiny = DBL_MIN;
    tiny = tiny * 0.5;
    assert_true(tiny > 0.0);
}

static int stop_at_once(void *user, const char *stage, double fraction, const char *detail)
{
    (void)fraction;
    snprintf(user, 64, "%s/%s", stage, detail);
    return 1;
}

static void progress_reports_and_cancels(void **state)
{
    (void)state;
    char seen[64];
    progress p = {.callback = stop_at_once, .user = seen};
    assert_int_equal(progress_report(&p, "train", 0.5, "step %d", 3), QUORUM_E_CANCELLED);
    assert_string_equal(seen, "train/step 3");
    assert_ok(progress_report(NULL, "train", 0.5, "-"));
    assert_ok(progress_report(&(progress){0}, "train", 0.5, "-"));
}

/* ---- Being told to stop in the middle ---- */

typedef struct {
    pthread_t caller;
    double stop_at;   /* by wall_seconds */
    int asked, wrong; /* calls; those of another thread or arithmetic */
    atomic_int begun; /* items           */
} stopping;

static int stop_later(void *user, const char *stage, double fraction, const char *detail)
{
    stopping *s = user;
    volatile double tiny = DBL_MIN;
    tiny = tiny * 0.5;
    (void)fraction;
    s->asked++;
    s->wrong += !pthread_equal(s->caller, pthread_self()) || !(tiny > 0.0);
    s->wrong += strcmp(stage, "train") != 0 || strcmp(detail, "step 3") != 0;
    return wall_seconds() >= s->stop_at;
}

static quorum_status sleep_a_little(void *context, size_t item, int worker)
{
    (void)item;
    (void)worker;
    atomic_fetch_add(&((stopping *)context)->begun, 1);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    return QUORUM_OK;
}

/* The caller's items end as soon as another thread has one, which ends when it hears that it
 * should. */
static quorum_status wait_to_be_stopped(void *context, size_t item, int worker)
{
    stopping *s = context;
    while (worker == 0 && s->begun == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int k = 0; k < 5000 && worker > 0; k++) {
        TRY(progress_go_on());
        TRY(sleep_a_little(s, item, worker));
    }
    return QUORUM_OK;
}

static void stop_in_the_middle(int threads, size_t n, parallel_body body)
{
    stopping s = {.caller = pthread_self(), .stop_at = wall_seconds() + 0.25};
    progress p = {.callback = stop_later, .user = &s};
    progress_watch watch;
    double start = wall_seconds();
    progress_watch_begin(&watch, &p, "fit");
    assert_ok(progress_report(&p, "train", 0.5, "step %d", 3));
    assert_int_equal(parallel_for(threads, n, body, &s), QUORUM_E_CANCELLED);
    assert_says("cancelled during train");
    assert_int_equal(progress_go_on(), QUORUM_E_CANCELLED); /* and so it stays */
    progress_watch_end(&watch);
    assert_ok(progress_go_on());
    assert_true(wall_seconds() - start < 2.0);
    assert_int_equal(s.wrong, 0);
    assert_in_range(s.asked, 3, 10);
    assert_true((size_t)s.begun < 10000);
}

static void loops_can_be_cancelled_in_the_middle(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads *= 2)
        stop_in_the_middle(threads, 10000, sleep_a_little);
}

static void workers_hear_that_they_should_stop(void **state)
{
    (void)state;
    stop_in_the_middle(3, 64, wait_to_be_stopped);
}

static void nothing_is_asked_without_a_watch(void **state)
{
    (void)state;
    stopping s = {.caller = pthread_self()};
    progress_watch watch;
    assert_ok(parallel_for(2, 100, sleep_a_little, &s));
    progress_watch_begin(&watch, NULL, "fit");
    assert_ok(parallel_for(2, 100, sleep_a_little, &s));
    progress_watch_end(&watch);
    assert_int_equal(s.asked, 0);
    assert_int_equal(s.begun, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_kept_and_prefixed),
        cmocka_unit_test(messages_carry_no_control_characters),
        cmocka_unit_test(every_status_has_a_name),
        cmocka_unit_test(allocation_refuses_overflow),
        cmocka_unit_test(random_numbers_repeat_and_are_uniform),
        cmocka_unit_test(every_item_runs_once),
        cmocka_unit_test(the_first_failure_wins),
        cmocka_unit_test(workers_flush_subnormals_and_callers_do_not),
        cmocka_unit_test(progress_reports_and_cancels),
        cmocka_unit_test(loops_can_be_cancelled_in_the_middle),
        cmocka_unit_test(workers_hear_that_they_should_stop),
        cmocka_unit_test(nothing_is_asked_without_a_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
