/* rows/: who has which rows, rows to be written, rows that are read, and their scaling, for a team
 * of one; tests/mpi has the same for several. */
#include "support.h"

#include "base/memory.h"
#include "gp/points.h"
#include "rows/dealing.h"
#include "rows/home.h"
#include "rows/scaling.h"

#include <math.h>
#include <string.h>

enum { ROWS = 7, INPUTS = 2, PARTS = 3 };

static size_t offset[PARTS + 1] = {0, 2, 6, 7};
static const parts three = {.rows.n = ROWS, .rows.D = INPUTS, .M = PARTS, .offset = offset};

static quorum_status not_ready(void)
{
    return failure(QUORUM_E_MEMORY, "not ready");
}

static void one_process_has_all_parts(void **state)
{
    (void)state;
    holdings h;
    assert_int_equal(holdings_new(&three, &h), QUORUM_OK);
    assert_true(holdings_is_whole(&h));
    assert_int_equal(holdings_rows(&h), ROWS);
    for (size_t e = 0; e < PARTS; e++)
        assert_true(holdings_is_mine(&h, e));
    assert_int_equal(h.share.items[0], 1); /* the largest first */
    assert_true(holdings_bytes(8.0) == 8.0);
    holdings_free(&h);
    assert_true(holdings_is_whole(&h) && holdings_is_mine(&h, 2)); /* never made: whole */
}

static void holdings_need_memory(void **state)
{
    (void)state;
    holdings h;
    quorum_status status = QUORUM_E_MEMORY;
    for (long k = 1; status < 0; k++) {
        mem_fail_at(k);
        status = holdings_new(&three, &h);
        mem_fail_at(0);
        assert_true(status == QUORUM_OK || (status == QUORUM_E_MEMORY && !h.has));
    }
    holdings_free(&h);
}

static void rows_are_taken_by_part(void **state)
{
    (void)state;
    static const size_t row[ROWS] = {3, 5, 0, 1, 2, 6, 4};
    double from_X[ROWS * INPUTS], from_y[ROWS], X[ROWS * INPUTS], y[ROWS], some[2 * INPUTS];
    for (size_t i = 0; i < (size_t)ROWS * INPUTS; i++)
        from_X[i] = (double)i;
    for (size_t i = 0; i < ROWS; i++)
        from_y[i] = 100.0 + (double)i;
    row_set all = rows_view_of(ROWS, INPUTS, from_X, from_y), to = rows_view_of(ROWS, INPUTS, X, y);
    scattered_rows from = rows_scattered(ROWS, &all);
    holdings h;
    assert_int_equal(holdings_new(&three, &h), QUORUM_OK);
    assert_int_equal(holdings_take(not_ready(), &h, &from, row, &to), QUORUM_E_MEMORY);
    assert_int_equal(holdings_take(QUORUM_OK, &h, &from, row, &to), QUORUM_OK);
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(y[i] == from_y[row[i]]);
        assert_memory_equal(X + i * INPUTS, from_X + row[i] * INPUTS, INPUTS * sizeof *X);
    }
    assert_int_equal(holdings_share_all(QUORUM_OK, &h, &to), QUORUM_OK);
    assert_int_equal(holdings_share(not_ready(), &h, row, 0, &to), QUORUM_E_MEMORY);
    parts filled = three;
    filled.rows = to;
    static const size_t wanted[] = {6, 1};
    assert_int_equal(holdings_fetch(QUORUM_OK, &h, &filled, wanted, 2, some), QUORUM_OK);
    assert_memory_equal(some, from_X + (size_t)4 * INPUTS, INPUTS * sizeof *some);
    assert_memory_equal(some + INPUTS, from_X + (size_t)5 * INPUTS, INPUTS * sizeof *some);
    assert_int_equal(holdings_fetch(not_ready(), &h, &filled, wanted, 2, some), QUORUM_E_MEMORY);
    holdings_free(&h);
    assert_int_equal(holdings_fetch(QUORUM_OK, &h, &filled, wanted, 1, some + INPUTS), QUORUM_OK);
    assert_memory_equal(some + INPUTS, some, INPUTS * sizeof *some);
}

static quorum_status write_all(void *context, rows_home *home)
{
    int *calls = context;
    assert_null(home); /* all rows are here */
    return ++*calls == 1 ? QUORUM_OK : failure(QUORUM_E_FILE, "cannot write");
}

static void whole_rows_are_written_from_where_they_are(void **state)
{
    (void)state;
    int calls = 0;
    holdings none = {0};
    assert_int_equal(rows_bring_home(QUORUM_OK, &none, NULL, write_all, &calls), QUORUM_OK);
    assert_int_equal(rows_bring_home(not_ready(), &none, NULL, write_all, &calls), QUORUM_E_MEMORY);
    assert_int_equal(calls, 1);
    assert_int_equal(rows_bring_home(QUORUM_OK, &none, NULL, write_all, &calls), QUORUM_E_FILE);
}

/* ---- Reading ---- */

typedef struct {
    size_t next, rows, together; /* so many at a time at most */
} counting;

