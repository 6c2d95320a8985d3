/* A csv cell as a number, or why it is none; settles on the way whether a file that does not say
 * so has decimal points or commas. */
#include "data/cell.h"

#include "base/plain.h"
#include "base/number.h"
#include "data/levels.h"
#include "text/text.h"
#include "io/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_TEXT = 40, SUGGESTION = 160 };

static int is_one_of(const cell *c, const char *const *words)
{
    size_t n = (size_t)(c->end - c->begin);
    for (; *words; words++)
        if (strlen(*words) == n && plain_compare_start(c->begin, *words, n) == 0)
            return 1;
    return 0;
}

static const char *const missing[] = {"",     "na",   "n/a",  "#n/a", "nan", "+nan",
                                      "-nan", "null", "none", "?",    NULL};

/* "None" is an answer like others: no airbags, no sport. */
static int is_missing_level(const cell *c)
{
    static const char *const none[] = {"none", NULL};
    return is_one_of(c, missing) && !is_one_of(c, none);
}

/* What is no number in the notation that is read. */
static cell_kind classify(const cell *c, const cell_reader *k)
{
    static const char *const infinite[] = {"inf",       "+inf",      "-inf", "infinity",
                                           "+infinity", "-infinity", NULL};
    char other[SUGGESTION];
    if (is_one_of(c, missing))
        return CELL_MISSING;
    if (is_one_of(c, infinite))
        return CELL_NON_FINITE;
    notation_suggest(c->begin, c->end, k->c_locale, other, sizeof other);
    return other[0] ? CELL_OTHER_NOTATION : CELL_TEXT;
}

static void decide(cell_reader *k, char decimal)
{
    k->notation.decimal = decimal;
    k->undecided = 0;
    k->found = 1;
}

/* Digits and at most a decimal point. */
static int read_plain(const cell *c, cell_reader *k, double *value)
{
    if (c->begin == c->end || number_parse(c->begin, c->end, k->c_locale, value) != c->end)
        return 0;
    if (k->notation.decimal == '.' && !k->undecided) /* the usual case */
        return 1;
    int point = memchr(c->begin, '.', (size_t)(c->end - c->begin)) != NULL;
    if (point && k->undecided)
        decide(k, '.');
    return !point || k->notation.decimal == '.';
}

/* With decimal commas or groups of digits. */
static int read_marked(const cell *c, cell_reader *k, double *value)
{
    const notation comma = {',', k->notation.thousands}, grouped = {'.', ','};
    double other;
    if (notation_read(k->notation, c->begin, c->end, k->c_locale, value)) {
        if (k->undecided && memchr(c->begin, '.', (size_t)(c->end - c->begin)))
            decide(k, '.');
        return 1;
    }
    if (!k->undecided || !notation_read(comma, c->begin, c->end, k->c_locale, value) ||
        notation_read(grouped, c->begin, c->end, k->c_locale, &other))
        return 0;
    decide(k, ',');
    return 1;
}

cell_kind cell_read(const cell *c, cell_reader *k, double *value)
{
    if (read_plain(c, k, value))
        return isfinite(*value) ? CELL_NUMBER : CELL_NON_FINITE;
    cell text = *c;
    cell_trim(&text);
    if (read_plain(&text, k, value) || read_marked(&text, k, value))
        return isfinite(*value) ? CELL_NUMBER : CELL_NON_FINITE;
    return classify(&text, k);
}

int cell_is_missing(const cell *c)
{
    cell text = *c;
    cell_trim(&text);
    return is_one_of(&text, missing);
}

date_form cell_date_form(const cell *c)
{
    cell text = *c;
    cell_trim(&text);
    return date_look(text.begin, text.end);
}

cell_kind cell_read_date(const cell *c, date_form *form, double *seconds)
{
    cell text = *c;
    cell_trim(&text);
    date_form both = date_common(*form, date_look(text.begin, text.end));
    if (both.orders == 0)
        return is_one_of(&text, missing) ? CELL_MISSING : CELL_NO_DATE;
    int turns = date_decide(both).orders != date_decide(*form).orders;
    *form = both;
    *seconds = date_seconds(text.begin, text.end, both);
    return turns ? CELL_TURNS_DATE : CELL_NUMBER;
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

size_t cell_level(const cell *c, char out[LEVEL_ROOM])
{
    cell text = *c;
    size_t used = 0;
    cell_trim(&text);
    if (is_missing_level(&text))
        return 0;
    for (const char *p = text.begin; p < text.end;) {
        char shown[4];
        int doubled = text.quoted && *p == '"' && p + 1 < text.end && p[1] == '"';
        int blank = *p == '\n' || *p == '\r' || *p == '\t';
        size_t n = show_character(&p, text.end, shown);
        if (used + n > LONGEST_LEVEL)
            return LONGEST_LEVEL + 1;
        p += doubled;
        memcpy(out + used, blank ? " " : shown, n);
        used += n;
    }
    return used;
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

/* `cell is "236,300": 236.3 with --decimal comma and 236300 with --thousands comma` */
static void describe_notation(const cell *c, const char *text, const cell_reader *k, char *out,
                              size_t size)
{
    char other[SUGGESTION], before[48] = "";
    notation_suggest(c->begin, c->end, k->c_locale, other, sizeof other);
    if (k->found)
        snprintf(before, sizeof before, " after numbers with decimal %s",
                 k->notation.decimal == ',' ? "commas" : "points");
    snprintf(out, size, "cell is \"%s\"%s: %s", text, before, other);
}

void cell_describe(const cell *c, cell_kind kind, const cell_reader *k, char *out, size_t size)
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
    else if (kind == CELL_UNKNOWN_LEVEL)
        snprintf(out, size, "cell is \"%s\", a level that was not in the training data", text);
    else if (kind == CELL_NO_DATE)
        snprintf(out, size, "cell is \"%s\", not a date", text);
    else if (kind == CELL_TURNS_DATE)
        snprintf(out, size, "cell is \"%s\", after dates that may have the day first", text);
    else if (kind == CELL_OTHER_NOTATION)
        describe_notation(&trimmed, text, k, out, size);
    else
        snprintf(out, size, "cell is \"%s\", not a number", text);
}
