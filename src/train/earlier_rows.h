/* For every target block the nearest rows among those that come earlier in the order of blocks
 * (vecchia.h), near by the distance from the block's centre. */
#ifndef QRM_TRAIN_EARLIER_ROWS_H
#define QRM_TRAIN_EARLIER_ROWS_H

#include "base/status.h"

#include <stddef.h>

/* Rows by their places in the order: those that this process holds, or all. */
typedef struct {
    size_t n, D; /* of all processes               */
    size_t count;
    size_t *place; /* count: ascending               */
    size_t *row;   /* count: numbers of the rows     */
    double *Z;     /* D x count: scaled rows         */
    double *norm;  /* count: |z|^2                   */
} ordered_rows;

typedef struct {
    const ordered_rows *rows;
    size_t count;         /* target blocks: the last of the order                 */
    const size_t *first;  /* count + 1: block e has the places first[e] .. first[e+1]-1 */
    const double *centre; /* D x count: the mean of each one's scaled rows        */
    size_t block;         /* rows of a block, at most                             */
    size_t given;         /* rows that a block is given, at most                  */
    int others;           /* 1: from all rows outside the block, not only earlier ones */
    int threads;
    size_t *found;       /* count x given: numbers of the rows, farthest first    */
    size_t *found_count; /* count                                                 */
} target_search;

/* Fill found and found_count on all processes; ready: team/work.h.
 * By a scan over all earlier rows, where every process has all rows; */
quorum_status earlier_rows_by_scan(quorum_status ready, const target_search *s);

/* or, where targets are few among many rows, by an index over the rows that each one holds. */
quorum_status earlier_rows_by_index(quorum_status ready, const target_search *s);

#endif
