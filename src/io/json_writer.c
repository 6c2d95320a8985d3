/* Commas, lines and indents by what is open; texts escaped, numbers with the 17 digits that read
 * back exactly. */
#include "io/json_writer.h"

#include "io/utf8.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

json_writer json_writer_to(json_sink sink, void *context, unsigned indent)
{
    return (json_writer){.sink = sink, .context = context, .indent = indent};
}

static void set_error(json_writer *w, json_error error)
{
    if (w->error == JSON_WRITTEN)
        w->error = error;
}

static void put(json_writer *w, const char *bytes, size_t n)
{
    if (w->error == JSON_WRITTEN && n > 0 && w->sink(w->context, bytes, n) != 0)
        set_error(w, JSON_NOT_TAKEN);
}

/* ---- Commas, lines, keys ---- */

static void start_line(json_writer *w)
{
    static const char blanks[] = "                                ";
    if (w->indent == 0)
        return;
    put(w, "\n", 1);
    for (size_t left = (size_t)w->indent * w->depth; left > 0;) {
        size_t n = left < sizeof blanks - 1 ? left : sizeof blanks - 1;
        put(w, blanks, n);
        left -= n;
    }
}

static int in_object(const json_writer *w)
{
    return w->depth > 0 && w->closing[w->depth - 1] == '}';
}

/* The comma and the line before the next member of what is open. */
static void start_member(json_writer *w)
{
    if (w->depth == 0 && w->has_member[0])
        set_error(w, JSON_MISUSED); /* a second value */
    if (w->depth > 0 && w->has_member[w->depth])
        put(w, ",", 1);
    if (w->depth > 0)
        start_line(w);
    w->has_member[w->depth] = true;
}

static void start_value(json_writer *w)
{
    if (in_object(w) != w->after_key)
        set_error(w, JSON_MISUSED);
    if (!w->after_key)
        start_member(w);
    w->after_key = 0;
}

static void put_plain(json_writer *w, const char *value)
{
    start_value(w);
    put(w, value, strlen(value));
}

static void begin(json_writer *w, char opening, char closing)
{
    start_value(w);
    if (w->depth == JSON_MOST_NESTING)
        set_error(w, JSON_MISUSED);
    if (w->error != JSON_WRITTEN)
        return;
    put(w, &opening, 1);
    w->closing[w->depth++] = closing;
    w->has_member[w->depth] = false;
}

void json_begin_object(json_writer *w)
{
    begin(w, '{', '}');
}

void json_begin_list(json_writer *w)
{
    begin(w, '[', ']');
}

void json_end(json_writer *w)
{
    if (w->depth == 0 || w->after_key)
        set_error(w, JSON_MISUSED);
    if (w->error != JSON_WRITTEN)
        return;
    bool filled = w->has_member[w->depth--];
    if (filled)
        start_line(w);
    put(w, &w->closing[w->depth], 1);
}

/* ---- Texts ---- */

static int is_special(const unsigned char *p, size_t length)
{
    if (length == 1)
        return p[0] < 0x20 || p[0] == 0x7F || p[0] == '"' || p[0] == '\\';
    return length == 2 && p[0] == 0xC2 && p[1] < 0xA0; /* C1: terminals obey those too */
}

static void put_escape(json_writer *w, const unsigned char *p, size_t length)
{
    static const char special[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *found = p[0] ? strchr(special, p[0]) : NULL;
    char text[8];
    if (length == 1 && found)
        snprintf(text, sizeof text, "\\%c", letter[found - special]);
    else
        snprintf(text, sizeof text, "\\u%04X", (unsigned)p[length - 1]);
    put(w, text, strlen(text));
}

static void put_escaped(json_writer *w, const char *text)
{
    const char *p = text, *end = text + strlen(text);
    while (p < end && w->error == JSON_WRITTEN) {
        const char *plain = p;
        size_t length;
        while ((length = utf8_length(p, end)) > 0 && !is_special((const unsigned char *)p, length))
            p += length;
        put(w, plain, (size_t)(p - plain));
        if (p < end && length == 0)
            set_error(w, JSON_NOT_UTF8);
        else if (p < end)
            put_escape(w, (const unsigned char *)p, length);
        p += length;
    }
}

void json_key(json_writer *w, const char *key)
{
    if (!key)
        set_error(w, JSON_NOT_UTF8);
    if (!in_object(w) || w->after_key)
        set_error(w, JSON_MISUSED);
    if (w->error != JSON_WRITTEN)
        return;
    start_member(w);
    put(w, "\"", 1);
    put_escaped(w, key);
    put(w, "\": ", w->indent ? 3 : 2);
    w->after_key = 1;
}

void json_put_joined(json_writer *w, const char *first, const char *second)
{
    if (!first || !second)
        set_error(w, JSON_NOT_UTF8);
    if (w->error != JSON_WRITTEN)
        return;
    start_value(w);
    put(w, "\"", 1);
    put_escaped(w, first);
    put_escaped(w, second);
    put(w, "\"", 1);
}

void json_put_text(json_writer *w, const char *text)
{
    json_put_joined(w, text, "");
}

/* ---- Numbers ---- */

/* printf in the C locale.  It is static in the C library: this cannot fail and nothing is to be
 * freed. */
static void print_number(char *text, size_t size, double value)
{
    locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    snprintf(text, size, "%.17g", value);
    uselocale(before);
}

/* 1e+05 -> 1e5, 1e-07 -> 1e-7 */
static void shorten_exponent(char *text)
{
    char *e = strchr(text, 'e');
    if (!e)
        return;
    char *to = e + 1, *from = e + 1;
    if (*from == '-')
        *to++ = '-';
    from += *from == '-' || *from == '+';
    from += strspn(from, "0");
    memmove(to, from, strlen(from) + 1);
}

void json_put_number(json_writer *w, double value)
{
    char text[48];
    if (!isfinite(value)) {
        json_put_null(w);
        return;
    }
    print_number(text, sizeof text - 2, value);
    if (!strpbrk(text, ".e"))
        memcpy(text + strlen(text), ".0", 3); /* a real number stays one */
    shorten_exponent(text);
    put_plain(w, text);
}

void json_put_integer(json_writer *w, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put_plain(w, text);
}

void json_put_count(json_writer *w, size_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", value);
    put_plain(w, text);
}

void json_put_flag(json_writer *w, int value)
{
    put_plain(w, value ? "true" : "false");
}

void json_put_null(json_writer *w)
{
    put_plain(w, "null");
}

void json_put_numbers(json_writer *w, const double *values, size_t count)
{
    json_begin_list(w);
    for (size_t i = 0; i < count; i++)
        json_put_number(w, values[i]);
    json_end(w);
}

json_error json_finish(json_writer *w)
{
    if (w->depth > 0 || w->after_key || !w->has_member[0])
        set_error(w, JSON_MISUSED);
    return w->error;
}
