/* Bytes on their way into a file that appears whole or not at all. */
#ifndef QRM_ARCHIVE_SINK_H
#define QRM_ARCHIVE_SINK_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes go to the buffer, and from there to the file; without one they are counted. */
typedef struct {
    int fd; /* -1: counted */
    uint64_t written;
    unsigned char buffer[1 << 16];
    size_t used;
    int error; /* of errno, or 0 */
} sink;

/* Begins anew, with this file. */
void sink_begin(sink *s, int fd);
void sink_put(sink *s, unsigned char byte);

/* A number of so many bytes, the highest first, and the lowest first. */
void sink_put_high(sink *s, uint64_t value, int bytes);
void sink_put_low(sink *s, uint64_t value, int bytes);

/* The bits of a double. */
uint64_t double_bits(double value);

/* The file at `path`, as `write` makes it, with sink_begin at its beginning. */
quorum_status sink_save(const char *path, void (*write)(const void *what, sink *s, int fd),
                        const void *what);

#endif
