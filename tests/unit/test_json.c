/* JSON there and back, and the UTF-8 under it: odd texts and numbers, full sinks, no memory. */
#include "archive/json.h"

#include "base/text_buffer.h"
#include "io/plain_text.h"
#include "io/utf8.h"
#include "support.h"

#include <float.h>

/* ---- UTF-8 ---- */

static size_t length_of(const char *text)
{
    return utf8_length(text, text + strlen(text));
}

static void utf8_is_checked_to_the_byte(void **state)
{
    (void)state;
    assert_int_equal(length_of("a"), 1);
    assert_int_equal(length_of("\xC3\xB6"), 2);
    assert_int_equal(length_of("\xE2\x82\xAC"), 3);
    assert_int_equal(length_of("\xF0\x9F\x98\x80"), 4);
    assert_int_equal(length_of("\xF4\x8F\xBF\xBF"), 4);
    static const char *const bad[] = {"",
                                      "\x80",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xC3",
                                      "\xC3(",
                                      "\xE2\x82",
                                      "\xE0\x9F\xBF",
                                      "\xED\xA0\x80",
                                      "\xF5",
                                      "\xE2(\x82",
                                      "\xF0\x9F\x98",
                                      "\xFF",
                                      "\xFE",
                                      "\xF4\x90\x80\x80",
                                      "\xF0\x8F\xBF\xBF"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(length_of(bad[i]), 0);
}

/* Every character is encoded, found whole, and cut short not found. */
static void every_character_goes_there_and_back(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c += c < 0x3000 || c > 0x10FF00 ? 1 : 61) {
        char text[4];
        if (c >= 0xD800 && c <= 0xDFFF)
            continue;
        size_t n = utf8_encode(c, text);
        assert_int_equal(utf8_length(text, text + n), n);
        assert_int_equal(utf8_length(text, text + n - 1), 0);
    }
}

static void shown_text_has_no_control_characters(void **state)
{
    (void)state;
    char out[64];
    assert_int_equal(plain_text_copy(out, sizeof out, "a\x1b[31m\xC3\xB6\x7f"), 9);
    assert_string_equal(out, "a\\x1b[31m\xC3\xB6\\x7f");
    plain_text_copy(out, sizeof out, "\xC2\x9B\xF6\n\t");
    assert_string_equal(out, "\\xc2\\x9b\\xf6\\x0a\\x09");
    plain_text_copy(out, sizeof out, "\xE2\x80\xAEpng\xE2\x81\xA6\xE2\x80\xAF");
    assert_string_equal(out, "\\xe2\\x80\\xaepng\\xe2\\x81\\xa6\xE2\x80\xAF");
    plain_text_copy(out, 5, "abc\xE2\x82\xAC"); /* no half of a character */
    assert_string_equal(out, "abc");
    plain_text_copy(out, 5, "ab\x1b");
    assert_string_equal(out, "ab");
    plain_text_copy(out, 1, "ab");
    assert_string_equal(out, "");
}

/* ---- Writing ---- */

static char *finish(json_writer *w, text_buffer *b)
{
    assert_int_equal(json_finish(w), JSON_WRITTEN);
    return text_buffer_take(b);
}

static void put_sample(json_writer *w)
{
    json_begin_object(w);
    json_key(w, "rows");
    json_put_count(w, 3);
    json_key(w, "none");
    json_begin_list(w);
    json_end(w);
    json_key(w, "list");
    json_begin_list(w);
    json_put_flag(w, 1);
    json_put_null(w);
    json_begin_object(w);
    json_end(w);
    json_end(w);
    json_end(w);
}

static void the_layout_is_indented_or_compact(void **state)
{
    (void)state;
    text_buffer b = {0};
    json_writer w = json_writer_to(text_buffer_put, &b, 2);
    put_sample(&w);
    char *text = finish(&w, &b);
    assert_string_equal(text, "{\n  \"rows\": 3,\n  \"none\": [],\n  \"list\": [\n    true,\n"
                              "    null,\n    {}\n  ]\n}");
    mem_free(text);
    w = json_writer_to(text_buffer_put, &b, 0);
    put_sample(&w);
    text = finish(&w, &b);
    assert_string_equal(text, "{\"rows\":3,\"none\":[],\"list\":[true,null,{}]}");
    mem_free(text);
}

static char *text_as_json(const char *first, const char *second)
{
    text_buffer b = {0};
    json_writer w = json_writer_to(text_buffer_put, &b, 0);
    json_put_joined(&w, first, second);
    return finish(&w, &b);
}

