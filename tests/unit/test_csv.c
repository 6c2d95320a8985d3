/* Reading csv and npy files: number parsing, dialects, and every complaint. */
#include "base/memory.h"
#include "base/random.h"
#include "base/number.h"
#include "data/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* after our headers: it makes a macro of fail */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { MAX_CELLS = 4096 };

static const reader_options defaults = {.header = HEADER_AUTO, .missing = MISSING_ERROR};
static const reader_options dropping = {.header = HEADER_AUTO, .missing = MISSING_DROP};

/* ---- a temporary directory, which is the working directory ---- */

static char directory[] = "/tmp/quorum-test-XXXXXX";

static int enter_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
    (void)state;
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove(e->d_name);
    closedir(d);
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static void write_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

static void write_gzip(const char *path, const char *text)
{
    gzFile f = gzopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, text, (unsigned)strlen(text)), strlen(text));
    assert_int_equal(gzclose(f), Z_OK);
}

/* ---- reading whole files ---- */

typedef struct {
    quorum_status status;
    size_t columns, rows, dropped;
    int has_names;
    char names[256]; /* a|b|c */
    double cells[MAX_CELLS];
} contents;

static void join_names(const reader *r, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < reader_columns(r) && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "|" : "", reader_name(r, i));
}

static void read_rows(reader *r, contents *c)
{
    size_t rows;
    do { /* three at a time, so that chunks are exercised */
        assert_true((c->rows + 3) * c->columns <= MAX_CELLS);
        c->status = reader_next(r, 3, c->cells + c->rows * c->columns, &rows);
        c->rows += rows;
    } while (c->status >= 0 && rows > 0);
    c->dropped = reader_dropped(r);
}

static contents read_file(const char *path, const reader_options *options)
{
    contents c = {0};
    reader *r = NULL;
    c.status = reader_open(path, options, &r);
    if (c.status < 0) {
        assert_null(r);
        return c;
    }
    c.columns = reader_columns(r);
    c.has_names = reader_has_names(r);
    join_names(r, c.names, sizeof c.names);
    read_rows(r, &c);
    reader_close(r);
    return c;
}

static contents read_text(const char *text)
{
    write_text("t.csv", text);
    return read_file("t.csv", &defaults);
}

static void check_cells(const contents *c, const double *wanted, size_t rows, size_t columns)
{
    if (c->status < 0)
        fail_msg("%s", quorum_message());
    assert_int_equal(c->rows, rows);
    assert_int_equal(c->columns, columns);
    for (size_t i = 0; i < rows * columns; i++)
        if (memcmp(&c->cells[i], &wanted[i], sizeof *wanted) != 0)
            fail_msg("cell %zu is %.17g, not %.17g", i, c->cells[i], wanted[i]);
}

/* Reads as {1, 2; 3, 4} in columns a and b. */
static void check_two_by_two(const char *text)
{
    contents c = read_text(text);
    check_cells(&c, (const double[]){1, 2, 3, 4}, 2, 2);
    assert_string_equal(c.names, "a|b");
    assert_true(c.has_names);
}

static void check_failure(const contents *c, quorum_status status, const char *message)
{
    assert_string_equal(quorum_message(), message);
    assert_int_equal(c->status, status);
}

static void check_text_fails(const char *text, quorum_status status, const char *message)
{
    contents c = read_text(text);
    check_failure(&c, status, message);
}

/* ---- numbers ---- */

static locale_t c_locale;

static void check_number(const char *text)
{
    double value = 0, wanted = strtod_l(text, NULL, c_locale);
    const char *end = text + strlen(text);
    const char *stop = number_parse(text, end, c_locale, &value);
    if (stop != end || memcmp(&value, &wanted, sizeof value) != 0)
        fail_msg("\"%s\" is %.17g, not %.17g", text, value, wanted);
}

static void numbers_of_every_shape(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "+0.0",
        "1",
        "-1",
        "+1",
        "1.",
        ".5",
        "-.5",
        "1e5",
        "1E5",
        "1e+5",
        "1e-5",
        "00012",
        "0.1",
        "0.2",
        "0.3",
        "123456789.123456789",
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.0",
        "9007199254740993e0",
        "18446744073709551615",
        "9999999999999999999",
        "99999999999999999999",
        "1e22",
        "1e23",
        "8.5e22",
        "1e27",
        "1e28",
        "1e-22",
        "1e-23",
        "1e-27",
        "1e-28",
        "9007199254740993e22",
        "9007199254740993e-22",
        "1e308",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "1e309",
        "1e999",
        "-1e999",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "4.9e-324",
        "2e-324",
        "1e-400",
        "0e999999999999",
        "0.0000000000000000000000000000000000000001",
        "0.00000000000000000000000000000012345678901234567",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0.500000000000000166533453693773481063544750213623046875",
        "3.141592653589793238462643383279502884197169399375105820974944592307816406286",
        "179769313486231570814527423731704356798070567525844996598917476803157260780028538760589"
        "558632766878171540458953514382464234321326889464182768467546703537516986049910576551282"
        "076245490090389328944075868508455133942304583236903222948165808559332123347747970000000"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_number(texts[i]);
}

static void no_numbers(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "+", "-", ".", "-.", "e5", ".e5", "abc", "x1", "--1"};
    double value;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(number_parse(texts[i], texts[i] + strlen(texts[i]), c_locale, &value));
    const char *partial[] = {"0x10", "1e", "1e+", "1.2.3", "1 2", "1,5", "1_000", "1f"};
    for (size_t i = 0; i < sizeof partial / sizeof *partial; i++) {
        const char *end = partial[i] + strlen(partial[i]);
        assert_true(number_parse(partial[i], end, c_locale, &value) < end);
    }
    char endless[2000];
    memset(endless, '1', sizeof endless);
    assert_null(number_parse(endless, endless + sizeof endless, c_locale, &value));
    memset(endless + 2, '0', sizeof endless - 2);
    endless[1] = 'e';
    assert_null(number_parse(endless, endless + sizeof endless, c_locale, &value));
}

/* Digits with a point somewhere and maybe an exponent. */
static void random_decimal(rng *r, char *out)
{
    size_t digits = 1 + rng_below(r, 24), point = rng_below(r, digits + 6);
    char *p = out;
    if (rng_below(r, 2))
        *p++ = "+-"[rng_below(r, 2)];
    for (size_t i = 0; i < digits; i++) {
        if (i == point)
            *p++ = '.';
        *p++ = (char)('0' + rng_below(r, 10));
    }
    *p = '\0';
    int exponent = rng_below(r, 8) ? (int)rng_below(r, 70) - 35 : (int)rng_below(r, 800) - 400;
    if (rng_below(r, 2))
        sprintf(p, "%c%d", "eE"[rng_below(r, 2)], exponent);
}

/* Any double's bits, printed as programs print them. */
static void random_printed(rng *r, char *out, size_t size)
{
    uint64_t bits = rng_next(r);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (rng_below(r, 2) || !isfinite(value))
        value = rng_normal(r) * 100;
    int precision = 1 + (int)rng_below(r, 18);
    if (fabs(value) < 1e20 && rng_below(r, 2))
        snprintf(out, size, "%.*f", precision, value);
    else
        snprintf(out, size, "%.*g", precision, value);
}

/* Half-way between two doubles, or one digit beside it: the hardest to round. */
static void random_halfway(rng *r, char *out, size_t size)
{
    uint64_t odd = (1ull << 53) + 2 * (rng_next(r) >> 12) + 1;
    size_t places = rng_below(r, 2) ? 0 : 1 + rng_below(r, 3);
    int n = snprintf(out, size, "%" PRIu64, odd);
    if (places)
        snprintf(out + n, size - (size_t)n, ".%0*d", (int)places, (int)rng_below(r, 2));
    else
        snprintf(out + n, size - (size_t)n, "e%d", (int)rng_below(r, 30) - 15);
}

