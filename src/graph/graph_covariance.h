/* What every solver here asks of a covariance matrix. */
#ifndef QRM_GRAPH_GRAPH_COVARIANCE_H
#define QRM_GRAPH_GRAPH_COVARIANCE_H

#include "base/status.h"

#include <stddef.h>

/* QUORUM_E_ARGUMENT, with a sentence, unless S (p x p) is finite, symmetric to
 * rounding and has no negative variance. */
quorum_status check_covariance(size_t p, const double *S);

/* max |S_ij| over i != j; 0 for p = 1. */
double largest_covariance(size_t p, const double *S);

#endif
