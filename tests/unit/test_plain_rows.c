/* Plain rows of a csv file, read by threads, are the rows that the reader of records gives. */
#include "base/number.h"
#include "data/reader.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* after our headers: it makes a macro of fail */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { ROWS = 100000 /* more than a window of text */, COLUMNS = 4 };

static uint64_t draw_state = 1;

static unsigned draw(unsigned below)
{
    draw_state = draw_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(draw_state >> 33) % below;
}

/* Digits with a point somewhere, of any length, now and then with an exponent. */
static void draw_number(char *out)
{
    size_t n = 0, digits = 1 + draw(20), point = draw(22);
    if (draw(2))
        out[n++] = '-';
    for (size_t i = 0; i < digits; i++) {
        out[n++] = (char)('0' + draw(10));
        if (i == point)
            out[n++] = '.';
    }
    out[n] = '\0';
    if (draw(10) == 0)
        snprintf(out + n, 10, "e%d", (int)draw(60) - 30);
}

static void numbers_of_any_length(void **state)
{
    (void)state;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    for (int i = 0; i < 200000; i++) {
        char text[64];
        double value = 0.0;
        draw_number(text);
        double wanted = strtod_l(text, NULL, c);
        assert_true(number_parse(text, text + strlen(text), c, &value) == text + strlen(text));
        if (value != wanted || signbit(value) != signbit(wanted))
            fail_msg("%s is read as %.17g", text, value);
        memcpy(text + strlen(text), ";1234567", sizeof ";1234567"); /* more may follow */
        assert_true(*number_parse(text, text + strlen(text), c, &value) == ';');
        assert_memory_equal(&value, &wanted, sizeof value);
    }
    freelocale(c);
}

/* Lines that are not plain, which the reader of records takes or drops. */
static const char *const odd[] = {
    "1, 2,3,4", "\"1\",2,3,4", "1,2,3,NA", "1,2,3",       "1,2,3,4,5",     "1e-310,2,3,4",
    "",         "1,2,,4",      "x,2,3,4",  "1,1e999,3,4", "1,2,3,\"4\n5\""};

enum { ODD = sizeof odd / sizeof *odd };

static void write_rows(const char *path, const char *newline, unsigned odd_in /* 0: none */)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fprintf(f, "a,b,c,d%s", newline);
    for (int i = 0; i < ROWS; i++) {
        char cell[COLUMNS][64];
        for (int j = 0; j < COLUMNS; j++)
            draw_number(cell[j]);
        if (odd_in && draw(odd_in) == 0)
            fprintf(f, "%s%s", odd[draw(ODD)], newline);
        else
            fprintf(f, "%s,%s,%s,%s%s", cell[0], cell[1], cell[2], cell[3], newline);
    }
    assert_int_equal(fclose(f), 0);
}

typedef struct {
    double *rows;
    size_t count, dropped;
    char message[1000], first[1000];
} outcome;

static outcome read_rows(const char *path, const reader_options *how, const size_t *columns,
                         size_t width, size_t chunk)
{
    outcome o = {.rows = calloc((size_t)ROWS * width, sizeof(double))};
    reader *r = NULL;
    size_t got = 1;
    quorum_status status = reader_open(path, how, &r);
    if (status >= 0)
        status = reader_select(r, columns, width);
    while (status >= 0 && got > 0) {
        size_t room = ROWS - o.count < chunk ? ROWS - o.count : chunk;
        double spare[COLUMNS];
        status = reader_next(r, room ? room : 1, room ? o.rows + o.count * width : spare, &got);
        o.count += status >= 0 ? got : 0;
    }
    snprintf(o.message, sizeof o.message, "%s", status < 0 ? quorum_message() : "");
    o.dropped = reader_dropped(r);
    snprintf(o.first, sizeof o.first, "%s", o.dropped ? reader_why_dropped(r, 0) : "");
    reader_close(r);
    return o;
}

/* A mark of comments that no line has: the reader of records reads all. */
static void check_same(const char *path, missing_mode missing, const size_t *columns, size_t width)
{
    reader_options records = {.missing = missing, .comment = '%'};
    outcome wanted = read_rows(path, &records, columns, width, ROWS);
    for (int threads = 1; threads <= 5; threads += 2) {
        reader_options plain = {.missing = missing, .threads = threads};
        outcome found = read_rows(path, &plain, columns, width, threads == 3 ? 777 : ROWS);
        assert_string_equal(found.message, wanted.message);
        assert_true(found.count == wanted.count || wanted.message[0]); /* chunks before a failure */
        assert_int_equal(found.dropped, wanted.dropped);
        assert_string_equal(found.first, wanted.first);
        assert_memory_equal(found.rows, wanted.rows, wanted.count * width * sizeof(double));
        free(found.rows);
    }
    free(wanted.rows);
}

static const size_t all[] = {0, 1, 2, 3}, some[] = {2, 0};

static void files_of_numbers(void **state)
{
    (void)state;
    static const char *const newlines[] = {"\n", "\r\n", "\r"};
    for (int i = 0; i < 3; i++) {
        write_rows("p.csv", newlines[i], 0);
        check_same("p.csv", MISSING_ERROR, all, COLUMNS);
        check_same("p.csv", MISSING_ERROR, some, 2);
    }
    outcome o = read_rows("p.csv", &(reader_options){.threads = 2}, all, COLUMNS, ROWS);
    assert_int_equal(o.count, ROWS);
    free(o.rows);
}

static void files_with_odd_lines(void **state)
{
    (void)state;
    static const unsigned odd_in[] = {7, 1000, 30000};
    for (int i = 0; i < 3; i++) {
        write_rows("p.csv", i == 1 ? "\r\n" : "\n", odd_in[i]);
        check_same("p.csv", MISSING_DROP, all, COLUMNS);
        check_same("p.csv", MISSING_NAN, some, 2);
        check_same("p.csv", MISSING_ERROR, all, COLUMNS); /* the same line is named */
    }
}

/* Whoever gives us a file may have read some of it: its first lines are not read by any thread. */
static void files_that_were_begun(void **state)
{
    (void)state;
    char line[300];
    off_t before = 0;
    write_rows("p.csv", "\n", 0);
    outcome whole = read_rows("p.csv", &(reader_options){.threads = 1}, all, COLUMNS, ROWS);
    FILE *f = fopen("p.csv", "rb");
    for (int i = 0; i <= 10; i++) /* the header, and ten rows */
        before += (off_t)strlen(fgets(line, sizeof line, f));
    fclose(f);
    for (int threads = 1; threads <= 3; threads++) {
        int file = open("p.csv", O_RDONLY), saved = dup(STDIN_FILENO);
        assert_true(lseek(file, before, SEEK_SET) == before && dup2(file, STDIN_FILENO) >= 0);
        outcome rest = read_rows("-", &(reader_options){.threads = threads}, all, COLUMNS, ROWS);
        assert_int_equal(rest.count, ROWS - 10);
        assert_memory_equal(rest.rows, whole.rows + 10 * COLUMNS,
                            rest.count * COLUMNS * sizeof(double));
        dup2(saved, STDIN_FILENO);
        close(saved);
        close(file);
        free(rest.rows);
    }
    free(whole.rows);
}

static char directory[] = "/tmp/quorum-test-XXXXXX";

static int enter_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
    (void)state;
    remove("p.csv");
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_any_length), cmocka_unit_test(files_of_numbers),
        cmocka_unit_test(files_with_odd_lines), cmocka_unit_test(files_that_were_begun)};
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