static void numbers_agree_with_strtod(void **state)
{
    (void)state;
    rng r = rng_seed(7, 0);
    char text[512];
    for (int i = 0; i < 200000; i++) {
        random_decimal(&r, text);
        check_number(text);
        random_printed(&r, text, sizeof text);
        check_number(text);
        random_halfway(&r, text, sizeof text);
        check_number(text);
    }
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    setlocale(LC_ALL, "de_DE.UTF-8"); /* has a decimal comma, where it is installed */
    contents c = read_text("a,b\n1.5,1.00000000000000000000001e300\n");
    setlocale(LC_ALL, "C");
    check_cells(&c, (const double[]){1.5, 1e300}, 1, 2);
}

/* ---- dialects ---- */

static void delimiters(void **state)
{
    (void)state;
    check_two_by_two("a,b\n1,2\n3,4\n");
    check_two_by_two("a;b\n1;2\n3;4\n");
    check_two_by_two("a\tb\n1\t2\n3\t4\n");
    check_two_by_two("a b\n1 2\n3 4\n");
    check_two_by_two("  a   b\n  1     2  \n  3  4\n");
    check_two_by_two("a \t b\n1\t \t2\n3 4\n");
    check_two_by_two("a, b\n1, 2\n3,  4\n");
    check_two_by_two(" a , b \n 1 , 2 \n 3 , 4 \n");
    check_two_by_two("\"a\" \"b\"\n1 2\n\"3\" 4\n");
}

static void a_delimiter_of_most_lines(void **state)
{
    (void)state;
    contents c = read_text("a name, and more;b\n1;2\n3;4\n");
    check_cells(&c, (const double[]){1, 2, 3, 4}, 2, 2);
    assert_string_equal(c.names, "a name, and more|b");
    c = read_text("wind speed,b c\n1,2\n");
    assert_string_equal(c.names, "wind speed|b c");
    c = read_text("wind speed\n1\n2\n"); /* a single column */
    check_cells(&c, (const double[]){1, 2}, 2, 1);
    assert_string_equal(c.names, "wind speed");
}

static void line_ends(void **state)
{
    (void)state;
    check_two_by_two("a,b\n1,2\n3,4");
    check_two_by_two("a,b\r\n1,2\r\n3,4\r\n");
    check_two_by_two("a,b\r1,2\r3,4\r");
    check_two_by_two("a,b\r1,2\r3,4");
    check_two_by_two("a b\r1 2\r3 4\r");
    check_two_by_two("a b\r\n1 2\r\n3 4\r\n");
    check_two_by_two("a\tb\r\n1\t2\r\n3\t4\r\n");
    check_two_by_two("\xEF\xBB\xBF"
                     "a,b\n1,2\n3,4\n");
    check_two_by_two("a,b\n1,2\n3,4\n\n\n");
    check_two_by_two("\n\n  \na,b\n\n1,2\n   \n3,4\n\r\n");
    check_two_by_two("a;b\n1;2\n\n3;4  \n\t\n");
}

static void quotes(void **state)
{
    (void)state;
    check_two_by_two("\"a\",\"b\"\n\"1\",\"2\"\n\" 3 \", \"4\" \n");
    contents c = read_text("\"a, \"\"x\"\"\",\"b\nc\"\n1,2\n");
    check_cells(&c, (const double[]){1, 2}, 1, 2);
    assert_string_equal(c.names, "a, \"x\"|b c"); /* a line end in a name is a blank */
    c = read_text("\"price \r\n(EUR)\",\"\tb\n\"\n1,2\n");
    assert_string_equal(c.names, "price (EUR)|b");
    c = read_text("5\" pipe,b\n1,2\n"); /* a quote inside a cell is a letter */
    assert_string_equal(c.names, "5\" pipe|b");
    c = read_text("\"a\"x,b\n1,2\n");
    assert_string_equal(c.names, "\"a\"x|b");
    c = read_text("name,v\n\"two\r\nlines\",1\n\"\",2\n");
    assert_int_equal(c.status, QUORUM_E_DATA);
    check_two_by_two("\"a\",\"b\"\r\"1\",\"2\"\r\"3\",\"4\"");
}

static void quoted_newlines_count_as_lines(void **state)
{
    (void)state;
    write_text("t.csv", "name,v\n\"two\n\nlines\",1\nx,bad\n");
    reader *r;
    double value;
    size_t column = 1, rows;
    assert_int_equal(reader_open("t.csv", &defaults, &r), QUORUM_OK);
    assert_int_equal(reader_select(r, &column, 1), QUORUM_OK);
    assert_int_equal(reader_next(r, 1, &value, &rows), QUORUM_OK);
    assert_true(rows == 1 && value == 1);
    assert_int_equal(reader_next(r, 1, &value, &rows), QUORUM_E_DATA);
    assert_string_equal(quorum_message(), "t.csv: line 5, column 2 (\"v\"): cell is \"bad\", not a "
                                          "number; fix it, or skip such rows with "
                                          "--missing drop");
    reader_close(r);
}

static void headers(void **state)
{
    (void)state;
    contents c = read_text("1,2\n3,4\n");
    check_cells(&c, (const double[]){1, 2, 3, 4}, 2, 2);
    assert_string_equal(c.names, "x1|x2");
    assert_false(c.has_names);
    c = read_file("t.csv", &(reader_options){.header = HEADER_YES, .missing = MISSING_ERROR});
    check_cells(&c, (const double[]){3, 4}, 1, 2);
    assert_string_equal(c.names, "1|2");
    c = read_file("t.csv", &(reader_options){.header = HEADER_NO, .missing = MISSING_ERROR});
    check_cells(&c, (const double[]){1, 2, 3, 4}, 2, 2);
    c = read_text(",a,\n1,2,3\n"); /* names that are not there */
    check_cells(&c, (const double[]){1, 2, 3}, 1, 3);
    assert_string_equal(c.names, "x1|a|x3");
    write_text("t.csv", "NA,1\n2,3\n"); /* a missing cell does not make a header */
    c = read_file("t.csv", &dropping);
    check_cells(&c, (const double[]){2, 3}, 1, 2);
    assert_false(c.has_names);
    c = read_text("a,b\n"); /* no rows */
    check_cells(&c, NULL, 0, 2);
    c = read_text("a,b");
    check_cells(&c, NULL, 0, 2);
    c = read_file("t.csv", NULL); /* default options */
    check_cells(&c, NULL, 0, 2);
    assert_int_equal(
        read_file("t.csv", &(reader_options){.header = HEADER_NO, .missing = MISSING_ERROR}).status,
        QUORUM_E_DATA);
}

static void trailing_delimiters(void **state)
{
    (void)state;
    check_two_by_two("a,b,\n1,2,\n3,4,\n");
    check_two_by_two("a;b;\r\n1;2;\r\n3;4;\r\n");
    check_two_by_two("a\tb\t\n1\t2\t\n3\t4\t\n");
    contents c = read_text("1,2,\n3,4,\n");
    check_cells(&c, (const double[]){1, 2, 3, 4}, 2, 2);
    check_text_fails("a,b\n1,2,\n", QUORUM_E_DATA,
                     "t.csv: line 2: 3 columns where the header has 2 (delimiter: comma); fix the "
                     "line, or skip such rows with --missing drop");
}

static void numbers_in_cells(void **state)
{
    (void)state;
    contents c = read_text("+1.5,-2e-3,1E3,  7  ,.5\n0x,1,1,1,1\n");
    assert_int_equal(c.status, QUORUM_E_DATA);
    c = read_text("+1.5,-2e-3,1E3,  7  ,.5\n");
    check_cells(&c, (const double[]){1.5, -2e-3, 1e3, 7, .5}, 1, 5);
}

/* ---- gzip, standard input, large files ---- */

static void gzip_files(void **state)
{
    (void)state;
    write_gzip("t.csv.gz", "a,b\n1,2\n3,4\n");
    contents c = read_file("t.csv.gz", &defaults);
    check_cells(&c, (const double[]){1, 2, 3, 4}, 2, 2);
    write_gzip("gz_named_otherwise", "1,2\n");
    c = read_file("gz_named_otherwise", &defaults);
    check_cells(&c, (const double[]){1, 2}, 1, 2);
}

static size_t load(const char *path, unsigned char *bytes, size_t size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, size, f);
    fclose(f);
    return n;
}

