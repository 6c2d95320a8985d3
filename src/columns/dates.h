/* Which columns of a training file are dates, and of what form.  The process that reads decides; then
 * all hear of it. */
#ifndef QRM_API_DATES_H
#define QRM_API_DATES_H

#include "columns/categories.h"

typedef struct {
    size_t inputs, used;
    date_form *form; /* used: orders 0 of what is no date */
} date_columns;

/* By the option dates and the first rows of the selected columns; what is a date is no category any
 * more, unless the option categorical names it.  Free it in any case. */
quorum_status dates_begin(date_columns *d, reader *r, category_columns *c, const settings *s);
void dates_free(date_columns *d);

/* The reader, just opened and with its columns selected, takes the forms from now on. */
void dates_attach(const date_columns *d, reader *r);

/* After reading has failed: whether it can begin anew, with the month first in one more column. */
int dates_turn(const date_columns *d, const reader *r);

/* After reading, by all processes (d of the one that reads): data->date.  Where all dates of a column
 * can have the day first, and the month as well, it fails. */
quorum_status dates_settle(const date_columns *d, const reader *r, quorum_data *data);

#endif
