/* A csv text cut into records and cells: eight bytes at a time where there are no quotes,
 * otherwise cell by cell. */
#include "text/record.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

void cell_trim(cell *c)
{
    while (c->begin < c->end && is_blank(*c->begin))
        c->begin++;
    while (c->end > c->begin && is_blank(c->end[-1]))
        c->end--;
}

int cell_is_blank(const cell *c)
{
    cell copy = *c;
    cell_trim(&copy);
    return copy.begin == copy.end;
}

int record_is_blank(const record *r)
{
    return r->count == 0 || (r->count == 1 && !r->last.quoted && cell_is_blank(&r->last));
}

static void keep_cell(record *r, const char *begin, const char *end, int quoted)
{
    cell c = {begin, end, quoted};
    if (r->count < r->capacity)
        r->cells[r->count] = c;
    r->count++;
    r->last = c;
}

/* Eight bytes at once: the top bit of each byte that equals the one repeated in
 * `pattern`, the first byte's lowest. */
static uint64_t mark_equal(const char *p, uint64_t pattern)
{
    const uint64_t low = 0x7F7F7F7F7F7F7F7Fu;
    uint64_t word;
    memcpy(&word, p, sizeof word);
    word = le64toh(word) ^ pattern; /* 0 where equal */
    return ~(((word & low) + low) | word | low);
}

/* Without quotes the delimiters alone separate cells: the fast way. */
static void split_plain(char delimiter, const char *p, const char *end, record *out)
{
    const uint64_t pattern = 0x0101010101010101u * (unsigned char)delimiter;
    const char *begin = p;
    for (; end - p >= 8; p += 8) {
        for (uint64_t marks = mark_equal(p, pattern); marks; marks &= marks - 1) {
            const char *found = p + __builtin_ctzll(marks) / 8;
            keep_cell(out, begin, found, 0);
            begin = found + 1;
        }
    }
    for (; p < end; p++) {
        if (*p == delimiter) {
            keep_cell(out, begin, p, 0);
            begin = p + 1;
        }
    }
    keep_cell(out, begin, end, 0);
}

static int ends_cell(const dialect *d, char c)
{
    return c == d->delimiter || c == d->newline || (d->delimiter == ' ' && is_blank(c));
}

/* The quote that closes the one before p; NULL: none before limit.  One that is
 * the very last byte closes only when nothing can follow it. */
static const char *find_closing_quote(const char *p, const char *limit, int at_end)
{
    for (;;) {
        const char *quote = memchr(p, '"', (size_t)(limit - p));
        if (!quote || (quote + 1 == limit && !at_end))
            return NULL;
        if (quote + 1 == limit || quote[1] != '"')
            return quote;
        p = quote + 2;
    }
}

static const char *skip_blanks(const dialect *d, const char *p, const char *limit)
{
    while (p < limit && is_blank(*p) && *p != d->newline && *p != d->delimiter)
        p++;
    if (d->delimiter == ' ')
        while (p < limit && is_blank(*p) && *p != d->newline)
            p++;
    return p;
}

/* One cell from p; returns the delimiter, newline or limit that ends it. */
static const char *scan_cell(const dialect *d, const char *p, const char *limit, int at_end,
                             record *out)
{
    const char *begin = skip_blanks(d, p, limit);
    const char *end = begin;
    const char *close = NULL;
    if (begin < limit && *begin == '"') {
        close = find_closing_quote(begin + 1, limit, at_end);
        if (!close)
            return NULL;
        end = close + 1;
    }
    while (end < limit && !ends_cell(d, *end))
        end++;
    if (close && skip_blanks(d, close + 1, end) == end)
        keep_cell(out, begin + 1, close, 1);
    else
        keep_cell(out, d->delimiter == ' ' ? begin : p, end, 0); /* "a"b is taken as it stands */
    return d->delimiter == ' ' ? skip_blanks(d, end, limit) : end;
}

static size_t count_newlines(const dialect *d, const char *p, const char *end)
{
    size_t n = 0;
    for (; p < end; p++)
        n += *p == d->newline;
    return n;
}

/* With quotes or blanks as delimiters: cell by cell. */
static const char *scan_cells(const dialect *d, const char *p, const char *limit, int at_end,
                              record *out)
{
    const char *start = p;
    for (;;) {
        p = scan_cell(d, p, limit, at_end, out);
        if (!p || (p == limit && !at_end))
            return NULL;
        if (p == limit || *p == d->newline)
            break;
        if (d->delimiter != ' ')
            p++;
    }
    p += p < limit;
    out->lines = count_newlines(d, start, p);
    return p;
}

/* Whether [p, end), a line, is a comment; blanks before the mark do not matter. */
static int is_comment(const dialect *d, const char *p, const char *end)
{
    while (d->comment && p < end && is_blank(*p))
        p++;
    return d->comment && p < end && *p == d->comment;
}

const char *record_scan(const dialect *d, const char *p, const char *limit, int at_end, record *out)
{
    out->count = 0;
    out->lines = 1;
    const char *newline = memchr(p, d->newline, (size_t)(limit - p));
    if (!newline && !at_end)
        return NULL;
    const char *end = newline ? newline : limit;
    if (is_comment(d, p, end))
        return newline ? newline + 1 : limit;
    if (d->delimiter == ' ' || memchr(p, '"', (size_t)(end - p)))
        return scan_cells(d, p, limit, at_end, out);
    split_plain(d->delimiter, p, end, out);
    return newline ? newline + 1 : limit;
}
