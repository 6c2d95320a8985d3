/* What a terminal can show. */
#ifndef QUORUM_CLI_TERMINAL_H
#define QUORUM_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Whether somebody looks at the file now. */
bool is_terminal(FILE *file);

/* Columns of the terminal behind the file, by COLUMNS or else as it says itself; 0: it is no terminal,
 * and lines may be as long as they are. */
int terminal_width(FILE *file);

/* Whether it takes colours: a terminal that is not dumb, and NO_COLOR is not set (no-color.org). */
bool terminal_has_colour(FILE *file);

/* Begins and ends a colour; "" where there is none. */
typedef enum { INK_ERROR, INK_NOTE, INK_BAR, INK_HEAD } terminal_ink;
const char *ink_begin(FILE *file, terminal_ink ink);
const char *ink_end(FILE *file);

#endif
