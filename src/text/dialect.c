/* The delimiter is the one by which most of the first lines have as many cells as the first; the
 * line end is what ends the first of them. */
#include "text/dialect.h"

#include <string.h>

enum { SAMPLE_LINES = 32 };

/* Lines of the sample, and how many have as many cells as the first, if more than one. */
typedef struct {
    size_t lines, agree;
} vote;

static char detect_newline(const char *p, const char *limit)
{
    const char *line_feed = memchr(p, '\n', (size_t)(limit - p));
    const char *end = line_feed ? line_feed : limit;
    const char *carriage = memchr(p, '\r', (size_t)(end - p));
    return !carriage || carriage + 1 == line_feed ? '\n' : '\r';
}

static vote count_votes(const dialect *d, const char *p, const char *limit, int at_end)
{
    vote v = {0, 0};
    size_t first = 0;
    while (p && p < limit && v.lines < SAMPLE_LINES) {
        record r = {0};
        p = record_scan(d, p, limit, at_end, &r);
        if (!p || record_is_blank(&r))
            continue;
        if (v.lines == 0)
            first = r.count;
        v.lines++;
        v.agree += first > 1 && r.count == first;
    }
    return v;
}

dialect dialect_detect(const char *p, const char *limit, int at_end, char comment,
                       const char *excluded)
{
    static const char candidates[] = {'\t', ';', ',', ' '};
    dialect best = {.delimiter = strchr(excluded, ',') ? ';' : ',',
                    .newline = detect_newline(p, limit),
                    .comment = comment};
    size_t best_agree = 0;
    for (size_t i = 0; i < sizeof candidates; i++) {
        dialect d = {candidates[i], best.newline, comment};
        if (strchr(excluded, d.delimiter))
            continue;
        vote v = count_votes(&d, p, limit, at_end);
        int enough = d.delimiter != ' ' || 2 * v.agree > v.lines; /* names may contain blanks */
        if (enough && v.agree > best_agree) {
            best = d;
            best_agree = v.agree;
        }
    }
    return best;
}

int dialect_has_trailing(const dialect *d, const char *p, const char *limit, int at_end)
{
    size_t lines = 0;
    while (p && p < limit && lines < SAMPLE_LINES) {
        record r = {0};
        p = record_scan(d, p, limit, at_end, &r);
        if (!p || record_is_blank(&r))
            continue;
        if (r.count < 2 || r.last.quoted || !cell_is_blank(&r.last))
            return 0;
        lines++;
    }
    return lines > 0;
}
