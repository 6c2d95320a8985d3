/* Charts for paper and for browsers without scripts: a picture by plot.h, bars as a table. */
#include "io/plain_text.h"
#include "plot.h"
#include "report/chart.h"
#include "report/html.h"

#include <math.h>
#include <string.h>

/* As page.css has them in the light. */
static const char *const colour[] = {"#1f5fa8", "#b3560b", "#b3261e", "#8a8f98", "#55585e"};

enum { WIDTH = 640, HEIGHT = 380 };
static const double FADED = 0.25; /* of the ink's opacity */
static const panel frame = {.left = 92.0, .top = 42.0, .width = 530.0, .height = 280.0};

/* ---- Ranges ---- */

typedef struct {
    double low, high;
} range;

static void widen(range *r, const double *values, size_t count)
{
    for (size_t i = 0; values && i < count; i++)
        if (isfinite(values[i])) {
            r->low = fmin(r->low, values[i]);
            r->high = fmax(r->high, values[i]);
        }
}

/* A little room beside the outermost marks; never empty. */
static range padded(range r)
{
    if (!(r.low <= r.high))
        return (range){0.0, 1.0};
    double pad = r.high > r.low ? 0.04 * (r.high - r.low) : fmax(0.5, 0.1 * fabs(r.low));
    return (range){r.low - pad, r.high + pad};
}

static panel panel_of(const chart *c)
{
    panel p = frame;
    range x = {INFINITY, -INFINITY}, y = {INFINITY, -INFINITY};
    for (size_t k = 0; k < c->count; k++) {
        const series *s = &c->series[k];
        widen(&x, s->x, s->count);
        widen(&y, s->y, s->count);
        widen(&y, s->y2, s->count);
    }
    if (c->same_scale)
        x = y = (range){fmin(x.low, y.low), fmax(x.high, y.high)};
    x = padded(x);
    y = padded(y);
    p.x_min = x.low;
    p.x_max = x.high;
    p.y_min = c->from_zero ? fmin(0.0, y.low) : y.low;
    p.y_max = y.high;
    p.x_is_date = c->x_is_date;
    p.y_is_date = c->y_is_date;
    p.x_names = c->x_names;
    p.y_names = c->y_names;
    double wider = c->y_names.count > 0 ? fmax(0.0, plot_names_room(&c->y_names) - 58.0) : 0.0;
    p.left += wider;
    p.width -= wider;
    return p;
}

/* ---- Marks ---- */

static ink ink_of(const series *s)
{
    ink i = {.colour = colour[s->tone], .width = 2.0, .opacity = 1.0};
    if (s->kind == SERIES_POINTS) {
        i.width = 4.0;
        i.opacity = 0.5;
    } else if (s->kind == SERIES_REGION) {
        i.width = 3.0;
        i.opacity = 0.15;
    } else if (s->kind == SERIES_BAND || s->kind == SERIES_CELLS) {
        i.opacity = 0.2;
    } else if (s->kind == SERIES_LINKS) {
        i.width = 1.0;
        i.opacity = 0.5;
    } else if (s->tone == TONE_RULE) {
        i.width = 1.5;
        i.dash = "6 4";
    }
    return i;
}

static void draw_points(FILE *file, const panel *p, const series *s)
{
    ink i = ink_of(s);
    if (!s->size) {
        plot_points(file, p, s->count, s->x, s->y, i);
        return;
    }
    for (size_t k = 0; k < s->count; k++) {
        i.width = s->size[k];
        plot_points(file, p, 1, s->x + k, s->y + k, i);
    }
}

static void draw_cells(FILE *file, const panel *p, const series *s)
{
    for (size_t k = 0; k < s->count; k++) {
        double x[2] = {s->x[k] - 0.5 * s->cell[0], s->x[k] + 0.5 * s->cell[0]};
        double low = s->y[k] - 0.5 * s->cell[1], high = s->y[k] + 0.5 * s->cell[1];
        const double lower[2] = {low, low}, upper[2] = {high, high};
        plot_band(file, p, 2, x, lower, upper, ink_of(s));
    }
}

