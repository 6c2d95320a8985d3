/* Rows that are alike in all inputs but one, or in one input. */
#ifndef QRM_EXPLAIN_ALIKE_H
#define QRM_EXPLAIN_ALIKE_H

#include "explain/study.h"

typedef struct {
    const study *s;
    double *chance;  /* n: a random number for each row, which breaks ties              */
    double *height;  /* n x columns: the share of rows below a cell's value, 0 to 1      */
    size_t *order;   /* columns x n: rows by value, missing cells last                   */
    double *depends; /* columns x columns: [k, j] how far column j follows column k, 0 to 1 */
} likeness;

quorum_status likeness_find(const study *s, likeness *l); /* free in any case */
void likeness_free(likeness *l);

/* near (used x count): for each row that is used the other rows, of all n, that are most alike in the
 * columns that `g` goes with, g's own not looked at; the nearest first. */
quorum_status likeness_near(const likeness *l, const input_group *g, size_t count, size_t *near);

/* Whether `g` goes with no other column: then any rows are as much alike as others. */
int likeness_goes_alone(const likeness *l, const input_group *g);

/* Whether a column of one group follows one of the other, either way. */
int likeness_goes_with(const likeness *l, const input_group *a, const input_group *b);

/* smooth (n): for each row the mean of f over the other rows that have about the same x_j. */
quorum_status likeness_means(const likeness *l, const input_group *g, const double *f,
                             double *smooth);

#endif
