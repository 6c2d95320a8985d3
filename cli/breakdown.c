/* Test rows with what was predicted of them, cut into groups by a key (breakdown.h).
 *
 * A group of n rows whose 95 % interval is right has k of them inside, k ~ Binomial(n, 0.95):
 * expected[] are the quantiles of k / n at 2.5 and 97.5 %; with weights n is as many rows as tell as much. */
#include "breakdown.h"

#include "binomial.h"
#include "dates.h"
#include "digits.h"
#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LEVEL = 0.95; /* of the interval, and of the band of its coverage */
enum { LEVEL_AT = 2 };            /* its place in quorum_coverage_levels              */

/* ---- Rows ---------------------------------------------------------------------------- */

int breakdown_start(breakdown *b, const arguments *given, const char *by, size_t ways)
{
    memset(b, 0, sizeof *b);
    b->by = by;
    b->by_distance = strcmp(by, "distance") == 0;
    b->memory = quorum_options_memory(given->options);
    b->ways = ways;
    b->way = calloc(ways, sizeof *b->way);
    return b->way ? EXIT_DONE : failure(given, "out of memory for %zu predictions", ways);
}

void breakdown_free(breakdown *b)
{
    for (size_t k = 0; b->way && k < b->ways; k++) {
        free(b->way[k].mean);
        free(b->way[k].std);
        free(b->way[k].width);
    }
    free(b->way);
    free(b->key);
    free(b->y);
    free(b->weight);
    free(b->order);
    memset(b, 0, sizeof *b);
}

static bool grow(double **array, size_t count)
{
    double *grown = realloc(*array, count * sizeof(double));
    if (grown)
        *array = grown;
    return grown != NULL;
}

/* An array that grows is there twice for a moment. */
static double bytes_of(const breakdown *b, size_t rows)
{
    return sizeof(double) * (double)rows * (3.0 * (double)b->ways + 4.0 + b->weighted);
}

static bool grow_all(breakdown *b, size_t rows)
{
    bool fits =
        grow(&b->key, rows) && grow(&b->y, rows) && (!b->weighted || grow(&b->weight, rows));
    for (size_t k = 0; fits && k < b->ways; k++)
        fits = grow(&b->way[k].mean, rows) && grow(&b->way[k].std, rows) &&
               grow(&b->way[k].width, rows);
    return fits;
}

int breakdown_reserve(breakdown *b, const arguments *given, size_t more)
{
    size_t needed = b->rows + more, rows = b->rows + b->rows / 2;
    if (needed <= b->room)
        return EXIT_DONE;
    if (rows < needed || bytes_of(b, rows) > b->memory)
        rows = needed;
    if (bytes_of(b, rows) > b->memory)
        return failure(given,
                       "--by keeps %.0f bytes of every test row, and memory, which is %.0f MB, has "
                       "room for %.0f rows: raise --memory, compare fewer methods or take fewer "
                       "rows",
                       bytes_of(b, 1), b->memory / (1 << 20), floor(b->memory / bytes_of(b, 1)));
    if (!grow_all(b, rows))
        return failure(given, "out of memory for %zu test rows", rows);
    b->room = rows;
    return EXIT_DONE;
}

void breakdown_take(breakdown *b, size_t count, const double *key, const double *y,
                    const double *weight)
{
    if (key)
        memcpy(b->key + b->rows, key, count * sizeof *key);
    memcpy(b->y + b->rows, y, count * sizeof *y);
    if (b->weighted)
        memcpy(b->weight + b->rows, weight, count * sizeof *weight);
    b->rows += count;
}

void breakdown_ask(breakdown *b, size_t way, quorum_prediction *out)
{
    out->lower = b->way[way].mean + b->rows; /* until breakdown_keep */
    out->upper = b->way[way].width + b->rows;
    if (b->by_distance && way == 0)
        out->distance = b->key + b->rows;
}

void breakdown_keep(breakdown *b, size_t way, size_t count, const quorum_prediction *out,
                    const quorum_distribution *z)
{
    predicted_rows *p = &b->way[way];
    for (size_t i = 0; i < count; i++)
        p->width[b->rows + i] = out->upper[i] - out->lower[i];
    memcpy(p->mean + b->rows, out->mean, count * sizeof *p->mean);
    memcpy(p->std + b->rows, out->std, count * sizeof *p->std);
    p->z = *z;
}