/* Points first .. last of a line or a band. */
static void draw_run(FILE *file, const panel *p, const series *s, size_t first, size_t last,
                     bool faded)
{
    size_t n = last - first + 1;
    ink i = ink_of(s);
    if (faded)
        i.opacity *= FADED;
    if (s->kind == SERIES_BAND)
        plot_band(file, p, n, s->x + first, s->y + first, s->y2 + first, i);
    else
        plot_line(file, p, n, s->x + first, s->y + first, i);
}

/* The step from point k to the next. */
static bool is_faded(const series *s, size_t k)
{
    return s->faded && (s->faded[k] || s->faded[k + 1]);
}

static void draw_runs(FILE *file, const panel *p, const series *s)
{
    for (size_t first = 0, last; first + 1 < s->count; first = last) {
        bool faded = is_faded(s, first);
        for (last = first + 1; last + 1 < s->count && is_faded(s, last) == faded;)
            last++;
        draw_run(file, p, s, first, last, faded);
    }
}

static void draw_series(FILE *file, const panel *p, const series *s)
{
    if (s->kind == SERIES_POINTS || s->kind == SERIES_REGION)
        draw_points(file, p, s);
    else if (s->kind == SERIES_CELLS)
        draw_cells(file, p, s);
    else if (s->kind == SERIES_BAND || s->kind == SERIES_LINE)
        draw_runs(file, p, s);
    else
        for (size_t k = 0; k + 1 < s->count; k += 2)
            plot_line(file, p, 2, s->x + k, s->y + k, ink_of(s));
}

static key_kind key_of(series_kind kind)
{
    if (kind == SERIES_POINTS || kind == SERIES_REGION)
        return KEY_POINTS;
    return kind == SERIES_BAND || kind == SERIES_CELLS ? KEY_BAND : KEY_LINE;
}

static void draw_legend(FILE *file, const chart *c)
{
    legend_key keys[MOST_SERIES];
    size_t count = 0;
    for (size_t k = 0; k < c->count; k++)
        if (c->series[k].name && c->series[k].count > 0)
            keys[count++] =
                (legend_key){key_of(c->series[k].kind), ink_of(&c->series[k]), c->series[k].name};
    if (count > 1)
        plot_legend(file, keys, count, frame.left, 22.0);
}

/* As much of it as there is room for. */
typedef struct {
    char text[48];
} short_label;

static short_label shorten(const char *label)
{
    short_label s;
    plain_text_copy(s.text, sizeof s.text, label);
    return s;
}

void chart_draw(FILE *file, const chart *c)
{
    panel p = panel_of(c);
    short_label x = shorten(c->x_label), y = shorten(c->y_label);
    p.x_label = x.text;
    p.y_label = y.text;
    plot_begin(file, WIDTH, HEIGHT, "", c->title);
    plot_panel(file, &p);
    for (size_t k = 0; k < c->count; k++)
        draw_series(file, &p, &c->series[k]);
    plot_panel_end(file, &p);
    draw_legend(file, c);
    plot_end(file);
}

/* ---- Bars ---- */

static double largest(const series *s)
{
    double most = 0.0;
    for (size_t i = 0; i < s->count; i++)
        if (isfinite(s->y[i]))
            most = fmax(most, s->y[i]);
    return most;
}

void chart_tabulate(FILE *file, const chart *c)
{
    const char *titles[MOST_SERIES + 1] = {c->x_label};
    for (size_t k = 0; k < c->count; k++)
        titles[k + 1] = c->series[k].name ? c->series[k].name : c->y_label;
    html_table_begin(file, "", titles, c->count + 1);
    for (size_t i = 0; i < c->series[0].count; i++) {
        html_row(file);
        html_head_cell(file, "%s", c->category[i]);
        for (size_t k = 0; k < c->count; k++) {
            const series *s = &c->series[k];
            const char *few = s->faded && s->faded[i] ? " (few rows)" : "";
            if (s->kind == SERIES_BARS)
                html_bar_cell(file, s->y[i] / largest(s), "%.4g", s->y[i]);
            else if (s->kind == SERIES_SPANS)
                html_cell(file, "%.4g to %.4g", s->y[i], s->y2[i]);
            else if (isnan(s->y[i]))
                html_cell(file, "-");
            else
                html_cell(file, "%.4g%s", s->y[i], few);
        }
        fputs("</tr>\n", file);
    }
    html_table_end(file);
}
