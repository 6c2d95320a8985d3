/* rows/rows.c: what a set of rows can do, with targets and without. */
#include "support.h"

#include "rows/rows.h"

#include <sys/mman.h>
#include <unistd.h>

enum { ROWS = 6, INPUTS = 3 };

/* Row i has the inputs 10 i, 10 i + 1, .. and the target 100 + i. */
static double input(size_t i, size_t d)
{
    return 10.0 * (double)i + (double)d;
}

static double target(size_t i)
{
    return 100.0 + (double)i;
}

static void fill(row_set *r)
{
    for (size_t i = 0; i < r->n; i++) {
        for (size_t d = 0; d < r->D; d++)
            r->X[i * r->D + d] = input(i, d);
        if (r->y)
            r->y[i] = target(i);
    }
}

static row_set queries_schema(void)
{
    return rows_view_of(0, INPUTS, NULL, NULL);
}

static row_set filled(const row_set *like, size_t n)
{
    row_set r;
    assert_ok(rows_new(like, n, &r));
    fill(&r);
    return r;
}

static row_set training_rows(void)
{
    row_set like = rows_schema(INPUTS);
    return filled(&like, ROWS);
}

static row_set query_rows(void)
{
    row_set like = queries_schema();
    return filled(&like, ROWS);
}

/* Row i of r is the row that was filled in as number `was`. */
static void check_row(const row_set *r, size_t i, size_t was)
{
    for (size_t d = 0; d < r->D; d++)
        assert_true(r->X[i * r->D + d] == input(was, d));
    if (r->y)
        assert_true(r->y[i] == target(was));
}

/* ---- Memory ---- */

static void a_schema_says_what_rows_have(void **state)
{
    (void)state;
    row_set training = rows_schema(INPUTS), queries = queries_schema(), r;
    assert_true(training.n == 0 && training.D == INPUTS && training.y);
    assert_ok(rows_new(&training, ROWS, &r));
    assert_true(r.n == ROWS && r.D == INPUTS && r.X && r.y && r.y != training.y);
    rows_free(&r);
    assert_ok(rows_new(&queries, ROWS, &r));
    assert_true(r.n == ROWS && r.D == INPUTS && r.X && !r.y);
    rows_free(&r);
}

static void freed_rows_are_none_and_may_be_freed_again(void **state)
{
    (void)state;
    row_set r = training_rows();
    for (int k = 0; k < 2; k++) {
        rows_free(&r);
        assert_true(r.n == 0 && r.D == INPUTS && !r.X && !r.y);
    }
}

static void no_rows_are_rows_too(void **state)
{
    (void)state;
    row_set like = rows_schema(INPUTS), r, other;
    assert_ok(rows_new(&like, 0, &r));
    assert_true(r.n == 0 && r.y);
    assert_ok(rows_new(&r, 1, &other)); /* and they have a schema */
    assert_non_null(other.y);
    rows_copy(&r, 0, 0, &other, 1);
    rows_free(&other);
    rows_free(&r);
}

static void either_array_may_have_no_memory(void **state)
{
    (void)state;
    static quorum_status (*const make[])(const row_set *, size_t, row_set *) = {rows_new,
                                                                                rows_new_sparse};
    row_set like = rows_schema(INPUTS), r;
    for (int k = 0; k < 2; k++) {
        quorum_status status = QUORUM_E_MEMORY;
        for (long n = 1; status < 0; n++) {
            mem_fail_at(n);
            status = make[k](&like, ROWS, &r);
            mem_fail_at(0);
            assert_true(n <= 3);
            if (status < 0) {
                assert_int_equal(status, QUORUM_E_MEMORY);
                assert_says("out of memory for 6 rows of 3 inputs");
                assert_true(r.n == 0 && !r.X && !r.y);
            }
        }
        rows_free(&r);
    }
}

/* Pages of an array that are in memory. */
static size_t pages_of(const double *data, size_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), there = 0;
    size_t skipped = (page - (uintptr_t)data % page) % page;
    size_t pages = (count * sizeof *data - skipped) / page;
    unsigned char *in = mem_alloc(pages, 1);
    assert_non_null(in);
    assert_int_equal(mincore((char *)data + skipped, pages * page, in), 0);
    for (size_t i = 0; i < pages; i++)
        there += in[i] & 1;
    mem_free(in);
    return there;
}

static void sparse_rows_take_memory_where_touched(void **state)
{
    (void)state;
    enum { MANY = 1 << 21 };
    static const size_t touched[] = {0, 1234567, MANY - 1};
    row_set like = rows_schema(INPUTS), some = training_rows(), r;
    assert_ok(rows_new_sparse(&like, MANY, &r));
    assert_int_equal(r.n, MANY);
    for (size_t k = 0; k < 3; k++)
        rows_copy(&some, k, 1, &r, touched[k]);
    for (size_t k = 0; k < 3; k++)
        check_row(&r, touched[k], k);
    assert_true(pages_of(r.X, (size_t)MANY * INPUTS) <= 6 && pages_of(r.y, MANY) <= 6);
    rows_free(&r);
    rows_free(&some);
}

/* ---- Views ---- */

