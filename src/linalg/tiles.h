/* Factors and inverses of one matrix by several threads.  The matrix is cut
 * into tiles of fixed size and every tile is computed by one thread in one
 * order, so the result is the same bit for bit for any number of threads. */
#ifndef QRM_LINALG_TILES_H
#define QRM_LINALG_TILES_H

#include "base/status.h"

#include <stddef.h>

/* Lower Cholesky factor of A(m x m, ld m) in place.  *minor is 0, or the
 * 1-based order of the leading minor that is not positive definite. */
quorum_status tiles_cholesky(size_t m, double *A, int threads, size_t *minor);

/* Lower triangle of (L L')^-1 into out(m x m, ld m); L is left as it is. */
quorum_status tiles_inverse(size_t m, const double *L, double *out, int threads);

/* B(m x n) = L^-1 B by panels of columns. */
quorum_status tiles_solve_lower(size_t m, size_t n, const double *L, double *B, size_t ldb,
                                int threads);

#endif
