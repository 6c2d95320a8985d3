/* One target that stands for several (share=theta). */
#ifndef QRM_TARGETS_COMBINED_H
#define QRM_TARGETS_COMBINED_H

#include "rows/scattered.h"

/* z (of the rows that this process holds) = sum_t s_t (y_t - mean_t) / deviation_t, s_t = 1 or -1: the
 * sign that y_t has in common with the sum of those before it.  rows: whose weights count; y (count): of
 * the same rows.  A target that does not vary is QUORUM_E_DATA; *which is its number then.  Together. */
quorum_status targets_combine(const scattered_rows *rows, double *const *y, size_t count, double *z,
                              size_t *which);

#endif
