/* Groups of the asked rows by the values of a column (breakdown.h does the cutting and the scoring);
 * rows whose cell is missing are one more group of that column. */
#include "report/groups.h"

#include "report/facts.h"
#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BY_DISTANCE = -1 };

static double key_at(const facts *f, ptrdiff_t column, size_t i)
{
    const asked_rows *a = &f->rows;
    return column == BY_DISTANCE ? a->distance[i] : a->X[i * a->inputs + (size_t)column];
}

enum { THIS_MODEL, EARLIER_MODEL };

static void keep_row(breakdown *b, size_t way, const asked_rows *a, size_t i)
{
    quorum_prediction out = {
        .mean = a->mean + i, .std = a->std + i, .lower = a->lower + i, .upper = a->upper + i};
    breakdown_keep(b, way, 1, &out, &a->z);
}

static void put_row(breakdown *b, const facts *f, size_t i, double key)
{
    const asked_rows *a = &f->rows;
    keep_row(b, THIS_MODEL, a, i);
    if (f->before)
        keep_row(b, EARLIER_MODEL, &f->old_rows, i);
    breakdown_take(b, 1, &key, a->y + i, a->weighted ? a->weight + i : NULL);
}

static double weight_of(const breakdown *b, size_t i)
{
    return b->weighted ? b->weight[i] : 1.0;
}

/* Of days apart the time of day says nothing. */
static void leave_time_out(value_text *low, value_text *high)
{
    enum { DATE = 10 }; /* characters of 2024-05-31 */
    if (strncmp(low->text, high->text, DATE) != 0)
        low->text[DATE] = high->text[DATE] = '\0';
}

static void name_group(const facts *f, ptrdiff_t column, const row_group *g, char *text,
                       size_t size)
{
    value_text low, high;
    if (g->others > 0) {
        snprintf(text, size, "%zu other levels", g->others);
        return;
    }
    if (column == BY_DISTANCE) {
        low = plain_number(g->low);
        high = plain_number(g->high);
    } else {
        low = value_of_column(&f->info, (size_t)column, g->low);
        high = value_of_column(&f->info, (size_t)column, g->high);
        if (is_date(&f->info, (size_t)column))
            leave_time_out(&low, &high);
    }
    bool same = strcmp(low.text, high.text) == 0;
    snprintf(text, size, same ? "%s" : "%s to %s", low.text, high.text);
}

/* The mean alone, and the earlier model, on the rows of the group. */
static void score_others(const facts *f, const breakdown *b, scored_group *g)
{
    double trivial = 0.0, before = 0.0, weight = 0.0;
    for (size_t k = 0; k < g->rows.count; k++) {
        size_t i = b->order[g->rows.first + k];
        double w = weight_of(b, i);
        weight += w;
        trivial += w * pow(b->y[i] - f->info.target_mean, 2.0);
        before += f->before ? w * pow(b->y[i] - b->way[EARLIER_MODEL].mean[i], 2.0) : NAN;
    }
    g->trivial = sqrt(trivial / weight);
    g->before = sqrt(before / weight);
}

static void score_group(const facts *f, ptrdiff_t column, const breakdown *b, const row_group *g,
                        scored_group *out)
{
    name_group(f, column, g, out->name, sizeof out->name);
    out->rows = *g;
    out->middle = b->key[b->order[g->first + g->count / 2]];
    out->scores = breakdown_scores(b, THIS_MODEL, g, &f->info);
    score_others(f, b, out);
}

/* The RMSE of n rows like all others has a relative deviation of about 1 / sqrt(2 n); the largest of a few
 * hundred groups is three of these above 1. */
static double most_by_chance(size_t rows)
{
    const double deviations = 3.5;
    return 1.0 + deviations / sqrt(2.0 * (double)rows);
}

typedef struct {
    double loss, weight;
} loss_sum;

