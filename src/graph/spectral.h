/* Groups of experts that depend on each other, from the precision matrix of their graph. */
#ifndef QRM_GRAPH_SPECTRAL_H
#define QRM_GRAPH_SPECTRAL_H

#include "base/status.h"

#include <stddef.h>

/* Groups of the listed experts (count of M, ascending) by spectral clustering of
 *   W_ij = |Omega_ij| / sqrt(Omega_ii Omega_jj),  i != j.
 * Who has no edge among them is a group by itself; the p others make round(sqrt(p)) groups at most.
 * label (count): the group of each, numbered 0 .. *groups-1 in the order of their first members. */
quorum_status spectral_groups(size_t M, const double *precision, const size_t *experts,
                              size_t count, size_t *label, size_t *groups);

#endif
