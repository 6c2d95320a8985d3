/* Queries that come line by line (quorum_stream_open_lines), and JSON as csv (columns/json_row.h). */
#include "support.h"

#include "columns/json_row.h"
#include "quorum.h"

/* y by a and b, named. */
static quorum_model *small_model(void)
{
    static const char *const names[] = {"a", "b", "y"};
    double *X = random_normals(60, 1), *y = smooth_targets(X, 30, 2, 0.1);
    quorum_options *o = quorum_options_new();
    quorum_model *m = NULL;
    assert_ok(quorum_options_set(o, "theta", "1,1,0.1"));
    assert_ok(quorum_fit(X, y, 30, 2, names, o, &m));
    quorum_options_free(o);
    mem_free(X);
    mem_free(y);
    return m;
}

static quorum_status feed(quorum_stream *s, const char *text)
{
    return quorum_stream_feed(s, text, strlen(text));
}

/* The only row that the text gives. */
static void check_row(quorum_stream *s, const char *text, double a, double b)
{
    double X[4];
    size_t rows;
    assert_ok(feed(s, text));
    assert_ok(quorum_stream_next(s, 2, X, NULL, &rows));
    assert_int_equal(rows, 1);
    assert_true(X[0] == a && X[1] == b);
}

static void check_bad(quorum_stream *s, const char *text, const char *says)
{
    double X[2];
    size_t rows;
    quorum_status status = feed(s, text);
    if (status >= 0)
        status = quorum_stream_next(s, 1, X, NULL, &rows);
    assert_true(status < 0);
    assert_says(says);
}

static void csv_line_by_line(void **state)
{
    (void)state;
    quorum_model *m = small_model();
    quorum_stream_request wanted = {.keep = "id"};
    quorum_stream *s = NULL;
    double X[2];
    size_t rows;
    assert_ok(quorum_stream_open_lines(m, 0, &wanted, NULL, &s));
    assert_ok(quorum_stream_next(s, 1, X, NULL, &rows));
    assert_int_equal(rows, 0); /* nothing came yet */
    check_bad(s, "a,c\n", "no column \"b\"");
    check_bad(s, "b,a\n", "no column \"id\"");
    assert_ok(feed(s, "b;id;a\n"));
    check_row(s, "2;x;1\n", 1.0, 2.0);
    assert_string_equal(quorum_stream_kept(s, 0, 0), "x");
    check_bad(s, "2;x\n", "line 3");
    check_bad(s, "2;\"x;1\n", "never closed");
    check_row(s, "2,5;y;1\n", 1.0, 2.5);
    assert_int_equal(quorum_stream_decimal_comma(s), 1);
    check_bad(s, "2;x;zero\n", "line 6");
    assert_ok(feed(s, "1;p;2\n3;q;4\n")); /* several lines */
    assert_ok(quorum_stream_next(s, 1, X, NULL, &rows));
    assert_true(rows == 1 && X[0] == 2.0);
    check_row(s, "5;r;6\n", 6.0, 5.0); /* what was left has gone */
    check_bad(s, "1;\"\";x\n", "line 10");
    quorum_stream_close(s);
    quorum_model_free(m);
}

static void zero_bytes_are_refused(void **state)
{
    (void)state;
    quorum_model *m = small_model();
    quorum_stream_request wanted = {0};
    quorum_stream *s = NULL;
    assert_ok(quorum_stream_open_lines(m, 0, &wanted, NULL, &s));
    assert_true(quorum_stream_feed(s, "a\0b\n", 4) < 0);
    assert_ok(feed(s, "a,b\n"));
    assert_true(quorum_stream_feed(s, "1,\0\n", 4) < 0);
    check_row(s, "1,2\n", 1.0, 2.0);
    assert_true(quorum_stream_feed(NULL, "", 0) < 0);
    assert_true(quorum_stream_feed(s, NULL, 0) < 0);
    quorum_stream_close(s);
    quorum_model_free(m);
}

static void json_line_by_line(void **state)
{
    (void)state;
    quorum_model *m = small_model();
    quorum_stream_request wanted = {0};
    quorum_stream *s = NULL;
    assert_ok(quorum_stream_open_lines(m, 1, &wanted, NULL, &s));
    check_row(s, "{\"b\": 0.1, \"a\": -1e300}", -1e300, 0.1);
    check_row(s, "{\"b\": 3, \"a\": 4}\n", 4.0, 3.0);
    check_row(s, "[1, 2.5]", 1.0, 2.5);
    check_row(s, "{\"a\": 4, \"text\": \"x, \\\"y\\\"\\r\\n;\\t\", \"b\": \"7\"}", 4.0, 7.0);
    check_bad(s, "{\"a\": 4}", "no column \"b\"");
    check_bad(s, "[4]", "2 inputs");
    check_bad(s, "[]", "no values");
    check_bad(s, "3", "a row is an object");
    check_bad(s, "{\"a\": {}, \"b\": 1}", "is an object");
    check_bad(s, "{\"a\": 1,", "not JSON");
    check_bad(s, "[null, 2]", "empty");
    check_bad(s, "[2, null]", "empty");
    check_bad(s, "[true, 2]", "true");
    check_row(s, "[5, 6]", 5.0, 6.0);
    quorum_stream_close(s);
    quorum_model_free(m);
}

static void json_as_csv(void **state)
{
    (void)state;
    json_row r;
    static const char text[] =
        "{\"a \\\"1\\\"\": 0.1, \"b\": \"x\", \"c\": null, \"d\": 12345678901234567}";
    static const char *const order[] = {"d", "b"};
    assert_ok(json_row_read(text, sizeof text - 1, NULL, 0, &r));
    assert_string_equal(r.header, "\"a \"\"1\"\"\",\"b\",\"c\",\"d\"\n");
    assert_string_equal(r.row, "0.10000000000000001,\"x\",\"\",12345678901234567\n");
    json_row_free(&r);
    assert_ok(json_row_read(text, sizeof text - 1, order, 2, &r));
    assert_string_equal(r.header, "");
    assert_string_equal(r.row, "12345678901234567,\"x\"\n");
    json_row_free(&r);
    assert_ok(json_row_read("[1,\"\"]", 6, order, 2, &r));
    assert_string_equal(r.header, "");
    assert_string_equal(r.row, "1,\"\"\n");
    json_row_free(&r);
}

/* Every allocation fails in turn: a status, no leak, and the stream goes on. */
static void without_memory(void **state)
{
    (void)state;
    quorum_model *m = small_model();
    quorum_stream_request wanted = {.keep = "all"};
    for (int json = 0; json < 2; json++) {
        quorum_status status = QUORUM_E_MEMORY;
        for (long at = 1; status < 0; at++) {
            quorum_stream *s = NULL;
            double X[2];
            size_t rows = 0;
            mem_fail_at(at);
            status = quorum_stream_open_lines(m, json, &wanted, NULL, &s);
            if (status >= 0)
                status = feed(s, json ? "{\"a\": 1, \"b\": 2}" : "a,b\n1,2\n");
            if (status >= 0)
                status = quorum_stream_next(s, 1, X, NULL, &rows);
            mem_fail_at(0);
            assert_true(status == QUORUM_OK || status == QUORUM_E_MEMORY);
            assert_int_equal(rows, status == QUORUM_OK);
            if (s && status < 0)
                check_row(s, json ? "[3, 4]" : "3,4\n", 3.0, 4.0);
            quorum_stream_close(s);
        }
    }
    quorum_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_line_by_line), cmocka_unit_test(zero_bytes_are_refused),
        cmocka_unit_test(json_line_by_line), cmocka_unit_test(json_as_csv),
        cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
