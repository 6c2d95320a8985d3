/* Text and JSON that cannot leave their place in an HTML page, whatever a column is called. */
#ifndef QUORUM_CLI_REPORT_HTML_H
#define QUORUM_CLI_REPORT_HTML_H

#include "report.h"

#include <stdio.h>

/* The text with & < > " and ' as entities and control characters made visible: safe between tags and
 * in quoted attributes. */
void html_text(FILE *file, const char *text);

/* The same of what the format makes. */
void html_say(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table; cells are text, and a bar cell has a bar of this share of its width behind it. */
void html_table_begin(FILE *file, const char *caption, const char *const *titles, size_t count);
/* The same with words in the last column: they stand left and take several lines. */
void html_word_table_begin(FILE *file, const char *caption, const char *const *titles,
                           size_t count);
void html_row(FILE *file);
void html_cell(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void html_text_cell(FILE *file, const char *text); /* of several lines where it is long */
void html_head_cell(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void html_bar_cell(FILE *file, double share, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void html_table_end(FILE *file);

/* A JSON writer for the inside of <script type="application/json">: < > & and the two line separators
 * are written as \u003C and so on, which JSON reads as the same text. */
json_writer html_json(FILE *file);

#endif