/* ---- Groups -------------------------------------------------------------------------- */

/* Rows without a key are the last. */
static int by_key(const void *a, const void *b, void *key)
{
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    double x = ((const double *)key)[i], y = ((const double *)key)[j];
    if (isnan(x) != isnan(y))
        return isnan(x) ? 1 : -1;
    return x < y ? -1 : x > y ? 1 : (i > j) - (i < j);
}

static double key_at(const breakdown *b, size_t place)
{
    return b->key[b->order[place]];
}

/* How many rows have a key. */
static size_t count_known(const breakdown *b)
{
    size_t known = b->rows;
    while (known > 0 && isnan(key_at(b, known - 1)))
        known--;
    return known;
}

static bool starts_run(const breakdown *b, size_t place)
{
    return place == 0 || key_at(b, place) != key_at(b, place - 1);
}

/* Of the first rows, which have keys. */
static size_t count_runs(const breakdown *b, size_t known)
{
    size_t runs = 0;
    for (size_t i = 0; i < known; i++)
        runs += starts_run(b, i);
    return runs;
}

static double weight_at(const breakdown *b, size_t i)
{
    return b->weighted ? b->weight[i] : 1.0;
}

/* Rows of weights w tell as much as (sum w)^2 / sum w^2 rows without; at least one. */
static size_t effective_rows(const breakdown *b, const row_group *g)
{
    double sum = 0.0, squares = 0.0;
    for (size_t k = 0; k < g->count; k++) {
        double w = weight_at(b, b->order[g->first + k]);
        sum += w;
        squares += w * w;
    }
    return squares > 0.0 ? (size_t)fmax(1.0, sum * sum / squares + 1e-9) : 1;
}

/* The rows from the end of the last group up to `end` are one. */
static void add_group(breakdown *b, size_t end)
{
    size_t first = b->groups ? b->group[b->groups - 1].first + b->group[b->groups - 1].count : 0;
    row_group *g = &b->group[b->groups++];
    *g = (row_group){
        .first = first, .count = end - first, .low = key_at(b, first), .high = key_at(b, end - 1)};
    size_t rows = effective_rows(b, g);
    g->expected[0] = binomial_quantile(rows, LEVEL, 0.5 - 0.5 * LEVEL);
    g->expected[1] = binomial_quantile(rows, LEVEL, 0.5 + 0.5 * LEVEL);
}

/* A cut stands where the next run begins; few runs are a group each. */
static void cut(breakdown *b)
{
    size_t known = count_known(b), tenth = 1; /* the cut to be made */
    bool each = count_runs(b, known) <= MOST_GROUPS;
    for (size_t i = 1; i < known; i++) {
        if (!starts_run(b, i))
            continue;
        double place = (double)i * MOST_GROUPS / (double)known;
        if (!each && place < (double)tenth)
            continue;
        add_group(b, i);
        tenth = (size_t)place + 1;
    }
    if (known > 0)
        add_group(b, known);
    if (known < b->rows)
        add_group(b, b->rows);
}

/* ---- Of a category with many levels ---- */

typedef struct {
    double key;
    size_t first, rows; /* order[first] .. */
} key_run;

