/* The nearest rows of some queries from all ranks, in rounds (scattered_search.h). */
#ifndef QRM_NEAR_SEARCH_ROUNDS_H
#define QRM_NEAR_SEARCH_ROUNDS_H

#include "near/scattered_search.h"

/* Queries that are searched for together; the same on all ranks. */
typedef struct {
    const points *Q;
    const int *first, *asker; /* Q->n: the ranks that search first and that want to know */
    size_t m;
    int threads;
} near_batch;

/* For each query that this rank asks, in the order of their numbers: found[i] rows, m at most,
 * nearest first.  Free with near_rows_free. */
typedef struct {
    size_t count, m;
    size_t *query;     /* count: in the batch                              */
    size_t *found;     /* count                                            */
    near_row *nearest; /* count x m                                        */
    double *rows;      /* where rows go along: as in near_found            */
} near_rows;

quorum_status near_rows_find(quorum_status ready, const near_holdings *held,
                             const near_batch *batch, near_rows *out);
void near_rows_free(near_rows *n);

#endif
