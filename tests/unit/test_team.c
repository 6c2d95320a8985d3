/* team/: who owns what, and a team of one. */
#include "support.h"

#include "team/team.h"

static void slices_cover_everything_once(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 7; ranks++)
        for (size_t n = 0; n < 100; n += 7) {
            size_t next = 0;
            for (int r = 0; r < ranks; r++) {
                team_slice s = slice_of(n, 16, r, ranks);
                assert_int_equal(s.first, next < n ? next : n);
                assert_true(s.count % 16 == 0 || s.first + s.count == n);
                next = s.first + s.count;
            }
            assert_int_equal(next, n);
        }
}

static void slices_are_even(void **state)
{
    (void)state;
    for (int r = 0; r < 4; r++) {
        size_t count = slice_of(10, 1, r, 4).count;
        assert_true(count == 2 || count == 3);
    }
    assert_int_equal(slice_of(10, 1, MOST_RANKS, MOST_RANKS + 1).count, 0);
}

static void owners_of_slices(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 7; ranks++)
        for (size_t n = 1; n < 120; n += 13)
            for (size_t i = 0; i < n; i++) {
                int owner = slice_owner(n, 16, i, ranks);
                team_slice s = slice_of(n, 16, owner, ranks);
                assert_true(owner < ranks && i >= s.first && i < s.first + s.count);
            }
}

static void add_one(void *context)
{
    ++*(int *)context;
}

static void one_alone_sends_to_itself(void **state)
{
    (void)state;
    size_t counts[] = {3, 4}, count = 2, came[2] = {0};
    int turns = 0;
    team_add(counts, 2);
    assert_int_equal(counts[1], 4);
    team_exchange(counts, &count, came, &count, sizeof *counts);
    assert_memory_equal(came, counts, sizeof counts);
    team_in_turn(&turns, sizeof turns, add_one, &turns);
    assert_int_equal(turns, 1);
}

static void costs_are_even(void **state)
{
    (void)state;
    const double cost[] = {8, 7, 6, 5, 4, 3, 2, 1};
    int owner[8];
    double load[3] = {0};
    spread_by_cost(cost, 8, 3, owner);
    for (size_t i = 0; i < 8; i++)
        load[owner[i]] += cost[i];
    for (int r = 0; r < 3; r++)
        assert_close(load[r], 12.0, 1.0 / 12.0);
    assert_int_equal(owner[0], 0);
    assert_int_equal(owner[1], 1);
}

static void one_alone_agrees_with_itself(void **state)
{
    (void)state;
    double item = 3.0;
    team_piece piece = {.data = &item, .bytes = sizeof item};
    assert_int_equal(team_size(), 1);
    assert_int_equal(team_rank(), 0);
    assert_int_equal(team_agree(QUORUM_E_DATA), QUORUM_E_DATA);
    assert_int_equal(team_agree(QUORUM_AT_BOUND), QUORUM_AT_BOUND);
    team_share(&piece, 1);
    team_send(&item, sizeof item);
    assert_close(item, 3.0, 0.0);
    assert_int_equal(my_slice(5, 1).count, 5);
    assert_close(team_spent().sent, 0.0, 0.0);
    assert_int_equal(team_finish(2), 2);
}

typedef struct {
    size_t *square;
    size_t done;
} squares;

static quorum_status square_item(void *context, size_t item, int worker)
{
    (void)worker;
    squares *s = context;
    s->square[item] = item * item;
    return QUORUM_OK;
}

static quorum_status square_items(void *context, const size_t *items, size_t count)
{
    squares *s = context;
    for (size_t i = 0; i < count; i++)
        s->square[items[i]] = items[i] * items[i];
    s->done = count;
    return QUORUM_OK;
}

static void one_alone_maps_all_items(void **state)
{
    (void)state;
    size_t square[9] = {0};
    squares s = {.square = square};
    team_result result = {.data = square, .width = sizeof *square};
    assert_int_equal(team_map(QUORUM_OK, 2, 9, square_item, &s, &result, 1), QUORUM_OK);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(square[i], i * i);
}

static void dear_items_come_first(void **state)
{
    (void)state;
    const double cost[] = {1.0, 5.0, 5.0, 9.0};
    size_t square[4] = {0};
    squares s = {.square = square};
    team_result result = {.data = square, .width = sizeof *square};
    work_share share;
    assert_int_equal(work_share_new(cost, 4, &share), QUORUM_OK);
    const size_t order[] = {3, 1, 2, 0};
    assert_memory_equal(share.items, order, sizeof order);
    assert_true(work_is_mine(&share, 2));
    assert_int_equal(team_map_share(QUORUM_OK, &share, square_items, &s, &result, 1), QUORUM_OK);
    assert_int_equal(s.done, 4);
    assert_int_equal(square[3], 9);
    work_share_free(&share);
}

static void who_is_not_ready_does_nothing(void **state)
{
    (void)state;
    size_t square[3] = {7, 7, 7};
    squares s = {.square = square};
    team_result result = {.data = square, .width = sizeof *square};
    quorum_status failed = failure(QUORUM_E_MEMORY, "no room");
    assert_int_equal(team_map(failed, 1, 3, square_item, &s, &result, 1), QUORUM_E_MEMORY);
    assert_int_equal(square[0], 7);
    assert_string_equal(quorum_message(), "no room");
}

static quorum_status count_call(void *context)
{
    return ++*(int *)context < 3 ? QUORUM_OK : failure(QUORUM_E_FILE, "too often");
}

static void each_and_the_first_do_it_once(void **state)
{
    (void)state;
    int calls = 0;
    quorum_status failed = failure(QUORUM_E_MEMORY, "no room");
    assert_int_equal(team_all(failed, count_call, &calls), QUORUM_E_MEMORY);
    assert_int_equal(team_first(failed, count_call, &calls), QUORUM_E_MEMORY);
    assert_int_equal(calls, 0);
    assert_int_equal(team_all(QUORUM_OK, count_call, &calls), QUORUM_OK);
    assert_int_equal(team_first(QUORUM_OK, count_call, &calls), QUORUM_OK);
    assert_int_equal(team_all(QUORUM_OK, count_call, &calls), QUORUM_E_FILE);
    assert_int_equal(team_same_file(QUORUM_OK, "the file", 7), QUORUM_OK);
    assert_int_equal(team_same_file(failed, "the file", 7), QUORUM_E_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_cover_everything_once),
        cmocka_unit_test(slices_are_even),
        cmocka_unit_test(owners_of_slices),
        cmocka_unit_test(one_alone_sends_to_itself),
        cmocka_unit_test(costs_are_even),
        cmocka_unit_test(one_alone_agrees_with_itself),
        cmocka_unit_test(one_alone_maps_all_items),
        cmocka_unit_test(dear_items_come_first),
        cmocka_unit_test(who_is_not_ready_does_nothing),
        cmocka_unit_test(each_and_the_first_do_it_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
