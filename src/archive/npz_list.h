/* What is in an npz, for reading one of unknown content. */
#ifndef QRM_ARCHIVE_NPZ_LIST_H
#define QRM_ARCHIVE_NPZ_LIST_H

#include "archive/npz.h"

/* How many arrays (members called *.npy) there are; `name` gets the first one's,
 * cut to `size`. */
size_t npz_count_arrays(const npz_reader *r, char *name, size_t size);

/* Dimensions of an array, from its header alone. */
quorum_status npz_get_ndim(npz_reader *r, const char *name, int *ndim);

#endif
