/* Boxes of rows by median splits: sizes equal within one row, and the rows of a box are near each
 * other (boxes.c).  Boxes are spread over the ranks of a team: the rows of a box are on one rank,
 * and so are most of those near them. */
#ifndef QRM_NEAR_BOXES_H
#define QRM_NEAR_BOXES_H

#include "rows/scattered.h"

typedef struct {
    const scattered_rows *rows; /* only inputs are looked at; they must outlive the boxes */
    size_t parts;               /* boxes wanted                                 */
    int threads;
} box_problem;

/* The rows of this rank's boxes.  Box b of all has  n / parts + (b < n % parts)  rows. */
typedef struct {
    row_set rows;
    size_t *row;   /* n: their numbers, ascending within a box */
    size_t *label; /* n: their boxes                           */
    int moved;     /* 1: they have memory of their own         */
} boxed_rows;

/* Of rows that are whole, every rank makes all boxes by itself. */
quorum_status box_rows(quorum_status ready, const box_problem *p, boxed_rows *out);
void boxed_rows_free(boxed_rows *b);

/* label[i] (n) is the box of row i, of all rows on every rank. */
quorum_status boxes_label(quorum_status ready, const box_problem *p, size_t *label);

#endif
