/* BLAS and LAPACK behind sizes of size_t and names that say what they do. */
#include "linalg/blas.h"

#include "base/memory.h"
#include "linalg/clones.h"

#include <lapack.h>

/* Whoever links this file of the static library also gets the start. */
extern void (*const start_blas_is_linked)(void);
void (*const start_blas_is_linked)(void) = start_blas;

extern void dgemm_(const char *, const char *, const int *, const int *, const int *,
                   const double *, const double *, const int *, const double *, const int *,
                   const double *, double *, const int *);
extern void dsyrk_(const char *, const char *, const int *, const int *, const double *,
                   const double *, const int *, const double *, double *, const int *);
extern void dsymm_(const char *, const char *, const int *, const int *, const double *,
                   const double *, const int *, const double *, const int *, const double *,
                   double *, const int *);
extern void dtrmm_(const char *, const char *, const char *, const char *, const int *, const int *,
                   const double *, const double *, const int *, double *, const int *);
extern void dtrsm_(const char *, const char *, const char *, const char *, const int *, const int *,
                   const double *, const double *, const int *, double *, const int *);
extern void dtrsv_(const char *, const char *, const char *, const int *, const double *,
                   const int *, double *, const int *);

/* Sizes are checked where data enters (fit and load refuse more than 2^31 - 1
 * rows in one expert), so these conversions cannot lose anything. */
static int narrow(size_t n)
{
    return (int)n;
}

static int leading(size_t ld)
{
    return ld > 0 ? (int)ld : 1;
}

void blas_gemm(char ta, char tb, size_t m, size_t n, size_t k, double alpha, const double *A,
               size_t lda, const double *B, size_t ldb, double beta, double *C, size_t ldc)
{
    int im = narrow(m), in = narrow(n), ik = narrow(k);
    int ia = leading(lda), ib = leading(ldb), ic = leading(ldc);
    dgemm_(&ta, &tb, &im, &in, &ik, &alpha, A, &ia, B, &ib, &beta, C, &ic);
}

static void syrk(char transposed, size_t n, size_t k, double alpha, const double *A, size_t lda,
                 double beta, double *C, size_t ldc)
{
    int in = narrow(n), ik = narrow(k), ia = leading(lda), ic = leading(ldc);
    dsyrk_("L", &transposed, &in, &ik, &alpha, A, &ia, &beta, C, &ic);
}

void blas_gram_lower(size_t n, size_t k, double alpha, const double *A, size_t lda, double beta,
                     double *C, size_t ldc)
{
    syrk('T', n, k, alpha, A, lda, beta, C, ldc);
}

void blas_outer_lower(size_t n, size_t k, double alpha, const double *A, size_t lda, double beta,
                      double *C, size_t ldc)
{
    syrk('N', n, k, alpha, A, lda, beta, C, ldc);
}

void blas_symm_lower(size_t m, size_t n, const double *A, size_t lda, const double *B, size_t ldb,
                     double *C, size_t ldc)
{
    int im = narrow(m), in = narrow(n), ia = leading(lda), ib = leading(ldb), ic = leading(ldc);
    const double one = 1.0, zero = 0.0;
    dsymm_("L", "L", &im, &in, &one, A, &ia, B, &ib, &zero, C, &ic);
}

void blas_multiply_lower(char side, char transposed, size_t m, size_t n, double alpha,
                         const double *L, size_t ldl, double *B, size_t ldb)
{
    int im = narrow(m), in = narrow(n), il = leading(ldl), ib = leading(ldb);
    dtrmm_(&side, "L", &transposed, "N", &im, &in, &alpha, L, &il, B, &ib);
}

static void trsm(const char *side, const char *transposed, size_t m, size_t n, const double *L,
                 size_t ldl, double *B, size_t ldb)
{
    int im = narrow(m), in = narrow(n), il = leading(ldl), ib = leading(ldb);
    const double one = 1.0;
    dtrsm_(side, "L", transposed, "N", &im, &in, &one, L, &il, B, &ib);
}

void blas_solve_lower(size_t m, size_t n, const double *L, size_t ldl, double *B, size_t ldb)
{
    trsm("L", "N", m, n, L, ldl, B, ldb);
}

void blas_solve_lower_transposed(size_t m, size_t n, const double *L, size_t ldl, double *B,
                                 size_t ldb)
{
    trsm("L", "T", m, n, L, ldl, B, ldb);
}

static void trsv(const char *transposed, size_t m, const double *L, size_t ldl, double *x)
{
    int im = narrow(m), il = leading(ldl), step = 1;
    dtrsv_("L", transposed, "N", &im, L, &il, x, &step);
}

void blas_solve_lower_vector(size_t m, const double *L, size_t ldl, double *x)
{
    trsv("N", m, L, ldl, x);
}

void blas_solve_lower_transposed_vector(size_t m, const double *L, size_t ldl, double *x)
{
    trsv("T", m, L, ldl, x);
}

void blas_solve_right_transposed(size_t m, size_t n, const double *L, size_t ldl, double *B,
                                 size_t ldb)
{
    trsm("R", "T", m, n, L, ldl, B, ldb);
}

size_t blas_cholesky(size_t m, double *A, size_t lda)
{
    int im = narrow(m), ia = leading(lda), info = 0;
    LAPACK_dpotrf("L", &im, A, &ia, &info);
    return info > 0 ? (size_t)info : 0;
}

void blas_small_triangle_inverse(size_t m, double *L, size_t ld)
{
    int im = narrow(m), il = leading(ld), info = 0;
    LAPACK_dtrtri("L", "N", &im, L, &il, &info);
}

void blas_small_triangle_square(size_t m, double *W, size_t ld)
{
    int im = narrow(m), iw = leading(ld), info = 0;
    LAPACK_dlauum("L", &im, W, &iw, &info);
}

quorum_status blas_eigen(size_t n, double *A, size_t lda, double *values)
{
    int in = narrow(n), ia = leading(lda), info = 0, query = -1;
    double size = 0.0;
    LAPACK_dsyev("V", "L", &in, A, &ia, values, &size, &query, &info);
    int lwork = (int)size;
    double *work;
    if (!NEW_ARRAY(work, (size_t)lwork))
        return failure(QUORUM_E_MEMORY, "out of memory for the eigenvalues of a %zu x %zu matrix",
                       n, n);
    LAPACK_dsyev("V", "L", &in, A, &ia, values, work, &lwork, &info);
    mem_free(work);
    if (info != 0)
        return failure(QUORUM_E_NUMERIC, "the eigenvalue iteration of a %zu x %zu matrix failed", n,
                       n);
    return QUORUM_OK;
}

/* Eight partial sums, so that the loop vectorises without reordering. */
CLONED
double vec_dot(size_t n, const double *restrict x, const double *restrict y)
{
    double part[8] = {0};
    size_t whole = n / 8 * 8;
    for (size_t i = 0; i < whole; i += 8)
        for (size_t j = 0; j < 8; j++)
            part[j] += x[i + j] * y[i + j];
    for (size_t i = whole; i < n; i++)
        part[i - whole] += x[i] * y[i];
    return ((part[0] + part[4]) + (part[2] + part[6])) +
           ((part[1] + part[5]) + (part[3] + part[7]));
}