static void damaged_gzip_files(void **state)
{
    (void)state;
    unsigned char bytes[512];
    write_gzip("t.csv.gz", "a,b\n1,2\n3,4\n5,6\n17,18\n");
    size_t n = load("t.csv.gz", bytes, sizeof bytes);
    for (size_t cut = 2; cut < n; cut++) {
        write_bytes("cut.gz", bytes, cut);
        contents c = read_file("cut.gz", &defaults);
        check_failure(&c, QUORUM_E_FORMAT,
                      "cut.gz: the gzip data stop before their end; the file is truncated, copy "
                      "it again");
    }
    bytes[n - 6] ^= 1; /* in the CRC */
    write_bytes("bad.gz", bytes, n);
    contents c = read_file("bad.gz", &defaults);
    check_failure(&c, QUORUM_E_FORMAT,
                  "bad.gz: the gzip data are damaged (incorrect data check); copy the file again");
}

/* Several members are one text; after the last there may be zeros, and nothing else. */
static void what_follows_gzip_data(void **state)
{
    (void)state;
    static const char zeros[512] = {0};
    static const struct {
        const char *bytes;
        size_t n;
        int fine;
    } tails[] = {{zeros, 1, 1},      {zeros, sizeof zeros, 1}, {"\n", 1, 0},
                 {"garbage", 7, 0},  {"\0\0x", 3, 0},          {"\x1F", 1, 0},
                 {"\x1F\x8B", 2, 0}, {"\x1F\x8BGIF", 5, 0},    {"5,6\n", 4, 0}};
    unsigned char bytes[1024];
    write_gzip("one.gz", "1,2\n");
    write_gzip("two.gz", "3,4\n");
    size_t n = load("one.gz", bytes, sizeof bytes);
    n += load("two.gz", bytes + n, sizeof bytes - n);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        memcpy(bytes + n, tails[i].bytes, tails[i].n);
        write_bytes("tail.gz", bytes, n + tails[i].n);
        contents c = read_file("tail.gz", &defaults);
        if (tails[i].fine)
            check_cells(&c, (const double[]){1, 2, 3, 4}, 2, 2);
        else
            assert_int_equal(c.status, QUORUM_E_FORMAT);
    }
    assert_string_equal(quorum_message(),
                        "tail.gz: something follows the end of the gzip data; the file is damaged, "
                        "copy it again, or unpack it with gzip and look at it");
}

/* ---- reading that is broken off ---- */

static int questions; /* how often the caller was asked; reading stops at the third */

static int stop_at_third(void *user, const char *stage, double fraction, const char *detail)
{
    (void)user;
    assert_string_equal(stage, "read");
    assert_true(fraction <= 1.0);
    assert_true(strlen(detail) > 0);
    return ++questions >= 3;
}

static void reading_can_be_cancelled(void **state)
{
    (void)state;
    reader_options asking = {.asked = {.callback = stop_at_third}};
    size_t n = 1 << 21;
    char *bytes = malloc(n);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i += 4)
        memcpy(bytes + i, "x,1\n", 4); /* rows that are all dropped */
    write_bytes("t.csv", bytes, n);
    free(bytes);
    asking.missing = MISSING_DROP;
    questions = 0;
    contents c = read_file("t.csv", &asking);
    check_failure(&c, QUORUM_E_CANCELLED, "cancelled during read");
    assert_int_equal(questions, 3);
}

/* Nobody ever writes to the pipe. */
static void a_silent_pipe_can_be_cancelled(void **state)
{
    (void)state;
    reader_options asking = {.asked = {.callback = stop_at_third}};
    int ends[2], saved = dup(STDIN_FILENO);
    assert_true(saved >= 0 && pipe(ends) == 0 && dup2(ends[0], STDIN_FILENO) >= 0);
    questions = 0;
    contents c = read_file("-", &asking);
    check_failure(&c, QUORUM_E_CANCELLED, "cancelled during read");
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(mkfifo("silent", 0600), 0);
    questions = 0;
    c = read_file("silent", &asking);
    check_failure(&c, QUORUM_E_CANCELLED, "cancelled during read");
    unlink("silent");
}

static contents read_stdin_from(const char *path)
{
    int saved = dup(STDIN_FILENO), file = open(path, O_RDONLY);
    assert_true(saved >= 0 && file >= 0 && dup2(file, STDIN_FILENO) >= 0);
    contents c = read_file("-", &defaults);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(file);
    return c;
}

static void standard_input(void **state)
{
    (void)state;
    write_text("t.csv", "a,b\n1,2\n3,x\n");
    contents c = read_stdin_from("t.csv");
    check_failure(&c, QUORUM_E_DATA,
                  "standard input: line 3, column 2 (\"b\"): cell is \"x\", not a number; fix it, "
                  "or skip such rows with --missing drop");
    write_gzip("t.csv.gz", "a,b\n1,2\n");
    c = read_stdin_from("t.csv.gz");
    check_cells(&c, (const double[]){1, 2}, 1, 2);
    write_bytes("t.npy", "\x93NUMPY\1\0", 8);
    c = read_stdin_from("t.npy");
    check_failure(&c, QUORUM_E_FORMAT,
                  "standard input: npy and npz data are read from a plain file only, not "
                  "compressed and not through a pipe");
}

static void *write_to_pipe(void *path)
{
    write_text(path, "a,b\n1,2\n");
    return NULL;
}

static void a_named_pipe(void **state)
{
    (void)state;
    pthread_t writer;
    char path[] = "pipe";
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_to_pipe, path), 0);
    contents c = read_file(path, &defaults);
    pthread_join(writer, NULL);
    check_cells(&c, (const double[]){1, 2}, 1, 2);
    unlink(path);
}

/* More than one window; the last column is the sum of the others. */
static void large_file(void **state)
{
    (void)state;
    enum { ROWS = 60000 };
    FILE *f = fopen("large.csv", "wb");
    fprintf(f, "a,b,sum\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(f, i % 7 ? "%d,%d,%d\n" : "\"%d\",%d,\"%d\"\n", i, 3 * i, 4 * i);
    fclose(f);
    reader *r;
    double out[3 * 1000];
    size_t rows, total = 0;
    assert_int_equal(reader_open("large.csv", &defaults, &r), QUORUM_OK);
    do {
        assert_int_equal(reader_next(r, 1000, out, &rows), QUORUM_OK);
        for (size_t i = 0; i < rows; i++, total++)
            assert_true(out[3 * i] == (double)total && out[3 * i + 2] == 4.0 * (double)total);
    } while (rows > 0);
    assert_int_equal(total, ROWS);
    reader_close(r);
}

/* Lines longer than the window; each line is `cells` times "1.25,". */
static void long_lines(void **state)
{
    (void)state;
    enum { CELLS = 200000, LINES = 3 };
    FILE *f = fopen("long.csv", "wb");
    for (int line = 0; line < LINES; line++)
        for (int i = 0; i < CELLS; i++)
            fprintf(f, "1.25%c", i + 1 < CELLS ? ',' : '\n');
    fclose(f);
    reader *r;
    size_t rows, columns[2] = {0, CELLS - 1};
    double out[8];
    assert_int_equal(reader_open("long.csv", &defaults, &r), QUORUM_OK);
    assert_int_equal(reader_columns(r), CELLS);
    assert_int_equal(reader_select(r, columns, 2), QUORUM_OK);
    assert_int_equal(reader_next(r, 4, out, &rows), QUORUM_OK);
    assert_int_equal(rows, LINES);
    for (int i = 0; i < 2 * LINES; i++)
        assert_true(out[i] == 1.25);
    reader_close(r);
}

static void absurd_lines(void **state)
{
    (void)state;
    size_t n = (size_t)66 << 20;
    char *bytes = malloc(n);
    memset(bytes, ',', n);
    write_bytes("wide.csv", bytes, 2 << 20);
    contents c = read_file("wide.csv", &defaults);
    check_failure(&c, QUORUM_E_FORMAT,
                  "wide.csv: has 2097152 columns; more than 1048576 are not read");
    memset(bytes, '1', n);
    write_bytes("wide.csv", bytes, n);
    c = read_file("wide.csv", &defaults);
    check_failure(&c, QUORUM_E_FORMAT,
                  "wide.csv: line 1: longer than 64 MB; is a quote left open?");
    unlink("wide.csv");
    free(bytes);
}

/* ---- complaints ---- */

