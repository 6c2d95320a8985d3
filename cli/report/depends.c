/* Charts of effects: a line with its band along a number or a date, a span for each level.  What has a
 * support below EFFECT_SUPPORTED is faded. */
#include "effects.h"
#include "hyperparameters.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/sections.h"

#include <math.h>
#include <stdio.h>

enum { MOST_VALUES = 32, TOLD = 800 };

/* What one chart is drawn from. */
typedef struct {
    const facts *f;
    const input_effect *e;
    name_text name;
    double x[MOST_VALUES];
    double there_x[MOST_VALUES], there_y[MOST_VALUES]; /* there: where rows occur */
    size_t there;
    bool faded[MOST_VALUES];
    char told[MOST_VALUES][TOLD];
    const char *about[MOST_VALUES];
    value_text value[MOST_VALUES];
    const char *values[MOST_VALUES];
    char id[32], title[640];
} effect_view;

static void tell(effect_view *v, size_t p)
{
    const input_effect *e = v->e;
    double spread = v->f->info.target_scale;
    snprintf(v->told[p], TOLD,
             "%.60s: %.60s\nmean prediction %s\n95 %% of the function: %s to %s%s", v->name.text,
             v->value[p].text, number_among(e->mean[p], spread).text,
             number_among(e->lower[p], spread).text, number_among(e->upper[p], spread).text,
             v->faded[p] ? "\nfew rows are like this" : "");
    v->about[p] = v->told[p];
}

static void gather_occurring(effect_view *v)
{
    v->there = 0;
    for (size_t p = 0; p < v->e->points; p++)
        if (isfinite(v->e->occurring[p])) {
            v->there_x[v->there] = v->x[p];
            v->there_y[v->there++] = v->e->occurring[p];
        }
}

static void view_effect(effect_view *v, const facts *f, const input_effect *e)
{
    v->f = f;
    v->e = e;
    v->name = input_name(&f->info, e->column);
    snprintf(v->id, sizeof v->id, "effect-of-%zu", e->column + 1);
    snprintf(v->title, sizeof v->title, "Effect of %s", v->name.text);
    for (size_t p = 0; p < e->points; p++) {
        v->x[p] = e->values[p];
        v->faded[p] = e->support[p] < EFFECT_SUPPORTED;
        v->value[p] = value_of_column(&f->info, e->column, e->values[p]);
        v->values[p] = v->value[p].text;
        tell(v, p);
    }
    gather_occurring(v);
}

static chart begin_chart(const effect_view *v, const value_text *target)
{
    return (chart){.id = v->id,
                   .title = v->title,
                   .about = "",
                   .x_label = v->name.text,
                   .x_is_date = is_date(&v->f->info, v->e->column),
                   .y_label = target->text,
                   .count = v->there > 1 ? 3 : 2};
}

static series series_of(const effect_view *v, series_kind kind, const char *name)
{
    return (series){.kind = kind,
                    .tone = TONE_MAIN,
                    .name = name,
                    .count = v->e->points,
                    .x = v->x,
                    .faded = v->faded};
}

static void draw_effect_chart(FILE *file, effect_view *v)
{
    bool levels = is_category(&v->f->info, v->e->column);
    value_text target = target_label(&v->f->info);
    chart c = begin_chart(v, &target);
    c.category = levels ? v->values : NULL;
    c.series[0] = series_of(v, levels ? SERIES_SPANS : SERIES_BAND, "95 % of the function");
    c.series[0].y = v->e->lower;
    c.series[0].y2 = v->e->upper;
    c.series[1] = series_of(v, levels ? SERIES_POINTS : SERIES_LINE, "mean prediction");
    c.series[1].y = v->e->mean;
    c.series[1].about = v->about;
    c.series[2] = (series){.kind = SERIES_LINE,
                           .tone = TONE_SECOND,
                           .name = "rows as they are",
                           .count = levels ? v->e->points : v->there,
                           .x = levels ? v->x : v->there_x,
                           .y = levels ? v->e->occurring : v->there_y};
    if (levels) {
        c.series[0].about = v->about;
        c.series[2].kind = SERIES_POINTS;
    }
    chart_write(file, &c);
}

/* The mean of m rows of which each has f of the deviation s differs by about s / sqrt(m) from that of other such
 * rows, whichever input is set to whichever value. */
static void say_chance(FILE *file, const facts *f)
{
    const asked_rows *a = &f->rows;
    double weight = 0.0, mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < a->count; i++) {
        weight += asked_weight(a, i);
        mean += asked_weight(a, i) * a->mean[i];
    }
    mean /= weight;
    for (size_t i = 0; i < a->count; i++)
        squares += asked_weight(a, i) * pow(a->mean[i] - mean, 2.0);
    if (f->of_training || f->effects.rows >= a->count)
        return;
    html_say(file, "With other rows the whole line would lie higher or lower, by about %s. ",
             plain_number(sqrt(squares / weight / (double)f->effects.rows)).text);
}

void write_effects(FILE *file, const facts *f)
{
    const found_effects *e = &f->effects;
    effect_view v;
    if (e->count == 0)
        return;
    fputs("<h3>Effects</h3>\n<p>", file);
    html_say(
        file,
        "In each chart one input is set to value after value in %zu of the %s rows, while "
        "all else stays as it is. The line is the mean prediction, the band the mean 95 %% "
        "interval of the function, without the noise of a single row. It is faded where most "
        "rows have no such value near them: rows like that hardly occur, and the model guesses. ",
        e->rows, f->of_training ? "training" : "asked");
    say_chance(file, f);
    if (!f->info.offset_name && !f->of_training)
        html_say(file,
                 "The other line is the mean prediction of all rows that have about that "
                 "value, with all that goes with it: where the two differ by more, other inputs "
                 "do it. ");
    html_say(file, "'quorum effects' draws any other input, and two at a time.");
    fputs("</p>\n<div class=\"charts\">\n", file);
    for (size_t k = 0; k < e->count; k++)
        if (e->of[k].points > 0) {
            view_effect(&v, f, &e->of[k]);
            draw_effect_chart(file, &v);
        }
    fputs("</div>\n", file);
}
