/* Rows from a file, which only the first process of a team reads, to the processes that hold them
 * (rows/rows.h).  It deals blocks of rows to all in turn as it reads them; when all are read, every
 * row goes to the process that holds it: nobody ever has room for all of them.  A team of one
 * reads them into their place. */
#ifndef QRM_ROWS_DEALING_H
#define QRM_ROWS_DEALING_H

#include "rows/scattered.h"

typedef struct {
    row_set like;  /* what a row has: it comes as it travels (rows/rows.h)  */
    double memory; /* bytes that this process has for its rows              */
    int threads;   /* that bring rows to their place; 0: one                */

    /* of the first process alone: */
    const char *name; /* for complaints                                     */
    size_t expected;  /* rows that will come, or some more; 0: not known    */
    quorum_status (*next)(void *context, size_t most, double *rows /* most x row_width */,
                          size_t *got /* 0: there are no more */);
    void *context;
} row_source;

/* Reads all *n rows; `held` has those that this process holds.  They are new, and the caller's to
 * free, also after a failure. */
quorum_status rows_deal(quorum_status ready, const row_source *source, size_t *n, row_set *held);

#endif
