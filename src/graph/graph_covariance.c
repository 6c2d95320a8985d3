/* Whether a matrix can be a covariance, and its largest entry off the diagonal. */
#include "graph/graph_covariance.h"

#include <math.h>

/* Two ways of summing the same products differ by less than this, relative to
 * the largest variance. */
static const double SYMMETRY = 1e-9;

quorum_status check_covariance(size_t p, const double *S)
{
    double scale = 0.0;
    if (p == 0 || !S)
        return failure(QUORUM_E_ARGUMENT,
                       "the graph needs the covariance matrix of at least 1 expert");
    for (size_t k = 0; k < p * p; k++)
        if (!isfinite(S[k]))
            return failure(QUORUM_E_ARGUMENT, "covariance (%zu, %zu) is not a finite number", k % p,
                           k / p);
    for (size_t i = 0; i < p; i++) {
        if (S[i + i * p] < 0.0)
            return failure(QUORUM_E_ARGUMENT, "variance %zu is negative: %g", i, S[i + i * p]);
        scale = fmax(scale, S[i + i * p]);
    }
    for (size_t j = 0; j < p; j++)
        for (size_t i = j + 1; i < p; i++)
            if (fabs(S[i + j * p] - S[j + i * p]) > SYMMETRY * scale)
                return failure(QUORUM_E_ARGUMENT,
                               "the covariance matrix is not symmetric: (%zu, %zu) is %g but (%zu, "
                               "%zu) is %g",
                               i, j, S[i + j * p], j, i, S[j + i * p]);
    return QUORUM_OK;
}

double largest_covariance(size_t p, const double *S)
{
    double largest = 0.0;
    for (size_t j = 0; j < p; j++)
        for (size_t i = j + 1; i < p; i++)
            largest = fmax(largest, fabs(S[i + j * p]));
    return largest;
}
