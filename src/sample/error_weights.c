/* A query's weights of earlier ones (joint_errors.h): b = (S_EE + R)^-1 S_Ep.
 *
 *   R_kk = ROUNDING S_kk + s_f^2 1e-13 + DISTRUST max(0, S_kk - v_k)
 *
 * v_k is the variance of query k by its own nearest rows, S_kk that by the rows of the query asked
 * for: where rows that only k has make a difference, errors are less alike than S says.  Without
 * this, weights of smooth kernels can be so large that errors grow from query to query. */
#include "sample/joint_errors.h"

#include "linalg/blas.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-8;
static const double LEAST = 1e-13; /* of s_f^2 */
static const double DISTRUST = 0.1;
enum { ATTEMPTS = 4 }; /* each with a hundred times the R of rounding */

/* Lower triangle of A = S_EE + R. */
static void add_ridge(size_t count, const double *S, const double *variances, double signal,
                      double factor, double *A)
{
    size_t ld = count + 1;
    for (size_t k = 0; k < count; k++) {
        const double *column = S + (k + 1) * ld + 1;
        memcpy(A + k * count + k, column + k, (count - k) * sizeof *A);
        A[k * count + k] += factor * (ROUNDING * column[k] + LEAST * signal) +
                            DISTRUST * fmax(0.0, column[k] - variances[k]);
    }
}

/* c^2 = S_pp - 2 b' S_Ep + b' S_EE b. */
static double what_is_new(size_t count, const double *S, const double *b)
{
    size_t ld = count + 1;
    double sum = S[0] - 2.0 * vec_dot(count, b, S + 1);
    for (size_t k = 0; k < count; k++)
        sum += b[k] * vec_dot(count, b, S + (k + 1) * ld + 1);
    return sqrt(fmax(0.0, sum));
}

quorum_status error_weights(size_t count, const double *S, const double *variances, double signal,
                            double *A, double *b, double *c)
{
    double factor = 1.0;
    size_t minor = 1;
    for (int i = 0; i < ATTEMPTS && minor != 0; i++, factor *= 100.0) {
        add_ridge(count, S, variances, signal, factor, A);
        minor = blas_cholesky(count, A, count);
    }
    if (minor != 0)
        return failure(QUORUM_E_NUMERIC,
                       "the covariance of a query's %zu earlier ones is not positive definite: "
                       "raise the noise variance",
                       count);
    memcpy(b, S + 1, count * sizeof *b);
    blas_solve_lower_vector(count, A, count, b);
    blas_solve_lower_transposed_vector(count, A, count, b);
    *c = what_is_new(count, S, b);
    return QUORUM_OK;
}
