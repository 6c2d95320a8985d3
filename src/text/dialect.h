/* How a csv text is written, found from its first lines. */
#ifndef QRM_TEXT_DIALECT_H
#define QRM_TEXT_DIALECT_H

#include "text/record.h"

/* The newline is the first one in [p, limit).  The delimiter is the one that
 * most of the first lines agree on; of equals, tab before semicolon before
 * comma before blanks; never one of `excluded`.  A single column gets the comma. */
dialect dialect_detect(const char *p, const char *limit, int at_end, char comment,
                       const char *excluded);

/* Whether every one of the first lines ends with the delimiter, so that the
 * empty cell after it is no column. */
int dialect_has_trailing(const dialect *d, const char *p, const char *limit, int at_end);

#endif