static void bad_cells(void **state)
{
    (void)state;
#define REST "; fix it, or skip such rows with --missing drop"
    static const struct {
        const char *cell, *message;
    } bad[] = {
        {"abc", "cell is \"abc\", not a number" REST},
        {"", "cell is empty" REST},
        {"  ", "cell is empty" REST},
        {"\"\"", "cell is empty" REST},
        {"NA", "cell is \"NA\", a missing value" REST},
        {"n/a", "cell is \"n/a\", a missing value" REST},
        {"#N/A", "cell is \"#N/A\", a missing value" REST},
        {"NaN", "cell is \"NaN\", a missing value" REST},
        {"-nan", "cell is \"-nan\", a missing value" REST},
        {"NULL", "cell is \"NULL\", a missing value" REST},
        {"None", "cell is \"None\", a missing value" REST},
        {" ? ", "cell is \"?\", a missing value" REST},
        {"inf", "cell is \"inf\", a non-finite number" REST},
        {"-Infinity", "cell is \"-Infinity\", a non-finite number" REST},
        {"1e999", "cell is \"1e999\", a non-finite number" REST},
        {" -1e999 ", "cell is \"-1e999\", a non-finite number" REST},
        {"1e", "cell is \"1e\", not a number" REST},
        {"0x10", "cell is \"0x10\", not a number" REST},
        {"1\t2", "cell is \"1?2\", not a number" REST},
        {"0123456789012345678901234567890123456789x",
         "cell is \"0123456789012345678901234567890123456789...\", not a number" REST},
        {"012345678901234567890123456789012345678\xC3\xA9\xC3\xA9",
         "cell is \"012345678901234567890123456789012345678...\", not a number" REST},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256], message[512];
        snprintf(text, sizeof text, "a,b,temp\n1,2,3\n\n4,5,%s\n6,7,8\n", bad[i].cell);
        snprintf(message, sizeof message, "t.csv: line 4, column 3 (\"temp\"): %s", bad[i].message);
        check_text_fails(text, QUORUM_E_DATA, message);
        contents c = read_file("t.csv", &dropping);
        check_cells(&c, (const double[]){1, 2, 3, 6, 7, 8}, 2, 3);
        assert_int_equal(c.dropped, 1);
    }
#undef REST
}

/* What --ignore takes: the name where it is a plain word of one column, or the number.  The last
 * column is the target of training data, which cannot be left out. */
static void bad_cells_of_training_data(void **state)
{
    (void)state;
    const reader_options training = {.purpose = READ_TRAINING};
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"1,2\n,2\n", "t.csv: line 2, column 1: cell is empty; fix it, leave the column out with "
                      "--ignore 1, or skip such rows with --missing drop"},
        {"ab,c\n,2\n", "t.csv: line 2, column 1 (\"ab\"): cell is empty; fix it, leave the column "
                       "out with --ignore ab, or skip such rows with --missing drop"},
        {"a b,c\n,2\n", "t.csv: line 2, column 1 (\"a b\"): cell is empty; fix it, leave the "
                        "column out with --ignore 1, or skip such rows with --missing drop"},
        {"a,a,b\n1,,2\n", "t.csv: line 2, column 2 (\"a\"): cell is empty; fix it, leave the "
                          "column out with --ignore 2, or skip such rows with --missing drop"},
        {"a,b\n1,\n", "t.csv: line 2, column 2 (\"b\"): cell is empty; fix it, or skip such rows "
                      "with --missing drop"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text("t.csv", bad[i].text);
        contents c = read_file("t.csv", &training);
        check_failure(&c, QUORUM_E_DATA, bad[i].message);
    }
}

/* All columns of text at once, where no row could be used. */
static void columns_of_text(void **state)
{
    (void)state;
    const reader_options training = {.purpose = READ_TRAINING};
    static const struct {
        const char *text, *trained, *asked;
    } bad[] = {
        {"a,city,my day,y\n1,Graz,Monday,2\n2,,Friday,3\n",
         "line 2: cell is \"Graz\", not a number; columns 2 (\"city\"), 3 (\"my day\") are text: "
         "leave them out with --ignore city,3, or take text for categories with --categorical "
         "auto, "
         "or write numbers there",
         "line 2: cell is \"Graz\", not a number; columns 2 (\"city\"), 3 (\"my day\") are text: "
         "the model needs numbers there"},
        {"a,b,y\n1,x,low\n2,5,high\n", /* b has a number */
         "line 2, column 2 (\"b\"): cell is \"x\", not a number; fix it, leave the column out with "
         "--ignore b, make it a category with --categorical b, or skip such rows with --missing "
         "drop",
         "line 2, column 2 (\"b\"): cell is \"x\", not a number; fix it, or skip such rows with "
         "--missing drop"},
        {"a,b,y\n1,2,low\n2,5,high\n",
         "line 2: cell is \"low\", not a number; column 3 (\"y\"), the target, is text: choose "
         "another target with --target, or write numbers there",
         "line 2: cell is \"low\", not a number; column 3 (\"y\") is text: the model needs numbers "
         "there"},
        {"a,b,y\n1,x,low\n2,z,high\n",
         "line 2: cell is \"x\", not a number; columns 2 (\"b\"), 3 (\"y\"), the target among "
         "them, "
         "are text: choose another target with --target, and leave the others out with --ignore "
         "b, or take text for categories with --categorical auto, or write numbers there",
         "line 2: cell is \"x\", not a number; columns 2 (\"b\"), 3 (\"y\") are text: the model "
         "needs numbers there"},
        {"a|b|y,\n1|2|3,u\n",
         "line 2: cell is \"1|2|3\", not a number; no column has numbers: are the file and its "
         "delimiter right (comma, semicolon, tab or blanks)?",
         "line 2: cell is \"1|2|3\", not a number; no column has numbers: are the file and its "
         "delimiter right (comma, semicolon, tab or blanks)?"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char message[512];
        write_text("t.csv", bad[i].text);
        contents c = read_file("t.csv", &training);
        snprintf(message, sizeof message, "t.csv: %s", bad[i].trained);
        check_failure(&c, QUORUM_E_DATA, message);
        c = read_file("t.csv", &defaults);
        snprintf(message, sizeof message, "t.csv: %s", bad[i].asked);
        check_failure(&c, QUORUM_E_DATA, message);
    }
}

static void check_notation(const char *text, const reader_options *options, const double *wanted,
                           size_t rows)
{
    write_text("t.csv", text);
    contents c = read_file("t.csv", options);
    check_cells(&c, wanted, rows, 2);
}

/* decimal=auto: the first mark that can only be one thing decides. */
static void decimal_commas(void **state)
{
    (void)state;
    check_notation("a;b\n1,5;2,5\n3;1,234\n", &defaults, (const double[]){1.5, 2.5, 3, 1.234}, 2);
    check_notation("1,5;-2,5\n+3,5;4,5e3\n", &defaults, (const double[]){1.5, -2.5, 3.5, 4500}, 2);
    check_notation("a\tb\n1\t0,500\n", &defaults, (const double[]){1, 0.5}, 1);
    check_notation("a,b\n\"1,25\",2\n", &defaults, (const double[]){1.25, 2}, 1);
    const reader_options comma = {.decimal = DECIMAL_COMMA}, point = {.decimal = DECIMAL_POINT};
    check_notation("a;b\n236,300;1\n", &comma, (const double[]){236.3, 1}, 1);
    check_notation("a b\n236,300 1\n", &comma, (const double[]){236.3, 1}, 1);
    check_notation("236,300 1\n1,5 3\n", &comma, (const double[]){236.3, 1, 1.5, 3}, 2);
    write_text("t.csv", "a;b\n1,5;2\n");
    contents c = read_file("t.csv", &point);
    check_failure(&c, QUORUM_E_DATA,
                  "t.csv: line 2, column 1 (\"a\"): cell is \"1,5\": 1.5 with --decimal comma; "
                  "give the option that is meant, or fix the cell");
}

/* What may be two things is refused, also where rows may be dropped: they are not missing. */
static void notations_that_are_not_certain(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"a;b\n236,300;1,5\n", "line 2, column 1 (\"a\"): cell is \"236,300\": 236.3 with "
                               "--decimal comma and 236300 with --thousands comma"},
        {"a;b\n1,5;2\n3;1.5\n", "line 3, column 2 (\"b\"): cell is \"1.5\" after numbers with "
                                "decimal commas: 1.5 with --decimal point"},
        {"a;b\n1.5;2\n3;1,5\n", "line 3, column 2 (\"b\"): cell is \"1,5\" after numbers with "
                                "decimal points: 1.5 with --decimal comma"},
        {"a;b\n1,234,567;2\n",
         "line 2, column 1 (\"a\"): cell is \"1,234,567\": 1234567 with --thousands comma"},
        {"a;b\n1.234.567;2\n",
         "line 2, column 1 (\"a\"): cell is \"1.234.567\": 1234567 with --thousands point"},
        {"a;b\n1.234,5;2\n", "line 2, column 1 (\"a\"): cell is \"1.234,5\": 1234.5 with --decimal "
                             "comma --thousands point"},
        {"a;b\n1 234;2\n",
         "line 2, column 1 (\"a\"): cell is \"1 234\": 1234 with --thousands space"},
        {"a;b\n1'234;2\n",
         "line 2, column 1 (\"a\"): cell is \"1'234\": 1234 with --thousands apostrophe"},
        {"a;b\n1_000;2\n",
         "line 2, column 1 (\"a\"): cell is \"1_000\": 1000 with --thousands underscore"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char message[512];
        write_text("t.csv", bad[i].text);
        contents c = read_file("t.csv", &defaults);
        snprintf(message, sizeof message,
                 "t.csv: %s; give the option that is meant, or fix the cell", bad[i].message);
        check_failure(&c, QUORUM_E_DATA, message);
        c = read_file("t.csv", &dropping);
        check_failure(&c, QUORUM_E_DATA, message);
    }
    write_text("t.csv", "a;b\n1;2\n");
    contents c = read_file("t.csv", &(reader_options){.decimal = DECIMAL_COMMA, .thousands = ','});
    check_failure(&c, QUORUM_E_ARGUMENT,
                  "options decimal and thousands are both a comma: one mark cannot be both");
    c = read_file("t.csv", &(reader_options){.decimal = DECIMAL_POINT, .thousands = '.'});
    check_failure(&c, QUORUM_E_ARGUMENT,
                  "options decimal and thousands are both a point: one mark cannot be both");
}

