/* NumPy's .npy: the header and the values. */
#ifndef QRM_ARCHIVE_NPY_H
#define QRM_ARCHIVE_NPY_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { NPY_PREFIX = 12, NPY_WRITTEN_HEADER = 128 };

typedef struct {
    char kind;   /* 'f' float, 'i' integer, 'u' unsigned, 'b' boolean */
    size_t size; /* bytes of an element: 1, 2, 4 or 8                 */
    int big_endian;
    int fortran; /* column-major                                      */
    int ndim;    /* 0, 1 or 2                                         */
    size_t shape[2];
    size_t count;        /* elements: the product of shape            */
    size_t bytes;        /* count x size                              */
    size_t header_bytes; /* where the elements begin                  */
} npy_header;

/* From the first NPY_PREFIX bytes: how long the header is, all in all.  Messages
 * of these functions do not say where; add the file with fail_in. */
quorum_status npy_header_size(const unsigned char *prefix, size_t n, size_t *size);

/* From a whole header.  Versions 1 to 3. */
quorum_status npy_parse_header(const unsigned char *bytes, size_t n, npy_header *out);

/* Writes NPY_WRITTEN_HEADER bytes for a row-major array of '<f8' or '<i8' in
 * this machine's byte order; `kind` is 'f' or 'i'. */
void npy_format_header(char kind, int ndim, const size_t *shape, char *out);

/* Whether elements are doubles ('f') or int64 ('i') as this machine has them. */
int npy_is_native(const npy_header *h, char kind);

/* Converts `count` elements that follow each other. */
void npy_to_doubles(const npy_header *h, const unsigned char *bytes, size_t count, double *out);
quorum_status npy_to_int64(const npy_header *h, const unsigned char *bytes, size_t count,
                           int64_t *out);
double npy_value(const npy_header *h, const unsigned char *bytes); /* one element */

#endif
