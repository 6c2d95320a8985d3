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

/* Numbers that it takes, and that `room` of a solve with b right sides does. */
size_t packed_triangle_size(size_t m);
size_t packed_triangle_room(size_t m, size_t b);

/* L: m x m, column-major. */
void packed_triangle_make(size_t m, const double *L, double *packed);

/* K (m x b, column-major): k in, a out. */
void packed_triangle_solve(size_t m, const double *packed, size_t b, double *K, double *room);

#endif
