/* Numbers on a plane as colours, on a scale that readers who do not see red or green can use. */
#ifndef QUORUM_CLI_HEAT_H
#define QUORUM_CLI_HEAT_H

#include "plot.h"

/* Cells of equal size that fill the panel: value (columns x rows, the columns of a row together, the lowest
 * row first), coloured from `low` to `high`. */
void heat_cells(FILE *file, const panel *p, size_t columns, size_t rows, const double *value,
                double low, double high);

/* The same cells covered by white as far as `share` says, from 0 to 1. */
void heat_fade(FILE *file, const panel *p, size_t columns, size_t rows, const double *share);

/* The scale with its numbers, beside the panel. */
void heat_scale(FILE *file, const panel *p, double low, double high);

/* The colour at t from 0 to 1, "#rrggbb". */
typedef struct {
    char text[8];
} heat_colour;
heat_colour heat_colour_at(double t);

#endif
