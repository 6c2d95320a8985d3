/* The nearest points by looking at all of them: |a - b|^2 = |a|^2 + |b|^2 - 2 a.b
 * by matrix products of blocks, then the true distance of every point that these
 * do not rule out. */
#ifndef QRM_NEAR_BLOCK_SCAN_H
#define QRM_NEAR_BLOCK_SCAN_H

#include "base/status.h"
#include "near/ranked.h"
#include "gp/points.h"

#include <stddef.h>

enum { SCAN_POINTS = 512 }; /* rows of one product */

/* Offers best[j] every point of Z that can be one of the nearest to point j of Q.
 * S has room for SCAN_POINTS x Q->n. */
void block_scan(const points *Z, const points *Q, double *S, nearest *best);

#endif
