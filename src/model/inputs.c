/* Inputs as the model takes them: finite and standardised.  Those that do not vary in the training
 * data are left out: nothing can be learned about them. */
#include "model/model.h"

#include "rows/scaling.h"

#include <math.h>

const double LOG_LONGEST = 100.0;

/* What another way of writing a number may change of it. */
static const double SAME_VALUE = 1e-9;

size_t model_varying(const quorum_model *m)
{
    size_t count = 0;
    for (size_t d = 0; d < m->rows.D; d++)
        count += !m->units.constant[d];
    return count;
}

quorum_status model_check_varying(const quorum_model *m)
{
    if (model_varying(m) > 0)
        return QUORUM_OK;
    return failure(QUORUM_E_DATA,
                   "no input varies (%s is %.17g in all %zu rows): there is nothing to learn the "
                   "target from",
                   m->columns.names[0], m->units.x_mean[0], m->rows.n);
}

quorum_status model_check_queries(const quorum_model *m, const double *X, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < m->rows.D; d++)
            if (!isfinite(X[i * m->rows.D + d]))
                return failure(QUORUM_E_DATA, "query %zu, input %s is %g: inputs must be finite",
                               i + 1, m->columns.names[d], X[i * m->rows.D + d]);
    return QUORUM_OK;
}

void model_standardise(const quorum_model *m, size_t n, const double *X, double *Z)
{
    scaling_apply(n, m->rows.D, X, m->units.x_mean, m->units.x_scale, Z);
    for (size_t d = 0; d < m->rows.D; d++)
        for (size_t i = 0; m->units.constant[d] && i < n; i++)
            Z[i * m->rows.D + d] = 0.0;
}

static int is_off_constant(const quorum_model *m, const double *x)
{
    for (size_t d = 0; d < m->rows.D; d++)
        if (m->units.constant[d] &&
            fabs(x[d] - m->units.x_mean[d]) > SAME_VALUE * fabs(m->units.x_mean[d]))
            return 1;
    return 0;
}

size_t model_count_off_constants(const quorum_model *m, const double *X, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (size_t)is_off_constant(m, X + i * m->rows.D);
    return count;
}
