/* A model's inputs from the columns of a caller's own table. */
#include "model/model.h"

quorum_status quorum_make_inputs(const quorum_model *m, const double *table, size_t rows, double *X)
{
    if (!m || (rows > 0 && (!table || !X)))
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_make_inputs: model, table and X must not be NULL");
    return model_make_inputs(m, rows, table, X);
}
