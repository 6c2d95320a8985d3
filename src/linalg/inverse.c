/* (L L')^-1 by halves.  OpenBLAS's triangular solves, and DPOTRI which is made of them, run at
 * half of DGEMM's rate for the sizes of experts; triangular products do not, so
 *
 *   L^-1 = | W11           0  |      W11 = L11^-1, W22 = L22^-1
 *          | -W22 L21 W11  W22|
 *
 *   W'W  = | W11'W11 + W21'W21   .      |
 *          | W22'W21             W22'W22|
 *
 * (lower triangles, in place), down to blocks that LAPACK does as they are. */
#include "linalg/blas.h"

enum { SMALL = 16 };

/* The first half, a whole number of cache lines. */
static size_t half(size_t m)
{
    return (m / 2 + 7) / 8 * 8;
}

static void invert_triangle(size_t m, double *L, size_t ld)
{
    if (m <= SMALL) {
        blas_small_triangle_inverse(m, L, ld);
        return;
    }
    size_t h = half(m);
    double *L21 = L + h, *L22 = L + h * ld + h;
    invert_triangle(h, L, ld);
    invert_triangle(m - h, L22, ld);
    blas_multiply_lower('R', 'N', m - h, h, -1.0, L, ld, L21, ld);
    blas_multiply_lower('L', 'N', m - h, h, 1.0, L22, ld, L21, ld);
}

/* Lower triangle of W'W over the lower triangular W. */
static void square_triangle(size_t m, double *W, size_t ld)
{
    if (m <= SMALL) {
        blas_small_triangle_square(m, W, ld);
        return;
    }
    size_t h = half(m);
    double *W21 = W + h, *W22 = W + h * ld + h;
    square_triangle(h, W, ld);
    blas_gram_lower(h, m - h, 1.0, W21, ld, 1.0, W, ld);
    blas_multiply_lower('L', 'T', m - h, h, 1.0, W22, ld, W21, ld);
    square_triangle(m - h, W22, ld);
}

void blas_inverse_lower(size_t m, double *A, size_t lda)
{
    invert_triangle(m, A, lda);
    square_triangle(m, A, lda);
}
