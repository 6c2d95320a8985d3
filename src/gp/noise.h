/* What the rows' own noises are to a GP: row i has the noise variance s^2 v_i,
 *
 *   S = s^2 V,   V = diag(v_1 .. v_m),   v_i = 1 where nothing else is said of a row.
 *
 * All that depends on V is here, so that nobody else asks which rows have a noise. */
#ifndef QRM_GP_NOISE_H
#define QRM_GP_NOISE_H

#include "linalg/blas.h"
#include "rows/rows.h"

/* v_i */
static inline double relative_noise(const row_set *rows, size_t i)
{
    (void)rows, (void)i;
    return 1.0; /* the same for all rows */
}

/* tr(A' V A), A (n x columns) having a row for each of the rows. */
static inline double noise_square(const row_set *rows, size_t columns, const double *A)
{
    return vec_dot(rows->n * columns, A, A);
}

#endif
