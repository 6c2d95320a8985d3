/* An npz written as a whole: without a name, read back, synced, then put in its place. */
#include "base/memory.h"
#include "archive/npy.h"
#include "archive/npz_inside.h"
#include "archive/zip.h"
#include "io/whole_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_MEMBERS = 16, PULL_AT_ONCE = 1 << 18, COMPARE_AT_ONCE = 1 << 16 };

typedef struct {
    zip_written zip; /* name, size, CRC                       */
    char *name;      /* zip.name, to be freed                 */
    char header[NPY_WRITTEN_HEADER];
    size_t header_bytes; /* 0 for a text                      */
    const void *data;
    size_t bytes;  /* of the data                             */
    npz_pull pull; /* or NULL: gives the data                 */
    void *context;
} member;

struct npz_writer {
    member **members;
    size_t count, capacity;
    npz_check check; /* or NULL */
    void *context;
    char within[ZIP_MAX_NAME]; /* what names begin with */
};

/* ---- gathering ---- */

npz_writer *npz_writer_new(void)
{
    npz_writer *w;
    return NEW_ZEROED(w, 1);
}

void npz_writer_within(npz_writer *w, const char *folder)
{
    snprintf(w->within, sizeof w->within, "%s", folder);
}

static void free_member(member *m)
{
    if (m)
        mem_free(m->name);
    mem_free(m);
}

void npz_writer_free(npz_writer *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->count; i++)
        free_member(w->members[i]);
    mem_free(w->members);
    mem_free(w);
}

static quorum_status grow_members(npz_writer *w)
{
    if (w->count < w->capacity)
        return QUORUM_OK;
    size_t capacity = w->capacity ? 2 * w->capacity : FIRST_MEMBERS;
    member **larger = mem_grow(w->members, w->count, capacity, sizeof *larger);
    if (!larger)
        return failure(QUORUM_E_MEMORY, "out of memory while gathering what to write");
    w->members = larger;
    w->capacity = capacity;
    return QUORUM_OK;
}

/* A new member called name + extension, still without content. */
static quorum_status add_member(npz_writer *w, const char *name, const char *extension,
                                member **out)
{
    member *m = NULL;
    size_t size = strlen(w->within) + strlen(name) + strlen(extension) + 1;
    if (size > ZIP_MAX_NAME)
        return failure(QUORUM_E_ARGUMENT, "the name %.40s... is too long", name);
    TRY(grow_members(w));
    if (NEW_ZEROED(m, 1))
        NEW_ARRAY(m->name, size);
    if (!m || !m->name) {
        free_member(m);
        return failure(QUORUM_E_MEMORY, "out of memory while gathering what to write");
    }
    snprintf(m->name, size, "%s%s%s", w->within, name, extension);
    m->zip.name = m->name;
    for (size_t i = 0; i < w->count; i++) {
        if (strcmp(w->members[i]->name, m->name) == 0) {
            free_member(m);
            return failure(QUORUM_E_ARGUMENT, "member %s%s is added twice", name, extension);
        }
    }
    w->members[w->count++] = m;
    *out = m;
    return QUORUM_OK;
}

static quorum_status add_array(npz_writer *w, const char *name, char kind, int ndim,
                               const size_t *shape, member **out)
{
    size_t bytes = 8;
    if (ndim < 0 || ndim > 2)
        return failure(QUORUM_E_ARGUMENT, "member %s has %d dimensions, not 0 to 2", name, ndim);
    for (int i = 0; i < ndim; i++)
        if (__builtin_mul_overflow(bytes, shape[i], &bytes))
            return failure(QUORUM_E_ARGUMENT, "member %s is too large", name);
    TRY(add_member(w, name, ".npy", out));
    npy_format_header(kind, ndim, shape, (*out)->header);
    (*out)->header_bytes = sizeof(*out)->header;
    (*out)->bytes = bytes;
    return QUORUM_OK;
}

static quorum_status add_numbers(npz_writer *w, const char *name, char kind, int ndim,
                                 const size_t *shape, const void *data)
{
    member *m;
    TRY(add_array(w, name, kind, ndim, shape, &m));
    m->data = data;
    return QUORUM_OK;
}

quorum_status npz_add_pulled(npz_writer *w, const char *name, int ndim, const size_t *shape,
                             npz_pull pull, void *context)
{
    member *m;
    TRY(add_array(w, name, 'f', ndim, shape, &m));
    m->pull = pull;
    m->context = context;
    return QUORUM_OK;
}

quorum_status npz_add_doubles(npz_writer *w, const char *name, int ndim, const size_t *shape,
                              const double *data)
{
    return add_numbers(w, name, 'f', ndim, shape, data);
}

quorum_status npz_add_int64(npz_writer *w, const char *name, int ndim, const size_t *shape,
                            const int64_t *data)
{
    return add_numbers(w, name, 'i', ndim, shape, data);
}

