/* Numbers in other notations: brought into the plain one (1.234,5 -> 1234.5) and read, and the
 * options under which a cell would be a number. */
#include "text/notation.h"

#include "base/plain.h"
#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 1024, GROUP = 3 };

static const struct {
    char mark;
    const char *name;
} marks[] = {
    {',', "comma"}, {'.', "point"}, {' ', "space"}, {'\'', "apostrophe"}, {'_', "underscore"}};

enum { MARKS = sizeof marks / sizeof *marks };

char notation_mark(const char *text)
{
    for (int i = 0; i < MARKS; i++)
        if (strcmp(text, marks[i].name) == 0 || (text[0] == marks[i].mark && text[1] == '\0'))
            return marks[i].mark;
    return 0;
}

static const char *name_of(char mark)
{
    for (int i = 0; i < MARKS; i++)
        if (marks[i].mark == mark)
            return marks[i].name;
    return "none";
}

/* Bytes of the mark at p, 0 when there is none.  Spreadsheets group with no-break spaces, in
 * UTF-8 or Windows-1252, and with the typographic apostrophe. */
static size_t mark_at(char mark, const char *p, const char *end)
{
    static const struct {
        char mark;
        const char *bytes;
    } forms[] = {{' ', " "},
                 {' ', "\xC2\xA0"},
                 {' ', "\xE2\x80\xAF"},
                 {' ', "\xE2\x80\x89"},
                 {' ', "\xA0"},
                 {'\'', "'"},
                 {'\'', "\xE2\x80\x99"},
                 {'\'', "\x92"},
                 {',', ","},
                 {'.', "."},
                 {'_', "_"}};
    for (size_t i = 0; mark && i < sizeof forms / sizeof *forms; i++) {
        size_t n = strlen(forms[i].bytes);
        if (forms[i].mark == mark && (size_t)(end - p) >= n && memcmp(p, forms[i].bytes, n) == 0)
            return n;
    }
    return 0;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Copies the digits before the decimal mark without what groups them; NULL: groups that are none.
 * Moves *to behind them. */
static const char *copy_groups(char thousands, const char *p, const char *end, char **to)
{
    size_t digits = 0, groups = 0, mark;
    const char *first = p;
    for (;; p += mark, digits = 0, groups++) {
        for (; p < end && is_digit(*p); p++, digits++)
            *(*to)++ = *p;
        if (groups > 0 ? digits != GROUP : 0)
            return NULL;
        mark = mark_at(thousands, p, end);
        if (mark == 0)
            return p;
        if (groups == 0 && (digits == 0 || digits > GROUP || *first == '0'))
            return NULL;
    }
}

int notation_read(notation n, const char *p, const char *end, locale_t c_locale, double *value)
{
    char plain[MOST_BYTES], *to = plain;
    double found;
    if (p == end || (size_t)(end - p) >= sizeof plain)
        return 0;
    if (*p == '+' || *p == '-')
        *to++ = *p++;
    p = copy_groups(n.thousands, p, end, &to);
    if (p && p < end && *p == n.decimal) {
        *to++ = '.';
        p++;
    }
    for (; p && p < end; p++) { /* number_parse judges what is left */
        if (*p == '.' || *p == ',')
            return 0;
        *to++ = *p;
    }
    if (!p || to == plain || number_parse(plain, to, c_locale, &found) != to)
        return 0;
    *value = found;
    return 1;
}

static int contains(char mark, const char *p, const char *end)
{
    for (; p < end; p++)
        if (mark_at(mark, p, end) > 0)
            return 1;
    return 0;
}

__attribute__((format(printf, 3, 4))) static void append(char *out, size_t size, const char *format,
                                                         ...)
{
    size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    plain_print(out + used, size - used, format, args);
    va_end(args);
}

/* The options that make it this notation; a comma that groups leaves the point, a point the comma. */
static void append_options(notation n, const char *p, const char *end, double value, char *out,
                           size_t size)
{
    append(out, size, "%s%.15g with", out[0] ? " and " : "", value);
    if (n.decimal == ',' ? contains(',', p, end) || !n.thousands : !n.thousands)
        append(out, size, " --decimal %s", name_of(n.decimal));
    if (n.thousands)
        append(out, size, " --thousands %s", name_of(n.thousands));
}

void notation_suggest(const char *p, const char *end, locale_t c_locale, char *out, size_t size)
{
    static const notation all[] = {{'.', 0},   {',', 0},    {'.', ','},  {',', '.'}, {'.', ' '},
                                   {',', ' '}, {'.', '\''}, {',', '\''}, {'.', '_'}, {',', '_'}};
    double value;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int apart = all[i].decimal == '.' || contains(',', p, end) || all[i].thousands == '.';
        int used = !all[i].thousands || contains(all[i].thousands, p, end);
        if (apart && used && notation_read(all[i], p, end, c_locale, &value))
            append_options(all[i], p, end, value, out, size);
    }
}
