/* A cell of a line of csv, such as the header of a file that is written. */
#ifndef QUORUM_CLI_CELLS_H
#define QUORUM_CLI_CELLS_H

#include <stdio.h>

/* `prefix` and `text` as one cell, in quotes where csv needs them: around commas, quotes, line ends,
 * and blanks at either end. */
void cell_write(const char *prefix, const char *text, FILE *file);

/* The cell at the front of a line, its quotes taken off, into `text`, which has room for all of the line;
 * returns what follows it, NULL at the end. */
const char *cell_take(const char *line, char *text);

#endif
