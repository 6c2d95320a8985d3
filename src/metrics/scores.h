/* Sums of scores, row by row: what all predictive distributions share. */
#ifndef QRM_METRICS_SCORES_H
#define QRM_METRICS_SCORES_H

#include "linalg/bent_normal.h"

/* What predictions are scored by: Z of mean + std Z. */
typedef struct {
    const quorum_distribution *d; /* NULL: Gaussian */
    bent_scores integrals;
    double lower[4], upper[4]; /* ends of the four intervals, in deviations */
} scored_by;

/* d may be NULL, and is kept. */
scored_by scores_by(const quorum_distribution *d);

/* Before rows are added: what targets are centred by and in what unit errors are summed, of the
 * first ones. */
void scores_begin(quorum_scores *s, double train_mean, double train_std);

/* Adds what does not depend on the distribution: errors of the mean, and the trivial density. */
void scores_add_error(quorum_scores *s, double y, double mean, double train_mean, double train_std);

#endif
