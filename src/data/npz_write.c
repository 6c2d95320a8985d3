/* An npz written as a whole: to a temporary file, synced, then renamed. */
#include "base/memory.h"
#include "data/npy.h"
#include "data/npz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

enum { FIRST_MEMBERS = 16, MAX_ATTEMPTS = 100, SUFFIX_SIZE = 48, DOS_1980 = 0x0021 };

typedef struct {
    char *name;
    char header[NPY_WRITTEN_HEADER];
    zip_buffer_fragment_t parts[2]; /* header (not for a text) and data */
    int n_parts;
    npz_pull pull; /* or NULL: gives the data behind the header */
    void *context;
    size_t bytes, done; /* of header and data, where they are pulled */
    zip_error_t error;
} member;

struct npz_writer {
    member **members; /* each in its own block, since parts point into it */
    size_t count, capacity;
};

/* ---- gathering ---- */

npz_writer *npz_writer_new(void)
{
    npz_writer *w;
    return NEW_ZEROED(w, 1);
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
    size_t size = strlen(name) + strlen(extension) + 1;
    TRY(grow_members(w));
    if (NEW_ZEROED(m, 1))
        NEW_ARRAY(m->name, size);
    if (!m || !m->name) {
        free_member(m);
        return failure(QUORUM_E_MEMORY, "out of memory while gathering what to write");
    }
    snprintf(m->name, size, "%s%s", name, extension);
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

static void add_part(member *m, const void *data, size_t bytes)
{
    /* libzip only reads, though its type is not const */
    m->parts[m->n_parts++] = (zip_buffer_fragment_t){(zip_uint8_t *)data, bytes};
}

static quorum_status add_header(npz_writer *w, const char *name, char kind, int ndim,
                                const size_t *shape, member **out, size_t *data_bytes)
{
    size_t bytes = 8;
    if (ndim < 0 || ndim > 2)
        return failure(QUORUM_E_ARGUMENT, "member %s has %d dimensions, not 0 to 2", name, ndim);
    for (int i = 0; i < ndim; i++)
        if (__builtin_mul_overflow(bytes, shape[i], &bytes))
            return failure(QUORUM_E_ARGUMENT, "member %s is too large", name);
    TRY(add_member(w, name, ".npy", out));
    npy_format_header(kind, ndim, shape, (*out)->header);
    add_part(*out, (*out)->header, sizeof(*out)->header);
    *data_bytes = bytes;
    return QUORUM_OK;
}

static quorum_status add_array(npz_writer *w, const char *name, char kind, int ndim,
                               const size_t *shape, const void *data)
{
    member *m;
    size_t bytes;
    TRY(add_header(w, name, kind, ndim, shape, &m, &bytes));
    if (bytes > 0)
        add_part(m, data, bytes);
    return QUORUM_OK;
}

quorum_status npz_add_pulled(npz_writer *w, const char *name, int ndim, const size_t *shape,
                             npz_pull pull, void *context)
{
    member *m;
    size_t bytes;
    TRY(add_header(w, name, 'f', ndim, shape, &m, &bytes));
    m->pull = pull;
    m->context = context;
    m->bytes = sizeof m->header + bytes;
    return QUORUM_OK;
}

quorum_status npz_add_doubles(npz_writer *w, const char *name, int ndim, const size_t *shape,
                              const double *data)
{
    return add_array(w, name, 'f', ndim, shape, data);
}

quorum_status npz_add_int64(npz_writer *w, const char *name, int ndim, const size_t *shape,
                            const int64_t *data)
{
    return add_array(w, name, 'i', ndim, shape, data);
}

quorum_status npz_add_text(npz_writer *w, const char *name, const char *text)
{
    member *m;
    TRY(add_member(w, name, "", &m));
    add_part(m, text, strlen(text));
    return QUORUM_OK;
}

/* ---- writing ---- */

static quorum_status fail_to_write(const char *path, const char *why)
{
    return failure(QUORUM_E_FILE, "%s: cannot be written: %s", path, why);
}

/* The next bytes of a member whose data are pulled; -1: there are none to be had. */
static zip_int64_t pull_some(member *m, char *to, size_t room)
{
    size_t header = sizeof m->header, left = m->bytes - m->done;
    size_t some = m->done < header ? header - m->done : left;
    some = some < room ? some : room;
    if (m->done < header) {
        memcpy(to, m->header + m->done, some);
    } else if (some > 0 && m->pull(m->context, to, some) < 0) {
        zip_error_set(&m->error, ZIP_ER_READ, EIO);
        return -1;
    }
    m->done += some;
    return (zip_int64_t)some;
}

/* What libzip asks of a source. */
static zip_int64_t answer(void *context, void *data, zip_uint64_t size, zip_source_cmd_t command)
{
    member *m = context;
    switch (command) {
    case ZIP_SOURCE_OPEN: m->done = 0; return 0;
    case ZIP_SOURCE_READ: return pull_some(m, data, (size_t)size);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE: return 0;
    case ZIP_SOURCE_STAT: {
        zip_stat_t *about = data;
        zip_stat_init(about);
        about->size = m->bytes;
        about->valid = ZIP_STAT_SIZE;
        return sizeof *about;
    }
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&m->error, data, size);
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              -1);
    default: zip_error_set(&m->error, ZIP_ER_OPNOTSUPP, 0); return -1;
    }
}

