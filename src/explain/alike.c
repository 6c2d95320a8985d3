/* Which rows are alike (docs/importance.md).
 *
 * Values are compared by height, the share of rows below: no unit and no outlier matters.  How far
 * column j follows column k is Chatterjee's coefficient: with rows in the order of x_k, ties at
 * random, r_i the number of rows whose x_j is no more than that of the i-th and l_i the number of
 * those whose is no less,
 *
 *   xi(k, j) = 1 - n sum_i |r_(i+1) - r_i| / (2 sum_i l_i (n - l_i)),
 *
 * 0 where they are independent and 1 where x_j is a function of x_k.  What is within chance, of
 * deviation sqrt(0.4 / n), counts as 0.  Rows are near each other, x_j left aside, by
 *
 *   sum_k xi(k, j)^2 d_k^2,   d_k the difference of heights, or 0 and 1 of categories,
 *
 * and where that is the same at random: inputs that x_j does not go with do not matter. */
#include "explain/alike.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

static const double BEYOND_CHANCE = 3.0; /* deviations of xi that count               */
static const double TIE_WEIGHT = 1e-12;  /* of chance in squared distances            */
static const double WINDOW = 0.01;       /* share of the rows on either side of a row  */
static const double DISC = 0.005;        /* the same of the rows around a place        */

/* ---- Order ---- */

typedef struct {
    double value, chance;
    size_t row;
} cell;

