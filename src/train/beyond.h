/* How far off predictions are beyond the rows: rows left out together with all rows beyond them. */
#ifndef QRM_TRAIN_BEYOND_H
#define QRM_TRAIN_BEYOND_H

#include "gp/hyper.h"
#include "rows/scattered.h"

#include <stdint.h>

typedef struct {
    const scattered_rows *rows;
    const hyper *theta;
    double prior;      /* of the spread (gp/neighbourhood.h)     */
    int local_noise;   /* whether neighbourhoods have their own (gp/local_noise.h) */
    size_t neighbours; /* that a prediction takes, at most       */
    uint64_t seed;
    int threads;
} beyond_problem;

/* *untested >= 1: the factor of variances that no row near a query has tested; 0: there are too few
 * rows to say. */
quorum_status beyond_learn(const beyond_problem *p, double *untested);

#endif
