/* A chart, described once and written twice: as JSON, from which page.js and the plotting library make the
 * one that answers the pointer, and as a picture or a table for paper and for browsers without
 * scripts. */
#ifndef QUORUM_CLI_REPORT_CHART_H
#define QUORUM_CLI_REPORT_CHART_H

#include "plot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { MOST_SERIES = 5 };

typedef enum {
    SERIES_POINTS,
    SERIES_LINE,
    SERIES_BAND,  /* between y and y2                                  */
    SERIES_LINKS, /* lines between points 0 and 1, 2 and 3, ...        */
    SERIES_BARS,  /* one for each category of the chart                */
    SERIES_SPANS, /* the same, from y to y2                            */
    SERIES_CELLS, /* rectangles about (x, y), as large as cell[] says  */
    SERIES_REGION /* points that stand back until a mark of their owner is pointed at */
} series_kind;

/* What a colour means; page.css has them, light and dark. */
typedef enum { TONE_MAIN, TONE_SECOND, TONE_WARN, TONE_MUTED, TONE_RULE } series_tone;

/* Arrays are the caller's, `count` long; those that are NULL are not there. */
typedef struct {
    series_kind kind;
    series_tone tone;
    const char *name; /* in the legend                                  */
    size_t count;
    const double *x, *y, *y2;
    const double *size;       /* of points: diameters in pixels                 */
    double cell[2];           /* of cells: width and height, in the units of the axes */
    const size_t *owner;      /* whose each point is, of links either end       */
    const bool *faded;        /* where few rows are like that                   */
    const size_t *row;        /* numbers of rows, for the tooltip               */
    const char *const *about; /* what the tooltip says instead; lines by "\n"   */
} series;

typedef struct {
    const char *id, *title;
    const char *about; /* what to see in it, for a reader who knows no statistics */
    const char *x_label, *y_label;
    const char *const *category; /* bars: the name of each                        */
    series series[MOST_SERIES];
    size_t count;
    bool same_scale;               /* x and y have the same range */
    bool x_is_date, y_is_date;     /* in seconds since 1970-01-01 UTC  */
    named_places x_names, y_names; /* the places of levels, if the axis is a category's */
    bool from_zero;                /* y begins at 0               */
} chart;

void chart_write(FILE *file, const chart *c);

/* ---- chart_static.c ---- */

void chart_draw(FILE *file, const chart *c);     /* SVG, of all but bars        */
void chart_tabulate(FILE *file, const chart *c); /* a table with bars, of bars  */

#endif
