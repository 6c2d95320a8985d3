/* How good: against the trivial and the earlier model, predicted and actual, and errors by each
 * column. */
#include "bootstrap.h"
#include "hyperparameters.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/sections.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_CHARTS = 12 }; /* of columns */

/* ---- Against others ---- */

static void write_scores(FILE *file, const char *name, const quorum_metrics *m)
{
    double explained = 100.0 * (1.0 - m->smse);
    html_row(file);
    html_head_cell(file, "%s", name);
    html_cell(file, "%s", plain_number(m->rmse).text);
    html_cell(file, "%s", plain_number(m->mae).text);
    if (isfinite(explained))
        html_cell(file, "%.1f %%", fabs(explained) < 0.05 ? 0.0 : explained);
    else
        html_cell(file, "-");
    html_cell(file, "%.4g", m->nlpd);
    html_cell(file, "%s", plain_number(m->crps).text);
    fputs("</tr>\n", file);
}

static double density_loss(const asked_rows *a, const quorum_info *info, size_t i)
{
    quorum_scores one = {0};
    quorum_metrics m;
    quorum_scores_add_model(&one, info, 1, &a->y[i], &a->mean[i], &a->std[i], &a->z);
    quorum_scores_finish(&one, &m);
    return m.nlpd;
}

static double loss_of(const asked_rows *a, const quorum_info *info, size_t i, bool squared)
{
    double error = a->y[i] - a->mean[i];
    return squared ? error * error : density_loss(a, info, i);
}

static const char *verdict(const loss_change *c)
{
    if (c->low == 0.0 && c->high == 0.0)
        return "the same";
    return c->high < 0.0  ? "better than the earlier one"
           : c->low > 0.0 ? "worse than the earlier one"
                          : "may be chance";
}

/* From the earlier model to this one, as `quorum compare` has it. */
static int write_change(FILE *file, const facts *f, bool squared)
{
    const asked_rows *a = &f->rows, *old = &f->old_rows;
    loss_change c = {0};
    loss_pair *pairs = malloc(a->count * sizeof *pairs);
    for (size_t i = 0; pairs && i < a->count; i++)
        pairs[i] = (loss_pair){.a = loss_of(old, &f->old_info, i, squared),
                               .b = loss_of(a, &f->info, i, squared),
                               .weight = asked_weight(a, i)};
    bool done = pairs && bootstrap_change(pairs, a->count, squared, &c);
    free(pairs);
    if (!done)
        return failure(f->given, "out of memory for comparing");
    fputs("<li>", file);
    if (squared)
        html_say(file, "Squared error changes by %+.1f %% (95 %% of draws: %+.1f to %+.1f): %s.",
                 100.0 * c.change, 100.0 * c.low, 100.0 * c.high, verdict(&c));
    else
        html_say(file, "NLPD changes by %+.4f (95 %% of draws: %+.4f to %+.4f): %s.", c.change,
                 c.low, c.high, verdict(&c));
    fputs("</li>\n", file);
    return EXIT_DONE;
}

static int write_against(FILE *file, const facts *f)
{
    static const char *const titles[] = {
        "model", "RMSE", "mean absolute error", "variance explained", "NLPD", "CRPS"};
    int code = EXIT_DONE;
    html_table_begin(file, "The smaller the better, but for the variance explained", titles, 6);
    write_scores(file, "this model", &f->scores);
    if (f->before) {
        quorum_metrics old = asked_scores(&f->old_rows, &f->old_info);
        write_scores(file, f->before, &old);
    }
    write_scores(file, "always the training mean", &f->trivial);
    html_table_end(file);
    if (!f->before)
        return code;
    fputs("<ul>\n", file);
    for (int k = 0; k < 2 && code == EXIT_DONE; k++)
        code = write_change(file, f, k == 0);
    fputs("</ul>\n", file);
    return code;
}

/* ---- Single rows ---- */

/* Of the rows that charts show: what `of` gives, and their numbers. */
typedef struct {
    double *actual, *predicted, *residual;
    size_t *number;
} shown_rows;

static bool gather(const facts *f, shown_rows *s)
{
    size_t n = f->shown_count;
    s->actual = malloc(n * sizeof *s->actual);
    s->predicted = malloc(n * sizeof *s->predicted);
    s->residual = malloc(n * sizeof *s->residual);
    s->number = malloc(n * sizeof *s->number);
    if (!s->actual || !s->predicted || !s->residual || !s->number)
        return false;
    for (size_t k = 0; k < n; k++) {
        size_t i = f->shown[k];
        s->actual[k] = f->rows.y[i];
        s->predicted[k] = f->rows.mean[i];
        s->residual[k] = f->rows.y[i] - f->rows.mean[i];
        s->number[k] = f->rows.number[i];
    }
    return true;
}

