/* Text in lines of bounded width. */
#ifndef QUORUM_CLI_WRAP_H
#define QUORUM_CLI_WRAP_H

#include <stddef.h>
#include <stdio.h>

enum { PAGE_WIDTH = 90 };

/* Prints `text` with every line from column `indent` to PAGE_WIDTH, starting at
 * column `column` of the present line, and ends the line.  A newline in the
 * text starts a new line. */
void print_wrapped(FILE *file, const char *text, size_t column, size_t indent);

/* Columns that a UTF-8 text takes. */
size_t display_width(const char *text);

#endif
