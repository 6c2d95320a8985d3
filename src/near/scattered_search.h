/* Nearest rows when each rank of a team holds some of the rows.
 *
 * One rank searches first for a query, best one that holds rows near it; the others then only look
 * for rows that are not farther than the m-th that it found.  All lists go to the rank where the
 * query is at home, and are merged there.  Distances depend on the query and the row only, and
 * ties go by the rows' numbers: the result is that of one search over all rows. */
#ifndef QRM_NEAR_SCATTERED_SEARCH_H
#define QRM_NEAR_SCATTERED_SEARCH_H

#include "near/neighbours.h"

typedef struct {
    double distance; /* squared                              */
    size_t number;   /* of the row, by which ties are broken */
    size_t tag;      /* what its rank says of it             */
} near_row;

/* The rows that this rank holds. */
typedef struct {
    const neighbour_index *index; /* over them; NULL: it has none                        */
    const size_t *number;         /* of each, ascending                                  */
    const size_t *tag;            /* of each; NULL: 0                                    */
    const double *X, *y;          /* row i stands at X + i D, y + i: it goes along with its
                                     number i; NULL: only numbers go                     */
} near_holdings;

typedef struct {
    const points *Q;
    const int *first, *home; /* Q->n: the ranks that search first and that want to know */
    size_t m;
    int threads;
} near_question;

/* For each query that is at home here, in the order of their numbers: found[i] rows, m at most,
 * nearest first.  Free with near_rows_free. */
typedef struct {
    size_t count, m;
    size_t *query;     /* count     */
    size_t *found;     /* count     */
    near_row *nearest; /* count x m */
    double *rows;      /* where rows go along: D inputs and the target of a row at
                          rows + tag (D + 1)                                        */
} near_rows;

/* Called by all ranks together with the same question. */
quorum_status near_rows_find(const near_holdings *held, const near_question *asked, near_rows *out);
void near_rows_free(near_rows *n);

#endif
