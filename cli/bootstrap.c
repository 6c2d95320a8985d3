/* The paired bootstrap: percentiles of the change over DRAWS draws of the rows.
 *
 * Of many rows each draw is of BINS sums of every BINS-th row: means of rows drawn apart vary as those
 * of bins do, since rows are exchangeable.  Draws are the same in every run. */
#include "bootstrap.h"

#include "sorted.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { DRAWS = 2000, BINS = 4000 };
static const double TAIL = 0.025;

/* A 64-bit counter, mixed (splitmix64): which of `count`. */
static size_t draw(uint64_t *counter, size_t count)
{
    uint64_t z = *counter += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (size_t)((z ^ (z >> 31)) % count);
}

static void add(loss_pair *sum, const loss_pair *more)
{
    sum->a += more->a;
    sum->b += more->b;
    sum->weight += more->weight;
}

static double change_of(const loss_pair *sum, bool relative)
{
    if (!(sum->weight > 0.0))
        return NAN;
    return relative ? (sum->b - sum->a) / sum->a : (sum->b - sum->a) / sum->weight;
}

/* Sums of weighted losses. */
static void fill_bins(const loss_pair *pairs, size_t count, loss_pair *bins, size_t n)
{
    for (size_t k = 0; k < n; k++)
        bins[k] = (loss_pair){0.0, 0.0, 0.0};
    for (size_t i = 0; i < count; i++) {
        const loss_pair *p = &pairs[i];
        add(&bins[i % n], &(loss_pair){p->weight * p->a, p->weight * p->b, p->weight});
    }
}

static size_t draw_changes(const loss_pair *bins, size_t n, bool relative, double *change)
{
    uint64_t counter = 1;
    size_t known = 0;
    for (int d = 0; d < DRAWS; d++) {
        loss_pair sum = {0.0, 0.0, 0.0};
        for (size_t k = 0; k < n; k++)
            add(&sum, &bins[draw(&counter, n)]);
        change[known] = change_of(&sum, relative);
        known += isfinite(change[known]) ? 1 : 0;
    }
    return known;
}

bool bootstrap_change(const loss_pair *pairs, size_t count, bool relative, loss_change *out)
{
    size_t n = count < BINS ? count : BINS, known = 0;
    loss_pair *bins = malloc((n ? n : 1) * sizeof *bins), all = {0.0, 0.0, 0.0};
    double *change = malloc(DRAWS * sizeof *change);
    if (bins && change && n > 0) {
        fill_bins(pairs, count, bins, n);
        for (size_t k = 0; k < n; k++)
            add(&all, &bins[k]);
        known = draw_changes(bins, n, relative, change);
        qsort(change, known, sizeof *change, compare_numbers);
    }
    bool fits = bins && change;
    *out = (loss_change){.a = all.a / all.weight,
                         .b = all.b / all.weight,
                         .change = change_of(&all, relative),
                         .low = NAN,
                         .high = NAN};
    if (known > 0) {
        out->low = change[(size_t)(TAIL * (double)(known - 1))];
        out->high = change[(size_t)ceil((1.0 - TAIL) * (double)(known - 1))];
    }
    free(bins);
    free(change);
    return fits;
}