static void groups_of_digits(void **state)
{
    (void)state;
    const reader_options comma = {.thousands = ','}, point = {.thousands = '.'},
                         space = {.thousands = ' '}, tick = {.thousands = '\''},
                         line = {.thousands = '_'};
    check_notation("a;b\n236,300;-1,234,567.5\n", &comma, (const double[]){236300, -1234567.5}, 1);
    check_notation("a,b\n\"1,000\",2\n", &comma, (const double[]){1000, 2}, 1);
    check_notation("a;b\n236.300;1.234,5\n", &point, (const double[]){236300, 1234.5}, 1);
    check_notation("a;b\n1 000;2,5\n", &space, (const double[]){1000, 2.5}, 1);
    check_notation("a;b\n1\xC2\xA0"
                   "000;2\xE2\x80\xAF"
                   "000\n",
                   &space, (const double[]){1000, 2000}, 1);
    check_notation("a;b\n1\xA0"
                   "000;2.5\n",
                   &space, (const double[]){1000, 2.5}, 1);
    check_notation("a;b\n1'000;2\xE2\x80\x99"
                   "000.5\n",
                   &tick, (const double[]){1000, 2000.5}, 1);
    check_notation("a;b\n1_000;2\n", &line, (const double[]){1000, 2}, 1);
    static const char *const none[] = {"1,00",  "1,0000", "1,,000",   ",100",    "1000,000",
                                       "0,123", "100,",   "1,000,00", "1.5,000", "1e1,000"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char text[64];
        snprintf(text, sizeof text, "a;b\n1;2\n%s;2\n", none[i]);
        write_text("t.csv", text);
        assert_int_equal(read_file("t.csv", &comma).status, QUORUM_E_DATA);
    }
}

static void comments(void **state)
{
    (void)state;
    const reader_options hash = {.comment = '#'}, percent = {.comment = '%'};
    check_notation("# made by, \"somebody\n#\na,b\n1,2\n  # half\n3,4\n#end", &hash,
                   (const double[]){1, 2, 3, 4}, 2);
    check_notation("\xEF\xBB\xBF#x\r\n1;2\r\n#\r\n3;4\r\n", &hash, (const double[]){1, 2, 3, 4}, 2);
    check_notation("% one\n1 2\n3 4\n", &percent, (const double[]){1, 2, 3, 4}, 2);
    check_text_fails("# a b\n1 2\n3 4\n", QUORUM_E_DATA,
                     "t.csv: line 2: cell is \"1 2\", not a number; column 1 (\"# a b\") is text: "
                     "the model needs numbers there.  Line 1 begins with #: if that is a comment, "
                     "give --comment '#'");
    check_text_fails("a,b\n1,2\n# half\n3,4\n", QUORUM_E_DATA,
                     "t.csv: line 3: 1 column where the header has 2 (delimiter: comma); fix the "
                     "line, or skip such rows with --missing drop.  Line 3 begins with #: if that "
                     "is a comment, give --comment '#'");
    check_notation("#a,b\n1,2\n3,4\n", &defaults, (const double[]){1, 2, 3, 4}, 2); /* a name */
    write_text("t.csv", "#\n# only\n");
    contents c = read_file("t.csv", &hash);
    check_failure(&c, QUORUM_E_DATA, "t.csv: is empty");
}

static void wrong_number_of_columns(void **state)
{
    (void)state;
    check_text_fails("a,b,c\n1,2,3\n1,2\n4,5,6\n", QUORUM_E_DATA,
                     "t.csv: line 3: 2 columns where the header has 3 (delimiter: comma); fix the "
                     "line, or skip such rows with --missing drop");
    contents c = read_file("t.csv", &dropping);
    check_cells(&c, (const double[]){1, 2, 3, 4, 5, 6}, 2, 3);
    assert_int_equal(c.dropped, 1);
    check_text_fails("1;2\n1\n1;2\n", QUORUM_E_DATA,
                     "t.csv: line 2: 1 column where line 1 has 2 (delimiter: semicolon); fix the "
                     "line, or skip such rows with --missing drop");
    check_text_fails("\n1\t2\n1\t2\t3\n", QUORUM_E_DATA,
                     "t.csv: line 3: 3 columns where line 2 has 2 (delimiter: tab); fix the line, "
                     "or skip such rows with --missing drop");
    check_text_fails("1 2\n1 2\n1 2 3\n", QUORUM_E_DATA,
                     "t.csv: line 3: 3 columns where line 1 has 2 (delimiter: blank); fix the "
                     "line, or skip such rows with --missing drop");
}

#define UTF16                                                                                      \
    "t.csv: is UTF-16 text; save it as UTF-8, or convert it: iconv -f UTF-16 -t UTF-8 OLD.csv > "  \
    "NEW.csv"

static void files_that_are_no_csv(void **state)
{
    (void)state;
    check_text_fails("", QUORUM_E_DATA, "t.csv: is empty");
    check_text_fails("\n \n\r\n", QUORUM_E_DATA, "t.csv: is empty");
    check_text_fails("\xEF\xBB\xBF", QUORUM_E_DATA, "t.csv: is empty");
    check_text_fails("a,b\n1,\"2\n3,4\n", QUORUM_E_FORMAT,
                     "t.csv: line 2: a quote is opened and never closed");
    write_bytes("t.csv", "a,b\n1,2\n3\0,4\n", 13);
    contents c = read_file("t.csv", &dropping);
    check_failure(&c, QUORUM_E_FORMAT,
                  "t.csv: line 3: contains a zero byte, so this is not text; csv, csv.gz, npy and "
                  "npz files can be read");
    write_bytes("t.csv",
                "\xFF\xFE"
                "1\0,\0",
                6);
    c = read_file("t.csv", &defaults);
    check_failure(&c, QUORUM_E_FORMAT, UTF16);
    write_bytes("t.csv", "1\0,\0002\0", 6); /* without its mark */
    c = read_file("t.csv", &defaults);
    check_failure(&c, QUORUM_E_FORMAT, UTF16);
    write_bytes("t.csv", "\0001\0,\0002", 6);
    c = read_file("t.csv", &defaults);
    check_failure(&c, QUORUM_E_FORMAT, UTF16);
}

