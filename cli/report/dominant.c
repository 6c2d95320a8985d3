/* Rows that alone make half of the squared error.
 *
 * With the squared errors w_i (y_i - m_i)^2 in falling order, they are the first k whose sum is HALF of all, where k is
 * at most one row, or FEW of all rows: of errors that are alike, as of a Gaussian, half of the sum takes an eighth of
 * the rows.  A sum of squares that hangs on so few rows says little of the others. */
#include "report/dominant.h"

#include "report/facts.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>

static const double HALF = 0.5, FEW = 0.005;

typedef struct {
    double loss;
    size_t row;
} row_loss;

static int by_loss(const void *a, const void *b)
{
    const row_loss *x = a, *y = b;
    if (x->loss != y->loss)
        return x->loss > y->loss ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static double sort_losses(const asked_rows *a, row_loss *all)
{
    double sum = 0.0;
    for (size_t i = 0; i < a->count; i++) {
        all[i] = (row_loss){asked_weight(a, i) * pow(a->y[i] - a->mean[i], 2.0), i};
        sum += all[i].loss;
    }
    qsort(all, a->count, sizeof *all, by_loss);
    return sum;
}

/* RMSE and SMSE of the rows all[first] and behind: mean squared error over the variance of their targets. */
static void score_others(const asked_rows *a, const row_loss *all, size_t first, dominant_rows *d)
{
    double weight = 0.0, loss = 0.0, mean = 0.0, variance = 0.0;
    for (size_t k = first; k < a->count; k++) {
        weight += asked_weight(a, all[k].row);
        mean += asked_weight(a, all[k].row) * a->y[all[k].row];
        loss += all[k].loss;
    }
    mean /= weight;
    for (size_t k = first; k < a->count; k++)
        variance += asked_weight(a, all[k].row) * pow(a->y[all[k].row] - mean, 2.0);
    d->rmse = sqrt(loss / weight);
    d->smse = loss / variance;
}

static void find_first(const asked_rows *a, const row_loss *all, double sum, dominant_rows *d)
{
    size_t most = (size_t)(FEW * (double)a->count) + 1, k = 0;
    double part = 0.0;
    while (k < most && part < HALF * sum)
        part += all[k++].loss;
    if (!(part >= HALF * sum && sum > 0.0))
        return;
    d->count = k;
    d->share = part / sum;
    for (size_t i = 0; i < k && i < NAMED_ROWS; i++)
        d->number[i] = a->number[all[i].row];
    score_others(a, all, k, d);
}

int dominant_find(facts *f)
{
    if (f->rows.count < LEAST_ROWS)
        return EXIT_DONE;
    row_loss *all = malloc(f->rows.count * sizeof *all);
    if (!all)
        return failure(f->given, "out of memory for %zu rows", f->rows.count);
    find_first(&f->rows, all, sort_losses(&f->rows, all), &f->dominant);
    free(all);
    return EXIT_DONE;
}