static void views_share_memory(void **state)
{
    (void)state;
    static const double X[ROWS * INPUTS] = {0}, y[ROWS] = {0};
    row_set of = rows_view_of(ROWS, INPUTS, X, y);
    assert_true(of.n == ROWS && of.D == INPUTS && of.X == X && of.y == y);
    row_set r = training_rows(), v = rows_view(&r, 2, 3), inner = rows_view(&v, 1, 2);
    assert_true(v.n == 3 && v.D == INPUTS && v.X == r.X + (size_t)2 * INPUTS && v.y == r.y + 2);
    for (size_t i = 0; i < inner.n; i++)
        check_row(&inner, i, 3 + i);
    row_set last = rows_view(&r, ROWS, 0);
    assert_int_equal(last.n, 0);
    rows_free(&r);
    r = query_rows();
    v = rows_view(&r, 2, 3);
    assert_true(v.n == 3 && v.X == r.X + (size_t)2 * INPUTS && !v.y);
    rows_free(&r);
}

static void fields_can_be_left_away(void **state)
{
    (void)state;
    row_set r = training_rows(), training = rows_schema(INPUTS), queries = queries_schema();
    row_set both = rows_only(&r, &training), inputs = rows_only(&r, &queries);
    assert_true(both.n == ROWS && both.X == r.X && both.y == r.y);
    assert_true(inputs.n == ROWS && inputs.D == INPUTS && inputs.X == r.X && !inputs.y);
    rows_free(&r);
    r = query_rows();
    both = rows_only(&r, &training); /* none are made up */
    assert_true(both.X == r.X && !both.y);
    rows_free(&r);
}

/* ---- Copies ---- */

static void rows_are_copied_in_the_fields_that_the_copy_has(void **state)
{
    (void)state;
    row_set r = training_rows(), to = training_rows(), queries = query_rows();
    rows_copy(&r, 1, 2, &to, 4);
    rows_copy(&r, 1, 2, &queries, 4);
    for (size_t i = 0; i < ROWS; i++) {
        size_t was = i < 4 ? i : i - 3;
        check_row(&to, i, was);
        check_row(&queries, i, was);
    }
    assert_null(queries.y);
    rows_free(&queries);
    rows_free(&to);
    rows_free(&r);
}

static void listed_rows_are_taken_in_order(void **state)
{
    (void)state;
    static const size_t list[] = {5, 0, 3, 3};
    row_set r = training_rows(), to = training_rows(), queries = query_rows();
    rows_take(&r, list, 4, &to);
    rows_take(&r, list, 4, &queries);
    for (size_t i = 0; i < ROWS; i++) {
        size_t was = i < 4 ? list[i] : i;
        check_row(&to, i, was);
        check_row(&queries, i, was);
    }
    rows_free(&queries);
    rows_free(&to);
    rows_free(&r);
}

static void fields_can_be_taken_alone(void **state)
{
    (void)state;
    static const size_t list[] = {5, 0, 3, 3};
    row_set r = training_rows(), to = training_rows(), queries = query_rows();
    rows_take_fields(&r, list, 4, &to);
    rows_take_fields(&r, list, 4, &queries);
    assert_memory_equal(to.X, r.X, sizeof(double) * ROWS * INPUTS);
    assert_memory_equal(queries.X, r.X, sizeof(double) * ROWS * INPUTS);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(to.y[i] == target(i < 4 ? list[i] : i));
    assert_null(queries.y);
    rows_free(&queries);
    rows_free(&to);
    rows_free(&r);
}

/* ---- As they travel ---- */

static void packed_rows_come_back(void **state)
{
    (void)state;
    row_set both[] = {training_rows(), query_rows()};
    for (size_t k = 0; k < 2; k++) {
        double packed[INPUTS + 2] = {[INPUTS] = -1.0, [INPUTS + 1] = -1.0};
        size_t width = row_width(&both[k]);
        assert_int_equal(width, k == 0 ? INPUTS + 1 : INPUTS);
        row_pack(&both[k], 4, packed);
        for (size_t d = 0; d < INPUTS; d++)
            assert_true(packed[d] == input(4, d));
        assert_true(packed[INPUTS] == (k == 0 ? target(4) : -1.0));
        assert_true(packed[width] == -1.0); /* no more than its width */
        row_unpack(packed, &both[k], 1);
        for (size_t i = 0; i < ROWS; i++)
            check_row(&both[k], i, i == 1 ? 4 : i);
        rows_free(&both[k]);
    }
}

static void columns_are_inputs_and_then_fields(void **state)
{
    (void)state;
    row_set r = training_rows(), queries = query_rows();
    row_column column[ROW_COLUMNS_MOST];
    assert_int_equal(row_columns(&r, column), 2);
    assert_true(column[0].data == r.X && column[0].width == INPUTS);
    assert_true(column[1].data == r.y && column[1].width == 1);
    assert_int_equal(row_columns(&queries, column), 1);
    assert_true(column[0].data == queries.X && column[0].width == INPUTS);
    rows_free(&queries);
    rows_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schema_says_what_rows_have),
        cmocka_unit_test(freed_rows_are_none_and_may_be_freed_again),
        cmocka_unit_test(no_rows_are_rows_too),
        cmocka_unit_test(either_array_may_have_no_memory),
        cmocka_unit_test(sparse_rows_take_memory_where_touched),
        cmocka_unit_test(views_share_memory),
        cmocka_unit_test(fields_can_be_left_away),
        cmocka_unit_test(rows_are_copied_in_the_fields_that_the_copy_has),
        cmocka_unit_test(listed_rows_are_taken_in_order),
        cmocka_unit_test(fields_can_be_taken_alone),
        cmocka_unit_test(packed_rows_come_back),
        cmocka_unit_test(columns_are_inputs_and_then_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
