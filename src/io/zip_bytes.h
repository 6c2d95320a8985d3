/* What a zip is made of: little-endian numbers at fixed places. */
#ifndef QRM_IO_ZIP_BYTES_H
#define QRM_IO_ZIP_BYTES_H

#include <stddef.h>
#include <stdint.h>

enum {
    LOCAL_SIZE = 30,    /* a member's header, before its name       */
    ENTRY_SIZE = 46,    /* an entry of the directory, before its name */
    END_SIZE = 22,      /* the end record                           */
    END64_SIZE = 56,    /* that of zip64 ...                        */
    LOCATOR_SIZE = 20,  /* ... and what says where it is            */
    EXTRA64_MAX = 28,   /* zip64's extra field: two sizes and an offset */
    EXTRA64 = 1,        /* its number                               */
    FLAG_ENCRYPTED = 1, /* flags of a member                        */
    FLAG_UTF8 = 0x800,
};

#define LOCAL_MARK 0x04034b50u
#define ENTRY_MARK 0x02014b50u
#define END_MARK 0x06054b50u
#define END64_MARK 0x06064b50u
#define LOCATOR_MARK 0x07064b50u

static inline uint64_t get_bytes(const unsigned char *from, int n)
{
    uint64_t value = 0;
    for (int i = n - 1; i >= 0; i--)
        value = value << 8 | from[i];
    return value;
}

static inline unsigned get16(const unsigned char *from)
{
    return (unsigned)get_bytes(from, 2);
}

static inline uint32_t get32(const unsigned char *from)
{
    return (uint32_t)get_bytes(from, 4);
}

static inline uint64_t get64(const unsigned char *from)
{
    return get_bytes(from, 8);
}

/* Each gives the place behind what it wrote. */
static inline unsigned char *put_bytes(unsigned char *to, uint64_t value, int n)
{
    for (int i = 0; i < n; i++, value >>= 8)
        *to++ = (unsigned char)(value & 255);
    return to;
}

static inline unsigned char *put16(unsigned char *to, unsigned value)
{
    return put_bytes(to, value, 2);
}

static inline unsigned char *put32(unsigned char *to, uint64_t value)
{
    return put_bytes(to, value, 4);
}

static inline unsigned char *put64(unsigned char *to, uint64_t value)
{
    return put_bytes(to, value, 8);
}

#endif