/* ---- names in other encodings ---- */

static int is_converted(const char *path)
{
    reader *r;
    assert_int_equal(reader_open(path, &defaults, &r), QUORUM_OK);
    int converted = reader_is_converted(r);
    reader_close(r);
    return converted;
}

static void names_become_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *header, *names;
        int converted;
    } cases[] = {
        {"a,b", "a|b", 0},
        {"Gr\xC3\xB6\xC3\x9F"
         "e,\xE2\x82\xAC,\xF0\x9F\x98\x80", /* UTF-8 */
         "Gr\xC3\xB6\xC3\x9F"
         "e|\xE2\x82\xAC|\xF0\x9F\x98\x80",
         0},
        {"\xEF\xBB\xBF\xC3\xB6,b", "\xC3\xB6|b", 0},
        {"Gr\xF6\xDF"
         "e,y",
         "Gr\xC3\xB6\xC3\x9F"
         "e|y",
         1},                                                               /* Latin-1 */
        {"\x80,\"\xB5\"\"\",\x9F", "\xE2\x82\xAC|\xC2\xB5\"|\xC5\xB8", 1}, /* Windows-1252 */
        {"\xC3\xB6,\xF6", "\xC3\x83\xC2\xB6|\xC3\xB6", 1},                 /* one encoding a file */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s\n", cases[i].header);
        contents c = read_text(text);
        assert_int_equal(c.status, QUORUM_OK);
        assert_string_equal(c.names, cases[i].names);
        assert_int_equal(is_converted("t.csv"), cases[i].converted);
    }
}

static void names_that_are_refused(void **state)
{
    (void)state;
    check_text_fails("a,b\x81\n1,2\n", QUORUM_E_FORMAT,
                     "t.csv: line 1, column 2: the column name has the byte 0x81, which is neither "
                     "UTF-8 nor Windows-1252; save the file as UTF-8, or convert it: iconv -f "
                     "ENCODING -t UTF-8 OLD.csv > NEW.csv");
    check_text_fails("\xEF\xBB\xBF"
                     "a,\xF6\n1,2\n",
                     QUORUM_E_FORMAT,
                     "t.csv: line 1, column 2: the column name has the byte 0xF6, which is not "
                     "UTF-8, though the file begins with UTF-8's mark; save it as UTF-8");
#define CONTROL(byte)                                                                              \
    "t.csv: line 2, column 1: the column name has the byte 0x" byte                                \
    ", a control character; take it out"
    check_text_fails("\n\x1B[31ma,b\n1,2\n", QUORUM_E_FORMAT, CONTROL("1B"));
    check_text_fails("\na\x7F,b\n1,2\n", QUORUM_E_FORMAT, CONTROL("7F"));
    check_text_fails("\na\xC2\x9B"
                     "31m,b\n1,2\n",
                     QUORUM_E_FORMAT, CONTROL("C2"));
#undef CONTROL
    check_text_fails(
        "a,b\n\xF6\x9B\x81\x1B,2\n", QUORUM_E_DATA, /* shown, it is UTF-8 too */
        "t.csv: line 2: cell is \"\xC3\xB6\xE2\x80\xBA\x3F\x3F\", not a number; column 1 "
        "(\"a\") is text: the model needs numbers there");
}

static void files_that_cannot_be_read(void **state)
{
    (void)state;
    contents c = read_file("nowhere.csv", &defaults);
    check_failure(&c, QUORUM_E_FILE, "nowhere.csv: cannot be opened: No such file or directory");
    c = read_file(".", &defaults);
    check_failure(&c, QUORUM_E_FILE, ".: is a directory, not a file");
    write_text("secret.csv", "1,2\n");
    chmod("secret.csv", 0);
    c = read_file("secret.csv", &defaults);
    if (geteuid() != 0)
        check_failure(&c, QUORUM_E_FILE, "secret.csv: cannot be opened: Permission denied");
}

/* ---- columns ---- */

static size_t find(const reader *r, const char *name)
{
    size_t column = 99;
    assert_int_equal(reader_find(r, name, &column), QUORUM_OK);
    return column;
}

static void columns_by_name_and_number(void **state)
{
    (void)state;
    size_t column;
    reader *r;
    write_text("t.csv", "a,b,3,a\n1,2,3,4\n");
    assert_int_equal(reader_open("t.csv", &defaults, &r), QUORUM_OK);
    assert_string_equal(reader_path(r), "t.csv");
    assert_int_equal(find(r, "b"), 1);
    assert_int_equal(find(r, "3"), 2); /* a name wins */
    assert_int_equal(find(r, "4"), 3);
    assert_int_equal(find(r, "-1"), 3);
    assert_int_equal(find(r, "-4"), 0);
    assert_int_equal(reader_find(r, "a", &column), QUORUM_E_ARGUMENT);
    assert_string_equal(quorum_message(), "t.csv: columns 1 and 4 are both named \"a\"; give the "
                                          "column's number instead");
    static const char *const absent[] = {"c", "0", "5", "-5", "1x", "", "99999999999999999999"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        char message[400];
        snprintf(
            message, sizeof message,
            "t.csv: has no column \"%s\"; its 4 columns are \"a\", \"b\", \"3\", \"a\" "
            "(numbers from 1 work too, and -1 is the last).  The first row is taken for names, "
            "with numbers: if it is data, give --header no",
            absent[i]);
        assert_int_equal(reader_find(r, absent[i], &column), QUORUM_E_ARGUMENT);
        assert_string_equal(quorum_message(), message);
    }
    reader_close(r);
}

static void many_names_are_cut(void **state)
{
    (void)state;
    FILE *f = fopen("many.csv", "wb");
    for (int i = 0; i < 500; i++)
        fprintf(f, "name%d%c", i, i < 499 ? ',' : '\n');
    fclose(f);
    reader *r;
    size_t column;
    assert_int_equal(reader_open("many.csv", &defaults, &r), QUORUM_OK);
    assert_int_equal(reader_find(r, "z", &column), QUORUM_E_ARGUMENT);
    assert_non_null(strstr(quorum_message(), "its 500 columns are \"name0\", \"name1\""));
    assert_non_null(strstr(quorum_message(), ", ... (numbers from 1 work too"));
    reader_close(r);
}

static void selected_columns(void **state)
{
    (void)state;
    reader *r;
    double out[6];
    size_t rows;
    write_text("t.csv", "a,name,c\n1,x,3\n4,y,6\n");
    assert_int_equal(reader_open("t.csv", &defaults, &r), QUORUM_OK);
    assert_int_equal(reader_select(r, (const size_t[]){2, 0, 2}, 3), QUORUM_OK);
    assert_int_equal(reader_next(r, 2, out, &rows), QUORUM_OK);
    assert_int_equal(rows, 2);
    assert_memory_equal(out, ((const double[]){3, 1, 3, 6, 4, 6}), sizeof out);
    assert_int_equal(reader_next(r, 2, out, &rows), QUORUM_OK);
    assert_int_equal(rows, 0);
    assert_int_equal(reader_select(r, (const size_t[]){3}, 1), QUORUM_E_ARGUMENT);
    assert_string_equal(quorum_message(), "t.csv: column 4 does not exist, there are 3");
    assert_int_equal(reader_select(r, NULL, 0), QUORUM_E_ARGUMENT);
    assert_string_equal(quorum_message(), "t.csv: no column is selected");
    reader_close(r);
    reader_close(NULL);
}

/* ---- npy ---- */

/* Version 1, 128 bytes of header. */
static void write_npy(const char *path, const char *dictionary, const void *data, size_t n)
{
    unsigned char bytes[4096];
    assert_true(128 + n <= sizeof bytes);
    memset(bytes, ' ', 128);
    memcpy(bytes, "\x93NUMPY\1\0\x76\0", 10);
    memcpy(bytes + 10, dictionary, strlen(dictionary));
    bytes[127] = '\n';
    memcpy(bytes + 128, data, n);
    write_bytes(path, bytes, 128 + n);
}

