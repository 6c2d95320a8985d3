/* Changes of an archive of arrays and texts that keep it a whole archive: what is wrong
 * afterwards is wrong inside, where a checksum does not find it. */
#include "archive.h"
#include "fuzz.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NPY_PREFIX = 10, MOST_TEXT = 1 << 13, MOST_MEMBER = 1 << 14 };

static int is_array(const member *m)
{
    return m->size > NPY_PREFIX && memcmp(m->data, "\x93NUMPY", 6) == 0;
}

/* Where an array's numbers begin. */
static size_t numbers_at(const member *m)
{
    size_t at = NPY_PREFIX + (m->data[8] | (size_t)m->data[9] << 8);
    return at < m->size ? at : m->size;
}

/* ---- Numbers ---- */

static double change_number(double x, dice *d)
{
    uint64_t bits;
    switch (roll_below(d, 6)) {
    case 0: return odd_number(roll(d));
    case 1: return -x;
    case 2: return x * odd_number(roll(d));
    case 3: return x + odd_number(roll(d));
    case 4: return (double)((int64_t)roll_below(d, 41) - 20);
    default:
        memcpy(&bits, &x, sizeof bits);
        bits ^= (uint64_t)1 << roll_below(d, 64);
        memcpy(&x, &bits, sizeof x);
        return x;
    }
}

static int64_t change_integer(int64_t x, dice *d)
{
    static const int64_t odd[] = {0, 1, -1, 2, 1000, INT32_MAX, INT64_MAX, INT64_MIN};
    return roll_below(d, 2) ? (int64_t)((uint64_t)x + roll_below(d, 5) - 2)
                            : odd[roll_below(d, sizeof odd / sizeof *odd)];
}

/* One of an array's eight-byte numbers; `whole` ones are integers. */
static void mutate_number(member *m, dice *d)
{
    size_t first = numbers_at(m), count = (m->size - first) / 8;
    if (count == 0)
        return;
    uint8_t *at = m->data + first + 8 * roll_below(d, count);
    int whole = memmem(m->data, first, "i8", 2) != NULL;
    if (whole) {
        int64_t x;
        memcpy(&x, at, sizeof x);
        x = change_integer(x, d);
        memcpy(at, &x, sizeof x);
    } else {
        double x;
        memcpy(&x, at, sizeof x);
        x = change_number(x, d);
        memcpy(at, &x, sizeof x);
    }
}

/* All numbers at once: the same, scaled, or shifted in place. */
static void mutate_all_numbers(member *m, dice *d)
{
    size_t first = numbers_at(m), count = (m->size - first) / 8;
    double value = odd_number(roll(d));
    size_t how = roll_below(d, 3);
    for (size_t i = 0; i < count; i++) {
        double x;
        memcpy(&x, m->data + first + 8 * i, sizeof x);
        x = how == 0 ? value : how == 1 ? x * value : x + value;
        memcpy(m->data + first + 8 * i, &x, sizeof x);
    }
}

/* ---- An array's header ---- */

/* A new header with the numbers that follow it. */
static void set_array(member *m, const char *type, const char *order, const char *shape,
                      const uint8_t *numbers, size_t bytes)
{
    uint8_t *made = malloc(128 + bytes);
    if (!made)
        abort();
    memcpy(made, "\x93NUMPY\x01\x00\x76\x00", NPY_PREFIX);
    char text[119]; /* a longer text is cut */
    memset(text, ' ', sizeof text);
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }",
                     type, order, shape);
    text[n < (int)sizeof text ? n : (int)sizeof text - 1] = ' ';
    text[sizeof text - 2] = '\n';
    memcpy(made + NPY_PREFIX, text, 118);
    if (bytes > 0)
        memcpy(made + 128, numbers, bytes);
    member_set(m, made, 128 + bytes);
    free(made);
}

/* The text between the brackets of the shape. */
static void find_shape(const member *m, char *shape, size_t room)
{
    const uint8_t *open = memchr(m->data, '(', numbers_at(m));
    size_t n = 0;
    while (open && open + 1 + n < m->data + m->size && open[1 + n] != ')' && n + 1 < room) {
        shape[n] = (char)open[1 + n];
        n++;
    }
    shape[n] = '\0';
}