quorum_status npz_add_text(npz_writer *w, const char *name, const char *text)
{
    member *m;
    TRY(add_member(w, name, "", &m));
    m->data = text;
    m->bytes = strlen(text);
    return QUORUM_OK;
}

void npz_writer_check(npz_writer *w, npz_check check, void *context)
{
    w->check = check;
    w->context = context;
}

/* ---- writing ---- */

static quorum_status fail_to_write(const char *path, int error)
{
    return failure(error == ENOMEM ? QUORUM_E_MEMORY : QUORUM_E_FILE, "%s: cannot be written: %s",
                   path, whole_file_reason(error));
}

static quorum_status put_pulled(zip_writer *z, const member *m)
{
    quorum_status status = QUORUM_OK;
    char *some = NULL;
    if (!NEW_ARRAY(some, PULL_AT_ONCE))
        return failure(QUORUM_E_MEMORY, "out of memory while writing");
    for (size_t left = m->bytes, n; left > 0 && z->error == 0; left -= n) {
        n = left < PULL_AT_ONCE ? left : PULL_AT_ONCE;
        TRY_OR_DONE(m->pull(m->context, some, n));
        zip_writer_put(z, some, n);
    }
done:
    mem_free(some);
    return status;
}

static quorum_status put_member(zip_writer *z, member *m)
{
    m->zip.size = m->header_bytes + m->bytes;
    zip_writer_begin(z, &m->zip);
    zip_writer_put(z, m->header, m->header_bytes);
    if (m->pull)
        TRY(put_pulled(z, m));
    else
        zip_writer_put(z, m->data, m->bytes);
    zip_writer_end(z, &m->zip);
    return QUORUM_OK;
}

static quorum_status write_zip(const npz_writer *w, int fd, const char *path)
{
    zip_writer z = {.fd = fd};
    for (size_t i = 0; i < w->count; i++)
        TRY(put_member(&z, w->members[i]));
    uint64_t directory = z.position;
    for (size_t i = 0; i < w->count; i++)
        zip_writer_directory(&z, &w->members[i]->zip);
    zip_writer_finish(&z, directory, w->count);
    return z.error == 0 ? QUORUM_OK : fail_to_write(path, z.error);
}

/* ---- reading back ---- */

/* The bytes of the file have the CRC of those that were meant. */
static quorum_status compare_member(const zip_reader *zip, const zip_written *meant,
                                    unsigned char *some)
{
    zip_stream s = {.zip = NULL};
    quorum_status status = QUORUM_OK;
    const zip_member *m = zip_reader_find(zip, meant->name);
    if (!m || m->size != meant->size || m->crc != meant->crc)
        return failure(QUORUM_E_FORMAT, "%s: member %s: is not what was written", zip->label,
                       meant->name);
    TRY_OR_DONE(zip_stream_open(&s, zip, m));
    for (uint64_t left = m->size, n; left > 0; left -= n) {
        n = left < COMPARE_AT_ONCE ? left : COMPARE_AT_ONCE;
        TRY_OR_DONE(zip_stream_read(&s, some, (size_t)n));
    }
    status = zip_stream_finish(&s);
done:
    zip_stream_close(&s);
    return status;
}

static quorum_status compare(const npz_writer *w, npz_reader *r)
{
    quorum_status status = QUORUM_OK;
    unsigned char *some = NULL;
    if (!NEW_ARRAY(some, COMPARE_AT_ONCE))
        return failure(QUORUM_E_MEMORY, "out of memory while reading back");
    for (size_t i = 0; i < w->count; i++)
        TRY_OR_DONE(compare_member(npz_zip(r), &w->members[i]->zip, some));
    if (w->check)
        status = w->check(r, w->context);
done:
    mem_free(some);
    return status;
}

/* What was written is read by the same reader that will read it later. */
static quorum_status read_back(const npz_writer *w, int fd, const char *path)
{
    npz_reader *r = NULL;
    quorum_status status = npz_open_descriptor(fd, path, &r);
    if (status == QUORUM_OK)
        status = compare(w, r);
    npz_close(r);
    if (status == QUORUM_E_FORMAT)
        return failure_in(QUORUM_E_FILE, "%s: was not written: it does not read back as it should",
                          path);
    return status;
}

quorum_status npz_writer_save(npz_writer *w, const char *path)
{
    whole_file file;
    if (w->count == 0)
        return failure(QUORUM_E_ARGUMENT, "%s: there is nothing to write", path);
    int error = whole_file_begin(&file, path);
    if (error != 0)
        return fail_to_write(path, error);
    quorum_status status = write_zip(w, file.fd, path);
    if (status == QUORUM_OK)
        status = read_back(w, file.fd, path);
    if (status < 0) {
        whole_file_discard(&file);
        return status;
    }
    error = whole_file_commit(&file);
    return error == 0 ? QUORUM_OK : fail_to_write(path, error);
}
