/* How sure a ratio of means is: rows are drawn again, with replacement. */
#ifndef QRM_EXPLAIN_REDRAW_H
#define QRM_EXPLAIN_REDRAW_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Numbers of rows that count as `weight` rows each. */
typedef struct {
    size_t n;
    const double *weight, *value; /* n; value NULL: 1 for all */
} row_numbers;

/* mean a / mean b, weighted, and the central 95 % of it over the draws, which are the same for the
 * same seed; 0 where the mean of b is 0.  together: a and b are of the same rows, which are drawn
 * together; otherwise each by itself. */
quorum_status redraw_ratio(row_numbers a, row_numbers b, int together, uint64_t seed,
                           quorum_estimate *out);

#endif
