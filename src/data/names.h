/* Names of columns, in one block of text. */
#ifndef QRM_DATA_NAMES_H
#define QRM_DATA_NAMES_H

#include "base/status.h"

#include <stddef.h>

typedef struct {
    size_t count;
    int given;     /* by the file; otherwise x1, x2, ...  */
    char *text;    /* all names, each with its final zero */
    size_t *start; /* count: where each begins in `text`  */
    size_t used;
} column_names;

/* Room for `count` names of `bytes` bytes together, none there yet. */
quorum_status names_reserve(column_names *n, size_t count, size_t bytes);

/* Appends a name; an empty one becomes x<number>.  `quoted`: "" stands for ". */
void names_append(column_names *n, const char *begin, const char *end, int quoted);

/* x1, x2, ..., with a last "y" when asked. */
quorum_status names_number(column_names *n, size_t count, int last_is_y);

const char *names_at(const column_names *n, size_t column);
size_t names_count_of(const column_names *n, const char *name,
                      size_t *first); /* how many have it */
void names_free(column_names *n);

#endif