static void texts_are_escaped(void **state)
{
    (void)state;
    char *text = text_as_json("a\"\\/\b\f\n\r\t\x01\x7f", "\xC2\x9B\xC3\xB6");
    assert_string_equal(text, "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u007F\\u009B\xC3\xB6\"");
    mem_free(text);
}

static char *number_as_json(double value)
{
    text_buffer b = {0};
    json_writer w = json_writer_to(text_buffer_put, &b, 0);
    json_put_number(&w, value);
    return finish(&w, &b);
}

static void numbers_look_as_they_should(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.0, "0.0"},
                 {-0.0, "-0.0"},
                 {1.0, "1.0"},
                 {0.5, "0.5"},
                 {1e300, "1.0000000000000001e300"},
                 {1e20, "1e20"},
                 {2.5e-8, "2.4999999999999999e-8"},
                 {NAN, "null"},
                 {INFINITY, "null"},
                 {-INFINITY, "null"},
                 {0.1, "0.10000000000000001"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = number_as_json(cases[i].value);
        assert_string_equal(text, cases[i].text);
        mem_free(text);
    }
}

static void errors_stay(void **state)
{
    (void)state;
    text_buffer b = {0};
    json_writer w = json_writer_to(text_buffer_put, &b, 1);
    json_begin_list(&w);
    json_put_text(&w, "Gr\xF6\xDF"
                      "e");
    json_put_text(&w, "fine");
    json_end(&w);
    assert_int_equal(json_finish(&w), JSON_NOT_UTF8);
    text_buffer_free(&b);
    w = json_writer_to(text_buffer_put, &b, 1);
    json_put_text(&w, NULL);
    assert_int_equal(json_finish(&w), JSON_NOT_UTF8);
    text_buffer_free(&b);
}

/* Each is one step that JSON has no room for. */
static void misuse_is_an_error(void **state)
{
    (void)state;
    for (int k = 0; k < 7; k++) {
        text_buffer b = {0};
        json_writer w = json_writer_to(text_buffer_put, &b, 0);
        if (k == 1)
            json_end(&w);
        if (k == 2)
            json_key(&w, "key");
        if (k >= 3)
            json_begin_object(&w);
        if (k == 4)
            json_put_null(&w); /* without key */
        if (k == 5)
            json_key(&w, "key");
        if (k >= 4)
            json_end(&w);
        if (k == 6)
            json_put_null(&w); /* a second value */
        assert_int_equal(json_finish(&w), JSON_MISUSED);
        text_buffer_free(&b);
    }
    text_buffer b = {0};
    json_writer w = json_writer_to(text_buffer_put, &b, 0);
    for (int k = 0; k <= JSON_MOST_NESTING; k++)
        json_begin_list(&w);
    assert_int_equal(w.error, JSON_MISUSED);
    text_buffer_free(&b);
}

typedef struct {
    size_t left;
} narrow;

static int take_some(void *context, const char *bytes, size_t n)
{
    narrow *s = context;
    (void)bytes;
    if (n > s->left)
        return 1;
    s->left -= n;
    return 0;
}

/* A sink that is full after k bytes, for every k. */
static void a_full_sink_is_told_wherever_it_happens(void **state)
{
    (void)state;
    size_t whole = strlen("{\"rows\":3,\"none\":[],\"list\":[true,null,{}]}");
    for (size_t k = 0; k <= whole; k++) {
        narrow s = {k};
        json_writer w = json_writer_to(take_some, &s, 0);
        put_sample(&w);
        assert_int_equal(json_finish(&w), k < whole ? JSON_NOT_TAKEN : JSON_WRITTEN);
    }
}

static void memory_may_fail_in_the_buffer(void **state)
{
    (void)state;
    int done = 0;
    for (long k = 1; !done; k++) {
        text_buffer b = {0};
        json_writer w = json_writer_to(text_buffer_put, &b, 2);
        mem_fail_at(k);
        json_begin_list(&w);
        for (int i = 0; i < 1000; i++)
            json_put_integer(&w, i);
        json_end(&w);
        mem_fail_at(0);
        json_error error = json_finish(&w);
        done = error == JSON_WRITTEN;
        assert_true(done || error == JSON_NOT_TAKEN);
        assert_int_equal(json_status(error, "a list"), done ? QUORUM_OK : QUORUM_E_MEMORY);
        text_buffer_free(&b);
    }
}

/* ---- Reading ---- */

static quorum_status parse(const char *text, json_tree *tree)
{
    return json_parse(text, strlen(text), tree);
}