static void check_npy(const char *descr, const void *data, size_t n, const double *wanted)
{
    char dictionary[128];
    snprintf(dictionary, sizeof dictionary,
             "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }", descr);
    write_npy("t.npy", dictionary, data, n);
    contents c = read_file("t.npy", &defaults);
    check_cells(&c, wanted, 2, 1);
    assert_string_equal(c.names, "x1");
    assert_false(c.has_names);
}

static void npy_types(void **state)
{
    (void)state;
    check_npy("<f8", "\0\0\0\0\0\0\xF8\x3F\0\0\0\0\0\0\0\xC0", 16, (const double[]){1.5, -2});
    check_npy(">f8", "\x3F\xF8\0\0\0\0\0\0\xC0\0\0\0\0\0\0\0", 16, (const double[]){1.5, -2});
    check_npy("=f8", (const double[]){1.5, -2}, 16, (const double[]){1.5, -2});
    check_npy("<f4", "\0\0\xC0\x3F\0\0\0\xC0", 8, (const double[]){1.5, -2});
    check_npy(">f4", "\x3F\xC0\0\0\xC0\0\0\0", 8, (const double[]){1.5, -2});
    check_npy("<f2", "\x00\x3E\x00\xC0", 4, (const double[]){1.5, -2});
    check_npy("<f2", "\x01\x00\xFF\x83", 4, (const double[]){0x1p-24, -1023 * 0x1p-24});
    check_npy("<i8", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\2\0\0\0\0\0\0\0", 16,
              (const double[]){-1, 2});
    check_npy(">i4", "\xFF\xFF\xFF\xFE\0\0\1\0", 8, (const double[]){-2, 256});
    check_npy("<i2", "\xFF\xFF\0\1", 4, (const double[]){-1, 256});
    check_npy("|i1", "\xFF\5", 2, (const double[]){-1, 5});
    check_npy("|u1", "\xFF\5", 2, (const double[]){255, 5});
    check_npy("<u2", "\xFF\xFF\5\0", 4, (const double[]){65535, 5});
    check_npy("<u8", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\2\0\0\0\0\0\0\0", 16,
              (const double[]){18446744073709551615.0, 2});
    check_npy("|b1", "\1\0", 2, (const double[]){1, 0});
}

static void npy_orders(void **state)
{
    (void)state;
    const double data[6] = {1, 2, 3, 4, 5, 6};
    write_npy("t.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", data,
              sizeof data);
    contents c = read_file("t.npy", &defaults);
    check_cells(&c, data, 2, 3);
    assert_string_equal(c.names, "x1|x2|x3");
    write_npy("t.npy", "{\"shape\":(2L,3L),\"fortran_order\":True,\"descr\":\"<f8\"}", data,
              sizeof data);
    c = read_file("t.npy", &defaults);
    check_cells(&c, (const double[]){1, 3, 5, 2, 4, 6}, 2, 3);
    write_npy("t.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", data, 0);
    c = read_file("t.npy", &defaults);
    check_cells(&c, NULL, 0, 3);
}

static void npy_versions(void **state)
{
    (void)state;
    const char *text = "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2)}";
    for (int version = 2; version <= 3; version++) {
        char bytes[256] = "\x93NUMPY";
        bytes[6] = (char)version;
        bytes[8] = (char)strlen(text);
        memcpy(bytes + 12, text, strlen(text));
        memcpy(bytes + 12 + strlen(text), "\7\10", 2);
        write_bytes("t.npy", bytes, 14 + strlen(text));
        contents c = read_file("t.npy", &defaults);
        check_cells(&c, (const double[]){7, 8}, 1, 2);
    }
}

/* More rows than a block, in both orders: column j of row i is 10 i + j. */
static void large_npy(void **state)
{
    (void)state;
    enum { ROWS = 50000, COLUMNS = 3 };
    double *values = malloc(ROWS * COLUMNS * sizeof *values);
    for (int fortran = 0; fortran < 2; fortran++) {
        char header[128];
        memset(header, ' ', sizeof header);
        memcpy(header, "\x93NUMPY\1\0\x76\0", 10);
        int n =
            snprintf(header + 10, 118, "{'descr': '<f8', 'fortran_order': %s, 'shape': (%d, %d)}",
                     fortran ? "True" : "False", ROWS, COLUMNS);
        header[10 + n] = ' ';
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < COLUMNS; j++)
                values[fortran ? j * ROWS + i : i * COLUMNS + j] = 10.0 * (double)i + (double)j;
        FILE *f = fopen("large.npy", "wb");
        fwrite(header, 1, sizeof header, f);
        fwrite(values, sizeof *values, ROWS * COLUMNS, f);
        fclose(f);
        reader *r;
        double out[2 * 700];
        size_t rows, total = 0;
        assert_int_equal(reader_open("large.npy", &defaults, &r), QUORUM_OK);
        assert_int_equal(reader_select(r, (const size_t[]){2, 0}, 2), QUORUM_OK);
        do {
            assert_int_equal(reader_next(r, 700, out, &rows), QUORUM_OK);
            for (size_t i = 0; i < rows; i++, total++)
                assert_true(out[2 * i] == 10.0 * (double)total + 2 &&
                            out[2 * i + 1] == 10.0 * (double)total);
        } while (rows > 0);
        assert_int_equal(total, ROWS);
        reader_close(r);
    }
    free(values);
    unlink("large.npy");
}

static void npy_missing_values(void **state)
{
    (void)state;
    const double data[8] = {1, 2, 3, NAN, -INFINITY, 6, 7, 8};
    const char *dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2), }";
    write_npy("t.npy", dictionary, data, sizeof data);
    contents c = read_file("t.npy", &defaults);
    check_failure(&c, QUORUM_E_DATA,
                  "t.npy: row 2, column 2: value is nan, a missing value; fix it, or skip such "
                  "rows with --missing drop");
    c = read_file("t.npy", &dropping);
    check_cells(&c, (const double[]){1, 2, 7, 8}, 2, 2);
    assert_int_equal(c.dropped, 2);
    write_npy("t.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", data + 4, 32);
    c = read_file("t.npy", &defaults);
    check_failure(&c, QUORUM_E_DATA,
                  "t.npy: row 1, column 1: value is infinite, a non-finite number; fix it, or skip "
                  "such rows with --missing drop");
}

static void check_npy_fails(const char *dictionary, size_t bytes, quorum_status status,
                            const char *message)
{
    static const double zeros[64];
    write_npy("t.npy", dictionary, zeros, bytes);
    contents c = read_file("t.npy", &defaults);
    check_failure(&c, status, message);
}

