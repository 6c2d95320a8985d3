/* Axes of dates in a grid, "day=2024-01-01:2024-12-31:366": COUNT times at equal distances. */
#ifndef QUORUM_CLI_GRID_DATES_H
#define QUORUM_CLI_GRID_DATES_H

#include "grid.h"

/* Makes ranges of axes that have a text FROM:TO:COUNT and are columns of dates: the model reads both ends as it
 * reads a query file.  The exit code, after saying what is wrong. */
int grid_take_dates(grid *g, const char *option, const quorum_model *model, const arguments *given);

#endif