static int compare_cells(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    if (isnan(x->value) != isnan(y->value))
        return isnan(x->value) ? 1 : -1;
    if (!isnan(x->value) && x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->chance != y->chance)
        return x->chance < y->chance ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int same_value(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static double value_at(const likeness *l, size_t d, size_t i)
{
    return l->s->table[i * l->s->columns + d];
}

/* The end of the run of equal values that begins at place i of the order of column d. */
static size_t end_of_run(const likeness *l, size_t d, size_t i)
{
    const size_t *order = l->order + d * l->s->n;
    size_t end = i + 1;
    while (end < l->s->n && same_value(value_at(l, d, order[i]), value_at(l, d, order[end])))
        end++;
    return end;
}

static quorum_status order_column(void *context, size_t d, int worker)
{
    likeness *l = context;
    size_t n = l->s->n, *order = l->order + d * n;
    cell *cells;
    (void)worker;
    if (!NEW_ARRAY(cells, n))
        return failure(QUORUM_E_MEMORY, "out of memory for the order of %zu rows", n);
    for (size_t i = 0; i < n; i++)
        cells[i] = (cell){value_at(l, d, i), l->chance[i], i};
    qsort(cells, n, sizeof *cells, compare_cells);
    for (size_t i = 0; i < n; i++)
        order[i] = cells[i].row;
    mem_free(cells);
    for (size_t i = 0, end; i < n; i = end) {
        end = end_of_run(l, d, i);
        for (size_t k = i; k < end; k++)
            l->height[order[k] * l->s->columns + d] = 0.5 * (double)(i + end) / (double)n;
    }
    return QUORUM_OK;
}

/* ---- How far one column follows another ---- */

/* below[i], above[i]: r and l of row i in column j. */
static void count_sides(const likeness *l, size_t j, double *below, double *above)
{
    size_t n = l->s->n, *order = l->order + j * n;
    for (size_t i = 0, end; i < n; i = end) {
        end = end_of_run(l, j, i);
        for (size_t k = i; k < end; k++) {
            below[order[k]] = (double)end;
            above[order[k]] = (double)(n - i);
        }
    }
}

static double follows(const likeness *l, size_t k, const double *below, double spread)
{
    size_t n = l->s->n;
    const size_t *order = l->order + k * n;
    double sum = 0.0;
    for (size_t i = 0; i + 1 < n; i++)
        sum += fabs(below[order[i + 1]] - below[order[i]]);
    double xi = spread > 0.0 ? 1.0 - (double)n * sum / (2.0 * spread) : 0.0;
    return xi > BEYOND_CHANCE * sqrt(0.4 / (double)n) ? xi : 0.0;
}

/* depends[., j] */
static quorum_status follow_column(void *context, size_t j, int worker)
{
    likeness *l = context;
    size_t n = l->s->n, columns = l->s->columns;
    double *below, *above, spread = 0.0;
    (void)worker;
    NEW_ARRAY(below, n);
    NEW_ARRAY(above, n);
    if (below && above) {
        count_sides(l, j, below, above);
        for (size_t i = 0; i < n; i++)
            spread += above[i] * ((double)n - above[i]);
        for (size_t k = 0; k < columns; k++)
            l->depends[k * columns + j] = k == j ? 1.0 : follows(l, k, below, spread);
    }
    quorum_status status =
        below && above ? QUORUM_OK
                       : failure(QUORUM_E_MEMORY, "out of memory for comparing %zu rows", n);
    mem_free(below);
    mem_free(above);
    return status;
}

quorum_status likeness_find(const study *s, likeness *l)
{
    *l = (likeness){.s = s};
    NEW_ARRAY(l->chance, s->n);
    NEW_ARRAY(l->height, s->n * s->columns);
    NEW_ARRAY(l->order, s->n * s->columns);
    NEW_ARRAY(l->depends, s->columns * s->columns);
    if (!l->chance || !l->height || !l->order || !l->depends)
        return failure(QUORUM_E_MEMORY, "out of memory for comparing %zu rows", s->n);
    rng r = rng_seed(s->seed + 1, STREAM_EXPLAIN);
    for (size_t i = 0; i < s->n; i++)
        l->chance[i] = rng_uniform(&r);
    TRY(parallel_for(s->threads, s->columns, order_column, l));
    return parallel_for(s->threads, s->columns, follow_column, l);
}

void likeness_free(likeness *l)
{
    mem_free(l->chance);
    mem_free(l->height);
    mem_free(l->order);
    mem_free(l->depends);
}

/* ---- Near rows ---- */

/* What near rows are found by: sum_k weight_k d_k^2. */
typedef struct {
    const likeness *l;
    size_t *column; /* counted: those of a positive weight */
    double *weight;
    size_t counted, wanted;
    const size_t *row; /* rows that neighbours are wanted of; NULL: all */
    size_t *near;      /* of each `wanted` */
} search;

static double squared_distance(const search *f, size_t a, size_t b)
{
    const likeness *l = f->l;
    const double *x = l->height + a * l->s->columns, *y = l->height + b * l->s->columns;
    double apart = l->chance[a] - l->chance[b], sum = TIE_WEIGHT * apart * apart;
    for (size_t k = 0; k < f->counted; k++) {
        size_t d = f->column[k];
        double difference = x[d] - y[d];
        if (study_is_category(l->s, d))
            difference = difference != 0.0 ? 1.0 : 0.0;
        sum += f->weight[k] * difference * difference;
    }
    return sum;
}

static quorum_status find_near(void *context, size_t item, int worker)
{
    const search *f = context;
    size_t n = f->l->s->n, count = 0, *near = f->near + item * f->wanted;
    size_t i = f->row ? f->row[item] : item;
    double *distance;
    (void)worker;
    if (!NEW_ARRAY(distance, f->wanted))
        return failure(QUORUM_E_MEMORY, "out of memory for near rows");
    for (size_t other = 0; other < n; other++) {
        if (other == i)
            continue;
        double d = squared_distance(f, i, other);
        if (count == f->wanted && !(d < distance[count - 1]))
            continue;
        size_t at = count < f->wanted ? count++ : count - 1;
        for (; at > 0 && distance[at - 1] > d; at--) {
            distance[at] = distance[at - 1];
            near[at] = near[at - 1];
        }
        distance[at] = d;
        near[at] = other;
    }
    mem_free(distance);
    return QUORUM_OK;
}

/* Near the rows (rows; NULL: all) by these weights (columns), zeros left out. */
static quorum_status search_by(const likeness *l, const double *weight, const size_t *row,
                               size_t rows, size_t wanted, size_t *near)
{
    search f = {.l = l, .wanted = wanted, .row = row, .near = near};
    quorum_status status = QUORUM_OK;
    NEW_ARRAY(f.column, l->s->columns);
    NEW_ARRAY(f.weight, l->s->columns);
    if (!f.column || !f.weight)
        status = failure(QUORUM_E_MEMORY, "out of memory for near rows");
    for (size_t k = 0; status == QUORUM_OK && k < l->s->columns; k++)
        if (weight[k] > 0.0) {
            f.column[f.counted] = k;
            f.weight[f.counted++] = weight[k];
        }
    if (status == QUORUM_OK)
        status = parallel_for(l->s->threads, rows, find_near, &f);
    mem_free(f.column);
    mem_free(f.weight);
    return status;
}

static int in_group(const input_group *g, size_t d)
{
    return d == g->column[0] || d == g->column[1];
}

/* How much column k counts where rows are to be alike but for g: 0 of g's own. */
static double weight_of(const likeness *l, const input_group *g, size_t k)
{
    double most = 0.0;
    for (size_t j = 0; j < g->columns && !in_group(g, k); j++)
        most = fmax(most, l->depends[k * l->s->columns + g->column[j]]);
    return most * most;
}

int likeness_goes_alone(const likeness *l, const input_group *g)
{
    int alone = 1;
    for (size_t k = 0; k < l->s->columns; k++)
        alone = alone && weight_of(l, g, k) == 0.0;
    return alone;
}

int likeness_goes_with(const likeness *l, const input_group *a, const input_group *b)
{
    int together = 0;
    for (size_t i = 0; i < a->columns; i++)
        for (size_t k = 0; k < b->columns; k++) {
            size_t x = a->column[i], y = b->column[k];
            together = together || l->depends[x * l->s->columns + y] > 0.0 ||
                       l->depends[y * l->s->columns + x] > 0.0;
        }
    return together;
}

quorum_status likeness_near(const likeness *l, const input_group *g, size_t count, size_t *near)
{
    double *weight;
    size_t columns = l->s->columns;
    if (!NEW_ARRAY(weight, columns))
        return failure(QUORUM_E_MEMORY, "out of memory for near rows");
    for (size_t k = 0; k < columns; k++)
        weight[k] = weight_of(l, g, k);
    quorum_status status = search_by(l, weight, l->s->row, l->s->used, count, near);
    mem_free(weight);
    return status;
}

/* ---- Means over rows of about the same value ---- */

/* Rows of the same value, each without itself; one alone, or all rows, tell nothing. */
static void means_of_run(const likeness *l, const size_t *order, size_t first, size_t end,
                         const double *f, double *smooth)
{
    const double *w = l->s->all.weight;
    int tells = end - first > 1 && end - first < l->s->n;
    double sum = 0.0, weight = 0.0, all = study_mean(l->s->n, l->s->all.weight, f);
    for (size_t k = first; k < end; k++) {
        sum += w[order[k]] * f[order[k]];
        weight += w[order[k]];
    }
    for (size_t k = first; k < end; k++) {
        size_t i = order[k];
        smooth[i] = tells ? (sum - w[i] * f[i]) / (weight - w[i]) : all;
    }
}

/* As many rows on either side, fewer towards the ends so that both have as many. */
static void mean_around(const likeness *l, const size_t *order, size_t at, size_t side,
                        const double *f, double *smooth)
{
    size_t n = l->s->n, left = at, right = n - 1 - at;
    size_t reach = left < right ? left : right;
    reach = reach < side ? reach : side;
    size_t first = at - reach, last = at + reach;
    double sum = 0.0, weight = 0.0;
    if (reach == 0) { /* an end has one neighbour */
        first = at == 0 ? 0 : at - 1;
        last = at == 0 ? 1 : at;
    }
    for (size_t k = first; k <= last; k++)
        if (k != at) {
            sum += l->s->all.weight[order[k]] * f[order[k]];
            weight += l->s->all.weight[order[k]];
        }
    smooth[order[at]] = sum / weight;
}

static void means_along(const likeness *l, size_t d, const double *f, double *smooth)
{
    size_t n = l->s->n, side = (size_t)ceil(WINDOW * (double)n);
    const size_t *order = l->order + d * n;
    for (size_t i = 0, end; i < n; i = end) {
        end = end_of_run(l, d, i);
        if (study_is_category(l->s, d) || end - i > 2 * side)
            means_of_run(l, order, i, end, f, smooth);
        else
            for (size_t k = i; k < end; k++)
                mean_around(l, order, k, side, f, smooth);
    }
}

/* Around a place: over the nearest rows by both columns. */
static quorum_status means_around_places(const likeness *l, const input_group *g, const double *f,
                                         double *smooth)
{
    const study *s = l->s;
    size_t count = (size_t)ceil(DISC * (double)s->n), *near;
    count = count < 4 ? 4 : count;
    double *weight;
    quorum_status status = QUORUM_OK;
    NEW_ARRAY(near, s->n * count);
    NEW_ZEROED(weight, s->columns);
    if (!near || !weight) {
        status = failure(QUORUM_E_MEMORY, "out of memory for near rows");
        goto done;
    }
    for (size_t k = 0; k < g->columns; k++)
        weight[g->column[k]] = 1.0;
    TRY_OR_DONE(search_by(l, weight, NULL, s->n, count, near));
    for (size_t i = 0; i < s->n; i++) {
        double sum = 0.0, whole = 0.0;
        for (size_t k = 0; k < count; k++) {
            size_t other = near[i * count + k];
            sum += s->all.weight[other] * f[other];
            whole += s->all.weight[other];
        }
        smooth[i] = sum / whole;
    }
done:
    mem_free(near);
    mem_free(weight);
    return status;
}

quorum_status likeness_means(const likeness *l, const input_group *g, const double *f,
                             double *smooth)
{
    if (g->columns > 1)
        return means_around_places(l, g, f, smooth);
    means_along(l, g->column[0], f, smooth);
    return QUORUM_OK;
}
