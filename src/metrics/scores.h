/* Sums of scores, row by row: what all predictive distributions share. */
#ifndef QRM_METRICS_SCORES_H
#define QRM_METRICS_SCORES_H

#include "quorum.h"

/* Before rows are added: what targets are centred by and in what unit errors are summed, of the
 * first ones, and half the widths of the four intervals in deviations (factor, or Gaussian). */
void scores_begin(quorum_scores *s, double train_mean, double train_std, const double *factor,
                  double half_width[4]);

/* Adds what does not depend on the distribution: errors of the mean, and the trivial density. */
void scores_add_error(quorum_scores *s, double y, double mean, double train_mean, double train_std);

#endif