static void a_tree_is_looked_at(void **state)
{
    (void)state;
    json_tree t;
    assert_ok(parse(" {\"a\" : [1, [2, 3], {\"b\": -4.5e1}], \"c\": \"x\", \"d\": true,\r\n"
                    "\t\"e\": null, \"f\": false, \"g\": {}} ",
                    &t));
    const json_node *a = json_member(t.root, "a"), *first = json_first(a);
    assert_int_equal(t.root->count, 6);
    assert_int_equal(json_list_size(a), 3);
    assert_int_equal(json_as_integer(first, -1), 1);
    assert_int_equal(json_list_size(json_next(first)), 2);
    const json_node *third = json_next(json_next(first));
    assert_true(json_as_number(json_member(third, "b"), 0.0) == -45.0);
    assert_null(json_next(third));
    assert_string_equal(json_as_text(json_member(t.root, "c")), "x");
    assert_true(json_is_true(json_member(t.root, "d")));
    assert_false(json_is_true(json_member(t.root, "f")));
    assert_non_null(json_member(t.root, "e"));
    assert_null(json_first(json_member(t.root, "g")));
    json_free(&t);
}

static void what_is_absent_is_answered_by_default(void **state)
{
    (void)state;
    json_tree t;
    assert_ok(parse("{\"text\": \"1\", \"real\": 1.5}", &t));
    const json_node *text = json_member(t.root, "text"), *real = json_member(t.root, "real");
    assert_null(json_member(t.root, "other"));
    assert_null(json_member(NULL, "other"));
    assert_null(json_member(text, "other"));
    assert_null(json_first(NULL));
    assert_int_equal(json_list_size(t.root), 0);
    assert_int_equal(json_list_size(NULL), 0);
    assert_int_equal(json_as_integer(text, 7), 7);
    assert_int_equal(json_as_integer(real, 7), 7);
    assert_true(json_as_number(NULL, 7.5) == 7.5);
    assert_null(json_as_text(real));
    assert_null(json_as_text(NULL));
    assert_false(json_is_true(NULL));
    json_free(&t);
}

static void integers_are_exact(void **state)
{
    (void)state;
    json_tree t;
    assert_ok(parse("[9223372036854775807, -9223372036854775808, 9223372036854775808,"
                    " 9007199254740993, -0]",
                    &t));
    const json_node *n = json_first(t.root);
    assert_true(json_as_integer(n, 0) == INT64_MAX);
    n = json_next(n);
    assert_true(json_as_integer(n, 0) == INT64_MIN);
    n = json_next(n);
    assert_int_equal(n->kind, JSON_REAL);
    assert_true(json_as_number(n, 0.0) == 9223372036854775808.0);
    n = json_next(n);
    assert_true(json_as_integer(n, 0) == 9007199254740993);
    assert_int_equal(json_as_integer(json_next(n), 1), 0);
    json_free(&t);
}

static void escapes_are_decoded(void **state)
{
    (void)state;
    json_tree t;
    assert_ok(parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\ud83D\\uDe00 \xC3\xB6\"", &t));
    assert_string_equal(json_as_text(t.root),
                        "\"\\/\b\f\n\r\t\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 \xC3\xB6");
    json_free(&t);
}

static void what_is_not_json_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      " ",
                                      "{",
                                      "[",
                                      "]",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[[1]",
                                      "[1]]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "{\"a\":1 \"b\":2}",
                                      "{\"a\":1]",
                                      "[1}",
                                      "01",
                                      "-01",
                                      "1.",
                                      ".5",
                                      "+1",
                                      "-",
                                      "1e",
                                      "1e+",
                                      "0x10",
                                      "NaN",
                                      "Infinity",
                                      "-Infinity",
                                      "1e999",
                                      "nul",
                                      "truee",
                                      "True",
                                      "\"",
                                      "\"a",
                                      "\"\\",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\u12g4\"",
                                      "\"\\u0000\"",
                                      "\"\\ud800\"",
                                      "\"\\udc00\"",
                                      "\"\\ud800\\n\"",
                                      "\"\\ud800\\ud800\"",
                                      "\"\n\"",
                                      "\"\xF6\"",
                                      "\"\xED\xA0\x80\"",
                                      "\xEF\xBB\xBF{}",
                                      "'a'",
                                      "{\"a\":1,\"a\":2}",
                                      "{\"a\":1,\"\\u0061\":2}",
                                      "// c\n1",
                                      "1 1",
                                      "[1]x",
                                      "\v1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_tree t;
        if (parse(bad[i], &t) != QUORUM_E_FORMAT)
            fail_msg("accepted: %s", bad[i]);
        assert_null(t.root);
        assert_says("not JSON at byte");
    }
    json_tree t;
    assert_int_equal(json_parse("1\0", 2, &t), QUORUM_E_FORMAT);
    assert_int_equal(json_parse("\"\0\"", 3, &t), QUORUM_E_FORMAT);
}

