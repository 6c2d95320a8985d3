/* A line with its band, or two maps beside each other. */
#include "slice_picture.h"

#include "dates.h"
#include "heat.h"
#include "hyperparameters.h"
#include "plot.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ink row_ink = {"#333333", 3.0, NULL, 0.7};
static const ink mean_ink = {"#1f4e9e", 2.2, NULL, 1.0};
static const ink band_ink = {"#7fa8dc", 0.0, NULL, 0.55};
static const ink dark_ink = {"#000000", 2.6, NULL, 0.35};
static const ink light_ink = {"#ffffff", 1.4, NULL, 0.8};

#define NO_ROW "no training row is near it" /* something stands still then */

enum { TEXT = 600 };

enum { VALUE = 64 };

/* The value of a column of the slice: a level's name, a date, or a number. */
static void describe_value(const slice *s, size_t d, char out[VALUE])
{
    if (s->info.levels && s->info.levels[d] > 0)
        snprintf(out, VALUE, "%.60s", s->info.level[d][(size_t)s->at[d]]);
    else if (s->info.date && s->info.date[d])
        date_shown(s->at[d], out, VALUE);
    else
        snprintf(out, VALUE, "%.4g", s->at[d]);
}

/* "c = 3, city = Rome": where the others stand. */
static void describe_rest(const slice *s, char out[TEXT])
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t d = 0; d < s->info.columns; d++) {
        const char *comma = used ? ", " : "at ";
        if (slice_varies(s, d) || (s->info.constant[d] && !is_of_place(&s->info, d)))
            continue;
        if (used > 110) {
            snprintf(out + used, TEXT - used, ", ...");
            return;
        }
        char value[VALUE];
        describe_value(s, d, value);
        used += (size_t)snprintf(out + used, TEXT - used, "%s%.60s = %s", comma, s->info.names[d],
                                 value);
    }
}

/* Values of the near rows: of a column, or of the target where it is SIZE_MAX. */
static double *near_values(const slice *s, size_t column)
{
    double *values = malloc((s->nears ? s->nears : 1) * sizeof *values);
    for (size_t i = 0; values && i < s->nears; i++)
        values[i] = column == (size_t)-1 ? s->y[s->near[i]] + s->offset
                                         : s->table[s->near[i] * s->info.columns + column];
    return values;
}

static void stretch(const double *values, size_t n, double *low, double *high)
{
    for (size_t i = 0; i < n; i++) {
        *low = fmin(*low, values[i]);
        *high = fmax(*high, values[i]);
    }
}

static bool is_date(const slice *s, size_t axis)
{
    return s->info.date && s->info.date[s->axis[axis].column];
}

static named_places levels_of(const slice_axis *a)
{
    return (named_places){.count = a->level ? a->count : 0, .name = a->level};
}

/* ---- A line ---- */

static void draw_curve(FILE *file, const slice *s, const panel *p, const double *near_x,
                       const double *near_y)
{
    size_t n = s->axis[0].count;
    double *x = malloc(n * sizeof *x);
    for (size_t i = 0; x && i < n; i++)
        x[i] = slice_value(s, 0, i);
    plot_panel(file, p);
    if (x)
        plot_band(file, p, n, x, s->lower, s->upper, band_ink);
    plot_points(file, p, s->nears, near_x, near_y, row_ink);
    if (x)
        plot_line(file, p, n, x, s->mean, mean_ink);
    plot_panel_end(file, p);
    free(x);
}

static const double BESIDE = 0.3; /* of the step between two levels, on either side of one */

/* Each level's band and mean by itself: nothing is between two of them. */
static void draw_levels(FILE *file, const slice *s, const panel *p, const double *near_x,
                        const double *near_y)
{
    plot_panel(file, p);
    for (size_t i = 0; i < s->points; i++) {
        const double x[2] = {slice_value(s, 0, i) - BESIDE, slice_value(s, 0, i) + BESIDE};
        const double lower[2] = {s->lower[i], s->lower[i]}, upper[2] = {s->upper[i], s->upper[i]};
        const double mean[2] = {s->mean[i], s->mean[i]};
        plot_band(file, p, 2, x, lower, upper, band_ink);
        plot_line(file, p, 2, x, mean, mean_ink);
    }
    plot_points(file, p, s->nears, near_x, near_y, row_ink);
    plot_panel_end(file, p);
}

