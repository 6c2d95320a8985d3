/* Boxes of rows by median splits: their sizes, their order, and what they do without memory. */
#include "near/boxes.h"
#include "support.h"

enum { N = 1003, INPUTS = 2, PARTS = 13 };

static scattered_rows some_rows(void)
{
    double *X = random_normals((size_t)N * INPUTS, 5);
    for (size_t i = 0; i < N; i += 3)
        X[i * INPUTS] = 0.25; /* ties */
    row_set all = rows_view_of(N, INPUTS, X, NULL);
    return rows_scattered(N, &all);
}

static void boxes_are_equal_and_ascending(void **state)
{
    (void)state;
    scattered_rows rows = some_rows();
    size_t size[PARTS] = {0}, last[PARTS] = {0};
    boxed_rows b;
    assert_ok(box_rows(QUORUM_OK, &(box_problem){&rows, PARTS, 2}, &b));
    assert_int_equal(b.rows.n, N);
    for (size_t i = 0; i < b.rows.n; i++) {
        size_t box = b.label[i];
        assert_true(box < PARTS && (size[box] == 0 || last[box] < b.row[i]));
        assert_memory_equal(b.rows.X + i * INPUTS, rows.held.X + b.row[i] * INPUTS,
                            INPUTS * sizeof *b.rows.X);
        last[box] = b.row[i];
        size[box]++;
    }
    for (size_t k = 0; k < PARTS; k++)
        assert_int_equal(size[k], N / PARTS + (k < N % PARTS));
    boxed_rows_free(&b);
    rows_free(&rows.held);
}

static void labels_are_those_of_the_boxes(void **state)
{
    (void)state;
    scattered_rows rows = some_rows();
    size_t label[N];
    for (int whole = 0; whole < 2; whole++) {
        boxed_rows b;
        rows.whole = whole;
        box_problem p = {&rows, PARTS, 1 + whole};
        assert_ok(box_rows(QUORUM_OK, &p, &b));
        assert_ok(boxes_label(QUORUM_OK, &p, label));
        for (size_t i = 0; i < b.rows.n; i++)
            assert_int_equal(label[b.row[i]], b.label[i]);
        boxed_rows_free(&b);
    }
    rows_free(&rows.held);
}

static void who_is_not_ready_gets_nothing(void **state)
{
    (void)state;
    scattered_rows rows = some_rows();
    box_problem p = {&rows, PARTS, 1};
    boxed_rows b;
    quorum_status without = failure(QUORUM_E_MEMORY, "no room for labels");
    assert_int_equal(box_rows(without, &p, &b), QUORUM_E_MEMORY);
    assert_null(b.row);
    assert_int_equal(boxes_label(without, &p, NULL), QUORUM_E_MEMORY);
    assert_says("no room for labels");
    rows_free(&rows.held);
}

static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    scattered_rows rows = some_rows();
    size_t label[N];
    quorum_status status = QUORUM_E_MEMORY;
    for (long n = 1; status < 0; n++) {
        mem_fail_at(n);
        status = boxes_label(QUORUM_OK, &(box_problem){&rows, PARTS, 1}, label);
        mem_fail_at(0);
        assert_true(status == QUORUM_OK || status == QUORUM_E_MEMORY);
        assert_true(n < 20);
    }
    rows_free(&rows.held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_equal_and_ascending),
        cmocka_unit_test(labels_are_those_of_the_boxes),
        cmocka_unit_test(who_is_not_ready_gets_nothing),
        cmocka_unit_test(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