/* n opening brackets, then n closing ones. */
static quorum_status parse_nested(size_t n)
{
    char *text = calloc(2 * n + 1, 1);
    json_tree t;
    memset(text, '[', n);
    memset(text + n, ']', n);
    quorum_status status = parse(text, &t);
    json_free(&t);
    free(text);
    return status;
}

static quorum_status parse_members(size_t n)
{
    char *text = calloc(n + 1, 16), *end = text;
    json_tree t;
    end += sprintf(end, "{");
    for (size_t i = 0; i < n; i++)
        end += sprintf(end, "%s\"%zu\":1", i ? "," : "", i);
    sprintf(end, "}");
    quorum_status status = parse(text, &t);
    json_free(&t);
    free(text);
    return status;
}

static void depth_and_members_are_bounded(void **state)
{
    (void)state;
    assert_ok(parse_nested(JSON_MOST_DEPTH));
    assert_int_equal(parse_nested(JSON_MOST_DEPTH + 1), QUORUM_E_FORMAT);
    assert_int_equal(parse_nested(1000000), QUORUM_E_FORMAT);
    assert_ok(parse_members(JSON_MOST_MEMBERS));
    assert_int_equal(parse_members(JSON_MOST_MEMBERS + 1), QUORUM_E_FORMAT);
}

static void out_of_memory_is_not_damage(void **state)
{
    (void)state;
    json_tree t;
    int done = 0;
    for (long k = 1; !done; k++) {
        mem_fail_at(k);
        quorum_status status = parse("{\"a\": [1, 2, \"b\"]}", &t);
        mem_fail_at(0);
        done = status >= 0;
        assert_true(done || status == QUORUM_E_MEMORY);
    }
    json_free(&t);
}

/* ---- There and back ---- */

static void assert_number_returns(double value)
{
    char *text = number_as_json(value);
    json_tree t;
    assert_ok(parse(text, &t));
    double back = json_as_number(t.root, NAN);
    assert_memory_equal(&back, &value, sizeof value);
    assert_int_equal(t.root->kind, JSON_REAL);
    json_free(&t);
    mem_free(text);
}

static void numbers_return_to_the_bit(void **state)
{
    (void)state;
    static const double odd[] = {
        0.0,          -0.0, 1.0,  -1.0 / 3.0,           DBL_MAX, -DBL_MAX, DBL_MIN,
        DBL_TRUE_MIN, 1e22, 1e23, 123456789012345680.0, 5e-324};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_number_returns(odd[i]);
    rng r = rng_seed(5, 97);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = rng_next(&r);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            assert_number_returns(value);
    }
}

static void a_tree_is_written_as_it_was(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\":[1,[2,-3],{\"b\":-4.5,\"c\":1e300}],\"d\":\"x\\n\",\"e\":true,\"f\":null,\"g\":{},"
        "\"h\":[],\"i\":false}";
    text_buffer b = {0};
    json_writer w = json_writer_to(text_buffer_put, &b, 0);
    json_tree t;
    assert_ok(parse(text, &t));
    json_put_node(&w, t.root);
    char *again = finish(&w, &b);
    char *e = strstr(again, "1.0000000000000001e300");
    assert_non_null(e);
    memmove(e + 5, e + 22, strlen(e + 22) + 1);
    memcpy(e, "1e300", 5);
    assert_string_equal(again, text);
    mem_free(again);
    json_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_checked_to_the_byte),
        cmocka_unit_test(every_character_goes_there_and_back),
        cmocka_unit_test(shown_text_has_no_control_characters),
        cmocka_unit_test(the_layout_is_indented_or_compact),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(numbers_look_as_they_should),
        cmocka_unit_test(errors_stay),
        cmocka_unit_test(misuse_is_an_error),
        cmocka_unit_test(a_full_sink_is_told_wherever_it_happens),
        cmocka_unit_test(memory_may_fail_in_the_buffer),
        cmocka_unit_test(a_tree_is_looked_at),
        cmocka_unit_test(what_is_absent_is_answered_by_default),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(escapes_are_decoded),
        cmocka_unit_test(what_is_not_json_is_refused),
        cmocka_unit_test(depth_and_members_are_bounded),
        cmocka_unit_test(out_of_memory_is_not_damage),
        cmocka_unit_test(numbers_return_to_the_bit),
        cmocka_unit_test(a_tree_is_written_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
