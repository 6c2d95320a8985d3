/* Which columns of a training file are categories, and their levels.  The process that reads decides;
 * then all hear of it. */
#ifndef QRM_API_CATEGORIES_H
#define QRM_API_CATEGORIES_H

#include "columns/reading.h"

typedef struct {
    size_t inputs, used; /* used: selected columns, the inputs being the first of them */
    level_table *table;  /* inputs                                                     */
    level_table **of;    /* used: a table of a category, NULL of a number              */
    char *named;         /* inputs: 1: by the option categorical                       */
    size_t first_turned; /* the first of these: inputs: there is none                  */
    char **complaint;    /* inputs: of numbers at first, and then text: what was said of that
                              text; NULL of others                                       */
} category_columns;

/* By the option, and by the first rows of the selected columns (reader_select).  Free it in any
 * case. */
quorum_status categories_begin(category_columns *c, reader *r, const size_t *columns, size_t inputs,
                               size_t used, const settings *s);
void categories_free(category_columns *c);

/* The reader, just opened and with its columns selected, learns the levels from now on. */
void categories_attach(category_columns *c, reader *r);

/* After reading has failed with *status: whether it can begin anew, with one more category. */
int categories_turn(category_columns *c, const reader *r, const settings *s, quorum_status *status);

/* After reading has failed for good: where that was text in the target, and an input had text before,
 * as in the units below a header, what was said of that comes first. */
quorum_status categories_blame(const category_columns *c, const reader *r, quorum_status status);

/* After reading, by all processes (c of the one that reads): `of` and names of d's levels, X with the
 * numbers of sorted levels, and without the columns that are no categories. */
quorum_status categories_settle(category_columns *c, const reader *r, quorum_data *d);

#endif
