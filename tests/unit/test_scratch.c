#include "base/scratch.h"
#include "support.h"

#include <pthread.h>

static const double ROOM = 1 << 20;

static long allocations_of(size_t bytes)
{
    mem_fail_at(0);
    mem_free(mem_alloc(bytes, 1));
    return mem_allocations();
}

static void a_second_call_allocates_nothing(void **state)
{
    (void)state;
    scratch_shelf shelf = {0};
    assert_int_equal(allocations_of(1000), 1);
    assert_int_equal(allocations_of(1000), 1); /* no call: nothing is kept */
    for (int call = 0; call < 3; call++) {
        scratch_visit visit = scratch_enter(&shelf, ROOM);
        assert_int_equal(allocations_of(1000), call == 0);
        assert_int_equal(allocations_of(0), call == 0);
        assert_int_equal(allocations_of(1000), 0);
        scratch_leave(visit);
    }
    assert_int_equal(allocations_of(1000), 1);
    scratch_shelf_free(&shelf);
}

/* Whatever the size: aligned, all of it to be written to, and apart from the others. */
static void blocks_have_their_size(void **state)
{
    (void)state;
    enum { BLOCKS = 300 };
    scratch_shelf shelf = {0};
    unsigned char *p[BLOCKS];
    for (int call = 0; call < 3; call++) {
        scratch_visit visit = scratch_enter(&shelf, ROOM);
        for (size_t i = 0; i < BLOCKS; i++) {
            size_t bytes = i * i / 7 + (size_t)call;
            p[i] = mem_alloc(bytes, 1);
            assert_true((uintptr_t)p[i] % 64 == 0);
            memset(p[i], (int)i % 251, bytes);
        }
        for (size_t i = 0; i < BLOCKS; i++) {
            for (size_t b = 0; b < i * i / 7; b++)
                assert_true(p[i][b] == i % 251);
            mem_free(p[i]);
        }
        scratch_leave(visit);
    }
    scratch_shelf_free(&shelf);
}

static void a_block_may_outlive_the_call(void **state)
{
    (void)state;
    scratch_shelf shelf = {0};
    char *outer = mem_alloc(100, 1);
    scratch_visit visit = scratch_enter(&shelf, ROOM);
    char *inner = mem_alloc(100, 1);
    mem_free(outer);
    scratch_leave(visit);
    scratch_shelf_free(&shelf);
    memset(inner, 1, 100);
    mem_free(inner);
}

static void no_more_is_kept_than_allowed(void **state)
{
    (void)state;
    scratch_shelf shelf = {0};
    scratch_visit visit = scratch_enter(&shelf, 64000.0);
    void *p[50];
    for (int i = 0; i < 50; i++)
        p[i] = mem_alloc(6400, 1);
    for (int i = 0; i < 50; i++)
        mem_free(p[i]);
    assert_in_range(visit.own->bytes, 32000, 64000);
    assert_int_equal(allocations_of(40000), 1);
    assert_int_equal(allocations_of(40000), 1); /* more than half of it: not kept */
    scratch_leave(visit);
    visit = scratch_enter(&shelf, 64000.0); /* what this call needs drives out the rest */
    assert_int_equal(allocations_of(20000), 1);
    assert_int_equal(allocations_of(20000), 0);
    assert_in_range(visit.own->bytes, 20000, 64000);
    scratch_leave(visit);
    visit = scratch_enter(&shelf, 6400.0); /* less memory than before */
    assert_int_equal(visit.own->bytes, 0);
    scratch_leave(visit);
    scratch_shelf_free(&shelf);
}

static void tests_see_every_allocation_fail(void **state)
{
    (void)state;
    scratch_shelf shelf = {0};
    scratch_visit visit = scratch_enter(&shelf, ROOM);
    mem_free(mem_alloc(100, 1));
    mem_fail_at(1);
    assert_null(mem_alloc(100, 1));
    mem_fail_at(0);
    assert_int_equal(allocations_of(100), 0);
    scratch_leave(visit);
    scratch_shelf_free(&shelf);
}

static void calls_within_calls_have_places_of_their_own(void **state)
{
    (void)state;
    enum { DEPTH = SHELF_PLACES + 3 };
    scratch_shelf shelf = {0};
    scratch_visit visit[DEPTH];
    for (int i = 0; i < DEPTH; i++) {
        visit[i] = scratch_enter(&shelf, ROOM);
        assert_true((visit[i].own != NULL) == (i < SHELF_PLACES));
        assert_int_equal(allocations_of(100), 1);
        assert_int_equal(allocations_of(100), i >= SHELF_PLACES);
    }
    for (int i = DEPTH; i-- > 0;)
        scratch_leave(visit[i]);
    scratch_shelf_free(&shelf);
}

static void *work(void *argument)
{
    size_t seed = (size_t)(uintptr_t)&seed % 977;
    for (size_t call = 0; call < 200; call++) {
        scratch_visit visit = scratch_enter(argument, ROOM);
        size_t n = 1 + (seed + call * 37) % 500, *a = mem_alloc(n, sizeof *a);
        size_t *b = mem_alloc(2 * n, sizeof *b);
        for (size_t i = 0; i < n; i++)
            a[i] = b[i] = b[n + i] = call + i;
        int same = memcmp(a, b, n * sizeof *a) == 0;
        mem_free(a);
        mem_free(b);
        scratch_leave(visit);
        if (!same)
            return argument;
    }
    return NULL;
}

static void threads_never_share_a_place(void **state)
{
    (void)state;
    enum { THREADS = SHELF_PLACES + 4 };
    scratch_shelf shelf = {0};
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, &shelf), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    scratch_shelf_free(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_call_allocates_nothing),
        cmocka_unit_test(blocks_have_their_size),
        cmocka_unit_test(a_block_may_outlive_the_call),
        cmocka_unit_test(no_more_is_kept_than_allowed),
        cmocka_unit_test(tests_see_every_allocation_fail),
        cmocka_unit_test(calls_within_calls_have_places_of_their_own),
        cmocka_unit_test(threads_never_share_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
