/* Directions in the inputs, by how much the target changes along them. */
#ifndef QRM_TRAIN_DIRECTIONS_H
#define QRM_TRAIN_DIRECTIONS_H

#include "gp/expert.h"
#include "train/vecchia.h"

/* From the gradients g_i of the posterior mean at the last row of each part, given the rows before
 * it, theta being what it is:
 *
 *   1/M sum_i g_i g_i' = E diag(change) E'
 *
 * E (D x D): column k is a direction of unit length, those along which the target changes most
 * first; its entry of largest magnitude is positive.  Inputs with constant[d] = 1 are directions of
 * their own, in their own places.  QUORUM_E_NUMERIC: a covariance is not positive definite. */
quorum_status directions_find(const vecchia_parts *v, const hyper *theta, const char *stays,
                              int threads, double *E, double *change);

#endif
