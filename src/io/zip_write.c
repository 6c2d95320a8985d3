/* A zip of stored members.  Sizes are told in advance; the CRC is put into the header when
 * the content has passed.  The time is fixed, so that equal content gives equal files. */
#include "io/zip_write.h"

#include "io/zip_bytes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    PLAIN = 20, /* versions needed: 2.0, and 4.5 for zip64 */
    WITH_ZIP64 = 45,
    UNIX = 3 << 8,
    DOS_1980 = 0x0021,    /* the first of January 1980, 0:00 */
    CRC_PLACE = 14,       /* in the local header             */
    PUT_AT_ONCE = 1 << 18 /* bytes: still in the cache when they are written */
};
#define LIMIT16 0xFFFFu
#define LIMIT32 0xFFFFFFFFu
#define MODE_644 (0100644u << 16)

static void write_all(zip_writer *z, const void *bytes, size_t n)
{
    const char *from = bytes;
    while (n > 0 && z->error == 0) {
        ssize_t done = write(z->fd, from, n);
        if (done > 0) {
            from += done;
            n -= (size_t)done;
            z->position += (uint64_t)done;
        } else if (done == 0 || errno != EINTR) {
            z->error = done == 0 ? ENOSPC : errno;
        }
    }
}

/* Small, and into the middle of a regular file: never short for long. */
static void write_at(zip_writer *z, const unsigned char *bytes, size_t n, uint64_t place)
{
    while (n > 0 && z->error == 0) {
        ssize_t done = pwrite(z->fd, bytes, n, (off_t)place);
        if (done > 0) {
            bytes += done;
            place += (uint64_t)done;
            n -= (size_t)done;
        } else if (done == 0 || errno != EINTR) {
            z->error = done == 0 ? ENOSPC : errno;
        }
    }
}

static uint32_t cap32(uint64_t value)
{
    return value < LIMIT32 ? (uint32_t)value : LIMIT32;
}

static unsigned name_flags(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name > 127)
            return FLAG_UTF8;
    return 0;
}

/* Version needed, flags, method, time, CRC, both sizes, name's and extra field's length: the
 * same in both headers. */
static unsigned char *put_common(unsigned char *to, const zip_written *m, unsigned version,
                                 unsigned extra)
{
    to = put16(to, version);
    to = put16(to, name_flags(m->name));
    to = put16(to, ZIP_STORED);
    to = put16(to, 0);
    to = put16(to, DOS_1980);
    to = put32(to, m->crc);
    to = put32(to, cap32(m->size));
    to = put32(to, cap32(m->size));
    to = put16(to, (unsigned)strlen(m->name));
    return put16(to, extra);
}

/* The sizes (both are the same) and the offset, each if it does not fit into 32 bits. */
static size_t make_extra(const zip_written *m, uint64_t offset, unsigned char *extra)
{
    unsigned char *to = extra + 4;
    if (m->size >= LIMIT32)
        to = put64(put64(to, m->size), m->size);
    if (offset >= LIMIT32)
        to = put64(to, offset);
    size_t n = (size_t)(to - extra);
    if (n == 4)
        return 0;
    put16(put16(extra, EXTRA64), (unsigned)n - 4);
    return n;
}

void zip_writer_begin(zip_writer *z, zip_written *m)
{
    unsigned char header[LOCAL_SIZE], extra[EXTRA64_MAX];
    size_t name = strlen(m->name), n = make_extra(m, 0, extra);
    if (z->error == 0 && name > ZIP_MAX_NAME)
        z->error = ENAMETOOLONG;
    m->offset = z->position;
    m->crc = 0;
    put_common(put32(header, LOCAL_MARK), m, n > 0 ? WITH_ZIP64 : PLAIN, (unsigned)n);
    write_all(z, header, sizeof header);
    write_all(z, m->name, name);
    write_all(z, extra, n);
    z->left = m->size;
    z->crc = (uint32_t)crc32_z(0, NULL, 0);
}

void zip_writer_put(zip_writer *z, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    if (n > z->left && z->error == 0)
        z->error = EINVAL; /* more than was told */
    while (n > 0 && z->error == 0) {
        size_t some = n < PUT_AT_ONCE ? n : PUT_AT_ONCE;
        z->crc = (uint32_t)crc32_z(z->crc, from, some);
        write_all(z, from, some);
        from += some;
        n -= some;
        z->left -= some;
    }
}

void zip_writer_end(zip_writer *z, zip_written *m)
{
    unsigned char crc[4];
    if (z->left > 0 && z->error == 0)
        z->error = EINVAL; /* less than was told */
    m->crc = z->crc;
    put32(crc, m->crc);
    write_at(z, crc, sizeof crc, m->offset + CRC_PLACE);
}

void zip_writer_directory(zip_writer *z, const zip_written *m)
{
    unsigned char entry[ENTRY_SIZE], extra[EXTRA64_MAX];
    size_t n = make_extra(m, m->offset, extra);
    unsigned version = n > 0 ? WITH_ZIP64 : PLAIN;
    unsigned char *to = put16(put32(entry, ENTRY_MARK), UNIX | version);
    to = put_common(to, m, version, (unsigned)n);
    to = put16(put16(put16(to, 0), 0), 0); /* no comment, disk 0, not text */
    to = put32(to, MODE_644);
    put32(to, cap32(m->offset));
    write_all(z, entry, sizeof entry);
    write_all(z, m->name, strlen(m->name));
    write_all(z, extra, n);
}

static void write_end64(zip_writer *z, uint64_t directory, uint64_t bytes, uint64_t count)
{
    unsigned char end[END64_SIZE + LOCATOR_SIZE];
    uint64_t place = z->position;
    unsigned char *to = put64(put32(end, END64_MARK), END64_SIZE - 12);
    to = put16(put16(to, UNIX | WITH_ZIP64), WITH_ZIP64);
    to = put32(put32(to, 0), 0); /* disks */
    to = put64(put64(to, count), count);
    to = put64(put64(to, bytes), directory);
    to = put32(put32(to, LOCATOR_MARK), 0);
    put32(put64(to, place), 1);
    write_all(z, end, sizeof end);
}

void zip_writer_finish(zip_writer *z, uint64_t directory, uint64_t count)
{
    unsigned char end[END_SIZE];
    uint64_t bytes = z->position - directory;
    unsigned few = count < LIMIT16 ? (unsigned)count : LIMIT16;
    if (count >= LIMIT16 || bytes >= LIMIT32 || directory >= LIMIT32)
        write_end64(z, directory, bytes, count);
    unsigned char *to = put32(put32(end, END_MARK), 0); /* disks */
    to = put16(put16(to, few), few);
    to = put32(put32(to, cap32(bytes)), cap32(directory));
    put16(to, 0); /* no comment */
    write_all(z, end, sizeof end);
}
