/* Effects as a picture: a curve with its band and those of single rows, points of levels, or a map.
 * What has little support is faded. */
#include "effects.h"

#include "heat.h"
#include "hyperparameters.h"
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 600 };
static const double FADED = 0.2;  /* of the ink's opacity */
static const double COVER = 0.75; /* of a map's cells that have no support */

static const ink mean_ink = {"#1f4e9e", 2.4, NULL, 1.0};
static const ink band_ink = {"#7fa8dc", 0.0, NULL, 0.5};
static const ink curve_ink = {"#555555", 0.8, NULL, 0.35};
static const ink faded_ink = {"#1f4e9e", 2.4, NULL, 0.2};

static bool has_support(const effect_found *f, size_t point)
{
    return f->curves.support[point] >= EFFECT_SUPPORTED;
}

/* The names of an axis' levels; none: it is no category. */
static named_places levels_of(const effect_found *f, size_t axis)
{
    return effect_is_category(f, axis)
               ? (named_places){.count = f->grid.count[axis],
                                .name = f->info->level[f->grid.column[axis]]}
               : (named_places){0};
}

/* ---- Along one input ---- */

static void set_range(const effect_found *f, panel *p)
{
    const quorum_effect_curves *c = &f->curves;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < f->points; i++) {
        low = fmin(low, c->lower[i]);
        high = fmax(high, c->upper[i]);
        for (size_t j = 0; j < c->wanted; j++) {
            low = fmin(low, c->curves[j * f->points + i]);
            high = fmax(high, c->curves[j * f->points + i]);
        }
    }
    double margin = high > low ? 0.04 * (high - low) : 1.0;
    p->y_min = low - margin;
    p->y_max = high + margin;
}

/* The points from `first` to `last`, in full or faded. */
static void draw_run(FILE *file, const panel *p, const effect_found *f, const double *x,
                     size_t first, size_t last, bool full)
{
    const quorum_effect_curves *c = &f->curves;
    size_t n = last - first + 1;
    ink band = band_ink, mean = mean_ink, curve = curve_ink;
    if (!full) {
        band.opacity *= FADED;
        mean.opacity *= FADED;
        curve.opacity *= FADED;
    }
    plot_band(file, p, n, x + first, c->lower + first, c->upper + first, band);
    for (size_t j = 0; j < c->wanted; j++)
        plot_line(file, p, n, x + first, c->curves + j * f->points + first, curve);
    plot_line(file, p, n, x + first, c->mean + first, mean);
}

/* Between two points there is support where both have it. */
static void draw_curve(FILE *file, const panel *p, const effect_found *f, const double *x)
{
    for (size_t first = 0, last; first + 1 < f->points; first = last) {
        bool full = has_support(f, first) && has_support(f, first + 1);
        for (last = first + 1; last + 1 < f->points; last++)
            if ((has_support(f, last) && has_support(f, last + 1)) != full)
                break;
        draw_run(file, p, f, x, first, last, full);
    }
}

static void draw_levels(FILE *file, const panel *p, const effect_found *f, const double *x)
{
    const quorum_effect_curves *c = &f->curves;
    for (size_t j = 0; j < c->wanted; j++)
        plot_line(file, p, f->points, x, c->curves + j * f->points, curve_ink);
    for (size_t i = 0; i < f->points; i++) {
        const double at[2] = {x[i], x[i]}, ends[2] = {c->lower[i], c->upper[i]};
        ink point = has_support(f, i) ? mean_ink : faded_ink, line = point;
        point.width = 9.0;
        plot_line(file, p, 2, at, ends, line);
        plot_points(file, p, 1, &x[i], &c->mean[i], point);
    }
}

static void draw_keys(FILE *file, const effect_found *f, double left)
{
    char band[80], rows[80];
    snprintf(band, sizeof band, "mean interval of %.8s", f->interval);
    snprintf(rows, sizeof rows, "%zu single rows", f->curves.wanted);
    legend_key keys[] = {{KEY_LINE, mean_ink, "mean"},
                         {KEY_BAND, band_ink, band},
                         {KEY_LINE, faded_ink, "few rows: faded"},
                         {KEY_LINE, curve_ink, rows}};
    plot_legend(file, keys, f->curves.wanted ? 4 : 3, left, 50.0);
}

