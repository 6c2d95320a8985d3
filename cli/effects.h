/* The effect of one or two inputs, as it was found, and its picture. */
#ifndef QUORUM_CLI_EFFECTS_H
#define QUORUM_CLI_EFFECTS_H

#include "quorum.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct {
    const quorum_info *info;
    quorum_effect_grid grid;
    quorum_effect_curves curves;
    double *values[2]; /* of the grid */
    size_t points;
    size_t used; /* rows */
    const char *interval;
} effect_found;

/* From this support on a point is among the data. */
extern const double EFFECT_SUPPORTED;

bool effect_is_category(const effect_found *f, size_t axis);
bool effect_is_date(const effect_found *f, size_t axis);

void draw_effect(const effect_found *f, FILE *file);

#endif