static zip_source_t *make_source(zip_t *zip, member *m)
{
    if (m->pull)
        return zip_source_function(zip, answer, m);
    return zip_source_buffer_fragment(zip, m->parts, (zip_uint64_t)m->n_parts, 0);
}

/* The time is fixed, so that equal content gives equal files. */
static quorum_status put_member(zip_t *zip, member *m, const char *path)
{
    zip_source_t *content = make_source(zip, m);
    if (!content)
        return fail_to_write(path, zip_strerror(zip));
    zip_int64_t index = zip_file_add(zip, m->name, content, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        fail_to_write(path, zip_strerror(zip));
        zip_source_free(content);
        return QUORUM_E_FILE;
    }
    if (zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(zip, (zip_uint64_t)index, 0, DOS_1980, 0) != 0)
        return fail_to_write(path, zip_strerror(zip));
    return QUORUM_OK;
}

static quorum_status write_zip(const npz_writer *w, const char *temporary, const char *path)
{
    quorum_status status = QUORUM_OK;
    int code = 0;
    zip_t *zip = zip_open(temporary, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!zip)
        return fail_to_write(path, strerror(errno));
    for (size_t i = 0; i < w->count; i++)
        TRY_OR_DONE(put_member(zip, w->members[i], path));
    if (zip_close(zip) != 0) {
        status = fail_to_write(path, zip_strerror(zip));
        goto done;
    }
    zip = NULL;
done:
    if (zip)
        zip_discard(zip);
    return status;
}

static quorum_status sync_path(const char *name, int flags, const char *path)
{
    int file = open(name, O_RDONLY | O_CLOEXEC | flags);
    if (file < 0)
        return fail_to_write(path, strerror(errno));
    int failed = fsync(file) != 0 && errno != EINVAL && errno != EROFS;
    if (failed)
        fail_to_write(path, strerror(errno));
    close(file);
    return failed ? QUORUM_E_FILE : QUORUM_OK;
}

/* `scratch` is a copy of path that may be cut. */
static quorum_status sync_directory(char *scratch, const char *path)
{
    char *slash = strrchr(scratch, '/');
    if (!slash)
        return sync_path(".", O_DIRECTORY, path);
    slash[slash == scratch] = '\0'; /* keep the / of the root */
    return sync_path(scratch, O_DIRECTORY, path);
}

/* Takes a free name beside `path`, by creating an empty file with it. */
static quorum_status create_temporary(const char *path, char *temporary, size_t size)
{
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        snprintf(temporary, size, "%s.tmp-%ld-%d", path, (long)getpid(), attempt);
        int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0) {
            close(file);
            return QUORUM_OK;
        }
        if (errno != EEXIST)
            break;
    }
    temporary[0] = '\0';
    return fail_to_write(path, strerror(errno));
}

/* Renaming over a device or a directory would be a disaster or a failure. */
static quorum_status check_target(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || S_ISREG(about.st_mode))
        return QUORUM_OK;
    return fail_to_write(path, S_ISDIR(about.st_mode) ? "is a directory" : "not a regular file");
}

quorum_status npz_writer_save(npz_writer *w, const char *path)
{
    quorum_status status = QUORUM_OK;
    char *scratch = NULL, *temporary = NULL;
    size_t size = strlen(path) + SUFFIX_SIZE;
    if (w->count == 0)
        return failure(QUORUM_E_ARGUMENT, "%s: there is nothing to write", path);
    TRY(check_target(path));
    scratch = mem_copy_text(path);
    if (!scratch || !NEW_ZEROED(temporary, size)) {
        status = failure(QUORUM_E_MEMORY, "%s: out of memory while writing", path);
        goto done;
    }
    TRY_OR_DONE(create_temporary(path, temporary, size));
    TRY_OR_DONE(write_zip(w, temporary, path));
    TRY_OR_DONE(sync_path(temporary, 0, path));
    if (rename(temporary, path) != 0) {
        status = fail_to_write(path, strerror(errno));
        goto done;
    }
    temporary[0] = '\0';
    status = sync_directory(scratch, path);
done:
    if (temporary && temporary[0])
        unlink(temporary);
    mem_free(temporary);
    mem_free(scratch);
    return status;
}
