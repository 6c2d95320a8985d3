/* Rows that are held out of a model: another one without them, with the same theta, is asked about them. */
#ifndef QRM_CALIBRATE_HELD_OUT_H
#define QRM_CALIBRATE_HELD_OUT_H

#include "model/model.h"

/* Which rows to take out, and when. */
typedef struct {
    const quorum_model *m;
    size_t *rows;         /* n: in the order in which they are asked ... */
    size_t asked;         /* ... and how many of them                    */
    size_t wanted;        /* rows to take out at most ...                */
    size_t together;      /* ... and in one round                        */
    unsigned char *round; /* n: 1, 2, ..: in the first round, the second, ..; 0: never */
    size_t count;         /* rows that are taken out                     */
    size_t *left;         /* M: room                                     */
} row_choice;

/* round (n) is zeroed.  Free with row_choice_free, also after failure. */
quorum_status row_choice_new(const quorum_model *m, unsigned char *round, row_choice *out);
void row_choice_free(row_choice *c);
void row_choice_draw(row_choice *c, int stream); /* asks all rows, in an order by the seed */
void row_choice_take_out(row_choice *c);         /* every expert keeps one row at least */

/* A model without the rows that are held out in one round, and what it predicts for them. */
typedef struct {
    const quorum_model *m;
    const unsigned char *round;
    int which;
    quorum_model *reduced;
    char *held;         /* n: 1 where a row is held out  */
    size_t count;       /* rows that are                 */
    double *X, *y;      /* count x D, count: in units    */
    double *mean, *std; /* count                         */
    double *error;      /* count: known of the rows, in units; NULL: nothing */
    double *weight;     /* count                         */
} held_out;

/* With m, round and which set: makes the rest.  For team_all. */
quorum_status held_out_make(void *held_out);
void held_out_free(held_out *r);

/* mean and std of the rows that are held out. */
quorum_status held_out_predict(const held_out *r, const quorum_options *options);

#endif
