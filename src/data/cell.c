#include "data/cell.h"

#include "base/plain.h"
#include "data/number.h"
#include "data/text.h"
#include "io/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_TEXT = 40 };

static int is_one_of(const cell *c, const char *const *words)
{
    size_t n = (size_t)(c->end - c->begin);
    for (; *words; words++)
        if (strlen(*words) == n && plain_compare_start(c->begin, *words, n) == 0)
            return 1;
    return 0;
}

/* [+-] digits , digits */
static int is_decimal_comma(const cell *c)
{
    const char *p = c->begin;
    size_t before = 0, after = 0;
    if (p < c->end && (*p == '+' || *p == '-'))
        p++;
    for (; p < c->end && *p >= '0' && *p <= '9'; p++)
        before++;
    if (p == c->end || *p++ != ',')
        return 0;
    for (; p < c->end && *p >= '0' && *p <= '9'; p++)
        after++;
    return before > 0 && after > 0 && p == c->end;
}

static cell_kind classify(const cell *c)
{
    static const char *const missing[] = {"",     "na",   "n/a",  "#n/a", "nan", "+nan",
                                          "-nan", "null", "none", "?",    NULL};
    static const char *const infinite[] = {"inf",       "+inf",      "-inf", "infinity",
                                           "+infinity", "-infinity", NULL};
    if (is_one_of(c, missing))
        return CELL_MISSING;
    if (is_one_of(c, infinite))
        return CELL_NON_FINITE;
    return is_decimal_comma(c) ? CELL_DECIMAL_COMMA : CELL_TEXT;
}

cell_kind cell_read(const cell *c, locale_t c_locale, double *value)
{
    if (number_parse(c->begin, c->end, c_locale, value) == c->end) /* the usual case */
        return isfinite(*value) ? CELL_NUMBER : CELL_NON_FINITE;
    cell text = *c;
    cell_trim(&text);
    if (text.begin < text.end && number_parse(text.begin, text.end, c_locale, value) == text.end)
        return isfinite(*value) ? CELL_NUMBER : CELL_NON_FINITE;
    return classify(&text);
}

/* The character at p as UTF-8, '?' where it is none that can be shown; moves p behind it. */
static size_t show_character(const char **p, const char *end, char *out /* 4 */)
{
    size_t n = utf8_length(*p, end);
    const char *at = *p;
    *p += n > 0 ? n : 1;
    if (n == 0)
        n = windows_to_utf8(*at, out);
    else
        memcpy(out, at, n);
    if (n > 0 && !utf8_find_control(out, out + n))
        return n;
    out[0] = '?';
    return 1;
}

/* At most SHOWN_TEXT bytes of whole characters. */
static void show_text(const cell *c, char *out /* SHOWN_TEXT + 4 */)
{
    size_t used = 0;
    for (const char *p = c->begin; p < c->end;) {
        char shown[4];
        size_t n = show_character(&p, c->end, shown);
        if (used + n > SHOWN_TEXT) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        memcpy(out + used, shown, n);
        used += n;
    }
    out[used] = '\0';
}

void cell_describe(const cell *c, cell_kind kind, char *out, size_t size)
{
    char text[SHOWN_TEXT + 4];
    cell trimmed = *c;
    cell_trim(&trimmed);
    show_text(&trimmed, text);
    if (trimmed.begin == trimmed.end)
        snprintf(out, size, "cell is empty");
    else if (kind == CELL_MISSING)
        snprintf(out, size, "cell is \"%s\", a missing value", text);
    else if (kind == CELL_NON_FINITE)
        snprintf(out, size, "cell is \"%s\", a non-finite number", text);
    else if (kind == CELL_DECIMAL_COMMA)
        snprintf(out, size,
                 "cell is \"%s\", and decimal commas are not supported (write 1.5, not 1,5)", text);
    else
        snprintf(out, size, "cell is \"%s\", not a number", text);
}
