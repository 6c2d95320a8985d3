/* A kernel with its theta, as one of several to choose from: how it predicts training rows
 * that are left out. */
#ifndef QRM_TRAIN_CONTENDER_H
#define QRM_TRAIN_CONTENDER_H

#include "train/left_out.h"
#include "train/train.h"

typedef struct {
    int number;             /* its place among the kernels                     */
    hyper theta;            /* owns its length-scales                          */
    training_result result; /* of the search that found theta                  */
    left_out_row *rows;
    size_t count;
    double prior;   /* of the spread: the one with the highest density        */
    double density; /* mean log density; the lowest possible when theta fails */
    double error;   /* mean squared error                                     */
    double nlml;    /* of the rows that all contenders were searched on       */
} contender;

/* Predicts the rows of v and finds the spread's prior; prior > 0: it is given. */
quorum_status contender_score(contender *c, const vecchia_parts *v, double prior, int threads);
void contender_free(contender *c);

/* Puts the best first, the others stay in order.  The best has the highest density; of those
 * that fall short of it by no more than chance, the smallest error; of those whose error is
 * larger by no more than chance, the highest likelihood. */
void contender_best_first(contender **list, int count);

#endif
