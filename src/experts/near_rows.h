/* Nearest rows when each rank of a team holds some of the rows.
 *
 * A query is at home on one rank, best one that holds rows near it.  That rank searches first;
 * the others then only look for rows that are not farther than the m-th found at home, and what
 * they find goes home, where the lists are merged.  Distances depend on the query and the row
 * only, and ties go by the rows' numbers: the result is that of one search over all rows. */
#ifndef QRM_EXPERTS_NEAR_ROWS_H
#define QRM_EXPERTS_NEAR_ROWS_H

#include "experts/neighbours.h"

typedef struct {
    double distance; /* squared                              */
    size_t number;   /* of the row, by which ties are broken */
    size_t tag;      /* what its rank says of it             */
} near_row;

/* The rows that this rank holds. */
typedef struct {
    const neighbour_index *index; /* over them; NULL: it has none        */
    const size_t *number;         /* of each, ascending; NULL: 0, 1, ... */
    const size_t *tag;            /* of each; NULL: its number           */
} near_holdings;

/* For each query that is at home here, in the order of their numbers: found[i] rows, m at most,
 * nearest first.  Free with near_rows_free. */
typedef struct {
    size_t count, m;
    size_t *query;     /* count     */
    size_t *found;     /* count     */
    near_row *nearest; /* count x m */
} near_rows;

/* Called by all ranks together with the same Q, home and m. */
quorum_status near_rows_find(const near_holdings *held, const points *Q, const int *home, size_t m,
                             int threads, near_rows *out);
void near_rows_free(near_rows *n);

#endif
