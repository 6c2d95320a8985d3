/* What the writer needs of the reader, to read back what it wrote. */
#ifndef QRM_ARCHIVE_NPZ_INSIDE_H
#define QRM_ARCHIVE_NPZ_INSIDE_H

#include "archive/npz.h"
#include "archive/zip.h"

/* The same as npz_open of a file that is open already and stays so; `path` is for messages. */
quorum_status npz_open_descriptor(int fd, const char *path, npz_reader **out);

const zip_reader *npz_zip(const npz_reader *r);

#endif
