/* The bootstrap: percentiles of a ratio of sums over DRAWS draws of the rows.  Of many rows each draw
 * is of MOST_BINS sums of every MOST_BINS-th row: means over bins vary as those of rows do. */
#include "explain/redraw.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

enum { DRAWS = 1000, MOST_BINS = 2000 };
static const double TAIL = 0.025;

typedef struct {
    double sum, weight;
} bin;

typedef struct {
    bin *bins;
    size_t count;
} binned;

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int put_in_bins(row_numbers r, binned *out)
{
    out->count = r.n < MOST_BINS ? r.n : MOST_BINS;
    if (!NEW_ZEROED(out->bins, out->count))
        return 0;
    for (size_t i = 0; i < r.n; i++) {
        bin *b = &out->bins[i % out->count];
        b->sum += r.weight[i] * (r.value ? r.value[i] : 1.0);
        b->weight += r.weight[i];
    }
    return 1;
}

/* The mean of as many bins as there are, drawn by `r`; NULL: of each once. */
static double draw_mean(const binned *b, rng *r)
{
    bin all = {0.0, 0.0};
    for (size_t i = 0; i < b->count; i++) {
        const bin *one = &b->bins[r ? rng_below(r, b->count) : i];
        all.sum += one->sum;
        all.weight += one->weight;
    }
    return all.sum / all.weight;
}

static double ratio(double a, double b)
{
    return b != 0.0 ? a / b : 0.0;
}

/* drawn (DRAWS), ascending. */
static void draw_ratios(const binned *a, const binned *b, int together, uint64_t seed,
                        double *drawn)
{
    rng r = rng_seed(seed + 2, STREAM_EXPLAIN);
    for (int k = 0; k < DRAWS; k++) {
        rng same = r;
        double above = draw_mean(a, &r);
        drawn[k] = ratio(above, draw_mean(b, together ? &same : &r));
    }
    qsort(drawn, DRAWS, sizeof *drawn, compare_numbers);
}

quorum_status redraw_ratio(row_numbers a, row_numbers b, int together, uint64_t seed,
                           quorum_estimate *out)
{
    binned above = {0}, below = {0};
    double *drawn;
    int fits = NEW_ARRAY(drawn, DRAWS) != NULL;
    fits = put_in_bins(a, &above) && fits;
    fits = put_in_bins(b, &below) && fits;
    if (fits) {
        draw_ratios(&above, &below, together, seed, drawn);
        *out = (quorum_estimate){ratio(draw_mean(&above, NULL), draw_mean(&below, NULL)),
                                 drawn[(size_t)(TAIL * (DRAWS - 1))],
                                 drawn[(size_t)ceil((1.0 - TAIL) * (DRAWS - 1))]};
    }
    mem_free(above.bins);
    mem_free(below.bins);
    mem_free(drawn);
    return fits ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for drawing rows");
}
