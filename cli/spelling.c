/* The nearest word by edit distance (insert, delete, replace, swap neighbours), if it is near
 * enough. */
#include "spelling.h"

#include <stdint.h>
#include <string.h>

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

size_t edit_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    size_t d[LONGEST + 1][LONGEST + 1]; /* d[i][j]: between a[0..i) and b[0..j) */
    for (size_t i = 0; i <= n; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            size_t replace = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1, replace);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1, SIZE_MAX);
        }
    }
    return d[n][m];
}

suggestion suggestion_for(const char *word)
{
    return (suggestion){word, NULL, SIZE_MAX};
}

void suggestion_offer(suggestion *s, const char *candidate)
{
    size_t distance = edit_distance(s->word, candidate);
    size_t length = strlen(s->word);
    if (length >= 3 && strncmp(s->word, candidate, length) == 0)
        distance = 1; /* an abbreviation */
    if (distance < s->distance) {
        s->distance = distance;
        s->best = candidate;
    }
}

const char *suggestion_best(const suggestion *s)
{
    size_t allowed = 1 + strlen(s->word) / 4;
    return s->distance <= allowed ? s->best : NULL;
}
