/* The directory of a zip: nothing that it says is believed before it is checked, against
 * itself, the members' own headers and the size of the file. */
#include "base/memory.h"
#include "archive/zip.h"
#include "io/zip_bytes.h"
#include "archive/zip_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_COMMENT = 65535, MAX_DIRECTORY = 16 << 20 };

/* ---- bytes of the file ---- */

quorum_status zip_read_at(const zip_reader *z, void *to, size_t n, uint64_t place)
{
    char *next = to;
    while (n > 0) {
        ssize_t got = pread(z->fd, next, n, (off_t)place);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failure(errno == ENOMEM ? QUORUM_E_MEMORY : QUORUM_E_FILE,
                           "%s: cannot be read: %s", z->label, strerror(errno));
        if (got == 0)
            return failure(QUORUM_E_FORMAT, "%s: ends too early; the file is damaged", z->label);
        next += got;
        place += (uint64_t)got;
        n -= (size_t)got;
    }
    return QUORUM_OK;
}

static quorum_status no_zip(const zip_reader *z)
{
    return failure(QUORUM_E_FORMAT, "%s: is not an npz file, or is truncated or damaged", z->label);
}

static quorum_status no_memory(const zip_reader *z)
{
    return failure(QUORUM_E_MEMORY, "%s: out of memory while opening", z->label);
}

quorum_status zip_fail(const zip_reader *z, const char *name, const char *what)
{
    return failure(QUORUM_E_FORMAT, "%s: member %.100s: %s", z->label, name, what);
}

/* ---- the end of the file ---- */

typedef struct {
    uint64_t place; /* of the directory */
    uint64_t bytes;
    uint64_t count;
    uint64_t limit; /* what comes after it begins here */
} directory_place;

/* The record whose comment ends where the file does, the last of all. */
static const unsigned char *find_end(const unsigned char *tail, size_t n)
{
    for (size_t at = n - END_SIZE + 1; at-- > 0;)
        if (get32(tail + at) == END_MARK && at + END_SIZE + get16(tail + at + 20) == n)
            return tail + at;
    return NULL;
}

/* Of zip64, before the end record at `end`; without one nothing changes. */
static quorum_status read_end64(const zip_reader *z, uint64_t end, directory_place *d)
{
    unsigned char locator[LOCATOR_SIZE], record[END64_SIZE];
    if (end < LOCATOR_SIZE)
        return QUORUM_OK;
    TRY(zip_read_at(z, locator, sizeof locator, end - LOCATOR_SIZE));
    if (get32(locator) != LOCATOR_MARK)
        return QUORUM_OK;
    uint64_t place = get64(locator + 8), behind = end - LOCATOR_SIZE;
    if (behind < END64_SIZE || place > behind - END64_SIZE)
        return no_zip(z);
    TRY(zip_read_at(z, record, sizeof record, place));
    if (get32(record) != END64_MARK || get64(record + 4) != behind - place - 12 ||
        get32(record + 16) != 0 || get32(record + 20) != 0 ||
        get64(record + 24) != get64(record + 32))
        return no_zip(z);
    *d = (directory_place){.count = get64(record + 32),
                           .bytes = get64(record + 40),
                           .place = get64(record + 48),
                           .limit = place};
    return QUORUM_OK;
}

static quorum_status read_end(const zip_reader *z, const unsigned char *tail, size_t n,
                              directory_place *d)
{
    const unsigned char *end = find_end(tail, n);
    if (!end || get16(end + 4) != 0 || get16(end + 6) != 0 || get16(end + 8) != get16(end + 10))
        return no_zip(z);
    uint64_t place = z->bytes - n + (uint64_t)(end - tail);
    *d = (directory_place){.count = get16(end + 10),
                           .bytes = get32(end + 12),
                           .place = get32(end + 16),
                           .limit = place};
    TRY(read_end64(z, place, d));
    if (d->place > d->limit || d->bytes != d->limit - d->place)
        return no_zip(z);
    return QUORUM_OK;
}