static double loss_of(const breakdown *b, size_t i)
{
    return weight_of(b, i) * pow(b->y[i] - b->way[THIS_MODEL].mean[i], 2.0);
}

static void add_row(loss_sum *s, const breakdown *b, size_t i)
{
    s->loss += loss_of(b, i);
    s->weight += weight_of(b, i);
}

static int by_falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* What a hundredth of the group's rows, one at least, make of its squared error, the largest first; `room` is for as
 * many numbers as the group has rows. */
static double sum_of_largest(const breakdown *b, const row_group *g, double *room)
{
    double sum = 0.0;
    for (size_t k = 0; k < g->count; k++)
        room[k] = loss_of(b, b->order[g->first + k]);
    qsort(room, g->count, sizeof *room, by_falling);
    for (size_t k = 0; k <= g->count / 100; k++)
        sum += room[k];
    return sum;
}

/* Whether the group errs that much without its largest errors too, which are taken from all rows as well: one wrong
 * cell is no group. */
static bool errs_throughout(const breakdown *b, const row_group *g, double *room)
{
    loss_sum all = {0}, group = {0};
    double largest = sum_of_largest(b, g, room), most = most_by_chance(g->count);
    for (size_t i = 0; i < b->rows; i++)
        add_row(&all, b, i);
    for (size_t k = 0; k < g->count; k++)
        add_row(&group, b, b->order[g->first + k]);
    return (group.loss - largest) / group.weight > most * most * (all.loss - largest) / all.weight;
}

static bool is_worse(const facts *f, const breakdown *b, const scored_group *g, double *room)
{
    return g->rows.count >= LEAST_ROWS &&
           g->scores.rmse / f->scores.rmse > most_by_chance(g->rows.count) &&
           errs_throughout(b, &g->rows, room);
}

static int find_worst(const facts *f, const breakdown *b, grouping *by)
{
    double *room = malloc((b->rows + 1) * sizeof *room);
    if (!room)
        return failure(f->given, "out of memory for %zu rows", b->rows);
    for (size_t g = 0; g < by->count; g++) {
        double excess = by->group[g].scores.rmse / f->scores.rmse;
        by->tells = by->tells || by->group[g].rows.count >= LEAST_ROWS;
        if (excess > by->excess && is_worse(f, b, &by->group[g], room)) {
            by->excess = excess;
            by->worst = g;
        }
    }
    free(room);
    return EXIT_DONE;
}

static int group_by(facts *f, ptrdiff_t column, grouping *by)
{
    const asked_rows *a = &f->rows;
    breakdown b;
    int code = breakdown_start(&b, f->given, "", f->before ? 2 : 1);
    b.weighted = a->weighted;
    b.levels =
        column != BY_DISTANCE && is_category(&f->info, (size_t)column) ? f->info.levels[column] : 0;
    if (code == EXIT_DONE)
        code = breakdown_reserve(&b, f->given, a->count);
    for (size_t i = 0; code == EXIT_DONE && i < a->count; i++)
        put_row(&b, f, i, key_at(f, column, i));
    if (code == EXIT_DONE && b.rows > 0)
        code = breakdown_group(&b, f->given);
    by->count = b.groups;
    for (size_t g = 0; code == EXIT_DONE && g < b.groups; g++)
        score_group(f, column, &b, &b.group[g], &by->group[g]);
    if (code == EXIT_DONE)
        code = find_worst(f, &b, by);
    breakdown_free(&b);
    return code;
}

int groupings_make(facts *f)
{
    int code = group_by(f, BY_DISTANCE, &f->by_distance);
    f->by_column = calloc(f->info.columns + 1, sizeof *f->by_column);
    if (!f->by_column)
        return failure(f->given, "out of memory for groups by %zu columns", f->info.columns);
    for (size_t d = 0; code == EXIT_DONE && d < f->info.columns; d++)
        code = group_by(f, (ptrdiff_t)d, &f->by_column[d]);
    return code;
}
