/* How far queries are from the training rows. */
#ifndef QRM_PREDICT_DISTANCE_H
#define QRM_PREDICT_DISTANCE_H

#include "predict/predictor.h"

/* distance[which[q]]: from query q of the block to the nearest training row, in length-scales.  All
 * processes of a team call it, and all get all of it. */
quorum_status block_distances(const plan *p, const block_space *w, const size_t *which, size_t n,
                              double *distance);

#endif
