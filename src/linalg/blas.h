/* Dense linear algebra on column-major matrices.  The only room that calls
 * BLAS or LAPACK.  Every call runs on the thread that makes it; parallel work
 * is made of fixed tiles (see tiles.h), so results never depend on the number
 * of threads.
 *
 * Sizes are size_t; A(m x n, ld) means m rows, n columns, leading dimension ld. */
#ifndef QRM_LINALG_BLAS_H
#define QRM_LINALG_BLAS_H

#include "base/status.h"

#include <stddef.h>

/* Runs before main; see startup.c. */
void start_blas(void);

/* Name of the kernel set that OpenBLAS uses. */
const char *blas_kernel_name(void);

/* Lets OpenBLAS take its memory for so many calls at a time (reserve.c); gives for how many it
 * has it.  Without memory for a call OpenBLAS would wait for it without end. */
int blas_reserve(int calls);
quorum_status blas_check(void); /* QUORUM_E_MEMORY when there is none for a single call */

/* C(m x n) = alpha op(A) op(B) + beta C, inner size k; ta, tb are 'N' or 'T'. */
void blas_gemm(char ta, char tb, size_t m, size_t n, size_t k, double alpha, const double *A,
               size_t lda, const double *B, size_t ldb, double beta, double *C, size_t ldc);

/* Lower triangle of C(n x n) = alpha A' A + beta C, A(k x n). */
void blas_gram_lower(size_t n, size_t k, double alpha, const double *A, size_t lda, double beta,
                     double *C, size_t ldc);

/* Lower triangle of C(n x n) = alpha A A' + beta C, A(n x k). */
void blas_outer_lower(size_t n, size_t k, double alpha, const double *A, size_t lda, double beta,
                      double *C, size_t ldc);

/* C(m x n) = A B with symmetric A(m x m), of which the lower triangle is read. */
void blas_symm_lower(size_t m, size_t n, const double *A, size_t lda, const double *B, size_t ldb,
                     double *C, size_t ldc);

/* B(m x n) = L^-1 B, or L^-T B, with lower triangular L(m x m). */
void blas_solve_lower(size_t m, size_t n, const double *L, size_t ldl, double *B, size_t ldb);
void blas_solve_lower_transposed(size_t m, size_t n, const double *L, size_t ldl, double *B,
                                 size_t ldb);

/* x(m) = L^-1 x, or L^-T x: a vector alone, which for experts' sizes takes half as long. */
void blas_solve_lower_vector(size_t m, const double *L, size_t ldl, double *x);
void blas_solve_lower_transposed_vector(size_t m, const double *L, size_t ldl, double *x);

/* B(m x n) = B L^-T with lower triangular L(n x n). */
void blas_solve_right_transposed(size_t m, size_t n, const double *L, size_t ldl, double *B,
                                 size_t ldb);

/* Lower Cholesky factor in place; the strict upper triangle is not touched.
 * Returns 0, or the 1-based order of the leading minor that is not positive. */
size_t blas_cholesky(size_t m, double *A, size_t lda);

/* B(m x n) = alpha op(L) B (side L) or alpha B op(L) (side R), L lower triangular. */
void blas_multiply_lower(char side, char transposed, size_t m, size_t n, double alpha,
                         const double *L, size_t ldl, double *B, size_t ldb);

/* L^-1 and the lower triangle of W'W in place, for blocks of a few rows. */
void blas_small_triangle_inverse(size_t m, double *L, size_t ld);
void blas_small_triangle_square(size_t m, double *W, size_t ld);

/* From the lower factor L in A: lower triangle of (L L')^-1, in place (inverse.c). */
void blas_inverse_lower(size_t m, double *A, size_t lda);

/* Eigenvalues (ascending) and vectors (columns, over A) of a symmetric matrix,
 * lower triangle given.  QUORUM_E_NUMERIC when the iteration fails. */
quorum_status blas_eigen(size_t n, double *A, size_t lda, double *values);

/* x'y in a fixed order of summation that depends on n only. */
double vec_dot(size_t n, const double *x, const double *y);

#endif
