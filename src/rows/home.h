/* Rows on their way to the first process, to be written: a few parts at a time, so that it need
 * not have room for all of them. */
#ifndef QRM_ROWS_HOME_H
#define QRM_ROWS_HOME_H

#include "rows/holdings.h"

typedef struct rows_home rows_home;

/* The first process alone does `body`, and all hear how it went.  Where it has not all rows, body
 * asks for them through `home`, which is NULL where it has. */
typedef quorum_status (*home_body)(void *context, rows_home *home);
quorum_status rows_bring_home(quorum_status ready, const holdings *h, const row_set *rows,
                              home_body body, void *context);

/* The next bytes: of all inputs in the order of the rows, then of each field likewise. */
quorum_status rows_home_next(void *home, void *to, size_t bytes);

#endif
