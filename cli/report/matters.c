/* What matters: the share of each input in what predictions vary, how quickly they bend along it, and the
 * metric's directions. */
#include "directions.h"
#include "hyperparameters.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/sections.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_BARS = 30, MOST_DIRECTIONS = 8 };
static const double LEAST_SHARE = 0.01; /* of a direction that is listed */

/* ---- Shares ---- */

static void draw_shares(FILE *file, const importance_found *s)
{
    size_t bars = s->about.inputs < MOST_BARS ? s->about.inputs : MOST_BARS;
    name_text name[MOST_BARS];
    const char *names[MOST_BARS];
    double place[MOST_BARS], first[MOST_BARS], total[MOST_BARS];
    for (size_t k = 0; k < bars; k++) {
        name[k] = importance_name(s, k);
        names[k] = name[k].text;
        place[k] = (double)k;
        first[k] = 100.0 * s->input[k].first.value;
        total[k] = 100.0 * s->input[k].total.value;
    }
    chart c = {.id = "shares",
               .title = "What the prediction depends on",
               .about =
                   "Shares of what varies in the predictions. By itself: what is known once "
                   "this input is, with all that goes with it. Without it: what is open while "
                   "all inputs but this one are known. Inputs that go together share the first "
                   "and have little of the second.",
               .x_label = "input",
               .y_label = "share, %",
               .category = names,
               .count = 2};
    c.series[0] = (series){.kind = SERIES_BARS,
                           .tone = TONE_MAIN,
                           .name = "without it, %",
                           .count = bars,
                           .x = place,
                           .y = total};
    c.series[1] = (series){.kind = SERIES_BARS,
                           .tone = TONE_SECOND,
                           .name = "by itself, %",
                           .count = bars,
                           .x = place,
                           .y = first};
    chart_write(file, &c);
}

/* In per cent, without the sign of what rounds to 0. */
static double percent(double share)
{
    return fabs(share) < 0.0005 ? 0.0 : 100.0 * share;
}

static void range_cell(FILE *file, const quorum_estimate *e)
{
    html_cell(file, "%.1f to %.1f %%", percent(e->low), percent(e->high));
}

static void write_shares(FILE *file, const facts *f)
{
    const importance_found *s = &f->shares;
    static const char *const titles[] = {"input", "without it", "95 %", "by itself", "95 %"};
    html_table_begin(file, "Shares of what varies in the predictions, and how sure they are",
                     titles, 5);
    for (size_t k = 0; k < s->about.inputs && k < MOST_BARS; k++) {
        const quorum_input_importance *i = &s->input[k];
        html_row(file);
        html_head_cell(file, "%s", importance_name(s, k).text);
        html_cell(file, "%.1f %%", percent(i->total.value));
        range_cell(file, &i->total);
        html_cell(file, "%.1f %%", percent(i->first.value));
        range_cell(file, &i->first);
        fputs("</tr>\n", file);
    }
    html_table_end(file);
    fputs("<p>", file);
    html_say(
        file,
        "From %zu %srows, each changed in one input at a time; quorum importance takes more, and "
        "says what the error would be.",
        s->about.rows, f->of_training ? "training " : "");
    fputs("</p>\n", file);
}

/* ---- Bends ---- */

typedef struct {
    double share;
    size_t input;
} bend;

static int by_share(const void *a, const void *b)
{
    const bend *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return (x->input > y->input) - (x->input < y->input);
}

static size_t sort_bends(const quorum_info *info, bend *bends)
{
    size_t count = 0;
    for (size_t d = 0; d < info->inputs; d++)
        if (!is_level(info, d) && !is_of_place(info, d))
            bends[count++] = (bend){100.0 * inverse_lengthscale_share(info, d), d};
    qsort(bends, count, sizeof *bends, by_share);
    return count;
}

static void draw_bends(FILE *file, const facts *f, const bend *bends, size_t count)
{
    size_t bars = count < MOST_BARS ? count : MOST_BARS;
    name_text name[MOST_BARS];
    const char *names[MOST_BARS];
    double place[MOST_BARS], share[MOST_BARS];
    for (size_t k = 0; k < bars; k++) {
        name[k] = input_name(&f->info, bends[k].input);
        names[k] = name[k].text;
        place[k] = (double)k;
        share[k] = bends[k].share;
    }
    chart c = {.id = "bends",
               .title = "How quickly the prediction bends",
               .about =
                   "Each input's share of the inverse length-scales. A large one says that the "
                   "target changes its course within a small part of the input's range; it "
                   "does not say how much the input matters: a steep straight line has a "
                   "small share.",
               .x_label = "input",
               .y_label = "share, %",
               .category = names,
               .count = 1};
    c.series[0] =
        (series){.kind = SERIES_BARS, .tone = TONE_MAIN, .count = bars, .x = place, .y = share};
    chart_write(file, &c);
    if (bars < count) {
        fputs("<p>", file);
        html_say(file, "The first %zu of %zu inputs.", bars, count);
        fputs("</p>\n", file);
    }
}

static void write_directions(FILE *file, const quorum_info *info)
{
    static const char *const titles[] = {"direction", "length-scale", "share",
                                         "of standardised inputs"};
    size_t listed = 0;
    html_word_table_begin(
        file, "The metric's directions across the inputs, those that bend the most", titles, 4);
    for (size_t k = 0; k < info->inputs && listed < MOST_DIRECTIONS; k++) {
        char text[512];
        if (direction_share(info, k) < LEAST_SHARE)
            continue;
        describe_direction(info, k, text, sizeof text);
        html_row(file);
        html_head_cell(file, "%zu", k + 1);
        html_cell(file, "%.4g", info->lengthscale[k]);
        html_cell(file, "%.1f %%", 100.0 * direction_share(info, k));
        html_cell(file, "%s", text);
        fputs("</tr>\n", file);
        listed++;
    }
    html_table_end(file);
}

int write_matters(FILE *file, const facts *f)
{
    bend *bends = malloc((f->info.inputs + 1) * sizeof *bends);
    if (!bends)
        return failure(f->given, "out of memory for %zu inputs", f->info.inputs);
    begin_section(file, "matters", "What matters?");
    fputs("<div class=\"charts\">\n", file);
    if (f->shares.about.inputs > 0)
        draw_shares(file, &f->shares);
    draw_bends(file, f, bends, sort_bends(&f->info, bends));
    fputs("</div>\n", file);
    if (f->shares.about.inputs > 0)
        write_shares(file, f);
    write_effects(file, f);
    int code = write_alike(file, f);
    if (f->info.rotation)
        write_directions(file, &f->info);
    fputs("</section>\n", file);
    free(bends);
    return code;
}
