/* How sure: coverage against stated probability, width by distance from the data, the worst misses. */
#include "hyperparameters.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/sections.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>

enum { MISSES = 10, MISS_COLUMNS = 8 };

/* ---- Coverage ---- */

static void draw_coverage(FILE *file, const facts *f)
{
    coverage c = find_coverage(&f->rows);
    for (size_t k = 0; k < COVERAGE_LEVELS; k++) {
        c.stated[k] *= 100.0;
        c.share[k] *= 100.0;
        c.low[k] *= 100.0;
        c.high[k] *= 100.0;
    }
    chart drawn = {.id = "coverage",
                   .title = "Is a 90 % interval right 90 % of the time?",
                   .about = "For each stated probability, the share of rows that are inside their "
                            "interval. In the band it is as right as so many rows can tell; below "
                            "it intervals are too narrow, above it too wide.",
                   .x_label = "stated, %",
                   .y_label = "rows inside, %",
                   .same_scale = true,
                   .count = 2};
    drawn.series[0] = (series){.kind = SERIES_BAND,
                               .tone = TONE_MUTED,
                               .name = "where chance puts it",
                               .count = COVERAGE_LEVELS,
                               .x = c.stated,
                               .y = c.low,
                               .y2 = c.high};
    drawn.series[1] = (series){.kind = SERIES_LINE,
                               .tone = TONE_MAIN,
                               .name = "rows inside",
                               .count = COVERAGE_LEVELS,
                               .x = c.stated,
                               .y = c.share};
    chart_write(file, &drawn);
}

/* ---- By distance ---- */

static void draw_width(FILE *file, const facts *f)
{
    const grouping *by = &f->by_distance;
    double distance[GROUPS_ROOM], width[GROUPS_ROOM];
    if (by->count < 2)
        return;
    for (size_t g = 0; g < by->count; g++) {
        distance[g] = by->group[g].middle;
        width[g] = by->group[g].scores.width;
    }
    chart c = {.id = "width",
               .title = "Width of the interval by distance from the data",
               .about = "Mean width of the 95 % interval of rows at about this distance from the "
                        "nearest training row, in length-scales. It should grow: far from the "
                        "data less is known.",
               .x_label = "distance",
               .y_label = "width",
               .from_zero = true,
               .count = 2};
    c.series[0] = (series){
        .kind = SERIES_LINE, .tone = TONE_MAIN, .count = by->count, .x = distance, .y = width};
    c.series[1] = c.series[0];
    c.series[1].kind = SERIES_POINTS;
    chart_write(file, &c);
}

static const char *judge(const scored_group *g)
{
    if (g->rows.count < LEAST_ROWS)
        return "too few rows to say";
    return g->scores.coverage < g->rows.expected[0]   ? "too narrow"
           : g->scores.coverage > g->rows.expected[1] ? "too wide"
                                                      : "right";
}

static void write_distances(FILE *file, const facts *f)
{
    static const char *const titles[] = {"distance", "rows",     "inside, %",
                                         "width",    "expected", "95 % interval"};
    html_table_begin(file, "By distance to the nearest training row, in length-scales", titles, 6);
    for (size_t k = 0; k < f->by_distance.count; k++) {
        const scored_group *g = &f->by_distance.group[k];
        html_row(file);
        html_head_cell(file, "%s", g->name);
        html_cell(file, "%zu", g->rows.count);
        html_cell(file, "%.1f", 100.0 * g->scores.coverage);
        html_cell(file, "%s", plain_number(g->scores.width).text);
        html_cell(file, "%.1f to %.1f", 100.0 * g->rows.expected[0], 100.0 * g->rows.expected[1]);
        html_cell(file, "%s", judge(g));
        fputs("</tr>\n", file);
    }
    html_table_end(file);
}

/* ---- Misses ---- */

typedef struct {
    double surprise; /* |y - mean| / std */
    size_t row;
} miss;

static int by_surprise(const void *a, const void *b)
{
    const miss *x = a, *y = b;
    if (x->surprise != y->surprise)
        return x->surprise > y->surprise ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void write_value(FILE *file, const facts *f, size_t d, double x)
{
    value_text value = value_of_column(&f->info, d, x);
    if (is_category(&f->info, d))
        html_text_cell(file, value.text);
    else
        html_cell(file, "%s", value.text);
}

static void write_miss(FILE *file, const facts *f, const miss *m, size_t columns)
{
    const asked_rows *a = &f->rows;
    size_t i = m->row;
    double spread = f->info.target_scale;
    html_row(file);
    html_head_cell(file, "%zu", a->number[i]);
    html_cell(file, "%s", number_among(a->y[i], spread).text);
    html_cell(file, "%s", number_among(a->mean[i], spread).text);
    html_cell(file, "%s to %s", number_among(a->lower[i], spread).text,
              number_among(a->upper[i], spread).text);
    html_cell(file, "%.1f", m->surprise);
    html_cell(file, "%.2f", a->novelty[i]);
    for (size_t d = 0; d < columns; d++)
        write_value(file, f, d, a->X[i * a->inputs + d]);
    fputs("</tr>\n", file);
}

static void write_misses(FILE *file, const facts *f, const miss *all)
{
    const char *titles[6 + MISS_COLUMNS] = {"row",           "actual",     "predicted",
                                            "95 % interval", "deviations", "novelty"};
    name_text name[MISS_COLUMNS];
    size_t columns = f->info.columns < MISS_COLUMNS ? f->info.columns : MISS_COLUMNS;
    size_t count = f->rows.count < MISSES ? f->rows.count : MISSES;
    for (size_t d = 0; d < columns; d++) {
        name[d] = input_name(&f->info, d);
        titles[6 + d] = name[d].text;
    }
    fputs("<h3>The worst misses</h3>\n<p>", file);
    html_say(file,
             "The rows that are furthest from their prediction, in the standard deviations "
             "that it stated. Rows are numbered as in %s, from 1. Look at them: wrong cells "
             "in the data are often among them.",
             f->test ? "the test file" : "the training data");
    fputs("</p>\n", file);
    html_table_begin(file, "", titles, 6 + columns);
    for (size_t k = 0; k < count; k++)
        write_miss(file, f, &all[k], columns);
    html_table_end(file);
}

static int find_misses(FILE *file, const facts *f)
{
    miss *all = malloc(f->rows.count * sizeof *all);
    if (!all)
        return failure(f->given, "out of memory for %zu rows", f->rows.count);
    for (size_t i = 0; i < f->rows.count; i++)
        all[i] = (miss){fabs(f->rows.y[i] - f->rows.mean[i]) / f->rows.std[i], i};
    qsort(all, f->rows.count, sizeof *all, by_surprise);
    write_misses(file, f, all);
    free(all);
    return EXIT_DONE;
}

int write_sure(FILE *file, const facts *f)
{
    begin_section(file, "sure", "How sure is it?");
    fputs("<div class=\"charts\">\n", file);
    draw_coverage(file, f);
    draw_width(file, f);
    fputs("</div>\n", file);
    write_distances(file, f);
    int code = find_misses(file, f);
    fputs("</section>\n", file);
    return code;
}
