/* Plain lines of a csv text, cut at line ends into stretches that threads read side by side: a stretch's rows
 * begin where the line ends before it say, which they count first, and count up to the first line that is not
 * plain. */
#include "data/plain_rows.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "text/text.h"

#include <stdint.h>
#include <string.h>

enum { LEAST_STRETCH = 1 << 16, MOST_STRETCHES = 64, STRETCHES_A_THREAD = 4 };

quorum_status plain_table_new(size_t columns, const size_t *selected, size_t width, plain_table *t,
                              int *fits)
{
    if (!NEW_ARRAY(t->place, columns))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu columns", columns);
    t->columns = columns;
    t->width = width;
    *fits = 1;
    for (size_t j = 0; j < columns; j++)
        t->place[j] = NOT_READ;
    for (size_t i = 0; i < width; i++) {
        *fits = *fits && t->place[selected[i]] == NOT_READ;
        t->place[selected[i]] = i;
    }
    return QUORUM_OK;
}

/* By its bits, since threads of parallel_for take subnormal numbers for zero. */
static int is_zero_or_normal(double value)
{
    uint64_t bits, exponent;
    memcpy(&bits, &value, sizeof bits);
    exponent = bits >> 52 & 0x7FF;
    return exponent == 0 ? bits << 1 == 0 : exponent != 0x7FF;
}

/* The end of a cell that nobody reads; NULL: it has a quote. */
static const char *pass_cell(const plain_table *t, const char *p, const char *limit)
{
    while (p < limit && *p != t->delimiter && *p != t->newline) {
        if (*p == '"')
            return NULL;
        p++;
    }
    return p;
}

static const char *read_cell(const plain_table *t, const char *p, const char *limit, double *value)
{
    const char *end = number_parse(p, limit, t->c_locale, value);
    return end && is_zero_or_normal(*value) ? end : NULL;
}

/* One line into row; returns where the next begins, NULL where it is not plain. */
static const char *read_line(const plain_table *t, const char *p, const char *limit, double *row)
{
    for (size_t j = 0; j < t->columns; j++) {
        int is_last = j + 1 == t->columns;
        p = t->place[j] == NOT_READ ? pass_cell(t, p, limit)
                                    : read_cell(t, p, limit, row + t->place[j]);
        if (is_last && p && p < limit && *p == '\r' && t->newline == '\n')
            p++;
        if (!p || p == limit || *p != (is_last ? t->newline : t->delimiter))
            return NULL;
        p++;
    }
    return p;
}

static size_t read_lines(const plain_table *t, const char **p, const char *limit, size_t most,
                         double *out)
{
    size_t n = 0;
    for (; n < most && *p < limit; n++) {
        const char *next = read_line(t, *p, limit, out + n * t->width);
        if (!next)
            break;
        *p = next;
    }
    return n;
}

/* ---- Stretches ---- */

typedef struct {
    const char *begin, *end; /* whole lines, or the last ones                */
    size_t first, most;      /* row of its first line, and lines that it has */
    size_t rows;             /* that were plain                              */
} stretch;

typedef struct {
    const plain_table *table;
    stretch stretch[MOST_STRETCHES];
    double *out;
} sharing;

static quorum_status read_stretch(void *context, size_t item, int worker)
{
    sharing *s = context;
    stretch *here = &s->stretch[item];
    (void)worker;
    here->rows = read_lines(s->table, &here->begin, here->end, here->most,
                            s->out + here->first * s->table->width);
    return QUORUM_OK;
}

static quorum_status count_stretch(void *context, size_t item, int worker)
{
    sharing *s = context;
    stretch *here = &s->stretch[item];
    (void)worker;
    here->most = text_count(s->table->newline, here->begin, here->end);
    return QUORUM_OK;
}

/* Behind the first line end from p on. */
static const char *line_after(char newline, const char *p, const char *limit)
{
    const char *found = p < limit ? memchr(p, newline, (size_t)(limit - p)) : NULL;
    return found ? found + 1 : limit;
}

static size_t cut(const plain_table *t, const char *p, const char *limit, size_t count,
                  stretch *out)
{
    size_t n = 0, step = (size_t)(limit - p) / count + 1;
    while (p < limit) {
        const char *end =
            (size_t)(limit - p) > step ? line_after(t->newline, p + step, limit) : limit;
        out[n++] = (stretch){.begin = p, .end = end};
        p = end;
    }
    return n;
}

/* The rows where stretches begin, by the lines of those before; returns how many stretches have any
 * of the first `most` rows. */
static size_t number_rows(size_t count, size_t most, stretch *out)
{
    size_t n = 0, rows = 0;
    for (; n < count && rows < most; n++) {
        out[n].first = rows;
        out[n].most = out[n].most < most - rows ? out[n].most : most - rows;
        rows += out[n].most;
    }
    return n;
}

quorum_status plain_rows_read(const plain_table *t, int threads, const char **p, const char *limit,
                              size_t most, double *out, size_t *rows)
{
    sharing s = {.table = t, .out = out};
    size_t wanted = (size_t)(limit - *p) / LEAST_STRETCH + 1,
           each = (size_t)threads * STRETCHES_A_THREAD;
    wanted = threads == 1 ? 1 : wanted < each ? wanted : each;
    size_t count = cut(t, *p, limit, wanted < MOST_STRETCHES ? wanted : MOST_STRETCHES, s.stretch);
    TRY(parallel_for(threads, count, count_stretch, &s));
    count = number_rows(count, most, s.stretch);
    TRY(parallel_for(threads, count, read_stretch, &s));
    *rows = 0;
    for (size_t i = 0; i < count; i++) {
        *rows += s.stretch[i].rows;
        *p = s.stretch[i].begin;
        if (s.stretch[i].rows < s.stretch[i].most)
            break;
    }
    return QUORUM_OK;
}
