/* Targets that share rows and theta (share=theta): whenever rows are left out for the first of them, all others are
 * predicted by the same factors, and hear it when their turn comes.
 *
 * The first target's rows have their numbers (row_set.number), by which the others' targets are found wherever rows
 * have gone; all targets' rows say that they belong together (row_set.further).  For one process alone. */
#ifndef QRM_TRAIN_FURTHER_TARGETS_H
#define QRM_TRAIN_FURTHER_TARGETS_H

#include "train/left_out.h"

/* What one call of left_out_predict found. */
typedef struct {
    size_t count;       /* rows                        */
    size_t most;        /* neighbours, as it was asked */
    left_out_row *rows; /* count x targets             */
} left_out_answer;

typedef struct further_targets {
    size_t targets; /* further ones                                                   */
    size_t n;
    double *y;       /* targets x n: each one's, standardised                         */
    double *number;  /* n: 0, 1, ...                                                  */
    size_t turn;     /* 0: the first target's, which asks; t: the t-th further one's  */
    size_t heard;    /* answers that it has heard                                     */
    size_t answered; /* answers that there are                                        */
    left_out_answer answer[8];
} further_targets;

/* Room for them; to be filled: y.  Free with further_targets_free, also after failure. */
quorum_status further_targets_new(size_t targets, size_t n, further_targets *out);
void further_targets_free(further_targets *f);

/* The rows of whoever's turn it is, as belonging to them. */
void further_targets_mark(further_targets *f, row_set *rows);
void further_targets_begin(further_targets *f, size_t turn);

/* A new answer of so many rows; NULL: it is not wanted, or there is no room. */
left_out_answer *further_targets_ask(further_targets *f, size_t count, size_t most);

/* Whether the answer that comes next is of these parts, each row of the same target; then rows has it. */
int further_targets_hear(further_targets *f, const parts *p, size_t most, left_out_row *rows);

#endif
