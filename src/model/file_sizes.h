/* What a model file would take, from the headers of its members alone. */
#ifndef QRM_MODEL_FILE_SIZES_H
#define QRM_MODEL_FILE_SIZES_H

#include "archive/npz.h"
#include "model/members.h"

/* "the model file is damaged or was altered: name has size found where wanted is expected" */
quorum_status wrong_size(const char *name, size_t found, size_t wanted);

int has_array(const npz_reader *npz, const array_member *a);

/* Fails before anything is read that memory (bytes) does not have room for, by meta.json alone: */
quorum_status check_meta_bytes(const npz_reader *npz, double memory);

/* ... and by all arrays together, which is *needed (bytes), or where their shapes do not fit each other.
 * whole: 0 where the rows are divided among the processes of a team. */
quorum_status check_model_sizes(npz_reader *npz, double memory, int whole, model_sizes *out,
                                double *needed);

#endif
