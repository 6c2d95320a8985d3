/* Values that many of n targets share, in two passes over the rows (Misra and Gries).  The first has
 * k counters: a target adds to its value's, takes a free one, or takes 1 from each of all k.  Every such
 * loss removes k + 1 targets at once, so there are at most n / (k + 1) of them, and a value of more rows
 * than that has a counter in the end.  The second pass counts the rows of these values. */
#include "fit/atoms.h"

typedef struct {
    double value[ATOMS_MOST];
    size_t rows[ATOMS_MOST]; /* 0: the counter is free, and so are all after it */
    size_t used;
    int more; /* there are more values than counters */
} counters;

/* Those that still count something move together. */
static void lose_one_each(counters *c)
{
    size_t kept = 0;
    for (size_t k = 0; k < c->used; k++)
        if (--c->rows[k] > 0) {
            c->value[kept] = c->value[k];
            c->rows[kept++] = c->rows[k];
        }
    c->used = kept;
}

static size_t counter_of(const counters *c, double y)
{
    size_t k = 0;
    while (k < c->used && c->value[k] != y)
        k++;
    return k;
}

static void find_values(void *context, const row_range *range)
{
    counters *c = context;
    for (size_t i = 0; i < range->rows.n; i++) {
        double y = range->rows.y[i];
        size_t k = counter_of(c, y);
        if (k == ATOMS_MOST) {
            c->more = 1;
            lose_one_each(c);
        } else {
            c->rows[k] = k < c->used ? c->rows[k] + 1 : 1;
            c->value[k] = y;
            c->used += k == c->used;
        }
    }
}

static void count_rows(void *context, const row_range *range)
{
    counters *c = context;
    for (size_t i = 0; i < range->rows.n; i++) {
        size_t k = counter_of(c, range->rows.y[i]);
        if (k < c->used)
            c->rows[k]++;
    }
}

static int is_commoner(const counters *c, size_t k, const target_atoms *than)
{
    return c->rows[k] > than->common_rows ||
           (c->rows[k] == than->common_rows && c->value[k] < than->common);
}

/* The value with the most rows, of more than n / (k + 1), the least of those that tie. */
static void take_commonest(const counters *c, size_t n, target_atoms *out)
{
    for (size_t k = 0; k < c->used; k++)
        if (c->rows[k] * (ATOMS_MOST + 1) > n && is_commoner(c, k, out)) {
            out->common_rows = c->rows[k];
            out->common = c->value[k] + 0.0; /* -0 is 0 */
        }
}

quorum_status atoms_count(const scattered_rows *r, target_atoms *out)
{
    counters c = {.used = 0};
    *out = (target_atoms){0};
    TRY(rows_fold(QUORUM_OK, r, &c, sizeof c, find_values, &c));
    for (size_t k = 0; k < c.used; k++)
        c.rows[k] = 0;
    TRY(rows_fold(QUORUM_OK, r, &c, sizeof c, count_rows, &c));
    out->values = c.more ? 0 : c.used;
    take_commonest(&c, r->n, out);
    return QUORUM_OK;
}
