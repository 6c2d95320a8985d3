/* Rows predicted from the rows around them, each left out in turn: how well a theta does
 * on what it has not seen. */
#ifndef QRM_TRAIN_LEFT_OUT_H
#define QRM_TRAIN_LEFT_OUT_H

#include "gp/neighbourhood.h"
#include "train/vecchia.h"

typedef struct {
    double error;        /* y - mean             */
    double y;            /* the row's own        */
    double variance;     /* of y, noise included, but for its known error */
    surroundings around; /* gp/neighbourhood.h   */
    double known;        /* square of the row's known error  */
    double weight;       /* of the row: it counts as so many */
} left_out_row;

/* How they are predicted. */
typedef struct {
    size_t most;     /* from so many of the other rows at most, the nearest; 0: from all   */
    int local_noise; /* with the noise around them (gp/local_noise.h)                      */
    const double *V; /* (D + 1) x (D + 1): as if each row had been left out when a line was found
                        too whose coefficients have this covariance, and of which the rows' y are
                        what it leaves; NULL: there is none                               */
    int threads;
} left_out_how;

/* The last row of every part of v predicted from the part's other rows, nearest last:
 * parts of vecchia_parts_new with block 1 and others 1.  rows has room for v->parts.M.  Rows of targets that share
 * theta are predicted for all of them at once (further_targets.h).
 * ready: team/work.h. */
quorum_status left_out_predict(quorum_status ready, const vecchia_parts *v, const hyper *theta,
                               const left_out_how *how, left_out_row *rows);

/* As how many rows they count. */
double left_out_weights(const left_out_row *rows, size_t count);

/* Log density of the error: a Student t with 4 degrees of freedom and variance s variance + known,
 * s the spread factor as it is among rows.  Tails this heavy keep a few wild rows from deciding everything. */
double left_out_density(const left_out_row *row, double prior);

#endif
