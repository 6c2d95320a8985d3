/* Groups of the asked rows by the values of a column (breakdown.h does the cutting and the scoring);
 * rows whose cell is missing are in none of that column's groups. */
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

static void put_row(breakdown *b, const asked_rows *a, size_t i, double key)
{
    quorum_prediction out = {
        .mean = a->mean + i, .std = a->std + i, .lower = a->lower + i, .upper = a->upper + i};
    breakdown_keep(b, 0, 1, &out, &a->z);
    breakdown_take(b, 1, &key, a->y + i, a->weighted ? a->weight + i : NULL);
}

static void name_group(const facts *f, ptrdiff_t column, const row_group *g, char *text,
                       size_t size)
{
    value_text low, high;
    if (column == BY_DISTANCE) {
        low = plain_number(g->low);
        high = plain_number(g->high);
    } else {
        low = value_of_column(&f->info, (size_t)column, g->low);
        high = value_of_column(&f->info, (size_t)column, g->high);
    }
    snprintf(text, size, g->low == g->high ? "%s" : "%s to %s", low.text, high.text);
}

/* The mean alone, and the earlier model, on the rows of the group: no two groups share a key. */
static void score_others(const facts *f, ptrdiff_t column, scored_group *g)
{
    double trivial = 0.0, before = 0.0, weight = 0.0;
    for (size_t i = 0; i < f->rows.count; i++) {
        double key = key_at(f, column, i), w = asked_weight(&f->rows, i), y = f->rows.y[i];
        if (!(key >= g->rows.low && key <= g->rows.high))
            continue;
        weight += w;
        trivial += w * pow(y - f->info.target_mean, 2.0);
        before += f->before ? w * pow(y - f->old_rows.mean[i], 2.0) : NAN;
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
    out->scores = breakdown_scores(b, 0, g, &f->info);
    score_others(f, column, out);
}

/* The RMSE of n rows like all others has a relative deviation of about 1 / sqrt(2 n); the largest of a few
 * hundred groups is three of these above 1. */
static double most_by_chance(size_t rows)
{
    const double deviations = 3.5;
    return 1.0 + deviations / sqrt(2.0 * (double)rows);
}

static void find_worst(const facts *f, grouping *by)
{
    for (size_t g = 0; g < by->count; g++) {
        double excess = by->group[g].scores.rmse / f->scores.rmse;
        if (by->group[g].rows.count >= LEAST_ROWS &&
            excess > most_by_chance(by->group[g].rows.count) && excess > by->excess) {
            by->excess = excess;
            by->worst = g;
        }
    }
}

static int group_by(facts *f, ptrdiff_t column, grouping *by)
{
    const asked_rows *a = &f->rows;
    breakdown b;
    int code = breakdown_start(&b, f->given, "", 1);
    b.weighted = a->weighted;
    if (code == EXIT_DONE)
        code = breakdown_reserve(&b, f->given, a->count);
    for (size_t i = 0; code == EXIT_DONE && i < a->count; i++)
        if (!isnan(key_at(f, column, i)))
            put_row(&b, a, i, key_at(f, column, i));
    if (code == EXIT_DONE && b.rows > 0)
        code = breakdown_group(&b, f->given);
    by->count = b.groups;
    for (size_t g = 0; code == EXIT_DONE && g < b.groups; g++)
        score_group(f, column, &b, &b.group[g], &by->group[g]);
    find_worst(f, by);
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
