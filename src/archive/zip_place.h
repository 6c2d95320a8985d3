/* What the two halves of the zip reader share. */
#ifndef QRM_ARCHIVE_ZIP_PLACE_H
#define QRM_ARCHIVE_ZIP_PLACE_H

#include "archive/zip.h"

/* n bytes from a place of the file, or it fails. */
quorum_status zip_read_at(const zip_reader *z, void *to, size_t n, uint64_t place);

/* "file: member name: what", as QUORUM_E_FORMAT. */
quorum_status zip_fail(const zip_reader *z, const char *name, const char *what);

#endif