static void draw_line_keys(FILE *file, const slice *s, double left)
{
    char band[80], rows[80];
    snprintf(band, sizeof band, "interval of probability %.8s",
             quorum_options_get(s->given->options, "interval"));
    snprintf(rows, sizeof rows, s->nears ? "the %zu training rows nearest to it" : NO_ROW,
             s->nears);
    const legend_key keys[] = {
        {KEY_LINE, mean_ink, "mean"}, {KEY_BAND, band_ink, band}, {KEY_POINTS, row_ink, rows}};
    plot_legend(file, keys, 3, left, 62.0);
}

static void draw_line(const slice *s, const char *rest, FILE *file)
{
    double *x = near_values(s, s->axis[0].column), *y = near_values(s, (size_t)-1);
    double low = INFINITY, high = -INFINITY;
    char title[TEXT];
    stretch(s->lower, s->points, &low, &high);
    stretch(s->upper, s->points, &low, &high);
    if (y)
        stretch(y, s->nears, &low, &high);
    double margin = high > low ? 0.04 * (high - low) : 1.0;
    panel p = {72.0,
               84.0,
               700.0,
               340.0,
               s->axis[0].from,
               s->axis[0].to,
               low - margin,
               high + margin,
               NULL,
               s->info.names[s->axis[0].column],
               target_name(&s->info),
               .x_is_date = is_date(s, 0),
               .x_names = levels_of(&s->axis[0])};
    snprintf(title, sizeof title, "%.100s by %.100s", target_name(&s->info), p.x_label);
    plot_begin(file, 800.0, 476.0, title, rest);
    plot_note(file, 400.0, 43.0, rest);
    draw_line_keys(file, s, 72.0);
    if (x && y)
        (s->axis[0].level ? draw_levels : draw_curve)(file, s, &p, x, y);
    plot_end(file);
    free(x);
    free(y);
}

/* ---- Maps ---- */

static void draw_map(FILE *file, const slice *s, const char *name, double left, const double *value,
                     const double *near_x, const double *near_y)
{
    double low = INFINITY, high = -INFINITY;
    char title[TEXT];
    snprintf(title, sizeof title, "%s of %.100s", name, target_name(&s->info));
    panel p = {left,
               74.0,
               340.0,
               340.0,
               s->axis[0].from,
               s->axis[0].to,
               s->axis[1].from,
               s->axis[1].to,
               title,
               s->info.names[s->axis[0].column],
               s->info.names[s->axis[1].column],
               .x_is_date = is_date(s, 0),
               .y_is_date = is_date(s, 1),
               .x_names = levels_of(&s->axis[0]),
               .y_names = levels_of(&s->axis[1])};
    stretch(value, s->points, &low, &high);
    plot_panel(file, &p);
    heat_cells(file, &p, s->axis[0].count, s->axis[1].count, value, low, high);
    plot_points(file, &p, s->nears, near_x, near_y, dark_ink);
    plot_points(file, &p, s->nears, near_x, near_y, light_ink);
    plot_panel_end(file, &p);
    heat_scale(file, &p, low, high);
}

/* Room beside each map for names of levels that are longer than numbers. */
static double room_for_names(const slice *s)
{
    named_places names = levels_of(&s->axis[1]);
    return names.count > 0 ? fmax(0.0, plot_names_room(&names) - 46.0) : 0.0;
}

static void draw_maps(const slice *s, const char *rest, FILE *file)
{
    double room = room_for_names(s), wide = 960.0 + 2.0 * room;
    double *x = near_values(s, s->axis[0].column), *y = near_values(s, s->axis[1].column);
    char title[TEXT], note[TEXT + 100];
    snprintf(title, sizeof title, "%.100s by %.100s and %.100s", target_name(&s->info),
             s->info.names[s->axis[0].column], s->info.names[s->axis[1].column]);
    if (s->nears)
        snprintf(note, sizeof note, "%s%spoints: %zu training row%s near it", rest,
                 rest[0] ? "; " : "", s->nears, plural(s->nears));
    else
        snprintf(note, sizeof note, "%s; " NO_ROW, rest);
    plot_begin(file, wide, 466.0, title, note);
    plot_note(file, wide / 2.0, 43.0, note);
    if (x && y) {
        draw_map(file, s, "mean", 66.0 + room, s->mean, x, y);
        draw_map(file, s, "std", 542.0 + 2.0 * room, s->std, x, y);
    }
    plot_end(file);
    free(x);
    free(y);
}

void draw_slice(const slice *s, FILE *file)
{
    char rest[TEXT];
    describe_rest(s, rest);
    if (s->axes == 1)
        draw_line(s, rest, file);
    else
        draw_maps(s, rest, file);
}
