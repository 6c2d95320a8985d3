/* (L L')^-1 by halves.  OpenBLAS's triangular solves, and DPOTRI which is made of them, run at
 * half of DGEMM's rate for the sizes of experts; triangular products do not, so
 *
 *   L^-1 = | W11           0  |      W11 = L11^-1, W22 = L22^-1
 *          | -W22 L21 W11  W22|
 *
 *   W'W  = | W11'W11 + W21'W21   .      |
 *          | W22'W21             W22'W22|
 *
 * (lower triangles, in place), down to blocks that LAPACK does as they are.  The triangular
 * products are done by halves too: all but their smallest triangles is DGEMM. */
#include "linalg/blas.h"

enum {
    SMALL = 16,   /* rows that LAPACK inverts and squares  */
    TRIANGLE = 64 /* rows of a triangle that DTRMM takes   */
};

/* The first half, a whole number of cache lines. */
static size_t half(size_t m)
{
    return (m / 2 + 7) / 8 * 8;
}

/* ---- B = op(L) B or B op(L), in place, L = | L11  0  | ----
 *                                            | L21  L22|          */

/* B(m x n) = L B. */
static void multiply_left(size_t m, size_t n, const double *L, double *B, size_t ld)
{
    if (m <= TRIANGLE) {
        blas_multiply_lower('L', 'N', m, n, 1.0, L, ld, B, ld);
        return;
    }
    size_t h = half(m);
    multiply_left(m - h, n, L + h * ld + h, B + h, ld);
    blas_gemm('N', 'N', m - h, n, h, 1.0, L + h, ld, B, ld, 1.0, B + h, ld);
    multiply_left(h, n, L, B, ld);
}

/* B(m x n) = L' B. */
static void multiply_left_transposed(size_t m, size_t n, const double *L, double *B, size_t ld)
{
    if (m <= TRIANGLE) {
        blas_multiply_lower('L', 'T', m, n, 1.0, L, ld, B, ld);
        return;
    }
    size_t h = half(m);
    multiply_left_transposed(h, n, L, B, ld);
    blas_gemm('T', 'N', h, n, m - h, 1.0, L + h, ld, B + h, ld, 1.0, B, ld);
    multiply_left_transposed(m - h, n, L + h * ld + h, B + h, ld);
}

/* B(m x n) = -B L. */
static void multiply_right_negated(size_t m, size_t n, const double *L, double *B, size_t ld)
{
    if (n <= TRIANGLE) {
        blas_multiply_lower('R', 'N', m, n, -1.0, L, ld, B, ld);
        return;
    }
    size_t h = half(n);
    multiply_right_negated(m, h, L, B, ld);
    blas_gemm('N', 'N', m, h, n - h, -1.0, B + h * ld, ld, L + h, ld, 1.0, B, ld);
    multiply_right_negated(m, n - h, L + h * ld + h, B + h * ld, ld);
}

/* ---- Inverse ---- */

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
    multiply_right_negated(m - h, h, L, L21, ld);
    multiply_left(m - h, h, L22, L21, ld);
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
    multiply_left_transposed(m - h, h, W22, W21, ld);
    square_triangle(m - h, W22, ld);
}

void blas_inverse_lower(size_t m, double *A, size_t lda)
{
    invert_triangle(m, A, lda);
    square_triangle(m, A, lda);
}