static quorum_status count_rows(void *context, size_t most, double *rows, size_t *got)
{
    counting *c = context;
    *got = 0;
    if (c->next > c->rows)
        return failure(QUORUM_E_DATA, "a bad row");
    for (; c->next < c->rows && *got < most && *got < c->together; c->next++, ++*got)
        for (size_t d = 0; d <= INPUTS; d++)
            rows[*got * (INPUTS + 1) + d] = (double)c->next + 0.25 * (double)d;
    return QUORUM_OK;
}

static quorum_status deal(size_t rows, size_t expected, double memory, size_t *n, row_set *held)
{
    counting c = {.rows = rows, .together = rows % 2 ? rows : 1000};
    row_source source = {.like = rows_schema(INPUTS),
                         .memory = memory,
                         .threads = (int)(rows % 4),
                         .name = "here",
                         .expected = expected,
                         .next = count_rows,
                         .context = &c};
    return rows_deal(QUORUM_OK, &source, n, held);
}

static void rows_are_read_into_their_place(void **state)
{
    (void)state;
    static const size_t rows[] = {0, 1, 4095, 4096, 4097, 20000, 200002, 200003};
    for (size_t k = 0; k < 3 * sizeof rows / sizeof *rows; k++) {
        size_t n, count = rows[k / 3],
                  expected[] = {0, count, count / 3}; /* not known, right, too few */
        row_set held;
        assert_int_equal(deal(count, expected[k % 3], 1e9, &n, &held), QUORUM_OK);
        assert_int_equal(n, count);
        assert_int_equal(held.n, count);
        for (size_t i = 0; i < n; i++) {
            const double *x = held.X + i * INPUTS;
            assert_true(held.y[i] == (double)i + 0.5);
            assert_true(x[0] == (double)i && x[1] == (double)i + 0.25);
        }
        rows_free(&held);
    }
}

static void reading_stays_within_memory(void **state)
{
    (void)state;
    size_t n;
    row_set held;
    double row = (INPUTS + 1) * sizeof(double);
    assert_int_equal(deal(20000, 0, 10000 * row, &n, &held), QUORUM_E_MEMORY);
    assert_non_null(strstr(quorum_message(), "here: reading more than"));
    rows_free(&held);
    assert_int_equal(deal(10, 0, 0.5 * row, &n, &held), QUORUM_E_MEMORY);
    assert_null(held.X);
    rows_free(&held);
}

static void reading_fails_with_its_source(void **state)
{
    (void)state;
    counting c = {.next = 1, .rows = 0};
    row_source source = {.like = rows_schema(INPUTS),
                         .memory = 1e9,
                         .name = "here",
                         .next = count_rows,
                         .context = &c};
    size_t n;
    row_set held;
    assert_int_equal(rows_deal(QUORUM_OK, &source, &n, &held), QUORUM_E_DATA);
    rows_free(&held);
    assert_int_equal(rows_deal(not_ready(), &source, &n, &held), QUORUM_E_MEMORY);
    assert_true(n == 0 && !held.X && !held.y);
}

/* ---- Scaling ---- */

static void columns_are_standardised(void **state)
{
    (void)state;
    double X[] = {1, 5, 3, 5, 5, 5}, mean[2], scale[2];
    char constant[2];
    row_set all = rows_view_of(3, 2, X, NULL);
    scattered_rows rows = rows_scattered(3, &all);
    assert_int_equal(scaling_learn(not_ready(), &rows, mean, scale, constant), QUORUM_E_MEMORY);
    assert_int_equal(scaling_learn(QUORUM_OK, &rows, mean, scale, constant), QUORUM_OK);
    assert_close(mean[0], 3.0, 1e-15);
    assert_close(scale[0], sqrt(8.0 / 3.0), 1e-15);
    assert_true(!constant[0] && constant[1] && mean[1] == 5.0 && scale[1] == 1.0);
    mem_fail_at(1);
    assert_int_equal(scaling_learn(QUORUM_OK, &rows, mean, scale, constant), QUORUM_E_MEMORY);
    mem_fail_at(0);
}

static void inputs_are_scaled_as_points_are(void **state)
{
    (void)state;
    double X[] = {0.1, -7.0, 1e300, 3.0, 1.0 / 3.0, 1e-300}, l[] = {0.3, 1e-200}, Z[6], norm[3];
    points p, only = {.n = 3, .D = 2, .stride = 3, .Z = (double[6]){0}, .norm = norm};
    assert_int_equal(points_new(3, 2, &p), QUORUM_OK);
    points_scale(&p, 3, X, NULL, l);
    scale_inputs(3, 2, X, l, Z);
    assert_memory_equal(Z, p.Z, sizeof Z);
    for (size_t i = 0; i < 3; i++) { /* without T, a point at a time */
        points one = points_view(&only, i, 1);
        points_scale(&one, 1, X + i * 2, NULL, l);
    }
    assert_memory_equal(only.Z, p.Z, sizeof Z);
    assert_memory_equal(norm, p.norm, sizeof norm);
    points_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_has_all_parts),
        cmocka_unit_test(holdings_need_memory),
        cmocka_unit_test(rows_are_taken_by_part),
        cmocka_unit_test(whole_rows_are_written_from_where_they_are),
        cmocka_unit_test(rows_are_read_into_their_place),
        cmocka_unit_test(reading_stays_within_memory),
        cmocka_unit_test(reading_fails_with_its_source),
        cmocka_unit_test(columns_are_standardised),
        cmocka_unit_test(inputs_are_scaled_as_points_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
