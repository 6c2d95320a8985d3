/* Which process has which rows once they are split into parts.
 *
 * In a team the rows of a part are with the process that works on it; what others need of them is
 * sent when it is needed.  Every process has room for all rows, part after part, but rows that are
 * not there are never touched and take no memory (rows_new_sparse).  A
 * team of one has everything, and so do holdings that were never made ({0}): they are whole.
 *
 * Calls that take `ready` are made by all processes together and agree on it (team/work.h). */
#ifndef QRM_ROWS_HOLDINGS_H
#define QRM_ROWS_HOLDINGS_H

#include "rows/parts.h"
#include "rows/scattered.h"

typedef struct {
    size_t M;
    const size_t *offset; /* M + 1: as in the parts that it was made for          */
    work_share share;     /* of the parts, by cost m^3                            */
    char *has;            /* M: 1 where this process has a part's rows ...        */
    char *shared;         /* M: ... and where all processes have them             */
} holdings;

/* Of the parts only M and offset count, which must stay.  Free with holdings_free. */
quorum_status holdings_new(const parts *p, holdings *out);
void holdings_free(holdings *h);

int holdings_is_mine(const holdings *h, size_t e); /* whether this process works on part e */
int holdings_is_whole(const holdings *h);          /* whether all have all rows            */
size_t holdings_rows(const holdings *h);           /* how many this process has            */

/* About what one process has of so many bytes of rows. */
double holdings_bytes(double all);

/* The parts' rows, from before they were split, to their processes.  row[i] (n) is the number in
 * `from` of the row that comes to place i. */
quorum_status holdings_take(quorum_status ready, const holdings *h, const scattered_rows *from,
                            const size_t *row, row_set *to);

/* From now on every process has the rows of the listed parts, or of all. */
quorum_status holdings_share(quorum_status ready, const holdings *h, const size_t *list,
                             size_t count, const row_set *rows);
quorum_status holdings_share_all(quorum_status ready, const holdings *h, const row_set *rows);

/* The inputs of the rows at the listed places of the parts, to every process: out is D x count. */
quorum_status holdings_fetch(quorum_status ready, const holdings *h, const parts *p,
                             const size_t *list, size_t count, double *out);

/* The parts first .. returned - 1 have rows that are few enough to travel together. */
size_t holdings_some(const holdings *h, size_t first);

#endif
