/* The rows of a query to an SQLite database, as csv text: names first, then a line a row, texts in
 * quotes, numbers with the digits that say them exactly, nothing for NULL.  So a table in a database has
 * the rules of one in a file.  The database is opened for reading, and the query may do nothing else. */
#ifndef QRM_SQLITE_QUERY_H
#define QRM_SQLITE_QUERY_H

#include "base/progress.h"

#include <stddef.h>

typedef struct query query;

/* `sql` is one statement that gives rows; "" fails with the tables that there are.  `asked` can cancel
 * it at any time. */
quorum_status query_open(const char *path, const char *sql, const progress *asked, query **out);

/* Up to n bytes of the text; fewer only at the end. */
quorum_status query_read(query *q, char *buffer, size_t n, size_t *got);
void query_close(query *q); /* accepts NULL */

#endif