static int by_rows(const void *a, const void *b)
{
    const key_run *x = a, *y = b;
    if (x->rows != y->rows)
        return x->rows > y->rows ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static int by_run_key(const void *a, const void *b)
{
    const key_run *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Those that most rows have first, and these and the others each by their keys. */
static void sort_runs(const breakdown *b, key_run *run, size_t count)
{
    size_t k = 0;
    for (size_t i = 0; i < b->rows; i++) {
        if (starts_run(b, i))
            run[k++] = (key_run){key_at(b, i), i, 0};
        run[k - 1].rows++;
    }
    qsort(run, count, sizeof *run, by_rows);
    qsort(run, MOST_GROUPS - 1, sizeof *run, by_run_key);
    qsort(run + MOST_GROUPS - 1, count - (MOST_GROUPS - 1), sizeof *run, by_run_key);
}

static void cut_levels(breakdown *b, const key_run *run, size_t count, size_t *order)
{
    size_t place = 0;
    for (size_t k = 0; k < count; place += run[k++].rows)
        memcpy(order + place, b->order + run[k].first, run[k].rows * sizeof *order);
    memcpy(b->order, order, b->rows * sizeof *order);
    place = 0;
    for (size_t k = 0; k + 1 < MOST_GROUPS; k++)
        add_group(b, place += run[k].rows);
    add_group(b, b->rows);
    b->group[MOST_GROUPS - 1].others = count - (MOST_GROUPS - 1);
}

static int group_levels(breakdown *b, const arguments *given, size_t count)
{
    key_run *run = malloc(count * sizeof *run);
    size_t *order = malloc(b->rows * sizeof *order);
    bool fits = run && order;
    if (fits) {
        sort_runs(b, run, count);
        cut_levels(b, run, count, order);
    }
    free(run);
    free(order);
    return fits ? EXIT_DONE
                : failure(given, "out of memory for the order of %zu test rows", b->rows);
}

int breakdown_group(breakdown *b, const arguments *given)
{
    b->order = malloc(b->rows * sizeof *b->order);
    if (!b->order)
        return failure(given, "out of memory for the order of %zu test rows", b->rows);
    for (size_t i = 0; i < b->rows; i++)
        b->order[i] = i;
    qsort_r(b->order, b->rows, sizeof *b->order, by_key, b->key);
    size_t keys = count_runs(b, b->rows);
    if (b->levels > 0 && keys > MOST_GROUPS)
        return group_levels(b, given, keys);
    cut(b);
    return EXIT_DONE;
}

static double weight_of_group(const breakdown *b, const row_group *group)
{
    double sum = 0.0;
    for (size_t k = 0; k < group->count; k++)
        sum += weight_at(b, b->order[group->first + k]);
    return sum;
}

group_scores breakdown_scores(const breakdown *b, size_t way, const row_group *group,
                              const quorum_info *info)
{
    const predicted_rows *p = &b->way[way];
    quorum_scores sums = {0};
    quorum_metrics m;
    double width = 0.0, all = weight_of_group(b, group);
    for (size_t k = 0; k < group->count; k++) {
        size_t i = b->order[group->first + k];
        quorum_scores_add_weighted(&sums, info, 1, &b->y[i], &p->mean[i], &p->std[i], &p->z,
                                   b->weighted ? &b->weight[i] : NULL);
        width += weight_at(b, i) * (p->width[i] / all);
    }
    quorum_scores_finish(&sums, &m);
    return (group_scores){m.coverage[LEVEL_AT], width, m.rmse, m.msll};
}

/* ---- Names --------------------------------------------------------------------------- */

void breakdown_name_keys(breakdown *b, const quorum_info *info, size_t place)
{
    if (place >= info->columns)
        return;
    b->is_date = info->date && info->date[place];
    if (info->levels && info->levels[place] > 0) {
        b->level = info->level[place];
        b->levels = info->levels[place];
    }
}

/* Of the rows that have one, which are some. */
static double spread_of_keys(const breakdown *b)
{
    return key_at(b, count_known(b) - 1) - key_at(b, 0);
}

/* One of none is a level that is not known. */
static void key_name(const breakdown *b, double key, char *text, size_t size)
{
    if (b->is_date)
        date_shown(key, text, size);
    else if (b->levels == 0)
        snprintf(text, size, "%.*g", digits_among(key, spread_of_keys(b), 5), key);
    else if (key >= 0.0 && key < (double)b->levels)
        snprintf(text, size, "%s", b->level[(size_t)key]);
    else
        snprintf(text, size, "(new)");
}

void group_name(const breakdown *b, const row_group *g, char *text, size_t size)
{
    char low[256], high[256];
    if (g->others > 0) {
        snprintf(text, size, "%zu other levels", g->others);
        return;
    }
    if (isnan(g->low)) {
        snprintf(text, size, "(no value)");
        return;
    }
    key_name(b, g->low, low, sizeof low);
    key_name(b, g->high, high, sizeof high);
    if (g->low == g->high)
        snprintf(text, size, "%s", low);
    else
        snprintf(text, size, "%s to %s", low, high);
}
