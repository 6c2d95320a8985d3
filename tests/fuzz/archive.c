/* See archive.h: reading and writing; mutate.c has the changes. */
#include "archive.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    LOCAL = 0x04034b50,
    CENTRAL = 0x02014b50,
    END = 0x06054b50,
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    MOST_UNPACKED = 1 << 16
};

static uint32_t get(const uint8_t *at, int bytes)
{
    uint32_t v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint32_t)at[i] << 8 * i;
    return v;
}

static void put(uint8_t *at, int bytes, uint32_t v)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

void member_set(member *m, const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (!copy)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    free(m->data);
    m->data = copy;
    m->size = size;
}

void archive_free(archive *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->of[i].data);
    a->count = 0;
}

/* ---- Reading ---- */

static int unpack(const uint8_t *from, size_t packed, size_t size, member *m)
{
    if (!m->deflated) {
        member_set(m, from, packed);
        return 1;
    }
    static uint8_t room[MOST_UNPACKED];
    z_stream z = {.next_in = (uint8_t *)from, .avail_in = (unsigned)packed, .next_out = room};
    z.avail_out = size < sizeof room ? (unsigned)size : (unsigned)sizeof room;
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        abort();
    inflate(&z, Z_FINISH);
    member_set(m, room, z.total_out);
    inflateEnd(&z);
    return 1;
}

/* The member whose central entry is at `entry`. */
static int read_member(const uint8_t *bytes, size_t size, const uint8_t *entry, member *m)
{
    size_t packed = get(entry + 20, 4), whole = get(entry + 24, 4), name = get(entry + 28, 2);
    size_t local = get(entry + 42, 4);
    if (name >= NAME_ROOM || local > size || size - local < LOCAL_BYTES)
        return 0;
    size_t start = local + LOCAL_BYTES + get(bytes + local + 26, 2) + get(bytes + local + 28, 2);
    if (start > size || packed > size - start)
        return 0;
    *m = (member){.deflated = get(entry + 10, 2) == Z_DEFLATED};
    memcpy(m->name, entry + CENTRAL_BYTES, name);
    return unpack(bytes + start, packed, whole, m);
}

int archive_read(const uint8_t *bytes, size_t size, archive *a)
{
    a->count = 0;
    if (size < END_BYTES || get(bytes + size - END_BYTES, 4) != END)
        return 0;
    const uint8_t *end = bytes + size - END_BYTES;
    size_t count = get(end + 10, 2), at = get(end + 16, 4);
    for (size_t i = 0; i < count; i++) {
        if (i == MOST_MEMBERS || at > size || size - at < CENTRAL_BYTES ||
            get(bytes + at, 4) != CENTRAL || get(bytes + at + 28, 2) > size - at - CENTRAL_BYTES)
            return 0;
        if (!read_member(bytes, size, bytes + at, &a->of[a->count]))
            return 0;
        a->count++;
        at += CENTRAL_BYTES + get(bytes + at + 28, 2) + get(bytes + at + 30, 2) +
              get(bytes + at + 32, 2);
    }
    return 1;
}

/* ---- Writing ---- */

static size_t pack(const member *m, uint8_t *out, size_t room)
{
    if (!m->deflated) {
        if (m->size <= room)
            memcpy(out, m->data, m->size);
        return m->size;
    }
    z_stream z = {.next_in = m->data, .avail_in = (unsigned)m->size, .next_out = out};
    z.avail_out = (unsigned)room;
    if (deflateInit2(&z, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    int done = deflate(&z, Z_FINISH) == Z_STREAM_END;
    size_t size = z.total_out;
    deflateEnd(&z);
    return done ? size : room + 1;
}

/* Version, flags, method, date, checksum, sizes, length of the name: 26 bytes that local and
 * central entries share. */
static void put_facts(uint8_t *at, const member *m, size_t packed)
{
    put(at, 2, 20);
    put(at + 2, 2, 0);
    put(at + 4, 2, m->deflated ? Z_DEFLATED : 0);
    put(at + 6, 4, 0x00210000); /* 1980-01-01 */
    put(at + 10, 4, (uint32_t)crc32(0, m->data, (unsigned)m->size));
    put(at + 14, 4, (uint32_t)packed);
    put(at + 18, 4, (uint32_t)m->size);
    put(at + 22, 2, (uint32_t)strlen(m->name));
    put(at + 24, 2, 0);
}

/* What is written, and how far; `at` beyond `room`: it does not fit. */
typedef struct {
    uint8_t *out;
    size_t at, room;
    size_t local[MOST_MEMBERS], packed[MOST_MEMBERS];
} writing;

/* Room for `bytes` more, or NULL. */
static uint8_t *extend(writing *w, size_t bytes)
{
    uint8_t *here = w->out + w->at;
    if (w->at > w->room || bytes > w->room - w->at) {
        w->at = w->room + 1;
        return NULL;
    }
    memset(here, 0, bytes);
    w->at += bytes;
    return here;
}

static void write_local(writing *w, const member *m, size_t i)
{
    size_t name = strlen(m->name);
    w->local[i] = w->at;
    uint8_t *header = extend(w, LOCAL_BYTES + name);
    if (!header)
        return;
    w->packed[i] = pack(m, w->out + w->at, w->room - w->at);
    w->at = w->packed[i] > w->room - w->at ? w->room + 1 : w->at + w->packed[i];
    put(header, 4, LOCAL);
    put_facts(header + 4, m, w->packed[i]);
    memcpy(header + LOCAL_BYTES, m->name, name);
}

static void write_central(writing *w, const member *m, size_t i)
{
    size_t name = strlen(m->name);
    uint8_t *entry = extend(w, CENTRAL_BYTES + name);
    if (!entry)
        return;
    put(entry, 4, CENTRAL);
    put(entry + 4, 2, 20);
    put_facts(entry + 6, m, w->packed[i]);
    put(entry + 42, 4, (uint32_t)w->local[i]);
    memcpy(entry + CENTRAL_BYTES, m->name, name);
}

size_t archive_write(const archive *a, uint8_t *out, size_t room)
{
    writing w = {.out = out, .room = room};
    for (size_t i = 0; i < a->count; i++)
        write_local(&w, &a->of[i], i);
    size_t start = w.at;
    for (size_t i = 0; i < a->count; i++)
        write_central(&w, &a->of[i], i);
    size_t length = w.at - start;
    uint8_t *end = extend(&w, END_BYTES);
    if (!end)
        return 0;
    put(end, 4, END);
    put(end + 8, 2, (uint32_t)a->count);
    put(end + 10, 2, (uint32_t)a->count);
    put(end + 12, 4, (uint32_t)length);
    put(end + 16, 4, (uint32_t)start);
    return w.at;
}
