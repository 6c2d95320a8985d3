/* How files are read, from the options: what training data (data.c) and queries (streams.c) share. */
#ifndef QRM_API_READING_H
#define QRM_API_READING_H

#include "data/reader.h"
#include "options/options.h"

/* Marks the columns of a list, separated by commas, by name (one with a comma in double quotes) or
 * number; `what` names the option. */
quorum_status mark_columns(const reader *r, const char *what, const char *list, char *marked);

/* The columns of such a list in its order, none twice, or the one column that has all of it for a name
 * or number.  *columns is the caller's to free. */
quorum_status find_columns(const reader *r, const char *what, const char *list, size_t **columns,
                           size_t *count);

reader_options how_to_read(const quorum_options *options, reading_purpose purpose);

#endif