static void mutate_header(member *m, dice *d)
{
    static const char *const types[] = {"<f8", "<i8", ">f8",  ">i8", "<f4", "<i4", "<u8", "|b1",
                                        "|u1", "<f2", "<c16", "|O",  "<U4", "=f8", "<f16"};
    static const char *const shapes[] = {"",
                                         "0,",
                                         "1,",
                                         "2,",
                                         "1, 1",
                                         "3, 2",
                                         "2, 3",
                                         "0, 2",
                                         "2, 0",
                                         "1, 2, 3",
                                         "-1,",
                                         "4294967296, 4294967296",
                                         "9223372036854775807,",
                                         "18446744073709551615, 2"};
    char shape[64];
    size_t first = numbers_at(m), how = roll_below(d, 4);
    find_shape(m, shape, sizeof shape);
    const char *type = memmem(m->data, first, "i8", 2) ? "<i8" : "<f8";
    if (how == 0)
        type = types[roll_below(d, sizeof types / sizeof *types)];
    if (how == 1)
        snprintf(shape, sizeof shape, "%s", shapes[roll_below(d, sizeof shapes / sizeof *shapes)]);
    if (how < 3) {
        uint8_t *numbers = malloc(m->size);
        if (!numbers)
            abort();
        memcpy(numbers, m->data + first, m->size - first);
        set_array(m, type, how == 2 ? "True" : "False", shape, numbers, m->size - first);
        free(numbers);
    } else {
        LLVMFuzzerMutate(m->data, first, first);
    }
}

/* An array of another length: the first dimension and the numbers agree. */
static void mutate_length(member *m, dice *d)
{
    static uint8_t numbers[MOST_MEMBER];
    char shape[64], new_shape[96], *rest;
    size_t first = numbers_at(m), bytes = m->size - first;
    find_shape(m, shape, sizeof shape);
    unsigned long rows = strtoul(shape, &rest, 10);
    if (rest == shape || rows == 0 || bytes % rows != 0 || bytes > sizeof numbers / 4)
        return;
    size_t row = bytes / rows, new_rows = roll_below(d, 2) ? rows - 1 : rows + 1 + roll_below(d, 3);
    memcpy(numbers, m->data + first, bytes);
    for (size_t i = bytes; i < new_rows * row && i < sizeof numbers; i++)
        numbers[i] = numbers[i % (bytes ? bytes : 1)];
    const char *type = memmem(m->data, first, "i8", 2) ? "<i8" : "<f8";
    snprintf(new_shape, sizeof new_shape, "%zu%.60s", new_rows, rest);
    if (new_rows * row <= sizeof numbers)
        set_array(m, type, "False", new_shape, numbers, new_rows * row);
}

/* ---- Texts ---- */

/* Replaces `old` bytes at `at` of a text by another text. */
static void replace_text(member *m, size_t at, size_t old, const char *text)
{
    static uint8_t made[MOST_TEXT + 128];
    size_t n = strlen(text), tail = m->size - at - old;
    if (at + n + tail > sizeof made)
        return;
    memcpy(made, m->data, at);
    memcpy(made + at, text, n);
    memcpy(made + at + n, m->data + at + old, tail);
    member_set(m, made, at + n + tail);
}

/* The JSON value (a number, a word or a string) that begins at or after a random place. */
static int find_value(const member *m, dice *d, size_t *at, size_t *length)
{
    size_t i = roll_below(d, m->size);
    while (i < m->size && !strchr(":[,", m->data[i] ? m->data[i] : 'x'))
        i++;
    i++;
    while (i < m->size && isspace(m->data[i]))
        i++;
    size_t end = i;
    if (i < m->size && m->data[i] == '"')
        for (end++; end < m->size && m->data[end] != '"';)
            end++;
    while (end < m->size && !strchr(",]}\n", m->data[end] ? m->data[end] : 'x'))
        end++;
    *at = i;
    *length = end - i;
    return i < m->size;
}

static void mutate_value(member *m, dice *d)
{
    static const char *const values[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "1e308",
                                         "1e-308",
                                         "1e400",
                                         "0.5",
                                         "3.7",
                                         "-0.0",
                                         "null",
                                         "true",
                                         "false",
                                         "\"\"",
                                         "\"auto\"",
                                         "\"npae\"",
                                         "\"rbcm\"",
                                         "\"all\"",
                                         "\"graph:0.5\"",
                                         "\"local:2\"",
                                         "\"none\"",
                                         "\"se\"",
                                         "\"matern12\"",
                                         "\"matern32\"",
                                         "\"matern52\"",
                                         "\"kdtree\"",
                                         "\"random\"",
                                         "[]",
                                         "{}",
                                         "[[[[[[[[0]]]]]]]]",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551616",
                                         "4294967296",
                                         "\"\\u0000\"",
                                         "\"\\ud800\"",
                                         "\"\xff\"",
                                         "\"\\u00e9\"",
                                         "\"512\"",
                                         "\"1e99\"",
                                         "\"rel:1e-14\"",
                                         "\"glasso\"",
                                         "\"lasso\"",
                                         "\"ebic\"",
                                         "\"\\u001b[31m\""};
    size_t at, length;
    if (m->size == 0 || m->size > MOST_TEXT || !find_value(m, d, &at, &length))
        return;
    replace_text(m, at, length, values[roll_below(d, sizeof values / sizeof *values)]);
}

