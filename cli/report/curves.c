/* Which effects, at which values, from how many rows.
 *
 * An input is looked at where one of its shares is LEAST_SHARE or more, beyond chance if it is the first one, which
 * few rows move a lot; those of the larger share first, a place by both of its columns.  Values go evenly over the
 * rows' range without the OUTERMOST share at either end, so that one odd row does not squeeze the rest; where there
 * are no more than POINTS different ones it is these, and of a category the levels that most rows have. */
#include "report/curves.h"

#include "report/facts.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINTS = 15,        /* along an input                              */
    MOST_LEVELS = 20,   /* of a category                               */
    PREDICTIONS = 2000, /* that all effects together may take, about ... */
    FEWEST_ROWS = 20    /* ... with so many rows in any case             */
};
static const double LEAST_SHARE = 0.01, OUTERMOST = 0.005;

/* ---- Which inputs ---- */

static double share_of(const quorum_input_importance *i)
{
    return fmax(i->first.value, i->total.value);
}

static bool has_effect(const quorum_input_importance *i)
{
    return i->total.value >= LEAST_SHARE || (i->first.value >= LEAST_SHARE && i->first.low > 0.0);
}

static int by_larger_share(const void *a, const void *b)
{
    const quorum_input_importance *x = *(const quorum_input_importance *const *)a;
    const quorum_input_importance *y = *(const quorum_input_importance *const *)b;
    if (share_of(x) != share_of(y))
        return share_of(x) > share_of(y) ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static void add_input(found_effects *e, size_t column)
{
    if (e->count < MOST_EFFECTS)
        e->of[e->count++].column = column;
}

static int choose_inputs(facts *f)
{
    const importance_found *s = &f->shares;
    const quorum_input_importance **order = malloc((s->about.inputs + 1) * sizeof *order);
    if (!order)
        return failure(f->given, "out of memory for %zu inputs", s->about.inputs);
    for (size_t k = 0; k < s->about.inputs; k++)
        order[k] = &s->input[k];
    qsort(order, s->about.inputs, sizeof *order, by_larger_share);
    for (size_t k = 0; k < s->about.inputs; k++) {
        if (!has_effect(order[k]))
            continue;
        add_input(&f->effects, order[k]->column);
        if (order[k]->also != order[k]->column)
            add_input(&f->effects, order[k]->also);
    }
    free(order);
    return EXIT_DONE;
}

/* ---- At which values ---- */

typedef struct {
    double value;
    size_t rows;
} counted;

static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_rows(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    if (x->rows != y->rows)
        return x->rows > y->rows ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static double value_at(const facts *f, const input_effect *e, size_t i)
{
    return f->basis.X[i * f->info.inputs + e->column];
}

/* The levels that most rows have, in the order of their numbers. */
static bool take_levels(const facts *f, input_effect *e)
{
    size_t levels = f->info.levels[e->column];
    counted *each = calloc(levels, sizeof *each);
    e->each = true;
    e->points = levels < MOST_LEVELS ? levels : MOST_LEVELS;
    e->values = calloc(e->points, sizeof *e->values);
    for (size_t l = 0; each && l < levels; l++)
        each[l].value = (double)l;
    for (size_t i = 0; each && i < f->basis.rows; i++) {
        double x = value_at(f, e, i);
        if (x >= 0.0 && x < (double)levels)
            each[(size_t)x].rows++;
    }
    if (each && e->values) {
        qsort(each, levels, sizeof *each, by_rows);
        for (size_t p = 0; p < e->points; p++)
            e->values[p] = each[p].value;
        qsort(e->values, e->points, sizeof *e->values, compare_values);
    }
    free(each);
    return each && e->values;
}

/* The different ones of sorted values, where there are no more than POINTS; how many, 0: more. */
static size_t take_each(const double *sorted, size_t n, double values[POINTS])
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && sorted[i] == sorted[i - 1])
            continue;
        if (count == POINTS)
            return 0;
        values[count++] = sorted[i];
    }
    return count;
}

/* From one end to the other, without the outermost. */
static size_t take_grid(const double *sorted, size_t n, double values[POINTS])
{
    size_t away = (size_t)(OUTERMOST * (double)n);
    away = sorted[away] < sorted[n - 1 - away] ? away : 0;
    double low = sorted[away], high = sorted[n - 1 - away];
    for (size_t p = 0; p < POINTS; p++)
        values[p] = low + (high - low) * ((double)p / (POINTS - 1));
    return POINTS;
}

