/* A cell of a csv file that is written. */
#ifndef QUORUM_CLI_CELLS_H
#define QUORUM_CLI_CELLS_H

#include <stdio.h>

/* `prefix` and `text` as one cell, in quotes where csv needs them: around commas, quotes, line ends,
 * and blanks at either end. */
void cell_write(const char *prefix, const char *text, FILE *file);

#endif
