/* Slopes of NPAE along the scaled inputs of its queries, the seats being taken by whom they are. */
#ifndef QRM_PREDICT_NPAE_SLOPES_H
#define QRM_PREDICT_NPAE_SLOPES_H

#include "predict/predictor.h"

/* Fills w's slopes at the n first queries from what npae_solve gave, weights, duals and jitter
 * included.  j->a.mean is used up.  For one process alone. */
quorum_status npae_find_slopes(const plan *p, joint_space *j, const npae_result *out, size_t n,
                               block_space *w);

#endif
