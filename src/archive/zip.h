/* Zip archives, as far as NumPy's .npz needs them: written stored (io/zip_write.h), read stored or
 * deflated, of any size (zip64).  The reader believes nothing. */
#ifndef QRM_ARCHIVE_ZIP_H
#define QRM_ARCHIVE_ZIP_H

#include "base/status.h"
#include "io/zip_write.h"

#include <stddef.h>
#include <stdint.h>

enum { ZIP_MAX_MEMBERS = 10000 };

typedef struct {
    const char *name;
    uint64_t offset; /* of the local header                          */
    uint64_t data;   /* where the content begins                     */
    uint64_t packed; /* its size in the file ...                     */
    uint64_t size;   /* ... and unpacked, as the directory says      */
    uint32_t crc;
    unsigned method, flags;
} zip_member;

typedef struct {
    const char *label; /* of the file, for messages; the caller's    */
    int fd;            /* the caller's                               */
    uint64_t bytes;    /* of the file                                */
    size_t count;
    zip_member *members; /* in the directory's order                 */
    zip_member **sorted; /* by name                                  */
    unsigned char *directory;
} zip_reader;

/* Reads the directory and every member's header: all names are there once, and no two
 * members share bytes of the file.  On failure there is nothing to close. */
quorum_status zip_reader_open(zip_reader *z, int fd, const char *label);
void zip_reader_close(zip_reader *z); /* accepts one that is all zero */
const zip_member *zip_reader_find(const zip_reader *z, const char *name); /* or NULL */

/* The content of one member, piece by piece. */
typedef struct zip_unpacker zip_unpacker;
typedef struct {
    const zip_reader *zip;
    const zip_member *member;
    uint64_t taken; /* bytes of the file that have been used */
    uint64_t done;  /* bytes of the content                  */
    uint32_t crc;
    zip_unpacker *unpacker; /* NULL: stored                   */
} zip_stream;

quorum_status zip_stream_open(zip_stream *s, const zip_reader *zip, const zip_member *m);
quorum_status zip_stream_read(zip_stream *s, void *to, size_t n);
quorum_status
zip_stream_finish(zip_stream *s);     /* all was read: is it the end, and the CRC right? */
void zip_stream_close(zip_stream *s); /* accepts one that is all zero */

#endif
