/* Quickselect of row numbers by one input (median of three, ties by row number), and the input
 * of the largest variance, of a sample of the rows: the pieces of a median split. */
#include "near/select_nth.h"

#include <assert.h>

static int before(size_t a, size_t b, const double *X, size_t D, size_t d)
{
    double x = X[a * D + d], y = X[b * D + d];
    return x < y || (x == y && a < b);
}

static void swap(size_t *a, size_t *b)
{
    size_t t = *a;
    *a = *b;
    *b = t;
}

/* Median of first, middle and last goes to the front. */
static void choose_pivot(size_t *rows, size_t count, const double *X, size_t D, size_t d)
{
    size_t mid = count / 2, last = count - 1;
    if (before(rows[mid], rows[0], X, D, d))
        swap(&rows[mid], &rows[0]);
    if (before(rows[last], rows[0], X, D, d))
        swap(&rows[last], &rows[0]);
    if (before(rows[last], rows[mid], X, D, d))
        swap(&rows[last], &rows[mid]);
    swap(&rows[0], &rows[mid]);
}

void select_nth(size_t *rows, size_t count, size_t nth, const double *X, size_t D, size_t d)
{
    assert(nth < count && d < D);
    while (count > 1) {
        choose_pivot(rows, count, X, D, d);
        size_t store = 0; /* rows[1..store] come before the pivot rows[0] */
        for (size_t i = 1; i < count; i++)
            if (before(rows[i], rows[0], X, D, d))
                swap(&rows[++store], &rows[i]);
        swap(&rows[0], &rows[store]);
        if (nth == store)
            return;
        if (nth < store) {
            count = store;
        } else {
            rows += store + 1;
            nth -= store + 1;
            count -= store + 1;
        }
    }
}

size_t widest_input(const size_t *rows, size_t count, const double *X, size_t D)
{
    size_t best = 0, samples = sample_size(count);
    double best_spread = -1.0;
    for (size_t d = 0; d < D; d++) {
        double mean = 0.0, spread = 0.0;
        for (size_t t = 0; t < samples; t++)
            mean += X[rows[sample_place(count, t)] * D + d];
        mean /= (double)samples;
        for (size_t t = 0; t < samples; t++) {
            double x = X[rows[sample_place(count, t)] * D + d] - mean;
            spread += x * x;
        }
        if (spread > best_spread) {
            best_spread = spread;
            best = d;
        }
    }
    return best;
}
