/* Boxes of rows by median splits (kdtree.c), spread over the ranks: the rows of a box are on one
 * rank, and so are most of those near them. */
#ifndef QRM_PARTITION_KDTREE_H
#define QRM_PARTITION_KDTREE_H

#include "partition/partition.h"

/* The rows of this rank's boxes.  Box b of all has  n / parts + (b < n % parts)  rows. */
typedef struct {
    size_t count;
    size_t *row;     /* count: their numbers, ascending within a box */
    size_t *label;   /* count: their boxes                           */
    const double *X; /* D x count                                    */
    double *moved;   /* where X is its own memory; else NULL         */
} boxed_rows;

/* `problem->X` is this rank's slice of the rows (rows/rows.h), or all of them when `alone`.
 * It must outlive the result. */
quorum_status box_rows(const partition_problem *problem, boxed_rows *out);
void boxed_rows_free(boxed_rows *b);

#endif
