/* Zip archives of stored members, of any size (zip64), written from the present end of an empty file.  Nothing is
 * allocated. */
#ifndef QRM_IO_ZIP_WRITE_H
#define QRM_IO_ZIP_WRITE_H

#include <stddef.h>
#include <stdint.h>

enum { ZIP_MAX_NAME = 512, ZIP_STORED = 0, ZIP_DEFLATED = 8 };

typedef struct {
    const char *name; /* UTF-8, up to ZIP_MAX_NAME bytes             */
    uint64_t size;    /* of the content, known before it comes       */
    uint64_t offset;  /* filled in: where its header is              */
    uint32_t crc;     /* filled in: of what was to be written        */
} zip_written;

/* The first error stays: nothing is written after it. */
typedef struct {
    int fd;
    int error;         /* errno, 0: none                             */
    uint64_t position; /* bytes so far                               */
    uint64_t left;     /* of the present member                      */
    uint32_t crc;      /* of the present member so far               */
} zip_writer;

void zip_writer_begin(zip_writer *z, zip_written *m);
void zip_writer_put(zip_writer *z, const void *bytes, size_t n);
void zip_writer_end(zip_writer *z, zip_written *m);
void zip_writer_directory(zip_writer *z, const zip_written *m); /* for all of them in turn ... */
void zip_writer_finish(zip_writer *z, uint64_t directory /* began here */, uint64_t count);

#endif