static void mutate_text(member *m, dice *d)
{
    static uint8_t room[MOST_TEXT];
    if (roll_below(d, 4) > 0) {
        mutate_value(m, d);
    } else if (m->size <= sizeof room) {
        if (m->size > 0)
            memcpy(room, m->data, m->size);
        member_set(m, room, LLVMFuzzerMutate(room, m->size, sizeof room));
    }
}

/* ---- Members ---- */

static void drop_member(archive *a, size_t i)
{
    free(a->of[i].data);
    memmove(&a->of[i], &a->of[i + 1], (a->count - i - 1) * sizeof a->of[0]);
    a->count--;
}

static void mutate_members(archive *a, size_t i, dice *d)
{
    size_t j = roll_below(d, a->count);
    switch (roll_below(d, 4)) {
    case 0: drop_member(a, i); break;
    case 1:
        if (a->count < MOST_MEMBERS) {
            a->of[a->count] = (member){0};
            memcpy(a->of[a->count].name, a->of[i].name, NAME_ROOM);
            member_set(&a->of[a->count++], a->of[j].data, a->of[j].size);
        }
        break;
    case 2:
        if (i != j)
            member_set(&a->of[i], a->of[j].data, a->of[j].size);
        break;
    default: a->of[i].name[roll_below(d, 4)] ^= (char)(1 << roll_below(d, 7));
    }
}

static void mutate_array(member *m, dice *d)
{
    size_t how = roll_below(d, 10);
    if (how < 6)
        mutate_number(m, d);
    else if (how < 7)
        mutate_all_numbers(m, d);
    else if (how < 9)
        mutate_length(m, d);
    else
        mutate_header(m, d);
}

void archive_mutate(archive *a, uint64_t seed)
{
    dice d = {seed};
    if (a->count == 0)
        return;
    size_t i = roll_below(&d, a->count), how = roll_below(&d, 20);
    if (how == 0)
        mutate_members(a, i, &d);
    else if (how == 1)
        a->of[i].deflated = !a->of[i].deflated;
    else if (is_array(&a->of[i]))
        mutate_array(&a->of[i], &d);
    else
        mutate_text(&a->of[i], &d);
}

/* ---- For harnesses whose input is an archive ---- */

/* Some changes inside the archive; 0 when the bytes are none, or it does not fit. */
static size_t mutate_inside(uint8_t *data, size_t size, size_t max_size, dice *d)
{
    archive a;
    size_t made = 0;
    if (archive_read(data, size, &a)) {
        for (size_t k = 1 + roll_below(d, 3); k > 0; k--)
            archive_mutate(&a, roll(d));
        made = archive_write(&a, data, max_size);
    }
    archive_free(&a);
    return made;
}

/* Nine times of ten a change inside the archive, otherwise of its bytes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    dice d = {seed};
    size_t made = roll_below(&d, 10) > 0 ? mutate_inside(data, size, max_size, &d) : 0;
    return made > 0 ? made : LLVMFuzzerMutate(data, size, max_size);
}

/* The one archive with some members of the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *two,
                                 size_t two_size, uint8_t *out, size_t max_out, unsigned seed)
{
    archive a, b;
    dice d = {seed};
    size_t made = 0;
    int both = archive_read(one, one_size, &a);
    both = archive_read(two, two_size, &b) && both;
    for (size_t i = 0; both && i < a.count; i++)
        for (size_t j = 0; j < b.count; j++)
            if (strcmp(a.of[i].name, b.of[j].name) == 0 && roll_below(&d, 4) == 0)
                member_set(&a.of[i], b.of[j].data, b.of[j].size);
    if (both)
        made = archive_write(&a, out, max_out);
    archive_free(&a);
    archive_free(&b);
    return made;
}
