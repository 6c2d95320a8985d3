/* Names of columns, in one block of text. */
#ifndef QRM_DATA_NAMES_H
#define QRM_DATA_NAMES_H

#include "base/status.h"

#include <stddef.h>

typedef struct {
    size_t count;
    int given;     /* by the file; otherwise x1, x2, ...       */
    int windows;   /* the file's are Windows-1252, not UTF-8   */
    char *text;    /* all names in UTF-8, each with its final zero */
    size_t *start; /* count: where each begins in `text`       */
    char *made_up; /* count: the file has none for this column */
    size_t used;
} column_names;

/* Room for `count` names of `bytes` bytes together, none there yet. */
quorum_status names_reserve(column_names *n, size_t count, size_t bytes, int windows);

/* Appends a name; an empty one becomes x<number>, line ends and tabs a blank.  `quoted`: ""
 * stands for ". */
void names_append(column_names *n, const char *begin, const char *end, int quoted);

/* x1, x2, ..., with a last "y" when asked. */
quorum_status names_number(column_names *n, size_t count, int last_is_y);

const char *names_at(const column_names *n, size_t column);
size_t names_count_of(const column_names *n, const char *name,
                      size_t place[2]); /* how many have it; the first two of them */
void names_free(column_names *n);

/* ---- Which columns have the same name ---- */

typedef struct {
    const char *name;
    size_t column;
    int made_up;
} named_column;

/* By name; of one name those of the file first, then by column. */
void names_sort(named_column *list, size_t count);

/* The place in a sorted list of the first column of this name; count: none. */
size_t names_find(const named_column *list, size_t count, const char *name);

/* The place of the first of two with the same name, of several pairs the leftmost in the file;
 * count: none. */
size_t names_find_twice(const named_column *list, size_t count);

#endif
