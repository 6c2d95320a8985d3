/* Importance as a picture: on the left the shares of the predictions' variance, on the right what
 * permuting costs, each with its interval; an input is a line. */
#include "importance.h"

#include "plot.h"
#include "wrap.h"

#include <math.h>
#include <string.h>

enum { MOST_LINES = 30, LABEL = 26 };

static const double LINE = 30.0; /* pixels an input */
static const ink first_ink = {"#b5482f", 2.0, NULL, 1.0};
static const ink total_ink = {"#1f4e9e", 2.0, NULL, 1.0};
static const ink zero_ink = {"#777777", 1.0, "2 3", 1.0};

static void draw_estimate(FILE *file, const panel *p, const quorum_estimate *e, double unit,
                          double y, ink i)
{
    const double ends[2] = {unit * e->low, unit * e->high}, at[2] = {y, y};
    const double value = unit * e->value;
    ink point = i;
    point.width = 7.0;
    plot_line(file, p, 2, ends, at, i);
    plot_points(file, p, 1, &value, &y, point);
}

static void draw_zero(FILE *file, const panel *p)
{
    const double x[2] = {0.0, 0.0}, y[2] = {p->y_min, p->y_max};
    plot_line(file, p, 2, x, y, zero_ink);
}

static void stretch(panel *p, const quorum_estimate *e, double unit)
{
    p->x_min = fmin(p->x_min, unit * e->low);
    p->x_max = fmax(p->x_max, unit * e->high);
}

static void add_margin(panel *p)
{
    double range = p->x_max - p->x_min;
    range = range > 0.0 && isfinite(range) ? range : 1.0;
    p->x_max += 0.05 * range;
    p->x_min -= 0.05 * range;
}

static void draw_names(FILE *file, const importance_found *f, const panel *p, size_t lines)
{
    for (size_t k = 0; k < lines; k++) {
        name_text name = importance_name(f, k);
        char text[LABEL + 8];
        snprintf(text, sizeof text, "%.*s%s", LABEL, name.text,
                 strlen(name.text) > LABEL ? "..." : "");
        plot_note(file, p->left - 12.0 - 3.2 * (double)display_width(text),
                  p->top + LINE * ((double)k + 0.5) + 4.0, name.text[0] ? text : "(no name)");
    }
}

static void draw_shares(FILE *file, const importance_found *f, panel p, size_t lines)
{
    p.title = "share of the predictions' variance";
    p.x_label = "per cent";
    for (size_t k = 0; k < lines; k++) {
        stretch(&p, &f->input[k].first, 100.0);
        stretch(&p, &f->input[k].total, 100.0);
    }
    add_margin(&p);
    plot_panel(file, &p);
    draw_zero(file, &p);
    for (size_t k = 0; k < lines; k++) {
        double y = (double)(lines - k) - 0.5;
        draw_estimate(file, &p, &f->input[k].first, 100.0, y + 0.17, first_ink);
        draw_estimate(file, &p, &f->input[k].total, 100.0, y - 0.17, total_ink);
    }
    plot_panel_end(file, &p);
}

static void draw_losses(FILE *file, const importance_found *f, panel p, size_t lines)
{
    p.title = "permuted: the mean squared error grows by";
    p.x_label = "squared units of the target";
    for (size_t k = 0; k < lines; k++)
        stretch(&p, &f->input[k].squared_error, 1.0);
    add_margin(&p);
    plot_panel(file, &p);
    draw_zero(file, &p);
    for (size_t k = 0; k < lines; k++)
        draw_estimate(file, &p, &f->input[k].squared_error, 1.0, (double)(lines - k) - 0.5,
                      total_ink);
    plot_panel_end(file, &p);
}

void draw_importance(const importance_found *f, FILE *file)
{
    size_t lines = f->about.inputs < MOST_LINES ? f->about.inputs : MOST_LINES;
    panel p = {.left = 190.0,
               .top = 98.0,
               .width = 340.0,
               .height = LINE * (double)lines,
               .y_max = (double)lines};
    char title[256];
    const legend_key keys[] = {{KEY_LINE, first_ink, "first order: the input alone"},
                               {KEY_LINE, total_ink, "total: open while it is not known"}};
    snprintf(title, sizeof title, "What %.100s depends on, %zu rows%s", target_name(f->info),
             f->about.rows, f->about.inputs > lines ? ", the first 30 inputs" : "");
    plot_begin(file, 930.0, p.top + p.height + 50.0, title,
               "quorum importance: shares of the variance and loss by permutation, with 95 % "
               "intervals");
    plot_legend(file, keys, 2, p.left, 52.0);
    draw_names(file, f, &p, lines);
    draw_shares(file, f, p, lines);
    p.left = 566.0;
    draw_losses(file, f, p, lines);
    plot_end(file);
}
