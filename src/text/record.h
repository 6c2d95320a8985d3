/* Records of a csv text and their cells. */
#ifndef QRM_TEXT_RECORD_H
#define QRM_TEXT_RECORD_H

#include <stddef.h>

/* How a csv text is written. */
typedef struct {
    char delimiter; /* ',', ';', '\t', or ' ' for any run of blanks */
    char newline;   /* '\n' (also for CRLF) or a lone '\r'          */
    char comment;   /* lines that begin with it are passed over; 0: there are none */
} dialect;

typedef struct {
    const char *begin, *end; /* inside the quotes of a quoted cell; blanks may be around it */
    int quoted;              /* doubled quotes stand for one                                */
} cell;

typedef struct {
    cell *cells; /* the first `capacity` of them are kept */
    size_t capacity;
    size_t count; /* all of them are counted; 0: a comment */
    cell last;
    size_t lines; /* that the record takes, more than one with quoted newlines */
} record;

/* Scans the record that starts at p.  Returns where the next one starts, or
 * NULL when this one does not end before `limit`; when `at_end`, the limit ends
 * the last record, and NULL means that a quote is left open. */
const char *record_scan(const dialect *d, const char *p, const char *limit, int at_end,
                        record *out);

int record_is_blank(const record *r);
int cell_is_blank(const cell *c);
void cell_trim(cell *c); /* takes blanks off both ends */

#endif