static void bad_npy_headers(void **state)
{
    (void)state;
#define NPY(descr, order, shape)                                                                   \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"
    static const struct {
        const char *dictionary;
        size_t bytes;
        quorum_status status;
        const char *message;
    } bad[] = {
        {NPY("'<f8'", "False", "(2, 2)"), 31, QUORUM_E_FORMAT,
         "t.npy: has 159 bytes where its header asks for 160; the file is truncated"},
        {NPY("'<f8'", "False", "(2, 2)"), 33, QUORUM_E_FORMAT,
         "t.npy: has 161 bytes where its header asks for 160; the file is damaged"},
        {NPY("'<f8'", "False", "()"), 8, QUORUM_E_DATA, "t.npy: holds a single number, not rows"},
        {NPY("'<f8'", "False", "(2, 2, 2)"), 64, QUORUM_E_FORMAT,
         "t.npy: the array has more than 2 dimensions"},
        {NPY("'<f8'", "False", "(3, 0)"), 0, QUORUM_E_DATA, "t.npy: has no columns"},
        {NPY("'<f8'", "False", "(0, 9999999)"), 0, QUORUM_E_FORMAT,
         "t.npy: has 9999999 columns; more than 1048576 are not read"},
        {NPY("'<c16'", "False", "(2,)"), 32, QUORUM_E_FORMAT,
         "t.npy: the array holds elements of type '<c16'; only booleans, integers and floats of up "
         "to 8 bytes can be read"},
        {NPY("'<f9'", "False", "(2,)"), 32, QUORUM_E_FORMAT,
         "t.npy: the array holds elements of type '<f9'; only booleans, integers and floats of up "
         "to 8 bytes can be read"},
        {NPY("''", "False", "(2,)"), 32, QUORUM_E_FORMAT,
         "t.npy: the array holds elements of type ''; only booleans, integers and floats of up "
         "to 8 bytes can be read"},
        {NPY("[('a', '<f8')]", "False", "(2,)"), 16, QUORUM_E_FORMAT,
         "t.npy: the array does not hold plain numbers"},
        {NPY("'<f8'", "Maybe", "(2,)"), 16, QUORUM_E_FORMAT,
         "t.npy: the npy header is damaged: fortran_order is neither True nor False"},
        {NPY("'<f8'", "False", "(4294967296, 4294967296)"), 16, QUORUM_E_FORMAT,
         "t.npy: the npy header is damaged: the shape is absurdly large"},
        {NPY("'<f8'", "False", "(9223372036854775807,)"), 16, QUORUM_E_FORMAT,
         "t.npy: the npy header is damaged: the shape is absurdly large"},
        {NPY("'<f8'", "False", "(99999999999999999999,)"), 16, QUORUM_E_FORMAT,
         "t.npy: the npy header is damaged: the shape is not readable or absurdly large"},
        {NPY("'<f8'", "False", "(-2,)"), 16, QUORUM_E_FORMAT,
         "t.npy: the npy header is damaged: the shape is not readable or absurdly large"},
        {NPY("'<f8'", "False", "(2 2)"), 16, QUORUM_E_FORMAT,
         "t.npy: the npy header is damaged: the shape has no end"},
        {NPY("'<f8'", "False", "2"), 16, QUORUM_E_FORMAT,
         "t.npy: the npy header is damaged: no shape"},
        {"{'descr': '<f8', 'order': 1}", 16, QUORUM_E_FORMAT,
         "t.npy: the npy header is damaged: unknown entry 'order'"},
        {"{'descr': '<f8'}", 16, QUORUM_E_FORMAT, "t.npy: the npy header is damaged"},
        {"{'descr': '<f8' 'shape': (2,)}", 16, QUORUM_E_FORMAT, "t.npy: the npy header is damaged"},
        {"{descr: '<f8'}", 16, QUORUM_E_FORMAT, "t.npy: the npy header is damaged"},
        {"(1, 2)", 16, QUORUM_E_FORMAT, "t.npy: the npy header is damaged"},
        {NPY("'<f8'", "False", "(2,)") " x", 16, QUORUM_E_FORMAT,
         "t.npy: the npy header is damaged"},
    };
#undef NPY
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_npy_fails(bad[i].dictionary, bad[i].bytes, bad[i].status, bad[i].message);
}

static void bad_npy_prefixes(void **state)
{
    (void)state;
    write_bytes("t.npy", "\x93NUMPY\1\0", 8);
    contents c = read_file("t.npy", &defaults);
    check_failure(&c, QUORUM_E_FORMAT, "t.npy: is not an npy array");
    write_bytes("t.npy", "\x93NUMPY\4\0\0\0\0\0", 12);
    c = read_file("t.npy", &defaults);
    check_failure(&c, QUORUM_E_FORMAT, "t.npy: npy version 4 is not known (1 to 3 are)");
    write_bytes("t.npy", "\x93NUMPY\2\0\0\0\0\x7F", 12);
    c = read_file("t.npy", &defaults);
    check_failure(&c, QUORUM_E_FORMAT,
                  "t.npy: the npy header is damaged: it says that it has 2130706432 bytes");
    write_bytes("t.npy", "\x93NUMPY\1\0\x76\0{'de", 14);
    c = read_file("t.npy", &defaults);
    check_failure(&c, QUORUM_E_FORMAT, "t.npy: ends too early; the file is truncated");
}

/* ---- memory that runs out, at every allocation in turn ---- */

static void check_memory_failures(const char *path)
{
    contents whole = read_file(path, &defaults);
    assert_int_equal(whole.status, QUORUM_OK);
    for (long n = 1;; n++) {
        mem_fail_at(n);
        contents c = read_file(path, &defaults);
        long asked = mem_allocations();
        mem_fail_at(0);
        if (asked < n) {
            check_cells(&c, whole.cells, whole.rows, whole.columns);
            assert_true(n > 3);
            break;
        }
        assert_int_equal(c.status, QUORUM_E_MEMORY);
        assert_non_null(strstr(quorum_message(), "out of memory"));
    }
}

static void memory_that_runs_out(void **state)
{
    (void)state;
    write_text("t.csv", "a,b\n1,2\n3,4\n");
    check_memory_failures("t.csv");
    write_text("t.csv", "1,2\n3,4\n");
    check_memory_failures("t.csv");
    write_gzip("t.csv.gz", "a b\n1 2\n3 4\n");
    check_memory_failures("t.csv.gz");
    write_npy("t.npy", "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "\1\2\3\4\5\6",
              6);
    check_memory_failures("t.npy");
    size_t column = 0, rows;
    double cells[8];
    reader *r;
    assert_int_equal(reader_open("t.csv", &defaults, &r), QUORUM_OK);
    mem_fail_at(1);
    assert_int_equal(reader_select(r, &column, 1), QUORUM_E_MEMORY);
    mem_fail_at(0);
    assert_int_equal(reader_next(r, 4, cells, &rows), QUORUM_OK);
    assert_int_equal(rows, 2);
    reader_close(r);
}

/* A window that cannot grow. */
static void memory_for_long_lines(void **state)
{
    (void)state;
    reader *r = NULL;
    assert_int_equal(access("long.csv", R_OK), 0);
    mem_fail_at(7); /* reader, path, csv, window, source, label, buffer; then the growth */
    assert_int_equal(reader_open("long.csv", &defaults, &r), QUORUM_E_MEMORY);
    mem_fail_at(8);
    assert_int_equal(reader_open("long.csv", &defaults, &r), QUORUM_E_MEMORY);
    assert_string_equal(quorum_message(), "long.csv: out of memory while reading");
    mem_fail_at(0);
}

static int make_locale(void **state)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return enter_directory(state);
}

static int free_locale(void **state)
{
    freelocale(c_locale);
    return leave_directory(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_shape),
        cmocka_unit_test(no_numbers),
        cmocka_unit_test(numbers_agree_with_strtod),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(delimiters),
        cmocka_unit_test(a_delimiter_of_most_lines),
        cmocka_unit_test(line_ends),
        cmocka_unit_test(quotes),
        cmocka_unit_test(quoted_newlines_count_as_lines),
        cmocka_unit_test(headers),
        cmocka_unit_test(trailing_delimiters),
        cmocka_unit_test(numbers_in_cells),
        cmocka_unit_test(gzip_files),
        cmocka_unit_test(damaged_gzip_files),
        cmocka_unit_test(what_follows_gzip_data),
        cmocka_unit_test(reading_can_be_cancelled),
        cmocka_unit_test(a_silent_pipe_can_be_cancelled),
        cmocka_unit_test(standard_input),
        cmocka_unit_test(a_named_pipe),
        cmocka_unit_test(large_file),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(absurd_lines),
        cmocka_unit_test(bad_cells),
        cmocka_unit_test(bad_cells_of_training_data),
        cmocka_unit_test(columns_of_text),
        cmocka_unit_test(decimal_commas),
        cmocka_unit_test(notations_that_are_not_certain),
        cmocka_unit_test(groups_of_digits),
        cmocka_unit_test(comments),
        cmocka_unit_test(wrong_number_of_columns),
        cmocka_unit_test(files_that_are_no_csv),
        cmocka_unit_test(names_become_utf8),
        cmocka_unit_test(names_that_are_refused),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(columns_by_name_and_number),
        cmocka_unit_test(many_names_are_cut),
        cmocka_unit_test(selected_columns),
        cmocka_unit_test(npy_types),
        cmocka_unit_test(npy_orders),
        cmocka_unit_test(npy_versions),
        cmocka_unit_test(large_npy),
        cmocka_unit_test(npy_missing_values),
        cmocka_unit_test(bad_npy_headers),
        cmocka_unit_test(bad_npy_prefixes),
        cmocka_unit_test(memory_that_runs_out),
        cmocka_unit_test(memory_for_long_lines),
    };
    return cmocka_run_group_tests(tests, make_locale, free_locale);
}