static void span(const double *values, size_t n, double ends[2])
{
    ends[0] = INFINITY;
    ends[1] = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        ends[0] = fmin(ends[0], values[i]);
        ends[1] = fmax(ends[1], values[i]);
    }
}

static void draw_actual(FILE *file, const facts *f, const shown_rows *s)
{
    double ends[2], other[2];
    span(s->actual, f->shown_count, ends);
    span(s->predicted, f->shown_count, other);
    ends[0] = fmin(ends[0], other[0]);
    ends[1] = fmax(ends[1], other[1]);
    chart c = {.id = "predicted",
               .title = "Predicted and actual",
               .about = "One point a row. On the line the prediction is exactly right; above it is "
                        "too high, below too low.",
               .x_label = "actual",
               .y_label = "predicted",
               .same_scale = true,
               .count = 2};
    c.series[0] = (series){.kind = SERIES_POINTS,
                           .tone = TONE_MAIN,
                           .name = "rows",
                           .count = f->shown_count,
                           .x = s->actual,
                           .y = s->predicted,
                           .row = s->number};
    c.series[1] = (series){.kind = SERIES_LINE,
                           .tone = TONE_RULE,
                           .name = "exactly right",
                           .count = 2,
                           .x = ends,
                           .y = ends};
    chart_write(file, &c);
}

static void draw_residuals(FILE *file, const facts *f, const shown_rows *s)
{
    double ends[2], zero[2] = {0.0, 0.0};
    span(s->predicted, f->shown_count, ends);
    chart c = {.id = "residuals",
               .title = "Errors by prediction",
               .about = "Actual less predicted. A cloud about the line is as it should be; a bend "
                        "is something that the model has missed, a funnel an error that grows.",
               .x_label = "predicted",
               .y_label = "actual - predicted",
               .count = 2};
    c.series[0] = (series){.kind = SERIES_POINTS,
                           .tone = TONE_MAIN,
                           .name = "rows",
                           .count = f->shown_count,
                           .x = s->predicted,
                           .y = s->residual,
                           .row = s->number};
    c.series[1] = (series){.kind = SERIES_LINE,
                           .tone = TONE_RULE,
                           .name = "no error",
                           .count = 2,
                           .x = ends,
                           .y = zero};
    chart_write(file, &c);
}

static int draw_rows(FILE *file, const facts *f)
{
    shown_rows s = {0};
    bool fits = gather(f, &s);
    if (fits) {
        draw_actual(file, f, &s);
        draw_residuals(file, f, &s);
    }
    free(s.actual);
    free(s.predicted);
    free(s.residual);
    free(s.number);
    return fits ? EXIT_DONE : failure(f->given, "out of memory for %zu rows", f->shown_count);
}

/* ---- By each column ---- */

/* What one chart is drawn from. */
typedef struct {
    const char *names[GROUPS_ROOM], *about[GROUPS_ROOM];
    double place[GROUPS_ROOM], rmse[GROUPS_ROOM], before[GROUPS_ROOM], all[GROUPS_ROOM];
    char text[GROUPS_ROOM][256];
} column_view;

static void tell_group(const facts *f, const scored_group *g, char *text, size_t size)
{
    int used = snprintf(text, size, "RMSE %.4g", g->scores.rmse);
    if (f->before)
        used += snprintf(text + used, size - (size_t)used, "\nearlier model: %.4g", g->before);
    snprintf(text + used, size - (size_t)used,
             "\nalways the training mean: %.4g\n%zu rows\n%.1f %% inside their 95 %% interval",
             g->trivial, g->rows.count, 100.0 * g->scores.coverage);
}

static void view_column(column_view *v, const facts *f, const grouping *by)
{
    for (size_t g = 0; g < by->count; g++) {
        v->names[g] = by->group[g].name;
        v->place[g] = (double)g;
        v->rmse[g] = by->group[g].scores.rmse;
        v->before[g] = by->group[g].before;
        v->all[g] = f->scores.rmse;
        tell_group(f, &by->group[g], v->text[g], sizeof v->text[g]);
        v->about[g] = v->text[g];
    }
}

