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

/* Adds what does not depend on the distribution: errors of the mean, and the trivial density; the row
 * counts as `weight` rows. */
void scores_add_error(quorum_scores *s, double weight, double y, double mean, double train_mean,
                      double train_std);

/* Adds the row to those inside of interval k, if it is. */
void scores_add_inside(quorum_scores *s, double weight, int k, int is_inside);

/* One row after another of mean + std Z. */
void scores_add_rows(quorum_scores *s, size_t n, const double *y, const double *mean,
                     const double *std, double train_mean, double train_std,
                     const quorum_distribution *distribution, const double *weight);

#endif
