/* Which inputs have heavy tails, and what they are bent to (bend.h). */
#include "rows/bend.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_VALUES = 10 }; /* fewer levels have no tail */
static const double HEAVY = 6.0, QUARTILES_IN_WIDTHS = 1.5;

/* ---- Bending ---- */

static double bend(double at, double width, double x)
{
    double away = x - at;
    return asinh(isinf(away) ? (0.5 * x - 0.5 * at) / (0.5 * width) : away / width);
}

void bends_apply(size_t n, size_t D, const double *X, const double *at, const double *width,
                 double *Z)
{
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < D; d++) {
            double x = X[i * D + d];
            Z[i * D + d] = width[d] > 0.0 ? bend(at[d], width[d], x) : x;
        }
}

/* ---- Heavy tails ---- */

typedef struct {
    double x, weight;
} weighed;

typedef struct {
    row_set rows;    /* the sample                    */
    weighed *column; /* rows: one input               */
    const char *may; /* these four as in bends_learn */
    double *at, *width;
    size_t *count;
} tails;

static int by_value(const void *a, const void *b)
{
    double x = ((const weighed *)a)->x, y = ((const weighed *)b)->x;
    return (x > y) - (x < y);
}

static void take_column(const tails *t, size_t d)
{
    const row_set *r = &t->rows;
    for (size_t i = 0; i < r->n; i++)
        t->column[i] = (weighed){r->X[i * r->D + d], r->weight ? r->weight[i] : 1.0};
    qsort(t->column, r->n, sizeof *t->column, by_value);
}

static int has_values(const tails *t)
{
    int count = 1;
    for (size_t i = 1; i < t->rows.n && count < LEAST_VALUES; i++)
        count += t->column[i].x > t->column[i - 1].x;
    return count >= LEAST_VALUES;
}

/* The smallest value that at least this share of the weight does not exceed. */
static double quantile(const tails *t, double share)
{
    double all = 0.0, sum = 0.0;
    size_t i = 0;
    for (size_t k = 0; k < t->rows.n; k++)
        all += t->column[k].weight;
    while (i + 1 < t->rows.n && (sum += t->column[i].weight) < share * all)
        i++;
    return t->column[i].x;
}

/* Standard deviation, and *kurtosis = m_4 / m_2^2 - 3, of numbers divided by the largest distance from the
 * middle, so that powers stay in range. */
static double deviation(const tails *t, double middle, double *kurtosis)
{
    size_t n = t->rows.n;
    double unit = fmax(middle - t->column[0].x, t->column[n - 1].x - middle);
    double all = 0.0, mean = 0.0, square = 0.0, fourth = 0.0;
    for (size_t i = 0; i < n; i++) {
        all += t->column[i].weight;
        mean += t->column[i].weight * ((t->column[i].x - middle) / unit);
    }
    mean /= all;
    for (size_t i = 0; i < n; i++) {
        double e = (t->column[i].x - middle) / unit - mean, e2 = e * e;
        square += t->column[i].weight * e2 / all;
        fourth += t->column[i].weight * (e2 * e2) / all;
    }
    *kurtosis = fourth / (square * square) - 3.0;
    return unit * sqrt(square);
}

/* at, and the width; 0: it has no heavy tail, or its numbers are too large to tell. */
static double width_of(const tails *t, double *at)
{
    double kurtosis, middle = quantile(t, 0.5);
    *at = 0.0;
    if (!has_values(t))
        return 0.0;
    double std = deviation(t, middle, &kurtosis);
    double between = quantile(t, 0.75) - quantile(t, 0.25);
    double width = (between > 0.0 ? between : std) / QUARTILES_IN_WIDTHS;
    if (!(kurtosis > HEAVY) || !isnormal(width))
        return 0.0;
    *at = middle;
    return width;
}

static quorum_status learn_from_sample(void *context)
{
    tails *t = context;
    if (!NEW_ARRAY(t->column, t->rows.n))
        return failure(QUORUM_E_MEMORY, "out of memory for the tails of %zu inputs", t->rows.D);
    *t->count = 0;
    for (size_t d = 0; d < t->rows.D; d++) {
        t->at[d] = t->width[d] = 0.0;
        if (!t->may[d])
            continue;
        take_column(t, d);
        t->width[d] = width_of(t, &t->at[d]);
        *t->count += t->width[d] > 0.0;
    }
    return QUORUM_OK;
}

quorum_status bends_learn(quorum_status ready, const scattered_rows *rows, const char *may,
                          double *at, double *width, size_t *count)
{
    tails t = {.may = may, .at = at, .width = width, .count = count};
    quorum_status status = rows_sample(ready, rows, &t.rows);
    status = team_all(status, learn_from_sample, &t);
    mem_free(t.column);
    rows_free(&t.rows);
    return status;
}
