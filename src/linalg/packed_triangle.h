/* A lower triangle L (m x m), packed for solving L a = k of one right side as fast as memory gives L, and
 * of many at the rate of products; a column's bits do not depend on the columns beside it:
 *
 *   a_i = (k_i - sum_{j < i} L_ij a_j) / L_ii,   terms in the order of j, the division as a product with 1 / L_ii
 *
 * Rows come in panels of PACKED_ROWS; of each panel, column after column. */
#ifndef QRM_LINALG_PACKED_TRIANGLE_H
#define QRM_LINALG_PACKED_TRIANGLE_H

#include <stddef.h>

enum {
    PACKED_ROWS = 8,   /* of a panel                    */
    PACKED_COLUMNS = 6 /* right sides that are solved at once */
};

/* Panels of m rows, and where panel p starts: those before it have R, 2 R, .. columns. */
static inline size_t packed_panels(size_t m)
{
    return (m + PACKED_ROWS - 1) / PACKED_ROWS;
}

static inline size_t packed_panel_start(size_t p)
{
    return (size_t)PACKED_ROWS * PACKED_ROWS * (p * (p + 1) / 2);
}

/* Numbers that it takes, and that `room` of a solve with b right sides does. */
size_t packed_triangle_size(size_t m);
size_t packed_triangle_room(size_t m, size_t b);

/* L: m x m, column-major, ld. */
void packed_triangle_make(size_t m, const double *L, size_t ld, double *packed);

/* K (m x b, column-major): k in, a out. */
void packed_triangle_solve(size_t m, const double *packed, size_t b, double *K, double *room);

/* ---- packed_factor.c ---- */

/* The Cholesky factor of the lower triangle of A (m x m, ld), packed; 0, or the number of the leading minor, from 1
 * on, that is not positive definite. */
size_t packed_triangle_factor(size_t m, const double *A, size_t ld, double *packed);

/* The lower triangle of L (m x m, ld) from what is packed. */
void packed_triangle_unpack(size_t m, const double *packed, double *L, size_t ld);

/* Numbers that eight right sides abreast take: a row's eight are together, and rows beyond m are 0. */
static inline size_t packed_triangle_abreast(size_t m)
{
    return packed_panels(m) * PACKED_ROWS * PACKED_ROWS;
}

/* 1 / L_ii */
static inline double packed_triangle_reciprocal(const double *packed, size_t i)
{
    size_t p = i / PACKED_ROWS;
    return packed[packed_panel_start(p) + i * PACKED_ROWS + i - p * PACKED_ROWS];
}

/* X (8 abreast): L' a = x, x in, a out. */
void packed_triangle_solve_transposed(size_t m, const double *packed, double *X);

/* norm (m) = the diagonal of (L L')^-1: the squared norms of the columns of L^-1.  X: room for eight abreast. */
void packed_triangle_inverse_norms(size_t m, const double *packed, double *X, double *norm);

#endif