static void draw_along(const effect_found *f, FILE *file)
{
    bool levels = effect_is_category(f, 0);
    char title[TEXT];
    const double *x = f->values[0];
    name_text name = input_name(f->info, f->grid.column[0]);
    snprintf(title, sizeof title, "Effect of %.150s on %.150s, mean of %zu rows", name.text,
             target_name(f->info), f->used);
    plot_begin(file, 800.0, 456.0, title, "quorum effects: partial dependence");
    draw_keys(file, f, 72.0);
    panel p = {.left = 72.0,
               .top = 68.0,
               .width = 700.0,
               .height = 336.0,
               .x_min = levels ? -0.5 : x[0],
               .x_max = levels ? (double)f->points - 0.5 : x[f->points - 1],
               .x_label = name.text,
               .y_label = target_name(f->info),
               .x_names = levels_of(f, 0),
               .x_is_date = effect_is_date(f, 0)};
    set_range(f, &p);
    plot_panel(file, &p);
    if (levels)
        draw_levels(file, &p, f, x);
    else
        draw_curve(file, &p, f, x);
    plot_panel_end(file, &p);
    plot_end(file);
}

/* ---- Across two ---- */

/* Points are the middles of cells. */
static void set_axis(const effect_found *f, size_t axis, double *low, double *high)
{
    size_t n = f->grid.count[axis];
    double first = f->values[axis][0], last = f->values[axis][n - 1];
    double half = n > 1 ? 0.5 * (last - first) / (double)(n - 1) : 0.5;
    *low = first - half;
    *high = last + half;
}

static void draw_map(const effect_found *f, FILE *file, panel p, const char *name,
                     const double *value, const double *cover)
{
    char title[TEXT];
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < f->points; i++) {
        low = fmin(low, value[i]);
        high = fmax(high, value[i]);
    }
    snprintf(title, sizeof title, "%s of %.150s", name, target_name(f->info));
    p.title = title;
    plot_panel(file, &p);
    heat_cells(file, &p, f->grid.count[0], f->grid.count[1], value, low, high);
    heat_fade(file, &p, f->grid.count[0], f->grid.count[1], cover);
    plot_panel_end(file, &p);
    heat_scale(file, &p, low, high);
}

/* Room beside each map for names of levels that are longer than numbers. */
static double room_for_names(const effect_found *f)
{
    named_places names = levels_of(f, 1);
    return names.count > 0 ? fmax(0.0, plot_names_room(&names) - 46.0) : 0.0;
}

static void draw_maps(const effect_found *f, FILE *file, double *cover, double *width)
{
    name_text x = input_name(f->info, f->grid.column[0]);
    name_text y = input_name(f->info, f->grid.column[1]);
    double room = room_for_names(f);
    panel p = {.left = 66.0 + room,
               .top = 84.0,
               .width = 340.0,
               .height = 340.0,
               .x_label = x.text,
               .y_label = y.text,
               .x_is_date = effect_is_date(f, 0),
               .y_is_date = effect_is_date(f, 1),
               .x_names = levels_of(f, 0),
               .y_names = levels_of(f, 1)};
    for (size_t i = 0; i < f->points; i++) {
        cover[i] = has_support(f, i) ? 0.0 : COVER;
        width[i] = f->curves.upper[i] - f->curves.lower[i];
    }
    set_axis(f, 0, &p.x_min, &p.x_max);
    set_axis(f, 1, &p.y_min, &p.y_max);
    draw_map(f, file, p, "mean", f->curves.mean, cover);
    p.left = 542.0 + 2.0 * room;
    draw_map(f, file, p, "mean width of the interval", width, cover);
}

static void draw_across(const effect_found *f, FILE *file)
{
    double *cover = malloc(f->points * sizeof *cover), *width = malloc(f->points * sizeof *width);
    char title[TEXT];
    snprintf(title, sizeof title, "Effect of %.150s and %.150s on %.150s",
             input_name(f->info, f->grid.column[0]).text,
             input_name(f->info, f->grid.column[1]).text, target_name(f->info));
    double wide = 960.0 + 2.0 * room_for_names(f);
    plot_begin(file, wide, 476.0, title, "quorum effects: partial dependence on two inputs");
    snprintf(title, sizeof title, "mean of %zu rows; pale: few rows have such values near them",
             f->used);
    plot_note(file, wide / 2.0, 46.0, title);
    if (cover && width)
        draw_maps(f, file, cover, width);
    plot_end(file);
    free(cover);
    free(width);
}

void draw_effect(const effect_found *f, FILE *file)
{
    if (f->grid.axes == 1)
        draw_along(f, file);
    else
        draw_across(f, file);
}
