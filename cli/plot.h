/* A tiny writer of charts as SVG: panels with axes, bands, lines, points, a legend.
 *
 *     plot_begin(file, 900, 400, "Title", "what the picture shows");
 *     plot_panel(file, &p);            grid, ticks, labels; drawing is clipped to it
 *     plot_band(...); plot_points(...); plot_line(...);
 *     plot_panel_end(file, &p);
 *     plot_legend(file, keys, 3, 60, 50);
 *     plot_end(file);
 *
 * Lengths are in pixels, x to the right and y downwards, except where a panel
 * maps data to them. */
#ifndef QUORUM_CLI_PLOT_H
#define QUORUM_CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Names along an axis, such as the levels of a category. */
typedef struct {
    size_t count;
    const char *const *name;
    const double *at; /* NULL: 0, 1, 2, ... */
} named_places;

typedef struct {
    double left, top, width, height;   /* of the axes' frame, in pixels     */
    double x_min, x_max, y_min, y_max; /* of the data                       */
    const char *title;
    const char *x_label, *y_label; /* NULL: none; without y_label the
                                          ticks of y have no numbers either */
    bool x_is_date, y_is_date;     /* seconds since 1970-01-01 UTC           */
    named_places x_names, y_names; /* instead of numbers, where there are some */
} panel;

typedef struct {
    const char *colour;
    double width;     /* of a line, or the diameter of a point */
    const char *dash; /* "6 4", or NULL for a solid line       */
    double opacity;
} ink;

typedef enum { KEY_LINE, KEY_BAND, KEY_POINTS } key_kind;

typedef struct {
    key_kind kind;
    ink ink;
    const char *text;
} legend_key;

void plot_begin(FILE *file, double width, double height, const char *title, const char *about);
void plot_end(FILE *file);

void plot_panel(FILE *file, const panel *p);

/* How far from the left of a panel its label of y is, when the ticks of y are names. */
double plot_names_room(const named_places *names);
void plot_panel_end(FILE *file, const panel *p);

void plot_points(FILE *file, const panel *p, size_t n, const double *x, const double *y, ink i);
void plot_line(FILE *file, const panel *p, size_t n, const double *x, const double *y, ink i);
void plot_band(FILE *file, const panel *p, size_t n, const double *x, const double *lower,
               const double *upper, ink i);

/* Text at a place of the data, centred, in small grey letters. */
void plot_text(FILE *file, const panel *p, double x, double y, const char *text);

/* Text at a place of the picture, centred, in grey letters. */
void plot_note(FILE *file, double x, double y, const char *text);

/* Keys side by side from (left, middle). */
void plot_legend(FILE *file, const legend_key *keys, size_t count, double left, double middle);

/* A step of 1, 2 or 5 times a power of ten that divides `range` into about `parts`. */
double nice_step(double range, int parts);

#endif
