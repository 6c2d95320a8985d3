/* Levels of a category: the different texts of a column, numbered as they come. */
#ifndef QRM_DATA_LEVELS_H
#define QRM_DATA_LEVELS_H

#include "base/status.h"

#include <stddef.h>

/* More levels, or longer ones, are no category's: such a column has identifiers or free text. */
enum { MOST_LEVELS = 10000, LONGEST_LEVEL = 1000 /* bytes */ };

/* What stands for a missing cell, as a level (option missing: impute). */
#define NO_LEVEL "(missing)"

typedef struct {
    size_t count;  /* levels                                              */
    char *text;    /* all of them, each with its final zero               */
    size_t *start; /* count: where each begins in `text`                  */
    size_t *slot;  /* slots: a level's number + 1, by its hash; 0: free   */
    size_t slots, room, used, bytes;
    int overflows; /* there was one too many, or too long a one           */
} level_table;

/* The number of the level with this text (n bytes); `count`: there is none. */
size_t levels_find(const level_table *t, const char *text, size_t n);

/* The same, of a new level its number from now on.  Of one too many it is 0. */
quorum_status levels_add(level_table *t, const char *text, size_t n, size_t *number);

const char *levels_at(const level_table *t, size_t number);
double levels_bytes(const level_table *t); /* that it takes */

/* place (count): where each level stands when they are sorted bytewise. */
quorum_status levels_sort(const level_table *t, size_t *place);

void levels_free(level_table *t);

#endif