/* No points where all rows have the same value. */
static bool take_range(const facts *f, input_effect *e)
{
    size_t n = 0;
    double *sorted = malloc(f->basis.rows * sizeof *sorted);
    e->values = calloc(POINTS, sizeof *e->values);
    for (size_t i = 0; sorted && i < f->basis.rows; i++)
        if (!isnan(value_at(f, e, i)))
            sorted[n++] = value_at(f, e, i);
    if (sorted && e->values && n > 0) {
        qsort(sorted, n, sizeof *sorted, compare_values);
        e->points = take_each(sorted, n, e->values);
        e->each = e->points > 0;
        if (!e->each)
            e->points = take_grid(sorted, n, e->values);
        if (e->points == 1)
            e->points = 0;
    }
    free(sorted);
    return sorted && e->values;
}

/* ---- The effects ---- */

static bool reserve(input_effect *e)
{
    size_t bytes = (e->points + 1) * sizeof(double);
    e->mean = malloc(bytes);
    e->lower = malloc(bytes);
    e->upper = malloc(bytes);
    e->support = malloc(bytes);
    e->occurring = malloc(bytes);
    return e->mean && e->lower && e->upper && e->support && e->occurring;
}

/* About the value: within half a step of the grid; where each value is a point the value itself.  Of training rows no
 * prediction is known. */
static void find_occurring(const facts *f, input_effect *e)
{
    const asked_rows *a = &f->rows;
    double half = e->each ? 0.0 : 0.5 * (e->values[1] - e->values[0]);
    for (size_t p = 0; p < e->points; p++) {
        double sum = 0.0, weight = 0.0;
        size_t rows = 0;
        for (size_t i = 0; i < a->count && !f->of_training; i++)
            if (fabs(a->X[i * a->inputs + e->column] - e->values[p]) <= half) {
                sum += asked_weight(a, i) * a->mean[i];
                weight += asked_weight(a, i);
                rows++;
            }
        bool known = rows >= FEWEST_THERE && weight > 0.0 && !f->info.offset_name;
        e->occurring[p] = known ? sum / weight : NAN;
    }
}

static quorum_status ask_library(facts *f, input_effect *e, const double *offset, size_t rows)
{
    quorum_new_rows given = f->basis;
    given.offset = f->info.offset_name ? offset : NULL;
    quorum_effect_grid grid = {
        .axes = 1, .column = {e->column}, .count = {e->points}, .value = {e->values}};
    quorum_effect_curves curves = {
        .mean = e->mean, .lower = e->lower, .upper = e->upper, .support = e->support};
    return quorum_effect(f->model, &given, rows, &grid, f->given->options, &curves,
                         &f->effects.rows);
}

static int find_one(facts *f, input_effect *e, const double *offset, size_t rows)
{
    bool fits = is_category(&f->info, e->column) ? take_levels(f, e) : take_range(f, e);
    if (!fits || !reserve(e))
        return failure(f->given, "out of memory for an effect");
    if (e->points > 0)
        find_occurring(f, e);
    quorum_status status = e->points > 0 ? ask_library(f, e, offset, rows) : QUORUM_OK;
    return status < 0 ? library_failure(f->given, status) : EXIT_DONE;
}

int effects_find(facts *f)
{
    found_effects *e = &f->effects;
    if (f->shares.about.inputs == 0)
        return EXIT_DONE;
    int code = choose_inputs(f);
    if (code != EXIT_DONE || e->count == 0)
        return code;
    size_t rows = PREDICTIONS / (POINTS * e->count);
    double *zero = calloc(f->basis.rows, sizeof *zero); /* effects are without the offset */
    if (!zero)
        return failure(f->given, "out of memory for %zu rows", f->basis.rows);
    for (size_t k = 0; k < e->count && code == EXIT_DONE; k++) {
        progress_task(&f->progress, "effects (%zu of %zu)", k + 1, e->count);
        progress_part(&f->progress, k, e->count);
        code = find_one(f, &e->of[k], zero, rows > FEWEST_ROWS ? rows : FEWEST_ROWS);
    }
    free(zero);
    return code;
}

void effects_free(found_effects *e)
{
    for (size_t k = 0; k < e->count; k++) {
        free(e->of[k].values);
        free(e->of[k].mean);
        free(e->of[k].lower);
        free(e->of[k].upper);
        free(e->of[k].support);
        free(e->of[k].occurring);
    }
    memset(e, 0, sizeof *e);
}
