/* Cells that a reader keeps as text: chunks, row numbers, rows that cannot be used, the bound on texts,
 * and memory that runs out at every allocation in turn. */
#include "base/memory.h"
#include "data/reader.h"

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

static char directory[] = "/tmp/quorum-test-XXXXXX";

static int enter_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
    (void)state;
    remove("t.csv");
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static void write_text(const char *text)
{
    FILE *f = fopen("t.csv", "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* "1:x|y 2:z|w " of all rows, a chunk of two at a time: number, the cells of columns 0 and 2, and * for
 * a row that is NaN in column 1. */
static quorum_status read_kept(const reader_options *options, char *out, size_t size)
{
    const size_t kept[] = {0, 2}, selected[] = {1};
    double values[2];
    size_t rows = 1, used = 0;
    reader *r = NULL;
    out[0] = '\0';
    quorum_status status = reader_open("t.csv", options, &r);
    if (status >= 0)
        status = reader_select(r, selected, 1);
    if (status >= 0)
        status = reader_keep(r, kept, 2);
    while (status >= 0 && rows > 0) {
        status = reader_next(r, 2, values, &rows);
        for (size_t i = 0; status >= 0 && i < rows && used < size; i++)
            used += (size_t)snprintf(out + used, size - used, "%zu%s:%s|%s ",
                                     reader_row_number(r, i), isnan(values[i]) ? "*" : "",
                                     reader_kept(r, i, 0), reader_kept(r, i, 1));
    }
    reader_close(r);
    return status;
}

static void check(missing_mode missing, const char *text, const char *wanted)
{
    char found[400];
    reader_options how = {.missing = missing};
    write_text(text);
    assert_int_equal(read_kept(&how, found, sizeof found), QUORUM_OK);
    assert_string_equal(found, wanted);
}

static void texts_and_numbers(void **state)
{
    (void)state;
    check(MISSING_ERROR, "a,b,c\nx,1,y\nz,2,w\nu,3,v\n", "1:x|y 2:z|w 3:u|v ");
    check(MISSING_ERROR, "a,b,c\r\n\"x\"\"\",1,\"y,\"\r\n z,2,w\r\n", "1:x\"|y, 2: z|w ");
    check(MISSING_DROP, "a,b,c\nx,,y\nz,2,w\n,NA,\nu,3,\n", "2:z|w 4:u| ");
    check(MISSING_NAN, "a,b,c\nx,,y\nz,2,w\nq,inf,\nu,3\n", "1*:x|y 2:z|w 3*:q| 4*:u| ");
    check(MISSING_NAN, "a,b,c\n", "");
}

static void dropped_rows_are_listed(void **state)
{
    (void)state;
    const size_t selected[] = {0};
    reader_options how = {.missing = MISSING_DROP};
    double values[4];
    size_t rows = 1;
    reader *r;
    write_text("a,b\n1,1\nx,1\n,1\n4,1\n");
    assert_int_equal(reader_open("t.csv", &how, &r), QUORUM_OK);
    assert_int_equal(reader_select(r, selected, 1), QUORUM_OK);
    assert_int_equal(reader_next(r, 4, values, &rows), QUORUM_OK);
    assert_int_equal(rows, 2);
    assert_int_equal(reader_dropped(r), 2);
    assert_int_equal(reader_dropped_row(r, 0), 2);
    assert_int_equal(reader_dropped_row(r, 1), 3);
    assert_int_equal(reader_dropped_row(r, 2), 0);
    reader_close(r);
}

/* Rows of 40 KB: 1 MB of memory ends a chunk after the first, all of them come. */
static void long_texts_end_a_chunk(void **state)
{
    (void)state;
    enum { LENGTH = 40000, ROWS = 5 };
    const size_t kept[] = {1}, selected[] = {0};
    reader_options how = {.memory = 1 << 20};
    double values[ROWS];
    size_t rows, row = 0;
    reader *r;
    FILE *f = fopen("t.csv", "wb");
    assert_non_null(f);
    fputs("a,b\n", f);
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "%d,%0*d\n", i, LENGTH, i);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(reader_open("t.csv", &how, &r), QUORUM_OK);
    assert_int_equal(reader_select(r, selected, 1), QUORUM_OK);
    assert_int_equal(reader_keep(r, kept, 1), QUORUM_OK);
    for (; reader_next(r, ROWS, values, &rows) == QUORUM_OK && rows > 0; row++) {
        assert_int_equal(rows, 1);
        assert_int_equal(strlen(reader_kept(r, 0, 0)), LENGTH);
        assert_int_equal(reader_kept(r, 0, 0)[LENGTH - 1], '0' + (int)row);
    }
    assert_int_equal(row, ROWS);
    reader_close(r);
}

static void memory_that_runs_out(void **state)
{
    (void)state;
    char whole[400], found[400];
    reader_options how = {.missing = MISSING_NAN};
    write_text("a,b,c\nx,1,y\nz,,w\nu,3,\xFC\n");
    assert_int_equal(read_kept(&how, whole, sizeof whole), QUORUM_OK);
    assert_string_equal(whole, "1:x|y 2*:z|w 3:u|\xC3\xBC ");
    for (long n = 1;; n++) {
        mem_fail_at(n);
        quorum_status status = read_kept(&how, found, sizeof found);
        long asked = mem_allocations();
        mem_fail_at(0);
        if (asked < n)
            break;
        if (status == QUORUM_OK) /* what is only for a sentence may fail */
            assert_string_equal(found, whole);
        else
            assert_int_equal(status, QUORUM_E_MEMORY);
    }
    assert_string_equal(found, whole);
}

static void columns_that_are_not_there(void **state)
{
    (void)state;
    const size_t kept[] = {3};
    reader *r;
    write_text("a,b,c\n1,2,3\n");
    assert_int_equal(reader_open("t.csv", NULL, &r), QUORUM_OK);
    assert_int_equal(reader_keep(r, kept, 1), QUORUM_E_ARGUMENT);
    reader_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_numbers),          cmocka_unit_test(dropped_rows_are_listed),
        cmocka_unit_test(long_texts_end_a_chunk),     cmocka_unit_test(memory_that_runs_out),
        cmocka_unit_test(columns_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
