/* The ways to search, for tests and benchmarks that want one of them. */
#ifndef QRM_NEAR_NEIGHBOUR_METHODS_H
#define QRM_NEAR_NEIGHBOUR_METHODS_H

#include "near/neighbours.h"

typedef enum {
    NEIGHBOURS_CHOOSE,
    NEIGHBOURS_TREE,
    NEIGHBOURS_FEW,
    NEIGHBOURS_SCAN
} neighbour_method;

quorum_status neighbour_index_new_by(neighbour_method method, const points *Z, int threads,
                                     neighbour_index **out);

/* Share of the points that the tree looks at for the neighbours of the points'
 * own rows, by which the method is chosen; 1 when there is no tree. */
double neighbour_index_share(const neighbour_index *index);

#endif
