/* Arrays and texts from an npz.  Nothing that a file says is believed before it
 * is checked: sizes against each other and against the file's, then the CRC. */
#include "base/memory.h"
#include "base/progress.h"
#include "archive/npy.h"
#include "archive/npz_inside.h"
#include "archive/npz_list.h"
#include "io/again.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAME = 256, MAX_FOLDER = 32, CONVERT_BYTES = 1 << 16 };

struct npz_reader {
    char *path;
    int fd; /* to be closed, or -1: the caller's */
    zip_reader zip;
    /* npz_within: */
    char within[MAX_FOLDER], other[MAX_FOLDER];
    const char *const *shared;
};

/* A member that is being read. */
typedef struct {
    const npz_reader *npz;
    char name[MAX_NAME];
    zip_stream stream;
    size_t size; /* uncompressed, as the directory says */
} member;

/* ---- opening ---- */

static quorum_status check_path(const char *path, int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return failure(QUORUM_E_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return failure(QUORUM_E_FILE, "%s: is a directory, not a file", path);
    if (!S_ISREG(about.st_mode))
        return failure(QUORUM_E_FILE, "%s: is not a regular file; an npz is read from one", path);
    if (about.st_size == 0)
        return failure(QUORUM_E_FORMAT, "%s: is empty, not an npz file", path);
    return QUORUM_OK;
}

quorum_status npz_open_descriptor(int fd, const char *path, npz_reader **out)
{
    quorum_status status = QUORUM_OK;
    npz_reader *r = NULL;
    *out = NULL;
    if (NEW_ZEROED(r, 1)) {
        r->fd = -1;
        r->path = mem_copy_text(path);
    }
    if (!r || !r->path) {
        status = failure(QUORUM_E_MEMORY, "%s: out of memory while opening", path);
        goto done;
    }
    TRY_OR_DONE(check_path(path, fd));
    TRY_OR_DONE(zip_reader_open(&r->zip, fd, r->path));
    *out = r;
    r = NULL;
done:
    npz_close(r);
    return status;
}

quorum_status npz_open(const char *path, npz_reader **out)
{
    *out = NULL;
    /* a pipe does not block */
    int fd = open_again(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return failure(errno == ENOMEM ? QUORUM_E_MEMORY : QUORUM_E_FILE,
                       "%s: cannot be opened: %s", path, strerror(errno));
    quorum_status status = npz_open_descriptor(fd, path, out);
    if (status < 0)
        close(fd);
    else
        (*out)->fd = fd;
    return status;
}

const zip_reader *npz_zip(const npz_reader *r)
{
    return &r->zip;
}

void npz_close(npz_reader *r)
{
    if (!r)
        return;
    zip_reader_close(&r->zip);
    if (r->fd >= 0)
        close(r->fd);
    mem_free(r->path);
    mem_free(r);
}

/* ---- members ---- */

static int array_member_name(const char *name, char *out /* MAX_NAME */)
{
    int n = snprintf(out, MAX_NAME, "%s.npy", name);
    return n > 0 && n < MAX_NAME;
}

void npz_within(npz_reader *r, const char *folder, const char *other, const char *const *shared)
{
    snprintf(r->within, sizeof r->within, "%s", folder);
    snprintf(r->other, sizeof r->other, "%s", other);
    r->shared = shared;
}

static const zip_member *find_in(const npz_reader *r, const char *folder, const char *name)
{
    char full[MAX_FOLDER + MAX_NAME];
    if (folder[0] == '\0')
        return zip_reader_find(&r->zip, name);
    int n = snprintf(full, sizeof full, "%s%s", folder, name);
    return n > 0 && (size_t)n < sizeof full ? zip_reader_find(&r->zip, full) : NULL;
}

static int is_shared(const npz_reader *r, const char *name)
{
    const char *const *s = r->shared;
    while (s && *s && strcmp(*s, name) != 0)
        s++;
    return s && *s;
}

/* The member of this full name. */
static const zip_member *find_member(const npz_reader *r, const char *name)
{
    const zip_member *found = find_in(r, r->within, name);
    return found || !is_shared(r, name) ? found : find_in(r, r->other, name);
}

int npz_has(const npz_reader *r, const char *name)
{
    char array[MAX_NAME];
    return find_member(r, name) || (array_member_name(name, array) && find_member(r, array));
}

size_t npz_count_arrays(const npz_reader *r, char *name, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < r->zip.count; i++) {
        const char *full = r->zip.members[i].name;
        size_t length = strlen(full);
        if (length < 4 || strcmp(full + length - 4, ".npy") != 0)
            continue;
        if (count++ == 0)
            snprintf(name, size, "%.*s", (int)(length < MAX_NAME ? length - 4 : MAX_NAME), full);
    }
    return count;
}

double npz_member_bytes(const npz_reader *r, const char *name)
{
    const zip_member *found = find_member(r, name);
    return found ? (double)found->size : 0.0;
}

double npz_file_bytes(const npz_reader *r)
{
    return (double)r->zip.bytes;
}

/* FNV-1a. */
static uint64_t add_to_digest(uint64_t digest, const void *bytes, size_t n)
{
    for (const unsigned char *p = bytes, *end = p + n; p < end; p++)
        digest = (digest ^ *p) * 0x100000001b3u;
    return digest;
}

uint64_t npz_digest(const npz_reader *r)
{
    uint64_t digest = 0xcbf29ce484222325u;
    for (size_t i = 0; i < r->zip.count; i++) {
        const zip_member *m = r->zip.sorted[i];
        digest = add_to_digest(digest, m->name, strlen(m->name) + 1);
        digest = add_to_digest(digest, &m->size, sizeof m->size);
        digest = add_to_digest(digest, &m->crc, sizeof m->crc);
    }
    return digest;
}

static quorum_status fail_member(const member *m, const char *what)
{
    return failure(QUORUM_E_FORMAT, "%s: member %s: %s", m->npz->path, m->name, what);
}

static quorum_status open_member(npz_reader *r, const char *name, member *m)
{
    const zip_member *found = find_member(r, name);
    *m = (member){.npz = r};
    snprintf(m->name, sizeof m->name, "%s", found ? found->name : name);
    if (!found)
        return fail_member(m, "is not in the file");
    TRY(zip_stream_open(&m->stream, &r->zip, found));
    m->size = (size_t)found->size;
    double physical = mem_physical();
    if (physical > 0 && (double)m->size > physical)
        return failure(QUORUM_E_MEMORY, "%s: member %s: needs %.1f GB, this machine has %.1f GB",
                       r->path, m->name, (double)m->size / 1e9, physical / 1e9);
    return QUORUM_OK;
}

static void close_member(member *m)
{
    zip_stream_close(&m->stream);
}

/* ---- arrays ---- */

static quorum_status read_header(member *m, npy_header *h)
{
    quorum_status status = QUORUM_OK;
    unsigned char prefix[NPY_PREFIX];
    unsigned char *bytes = NULL;
    size_t size, n = m->size < sizeof prefix ? m->size : sizeof prefix;
    TRY(zip_stream_read(&m->stream, prefix, n));
    if (npy_header_size(prefix, n, &size) < 0)
        return failure_in(QUORUM_E_FORMAT, "%s: member %s", m->npz->path, m->name);
    if (size > m->size || size < n)
        return fail_member(m, "its npy header does not fit; the file is damaged");
    if (!NEW_ARRAY(bytes, size))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while reading", m->npz->path);
    memcpy(bytes, prefix, n);
    TRY_OR_DONE(zip_stream_read(&m->stream, bytes + n, size - n));
    if (npy_parse_header(bytes, size, h) < 0)
        status = failure_in(QUORUM_E_FORMAT, "%s: member %s", m->npz->path, m->name);
    else if (h->bytes != m->size - size)
        status = fail_member(m, "its shape and its size disagree; the file is damaged");
done:
    mem_free(bytes);
    return status;
}

static quorum_status open_array(npz_reader *r, const char *name, member *m, npy_header *h)
{
    char full[MAX_NAME];
    *m = (member){.npz = r};
    if (!array_member_name(name, full))
        return failure(QUORUM_E_ARGUMENT, "%s: the name %.40s... is too long", r->path, name);
    TRY(open_member(r, full, m));
    return read_header(m, h);
}

quorum_status npz_get_ndim(npz_reader *r, const char *name, int *ndim)
{
    member m;
    npy_header h;
    quorum_status status = open_array(r, name, &m, &h);
    if (status >= 0)
        *ndim = h.ndim;
    close_member(&m);
    return status;
}

/* Elements are 8 bytes wide in memory: `out` is count doubles or int64. */
static quorum_status read_elements(member *m, const npy_header *h, int integers, void *out)
{
    quorum_status status = QUORUM_OK;
    unsigned char *bytes = NULL;
    size_t step = CONVERT_BYTES / h->size;
    if (npy_is_native(h, integers ? 'i' : 'f')) {
        TRY(zip_stream_read(&m->stream, out, h->bytes));
        return zip_stream_finish(&m->stream);
    }
    if (!NEW_ARRAY(bytes, CONVERT_BYTES))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while reading", m->npz->path);
    for (size_t done = 0; done < h->count; done += step) {
        size_t n = h->count - done < step ? h->count - done : step;
        TRY_OR_DONE(zip_stream_read(&m->stream, bytes, n * h->size));
        if (!integers)
            npy_to_doubles(h, bytes, n, (double *)out + done);
        else if (npy_to_int64(h, bytes, n, (int64_t *)out + done) < 0) {
            status = failure_in(QUORUM_E_FORMAT, "%s: member %s", m->npz->path, m->name);
            goto done;
        }
    }
    status = zip_stream_finish(&m->stream);
done:
    mem_free(bytes);
    return status;
}

/* Of the elements done .. done + n - 1 those that are wanted, `width` being a row. */
static void keep_wanted(const npz_sections *s, size_t width, size_t done, size_t n,
                        const double *block, double *out)
{
    size_t low = 0, high = s->count;
    while (high - low > 1) { /* the section that the first one is in */
        size_t middle = (low + high) / 2;
        if (s->first[middle] * width <= done)
            low = middle;
        else
            high = middle;
    }
    for (size_t k = low; k < s->count && s->first[k] * width < done + n; k++) {
        size_t from = s->first[k] * width, to = s->first[k + 1] * width;
        from = from > done ? from : done;
        to = to < done + n ? to : done + n;
        if (s->wanted[k] && to > from)
            memcpy(out + from, block + (from - done), (to - from) * sizeof *out);
    }
}

static quorum_status read_some_elements(member *m, const npy_header *h, const npz_sections *s,
                                        double *out)
{
    quorum_status status = QUORUM_OK;
    unsigned char *bytes = NULL;
    double *block = NULL;
    size_t step = CONVERT_BYTES / h->size, width = h->ndim == 2 ? h->shape[1] : 1;
    if (!NEW_ARRAY(bytes, CONVERT_BYTES) || !NEW_ARRAY(block, step)) {
        status = failure(QUORUM_E_MEMORY, "%s: out of memory while reading", m->npz->path);
        goto done;
    }
    for (size_t done = 0; done < h->count; done += step) {
        size_t n = h->count - done < step ? h->count - done : step;
        TRY_OR_DONE(zip_stream_read(&m->stream, bytes, n * h->size));
        npy_to_doubles(h, bytes, n, block);
        keep_wanted(s, width, done, n, block, out);
    }
    status = zip_stream_finish(&m->stream);
done:
    mem_free(bytes);
    mem_free(block);
    return status;
}

/* From column-major (rows x columns) to row-major; 8-byte elements. */
static quorum_status transpose(const uint64_t *from, size_t rows, size_t columns, uint64_t *to)
{
    for (size_t i = 0; i < rows; i++) {
        TRY(progress_go_on());
        for (size_t j = 0; j < columns; j++)
            to[i * columns + j] = from[j * rows + i];
    }
    return QUORUM_OK;
}

static quorum_status to_row_major(const member *m, const npy_header *h, uint64_t **elements)
{
    uint64_t *sorted;
    if (!h->fortran || h->ndim < 2)
        return QUORUM_OK;
    if (!NEW_ARRAY(sorted, h->count))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while reading", m->npz->path);
    quorum_status status = transpose(*elements, h->shape[0], h->shape[1], sorted);
    mem_free(*elements);
    *elements = sorted;
    return status;
}

static quorum_status check_ndim(const member *m, const npy_header *h, int ndim)
{
    if (h->ndim == ndim)
        return QUORUM_OK;
    return failure(QUORUM_E_FORMAT, "%s: member %s: has %d dimensions where %d are expected",
                   m->npz->path, m->name, h->ndim, ndim);
}

/* doubles and int64 differ only in the conversion: both are 8 bytes. */
static quorum_status get_array(npz_reader *r, const char *name, int ndim, int integers,
                               size_t *shape, void **data)
{
    quorum_status status = QUORUM_OK;
    member m;
    npy_header h;
    uint64_t *elements = NULL;
    *data = NULL;
    TRY_OR_DONE(open_array(r, name, &m, &h));
    TRY_OR_DONE(check_ndim(&m, &h, ndim));
    if (!NEW_ARRAY(elements, h.count)) {
        status = failure(QUORUM_E_MEMORY, "%s: member %s: out of memory for %zu numbers", r->path,
                         m.name, h.count);
        goto done;
    }
    TRY_OR_DONE(read_elements(&m, &h, integers, elements));
    TRY_OR_DONE(to_row_major(&m, &h, &elements));
    for (int i = 0; i < ndim; i++)
        shape[i] = h.shape[i];
    *data = elements;
    elements = NULL;
done:
    mem_free(elements);
    close_member(&m);
    return status;
}

quorum_status npz_get_doubles(npz_reader *r, const char *name, int ndim, size_t *shape,
                              double **data)
{
    void *elements;
    quorum_status status = get_array(r, name, ndim, 0, shape, &elements);
    *data = elements;
    return status;
}

quorum_status npz_measure(npz_reader *r, const char *name, int ndim, size_t *shape, double *bytes)
{
    member m;
    npy_header h;
    quorum_status status = open_array(r, name, &m, &h);
    if (status >= 0)
        status = check_ndim(&m, &h, ndim);
    for (int i = 0; status >= 0 && i < ndim; i++)
        shape[i] = h.shape[i];
    if (status >= 0)
        *bytes = (h.fortran && ndim > 1 ? 16.0 : 8.0) * (double)h.count;
    close_member(&m);
    return status;
}

quorum_status npz_get_shape(npz_reader *r, const char *name, int ndim, size_t *shape)
{
    double bytes;
    return npz_measure(r, name, ndim, shape, &bytes);
}

quorum_status npz_get_some_doubles(npz_reader *r, const char *name, int ndim, size_t *shape,
                                   const npz_sections *sections, double **data)
{
    quorum_status status = QUORUM_OK;
    member m;
    npy_header h;
    double *elements = NULL;
    *data = NULL;
    TRY_OR_DONE(open_array(r, name, &m, &h));
    TRY_OR_DONE(check_ndim(&m, &h, ndim));
    if (ndim < 1 || (h.fortran && ndim > 1) || h.shape[0] != sections->first[sections->count]) {
        status = fail_member(&m, "is not in rows, or has others than expected");
        goto done;
    }
    elements = mem_alloc_sparse(h.count, sizeof *elements);
    if (!elements) {
        status = failure(QUORUM_E_MEMORY, "%s: member %s: out of memory for %zu numbers", r->path,
                         m.name, h.count);
        goto done;
    }
    TRY_OR_DONE(read_some_elements(&m, &h, sections, elements));
    for (int i = 0; i < ndim; i++)
        shape[i] = h.shape[i];
    *data = elements;
    elements = NULL;
done:
    mem_free(elements);
    close_member(&m);
    return status;
}

quorum_status npz_get_int64(npz_reader *r, const char *name, int ndim, size_t *shape,
                            int64_t **data)
{
    void *elements;
    quorum_status status = get_array(r, name, ndim, 1, shape, &elements);
    *data = elements;
    return status;
}

/* ---- texts ---- */

quorum_status npz_get_text(npz_reader *r, const char *name, char **text)
{
    quorum_status status = QUORUM_OK;
    member m;
    char *copy = NULL;
    *text = NULL;
    TRY_OR_DONE(open_member(r, name, &m));
    if (!NEW_ARRAY(copy, m.size + 1)) {
        status = failure(QUORUM_E_MEMORY, "%s: member %s: out of memory", r->path, m.name);
        goto done;
    }
    TRY_OR_DONE(zip_stream_read(&m.stream, copy, m.size));
    TRY_OR_DONE(zip_stream_finish(&m.stream));
    copy[m.size] = '\0';
    if (strlen(copy) != m.size) {
        status = fail_member(&m, "is not text: it contains a zero byte");
        goto done;
    }
    *text = copy;
    copy = NULL;
done:
    mem_free(copy);
    close_member(&m);
    return status;
}