static quorum_status find_directory(const zip_reader *z, directory_place *d)
{
    size_t most = LONGEST_COMMENT + END_SIZE;
    size_t n = z->bytes < most ? (size_t)z->bytes : most;
    unsigned char *tail = NULL;
    if (n < END_SIZE)
        return no_zip(z);
    if (!NEW_ARRAY(tail, n))
        return no_memory(z);
    quorum_status status = zip_read_at(z, tail, n, z->bytes - n);
    if (status == QUORUM_OK)
        status = read_end(z, tail, n, d);
    mem_free(tail);
    TRY(status);
    if (d->count > ZIP_MAX_MEMBERS || d->bytes > MAX_DIRECTORY)
        return failure(QUORUM_E_FORMAT,
                       "%s: has more than %d members, or very long names; no npz "
                       "of that kind is read",
                       z->label, ZIP_MAX_MEMBERS);
    return QUORUM_OK;
}

/* ---- the directory ---- */

/* The next of zip64's numbers, where the one of 32 bits says that it is there. */
static int take64(uint64_t *value, const unsigned char **from, const unsigned char *end)
{
    if (*value != 0xFFFFFFFFu)
        return 1;
    if (end - *from < 8)
        return 0;
    *value = get64(*from);
    *from += 8;
    return 1;
}

static int read_extra(zip_member *m, const unsigned char *extra, size_t n)
{
    const unsigned char *end = extra + n;
    for (size_t size; end - extra >= 4; extra += 4 + size) {
        size = get16(extra + 2);
        if (size > (size_t)(end - extra) - 4)
            return 0;
        const unsigned char *field = extra + 4, *last = field + size;
        if (get16(extra) == EXTRA64)
            return take64(&m->size, &field, last) && take64(&m->packed, &field, last) &&
                   take64(&m->offset, &field, last);
    }
    return 1;
}

/* The entry at `at`; gives the place of the next one, 0: it is damaged.  The name is moved
 * by a byte, so that it can end with a zero. */
static size_t read_entry(zip_member *m, unsigned char *directory, size_t at, size_t bytes)
{
    unsigned char *e = directory + at;
    if (bytes - at < ENTRY_SIZE || get32(e) != ENTRY_MARK)
        return 0;
    size_t name = get16(e + 28), extra = get16(e + 30), comment = get16(e + 32);
    if (name == 0 || name > ZIP_MAX_NAME || get16(e + 34) != 0 ||
        name + extra + comment > bytes - at - ENTRY_SIZE ||
        memchr(e + ENTRY_SIZE, '\0', name) != NULL)
        return 0;
    *m = (zip_member){.flags = get16(e + 8),
                      .method = get16(e + 10),
                      .crc = get32(e + 16),
                      .packed = get32(e + 20),
                      .size = get32(e + 24),
                      .offset = get32(e + 42)};
    if (!read_extra(m, e + ENTRY_SIZE + name, extra))
        return 0;
    memmove(e + ENTRY_SIZE - 1, e + ENTRY_SIZE, name);
    e[ENTRY_SIZE - 1 + name] = '\0';
    m->name = (const char *)e + ENTRY_SIZE - 1;
    return at + ENTRY_SIZE + name + extra + comment;
}

static quorum_status read_directory(zip_reader *z, const directory_place *d)
{
    size_t at = 0, bytes = (size_t)d->bytes, count = (size_t)d->count;
    if (!NEW_ARRAY(z->directory, bytes) || !NEW_ZEROED(z->members, count) ||
        !NEW_ARRAY(z->sorted, count))
        return no_memory(z);
    TRY(zip_read_at(z, z->directory, bytes, d->place));
    for (size_t i = 0; i < count; i++) {
        at = read_entry(&z->members[i], z->directory, at, bytes);
        if (at == 0)
            return failure(QUORUM_E_FORMAT, "%s: entry %zu of the npz file's directory is damaged",
                           z->label, i + 1);
        z->sorted[i] = &z->members[i];
    }
    z->count = count;
    return at == bytes ? QUORUM_OK : no_zip(z);
}

