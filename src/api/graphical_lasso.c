/* The graphical lasso on the caller's own covariance matrix. */
#include "graph/glasso.h"

#include "linalg/blas.h"

#include <math.h>

static const double TOLERANCE = 1e-10; /* the error of Omega goes with the root of the gap */

quorum_status quorum_graphical_lasso(size_t size, const double *S, double lambda, int free_diagonal,
                                     double *precision)
{
    if (size == 0 || !S || !precision)
        return failure(QUORUM_E_ARGUMENT,
                       "graphical lasso: needs a matrix, and arrays that are not NULL");
    glasso_options o = glasso_defaults(lambda);
    o.free_diagonal = free_diagonal;
    o.tolerance = TOLERANCE;
    quorum_status status = blas_check();
    if (status == QUORUM_OK)
        status = glasso(size, S, &o, precision, NULL);
    for (size_t i = 0; status < 0 && i < size * size; i++)
        precision[i] = NAN;
    return status;
}
