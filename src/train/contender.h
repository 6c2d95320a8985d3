/* A kernel with its theta, as one of several to choose from: how it predicts training rows
 * that are left out, near their neighbours and away from them. */
#ifndef QRM_TRAIN_CONTENDER_H
#define QRM_TRAIN_CONTENDER_H

#include "train/left_out.h"
#include "train/train.h"

/* Rows that were left out with so many of their nearest rows. */
typedef struct {
    size_t count;
    left_out_row *rows;
} left_out_set;

/* At distance 0 rows are predicted from their nearest others; at the next ones they are as far from
 * what they are predicted from as a query in a gap. */
enum { DISTANCES = 3 };

typedef struct {
    int number;             /* its place among the kernels                     */
    hyper theta;            /* owns its length-scales                          */
    training_result result; /* of the search that found theta                  */
    left_out_set at[DISTANCES];
    double prior;        /* of the spread: the one with the highest density near   */
    double density;      /* mean log density, over the distances by their weights;
                       the lowest possible when theta fails                   */
    double error;        /* mean squared error, near                               */
    const double *V;     /* of a line that the rows' y are about (left_out.h), or NULL */
    int local_noise;     /* whether rows have the noise around them (gp/local_noise.h) */
    double nlml;         /* of the rows that all contenders were searched on       */
    int is_glance;       /* predicted few rows only, so far                        */
    double level, slope; /* level + slope y is added to the log density of a row: that of other
                            units; 0: none                                     */
} contender;

/* So many of a row's nearest rows are left out with it at each distance. */
size_t distance_skip(int distance);

/* Predicts the rows of v, left out at this distance.  A set without parts: not at this one. */
quorum_status contender_predict(quorum_status ready, contender *c, int distance,
                                const vecchia_parts *v, int threads);

/* From these predictions the spread's prior (prior > 0: it is given), density and error. */
void contender_score(contender *c, double prior);
void contender_free(contender *c);
void swap_contenders(contender *a, contender *b);

/* Its predictions in units that are `unit` times smaller. */
void contender_change_units(contender *c, double unit);

/* Two contenders are compared by the rows that both predicted; where one predicted more, the other's are
 * the last of them. */

/* By how much a's density is higher than b's. */
double contender_lead(const contender *a, const contender *b);

/* Whether a's density is higher than b's by more than chance. */
int contender_beats(const contender *a, const contender *b);

/* Whether a's density is lower than b's beyond doubt, also after a glance at few rows. */
int contender_is_behind(const contender *a, const contender *b);

/* Moves those to the end that are behind another; how many are left in front. */
int contender_rule_out(contender **list, int count);

/* Puts the best first, the others stay in order.  The best has the highest density; of those
 * that fall short of it by no more than chance, the smallest error; of those whose error is
 * larger by no more than chance, the highest likelihood. */
void contender_best_first(contender **list, int count);

#endif