/* ---- what the entries say about each other ---- */

static int compare_offsets(const void *a, const void *b)
{
    uint64_t x = (*(zip_member *const *)a)->offset, y = (*(zip_member *const *)b)->offset;
    return (x > y) - (x < y);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(zip_member *const *)a)->name, (*(zip_member *const *)b)->name);
}

/* Its own header, and the content behind it: all of it before `limit`. */
static quorum_status read_local(const zip_reader *z, zip_member *m, uint64_t limit)
{
    unsigned char header[LOCAL_SIZE];
    char name[ZIP_MAX_NAME + 1];
    size_t length = strlen(m->name);
    if (m->packed > z->bytes || m->offset > z->bytes)
        return zip_fail(z, m->name, "has an impossible size; the file is damaged");
    if (m->offset + LOCAL_SIZE + length > limit)
        return zip_fail(z, m->name, "overlaps another one; the file is damaged");
    TRY(zip_read_at(z, header, sizeof header, m->offset));
    TRY(zip_read_at(z, name, length, m->offset + LOCAL_SIZE));
    if (get32(header) != LOCAL_MARK || get16(header + 26) != length ||
        memcmp(name, m->name, length) != 0)
        return zip_fail(z, m->name, "is not where the directory says; the file is damaged");
    m->data = m->offset + LOCAL_SIZE + length + get16(header + 28);
    if (m->data + m->packed > limit)
        return zip_fail(z, m->name, "overlaps another one; the file is damaged");
    return QUORUM_OK;
}

static quorum_status check_places(zip_reader *z, uint64_t directory)
{
    qsort(z->sorted, z->count, sizeof *z->sorted, compare_offsets);
    for (size_t i = 0; i < z->count; i++)
        TRY(read_local(z, z->sorted[i], i + 1 < z->count ? z->sorted[i + 1]->offset : directory));
    return QUORUM_OK;
}

static quorum_status check_names(zip_reader *z)
{
    qsort(z->sorted, z->count, sizeof *z->sorted, compare_names);
    for (size_t i = 1; i < z->count; i++)
        if (strcmp(z->sorted[i - 1]->name, z->sorted[i]->name) == 0)
            return zip_fail(z, z->sorted[i]->name, "is there twice; the file is damaged");
    return QUORUM_OK;
}

quorum_status zip_reader_open(zip_reader *z, int fd, const char *label)
{
    quorum_status status = QUORUM_OK;
    struct stat about;
    directory_place d = {0};
    *z = (zip_reader){.fd = fd, .label = label};
    if (fstat(fd, &about) != 0)
        return failure(QUORUM_E_FILE, "%s: cannot be read: %s", label, strerror(errno));
    z->bytes = (uint64_t)about.st_size;
    TRY_OR_DONE(find_directory(z, &d));
    TRY_OR_DONE(read_directory(z, &d));
    TRY_OR_DONE(check_places(z, d.place));
    TRY_OR_DONE(check_names(z));
done:
    if (status < 0)
        zip_reader_close(z);
    return status;
}

void zip_reader_close(zip_reader *z)
{
    mem_free(z->members);
    mem_free(z->sorted);
    mem_free(z->directory);
    *z = (zip_reader){.fd = -1};
}

static int compare_with_name(const void *name, const void *member)
{
    return strcmp(name, (*(zip_member *const *)member)->name);
}

const zip_member *zip_reader_find(const zip_reader *z, const char *name)
{
    zip_member *const *found =
        bsearch(name, z->sorted, z->count, sizeof *z->sorted, compare_with_name);
    return found ? *found : NULL;
}
