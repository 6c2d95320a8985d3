/* The content of a member of a zip: stored bytes, or deflated ones through zlib. */
#include "base/memory.h"
#include "base/progress.h"
#include "archive/zip.h"
#include "io/zip_bytes.h"
#include "archive/zip_place.h"

#include <string.h>
#include <zlib.h>

enum {
    PACKED_AT_ONCE = 1 << 16,
    MAX_RATIO = 1100, /* deflate makes 1,032 bytes of one at most */
    RATIO_SLACK = 1024
};

struct zip_unpacker {
    z_stream z;
    int ended;
    unsigned char packed[PACKED_AT_ONCE];
};

static quorum_status fail(const zip_stream *s, const char *what)
{
    return zip_fail(s->zip, s->member->name, what);
}

static quorum_status no_memory(const zip_stream *s)
{
    return failure(QUORUM_E_MEMORY, "%s: member %.100s: out of memory while reading", s->zip->label,
                   s->member->name);
}

/* zlib's memory is ours, so that tests see it fail. */
static voidpf take_memory(voidpf unused, uInt count, uInt size)
{
    (void)unused;
    return mem_alloc_zero(count, size);
}

static void give_memory(voidpf unused, voidpf pointer)
{
    (void)unused;
    mem_free(pointer);
}

/* What the directory says about the member must be possible. */
static quorum_status check_member(const zip_stream *s)
{
    const zip_member *m = s->member;
    if (m->flags & FLAG_ENCRYPTED)
        return fail(s, "is encrypted, which is not supported");
    if (m->method != ZIP_STORED && m->method != ZIP_DEFLATED)
        return fail(s, "is compressed in a way that is not supported (only deflate is)");
    if ((m->method == ZIP_STORED && m->packed != m->size) || m->size > SIZE_MAX / 2 ||
        m->size > MAX_RATIO * m->packed + RATIO_SLACK)
        return fail(s, "has an impossible size; the file is damaged");
    return QUORUM_OK;
}

static quorum_status open_unpacker(zip_stream *s)
{
    zip_unpacker *u;
    if (!NEW_ARRAY(u, 1))
        return no_memory(s);
    u->z = (z_stream){.zalloc = take_memory, .zfree = give_memory};
    u->ended = 0;
    int code = inflateInit2(&u->z, -MAX_WBITS); /* without a header of its own */
    if (code != Z_OK) {
        mem_free(u);
        return code == Z_MEM_ERROR ? no_memory(s)
                                   : failure(QUORUM_E_INTERNAL, "zlib is of another version");
    }
    s->unpacker = u;
    return QUORUM_OK;
}

quorum_status zip_stream_open(zip_stream *s, const zip_reader *zip, const zip_member *m)
{
    *s = (zip_stream){.zip = zip, .member = m, .crc = (uint32_t)crc32_z(0, NULL, 0)};
    TRY(check_member(s));
    return m->method == ZIP_DEFLATED ? open_unpacker(s) : QUORUM_OK;
}

/* More packed bytes for the unpacker, where it has none left. */
static quorum_status refill(zip_stream *s)
{
    zip_unpacker *u = s->unpacker;
    uint64_t left = s->member->packed - s->taken;
    size_t n = left < PACKED_AT_ONCE ? (size_t)left : PACKED_AT_ONCE;
    if (u->z.avail_in > 0 || n == 0)
        return QUORUM_OK;
    TRY(zip_read_at(s->zip, u->packed, n, s->member->data + s->taken));
    s->taken += n;
    u->z.next_in = u->packed;
    u->z.avail_in = (uInt)n;
    return QUORUM_OK;
}

/* Up to n bytes; *got is 0 only at the end of the deflated data. */
static quorum_status unpack(zip_stream *s, unsigned char *to, size_t n, size_t *got)
{
    z_stream *z = &s->unpacker->z;
    uInt room = n < PACKED_AT_ONCE ? (uInt)n : PACKED_AT_ONCE;
    z->next_out = to;
    z->avail_out = room;
    while (z->avail_out == room && !s->unpacker->ended) {
        TRY(refill(s));
        if (z->avail_in == 0)
            return fail(s, "its deflated data stop before their end; the file is damaged");
        int code = inflate(z, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR)
            return no_memory(s);
        if (code != Z_OK && code != Z_STREAM_END)
            return fail(s, "its deflated data are damaged");
        s->unpacker->ended = code == Z_STREAM_END;
    }
    *got = room - z->avail_out;
    return QUORUM_OK;
}

quorum_status zip_stream_read(zip_stream *s, void *to, size_t n)
{
    unsigned char *next = to;
    if (n > s->member->size - s->done)
        return fail(s, "ends too early; the file is damaged");
    while (n > 0) {
        size_t got = n < PACKED_AT_ONCE ? n : PACKED_AT_ONCE; /* the CRC finds it in the cache */
        TRY(progress_go_on());
        if (s->unpacker) {
            TRY(unpack(s, next, n, &got));
        } else {
            TRY(zip_read_at(s->zip, next, got, s->member->data + s->taken));
            s->taken += got;
        }
        if (got == 0)
            return fail(s, "ends too early; the file is damaged");
        s->crc = (uint32_t)crc32_z(s->crc, next, got);
        s->done += got;
        next += got;
        n -= got;
    }
    return QUORUM_OK;
}

quorum_status zip_stream_finish(zip_stream *s)
{
    unsigned char more;
    size_t got = 0;
    if (s->done < s->member->size)
        return fail(s, "is longer than what it should hold; the file is damaged");
    if (s->unpacker)
        TRY(unpack(s, &more, 1, &got));
    if (got > 0 || s->taken < s->member->packed || (s->unpacker && s->unpacker->z.avail_in > 0))
        return fail(s, "is longer than the directory says; the file is damaged");
    return s->crc == s->member->crc ? QUORUM_OK : fail(s, "CRC error; the file is damaged");
}

void zip_stream_close(zip_stream *s)
{
    if (s->unpacker)
        inflateEnd(&s->unpacker->z);
    mem_free(s->unpacker);
    *s = (zip_stream){.zip = NULL};
}