static series bars_of(const column_view *v, size_t count, const char *name, series_tone tone,
                      const double *height)
{
    return (series){.kind = SERIES_BARS,
                    .tone = tone,
                    .name = name,
                    .count = count,
                    .x = v->place,
                    .y = height,
                    .about = v->about};
}

static void draw_column(FILE *file, const facts *f, size_t d)
{
    const grouping *by = &f->by_column[d];
    column_view v;
    char id[40], title[240];
    name_text name = input_name(&f->info, d);
    view_column(&v, f, by);
    snprintf(id, sizeof id, "error-by-%zu", d + 1);
    snprintf(title, sizeof title, "Error by %s", name.text);
    chart c = {.id = id,
               .title = title,
               .about = "",
               .x_label = name.text,
               .y_label = "RMSE",
               .category = v.names,
               .count = 1};
    c.series[0] = bars_of(&v, by->count, "RMSE", TONE_MAIN, v.rmse);
    if (f->before)
        c.series[c.count++] = bars_of(&v, by->count, "earlier model", TONE_MUTED, v.before);
    c.series[c.count++] = (series){.kind = SERIES_LINE,
                                   .tone = TONE_RULE,
                                   .name = "all rows",
                                   .count = by->count,
                                   .x = v.place,
                                   .y = v.all};
    chart_write(file, &c);
}

/* Column d is the k-th, k from 0, of those whose worst group is the worst. */
static size_t place_by_excess(const facts *f, size_t d)
{
    size_t before = 0;
    for (size_t e = 0; e < f->info.columns; e++)
        before += f->by_column[e].count > 1 &&
                  (f->by_column[e].excess > f->by_column[d].excess ||
                   (f->by_column[e].excess == f->by_column[d].excess && e < d));
    return before;
}

static size_t largest_error(const grouping *by)
{
    size_t worst = 0;
    for (size_t g = 1; g < by->count; g++)
        if (by->group[g].scores.rmse > by->group[worst].scores.rmse)
            worst = g;
    return worst;
}

/* Those that have no chart, by the group that errs most. */
static void list_other_columns(FILE *file, const facts *f, size_t vary)
{
    static const char *const titles[] = {"column", "largest error where it is", "rows", "RMSE"};
    fputs("<p>", file);
    html_say(
        file,
        "These are the %d columns, of %zu, whose worst group errs the most. The others follow, "
        "each with its worst group.",
        MOST_CHARTS, vary);
    fputs("</p>\n", file);
    html_table_begin(file, "Errors by the other columns", titles, 4);
    for (size_t d = 0; d < f->info.columns; d++) {
        const grouping *by = &f->by_column[d];
        if (by->count < 2 || place_by_excess(f, d) < MOST_CHARTS)
            continue;
        const scored_group *g = &by->group[largest_error(by)];
        html_row(file);
        html_head_cell(file, "%s", input_name(&f->info, d).text);
        html_cell(file, "%s", g->name);
        html_cell(file, "%zu", g->rows.count);
        html_cell(file, "%s", plain_number(g->scores.rmse).text);
        fputs("</tr>\n", file);
    }
    html_table_end(file);
}

static void draw_columns(FILE *file, const facts *f)
{
    size_t vary = 0;
    for (size_t d = 0; d < f->info.columns; d++)
        vary += f->by_column[d].count > 1;
    if (vary == 0)
        return;
    fputs("<p>", file);
    html_say(file,
             "Below, rows are in groups of about a tenth each, by the value of a column; up to "
             "ten different values are a group each, of a category with more the nine that most "
             "rows have, and the others together. The dashed line is the error of all "
             "rows.");
    fputs("</p>\n<div class=\"charts\">\n", file);
    for (size_t d = 0; d < f->info.columns; d++)
        if (f->by_column[d].count > 1 && place_by_excess(f, d) < MOST_CHARTS)
            draw_column(file, f, d);
    fputs("</div>\n", file);
    if (vary > MOST_CHARTS)
        list_other_columns(file, f, vary);
}

int write_good(FILE *file, const facts *f)
{
    begin_section(file, "good", "How good is it?");
    int code = write_against(file, f);
    fputs("<div class=\"charts\">\n", file);
    if (code == EXIT_DONE)
        code = draw_rows(file, f);
    fputs("</div>\n", file);
    draw_columns(file, f);
    fputs("</section>\n", file);
    return code;
}
