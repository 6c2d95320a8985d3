/* Where the data are: training and asked rows on two axes, and how new the asked rows are. */
#include "report/chart.h"
#include "report/html.h"
#include "report/sections.h"
#include "talk.h"

#include <stdlib.h>

static const double OUTSIDE = 0.9; /* novelty above which the data say next to nothing (quorum.h) */
enum { BINS = 10 };

typedef struct {
    double *x, *y;
    size_t *row;
    size_t count;
} points;

static bool points_new(points *p, size_t room)
{
    *p = (points){.x = malloc((room + 1) * sizeof(double)),
                  .y = malloc((room + 1) * sizeof(double)),
                  .row = malloc((room + 1) * sizeof(size_t))};
    return p->x && p->y && p->row;
}

static void points_free(points *p)
{
    free(p->x);
    free(p->y);
    free(p->row);
}

static void add_point(points *p, const double *place, size_t row)
{
    p->x[p->count] = place[0];
    p->y[p->count] = place[1];
    p->row[p->count++] = row;
}

/* ---- The map ---- */

enum { TRAINING, KNOWN, NEW, KINDS };

static void gather(const facts *f, points of[KINDS])
{
    for (size_t k = 0; k < f->shown_train_count; k++) {
        size_t i = f->shown_training[k];
        add_point(&of[TRAINING], f->places.training + 2 * i, f->info.row[i] + 1);
    }
    for (size_t k = 0; k < f->shown_count; k++) {
        size_t i = f->shown[k];
        add_point(&of[f->rows.novelty[i] > OUTSIDE ? NEW : KNOWN], f->places.asked + 2 * i,
                  f->rows.number[i]);
    }
}

static void draw_map(FILE *file, const facts *f, const points of[KINDS])
{
    static const char *const names[KINDS] = {"training rows", "asked rows", "outside the data"};
    static const series_tone tones[KINDS] = {TONE_MUTED, TONE_MAIN, TONE_WARN};
    chart c = {.id = "map",
               .title = "Where the rows are",
               .about = f->places.of_target
                            ? "The only input, and the target. Asked rows far from the training "
                              "rows are guesses."
                            : "The two columns, or the two directions across them, along which "
                              "the training rows are most spread out for the model. Asked rows far "
                              "from the training "
                              "rows are guesses; where there are no training rows the model "
                              "knows little.",
               .x_label = f->places.name[0],
               .y_label = f->places.name[1],
               .x_is_date = axis_is_date(f, 0),
               .y_is_date = axis_is_date(f, 1),
               .x_names = f->places.level[0],
               .y_names = f->places.level[1],
               .count = KINDS};
    if (f->gaps.count > 0)
        c.series[c.count++] = (series){.kind = SERIES_CELLS,
                                       .tone = TONE_SECOND,
                                       .name = "gaps",
                                       .count = f->gaps.count,
                                       .x = f->gaps.x,
                                       .y = f->gaps.y,
                                       .cell = {f->gaps.cell[0], f->gaps.cell[1]}};
    for (size_t k = 0; k < KINDS; k++)
        c.series[k] = (series){.kind = SERIES_POINTS,
                               .tone = tones[k],
                               .name = names[k],
                               .count = of[k].count,
                               .x = of[k].x,
                               .y = of[k].y,
                               .row = of[k].row};
    chart_write(file, &c);
}

static int map_rows(FILE *file, const facts *f)
{
    points of[KINDS] = {{0}};
    bool fits = points_new(&of[TRAINING], f->shown_train_count) &&
                points_new(&of[KNOWN], f->shown_count) && points_new(&of[NEW], f->shown_count);
    if (fits) {
        gather(f, of);
        draw_map(file, f, of);
    }
    for (size_t k = 0; k < KINDS; k++)
        points_free(&of[k]);
    return fits ? EXIT_DONE : failure(f->given, "out of memory for %zu points", f->shown_count);
}

/* ---- Novelty ---- */

static void draw_novelty(FILE *file, const facts *f)
{
    double count[BINS] = {0}, place[BINS];
    char name[BINS][16];
    const char *names[BINS];
    for (size_t i = 0; i < f->rows.count; i++) {
        double bin = f->rows.novelty[i] * BINS;
        count[bin < 0.0 ? 0 : bin < BINS ? (size_t)bin : BINS - 1] += 1.0;
    }
    for (size_t b = 0; b < BINS; b++) {
        place[b] = (double)b;
        snprintf(name[b], sizeof name[b], "%.1f to %.1f", (double)b / BINS, (double)(b + 1) / BINS);
        names[b] = name[b];
    }
    chart c = {.id = "novelty",
               .title = "How new the asked rows are",
               .about = "0: the training rows around say all there is to say. 1: nothing is known "
                        "there, and the prediction is the trend alone.",
               .x_label = "novelty",
               .y_label = "rows",
               .category = names,
               .count = 1};
    c.series[0] =
        (series){.kind = SERIES_BARS, .tone = TONE_MAIN, .count = BINS, .x = place, .y = count};
    chart_write(file, &c);
}

static void say_gaps(FILE *file, const facts *f)
{
    const found_gaps *g = &f->gaps;
    if (g->across == 0)
        return;
    fputs("<p>", file);
    if (g->count == 0)
        html_say(
            file,
            "Gaps: none. Of %zu by %zu cells of this picture, each that has enough training rows "
            "on both sides has some itself.",
            g->across, g->across);
    else
        html_say(file,
                 "Gaps: of %zu by %zu cells of this picture, %zu %s no training row though there "
                 "are enough on both sides (shaded). %zu of the asked rows %s there%s",
                 g->across, g->across, g->count, g->count == 1 ? "has" : "have", g->asked,
                 g->asked == 1 ? "is" : "are", g->asked ? "" : ".");
    if (g->asked)
        html_say(file, ", with an RMSE of %s: %.1f times that of all rows.",
                 plain_number(g->rmse).text, g->rmse / f->scores.rmse);
    fputs("</p>\n", file);
}

int write_where(FILE *file, const facts *f)
{
    begin_section(file, "where", "Where are the data?");
    fputs("<div class=\"charts\">\n", file);
    int code = map_rows(file, f);
    draw_novelty(file, f);
    fputs("</div>\n", file);
    say_gaps(file, f);
    if (f->info.rows > f->shown_train_count) {
        fputs("<p>", file);
        html_say(file,
                 "%zu of the %zu training rows are shown, chosen by a fixed rule that favours "
                 "none.",
                 f->shown_train_count, f->info.rows);
        fputs("</p>\n", file);
    }
    fputs("</section>\n", file);
    return code;
}
