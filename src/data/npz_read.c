/* Arrays and texts from an npz.  Nothing that a file says is believed before it
 * is checked: sizes against each other and against the file's, then the CRC. */
#include "base/memory.h"
#include "data/npy.h"
#include "data/npz_list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

enum { MAX_NAME = 256, MAX_RATIO = 1100, RATIO_SLACK = 1024, CONVERT_BYTES = 1 << 16 };

struct npz_reader {
    char *path;
    zip_t *zip;
    zip_uint64_t file_bytes;
};

/* A member that is being read. */
typedef struct {
    const npz_reader *npz;
    char name[MAX_NAME];
    zip_file_t *file;
    size_t size; /* uncompressed, as the directory says */
} member;

/* ---- opening ---- */

static quorum_status fail_to_open(const char *path, int code)
{
    int problem = errno;
    if (code == ZIP_ER_NOZIP)
        return failure(QUORUM_E_FORMAT, "%s: is not an npz file, or is truncated or damaged", path);
    if (code == ZIP_ER_MEMORY)
        return failure(QUORUM_E_MEMORY, "%s: out of memory while opening", path);
    if (code == ZIP_ER_OPEN || code == ZIP_ER_NOENT)
        return failure(QUORUM_E_FILE, "%s: cannot be opened: %s", path, strerror(problem));
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    set_message("%s: the npz file is damaged (%s)", path, zip_error_strerror(&error));
    zip_error_fini(&error);
    return QUORUM_E_FORMAT;
}

static quorum_status check_names(const npz_reader *r)
{
    zip_int64_t n = zip_get_num_entries(r->zip, 0);
    for (zip_int64_t i = 0; i < n; i++) {
        const char *name = zip_get_name(r->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        if (!name)
            return failure(QUORUM_E_FORMAT, "%s: member %lld has no name; the npz file is damaged",
                           r->path, (long long)i + 1);
        if (zip_name_locate(r->zip, name, ZIP_FL_ENC_RAW) != i)
            return failure(QUORUM_E_FORMAT,
                           "%s: member %.100s: is there twice; the file is damaged", r->path, name);
    }
    return QUORUM_OK;
}

static quorum_status check_path(const char *path, zip_uint64_t *bytes)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return failure(QUORUM_E_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return failure(QUORUM_E_FILE, "%s: is a directory, not a file", path);
    if (!S_ISREG(about.st_mode))
        return failure(QUORUM_E_FILE, "%s: is not a regular file; an npz is read from one", path);
    if (about.st_size == 0)
        return failure(QUORUM_E_FORMAT, "%s: is empty, not an npz file", path);
    *bytes = (zip_uint64_t)about.st_size;
    return QUORUM_OK;
}

quorum_status npz_open(const char *path, npz_reader **out)
{
    quorum_status status = QUORUM_OK;
    npz_reader *r = NULL;
    int code = 0;
    zip_uint64_t bytes = 0;
    *out = NULL;
    TRY(check_path(path, &bytes));
    if (NEW_ZEROED(r, 1))
        r->path = mem_copy_text(path);
    if (!r || !r->path) {
        status = failure(QUORUM_E_MEMORY, "%s: out of memory while opening", path);
        goto done;
    }
    r->file_bytes = bytes;
    r->zip = zip_open(path, ZIP_RDONLY, &code);
    if (!r->zip) {
        status = fail_to_open(path, code);
        goto done;
    }
    TRY_OR_DONE(check_names(r));
    *out = r;
    r = NULL;
done:
    npz_close(r);
    return status;
}

void npz_close(npz_reader *r)
{
    if (!r)
        return;
    if (r->zip)
        zip_discard(r->zip);
    mem_free(r->path);
    mem_free(r);
}

/* ---- members ---- */

static zip_int64_t locate(const npz_reader *r, const char *name)
{
    return zip_name_locate(r->zip, name, ZIP_FL_ENC_RAW);
}

static int array_member_name(const char *name, char *out /* MAX_NAME */)
{
    int n = snprintf(out, MAX_NAME, "%s.npy", name);
    return n > 0 && n < MAX_NAME;
}

int npz_has(const npz_reader *r, const char *name)
{
    char array[MAX_NAME];
    return locate(r, name) >= 0 || (array_member_name(name, array) && locate(r, array) >= 0);
}

size_t npz_count_arrays(const npz_reader *r, char *name, size_t size)
{
    size_t count = 0;
    zip_int64_t n = zip_get_num_entries(r->zip, 0);
    for (zip_int64_t i = 0; i < n; i++) {
        const char *full = zip_get_name(r->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        size_t length = full ? strlen(full) : 0;
        if (length < 4 || strcmp(full + length - 4, ".npy") != 0)
            continue;
        if (count++ == 0)
            snprintf(name, size, "%.*s", (int)(length < MAX_NAME ? length - 4 : MAX_NAME), full);
    }
    return count;
}

static quorum_status fail_member(const member *m, const char *what)
{
    return failure(QUORUM_E_FORMAT, "%s: member %s: %s", m->npz->path, m->name, what);
}

/* What the directory says about the member must be possible. */
static quorum_status check_entry(member *m, const zip_stat_t *s)
{
    const zip_uint64_t wanted =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if ((s->valid & wanted) != wanted)
        return fail_member(m, "its size is not known; the file is damaged");
    if (s->encryption_method != ZIP_EM_NONE)
        return fail_member(m, "is encrypted, which is not supported");
    if (s->comp_method != ZIP_CM_STORE && s->comp_method != ZIP_CM_DEFLATE)
        return fail_member(m, "is compressed in a way that is not supported (only deflate is)");
    if (s->comp_size > m->npz->file_bytes ||
        (s->comp_method == ZIP_CM_STORE && s->comp_size != s->size) ||
        s->size > MAX_RATIO * s->comp_size + RATIO_SLACK)
        return fail_member(m, "has an impossible size; the file is damaged");
    double physical = mem_physical();
    if (physical > 0 && (double)s->size > physical)
        return failure(QUORUM_E_MEMORY, "%s: member %s: needs %.1f GB, this machine has %.1f GB",
                       m->npz->path, m->name, (double)s->size / 1e9, physical / 1e9);
    m->size = (size_t)s->size;
    return QUORUM_OK;
}

static quorum_status open_member(npz_reader *r, const char *name, member *m)
{
    zip_stat_t about;
    zip_int64_t index = locate(r, name);
    *m = (member){.npz = r};
    snprintf(m->name, sizeof m->name, "%s", name);
    if (index < 0)
        return fail_member(m, "is not in the file");
    zip_stat_init(&about);
    if (zip_stat_index(r->zip, (zip_uint64_t)index, 0, &about) != 0)
        return fail_member(m, "cannot be read; the file is damaged");
    TRY(check_entry(m, &about));
    m->file = zip_fopen_index(r->zip, (zip_uint64_t)index, 0);
    if (!m->file)
        return failure(QUORUM_E_FORMAT, "%s: member %s: cannot be read (%s); the file is damaged",
                       r->path, m->name, zip_strerror(r->zip));
    return QUORUM_OK;
}

static void close_member(member *m)
{
    if (m->file)
        zip_fclose(m->file);
    m->file = NULL;
}

static quorum_status read_member(member *m, void *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        zip_int64_t got = zip_fread(m->file, (char *)to + done, n - done);
        if (got < 0)
            return failure(QUORUM_E_FORMAT,
                           "%s: member %s: cannot be read (%s); the file is damaged", m->npz->path,
                           m->name, zip_file_strerror(m->file));
        if (got == 0)
            return fail_member(m, "ends too early; the file is damaged");
        done += (size_t)got;
    }
    return QUORUM_OK;
}

/* All has been read: the end must come now, and with it the check of the CRC. */
static quorum_status finish_member(member *m)
{
    char extra;
    zip_int64_t got = zip_fread(m->file, &extra, 1);
    if (got == 0)
        return QUORUM_OK;
    return failure(QUORUM_E_FORMAT, "%s: member %s: %s; the file is damaged", m->npz->path, m->name,
                   got > 0 ? "is longer than the directory says" : zip_file_strerror(m->file));
}

/* ---- arrays ---- */

static quorum_status read_header(member *m, npy_header *h)
{
    quorum_status status = QUORUM_OK;
    unsigned char prefix[NPY_PREFIX];
    unsigned char *bytes = NULL;
    size_t size, n = m->size < sizeof prefix ? m->size : sizeof prefix;
    TRY(read_member(m, prefix, n));
    if (npy_header_size(prefix, n, &size) < 0)
        return failure_in(QUORUM_E_FORMAT, "%s: member %s", m->npz->path, m->name);
    if (size > m->size || size < n)
        return fail_member(m, "its npy header does not fit; the file is damaged");
    if (!NEW_ARRAY(bytes, size))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while reading", m->npz->path);
    memcpy(bytes, prefix, n);
    TRY_OR_DONE(read_member(m, bytes + n, size - n));
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
    if (!NEW_ARRAY(bytes, CONVERT_BYTES))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while reading", m->npz->path);
    for (size_t done = 0; done < h->count; done += step) {
        size_t n = h->count - done < step ? h->count - done : step;
        TRY_OR_DONE(read_member(m, bytes, n * h->size));
        if (!integers)
            npy_to_doubles(h, bytes, n, (double *)out + done);
        else if (npy_to_int64(h, bytes, n, (int64_t *)out + done) < 0) {
            status = failure_in(QUORUM_E_FORMAT, "%s: member %s", m->npz->path, m->name);
            goto done;
        }
    }
    status = finish_member(m);
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
        TRY_OR_DONE(read_member(m, bytes, n * h->size));
        npy_to_doubles(h, bytes, n, block);
        keep_wanted(s, width, done, n, block, out);
    }
    status = finish_member(m);
done:
    mem_free(bytes);
    mem_free(block);
    return status;
}

/* From column-major (rows x columns) to row-major; 8-byte elements. */
static void transpose(const uint64_t *from, size_t rows, size_t columns, uint64_t *to)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            to[i * columns + j] = from[j * rows + i];
}

static quorum_status to_row_major(const member *m, const npy_header *h, uint64_t **elements)
{
    uint64_t *sorted;
    if (!h->fortran || h->ndim < 2)
        return QUORUM_OK;
    if (!NEW_ARRAY(sorted, h->count))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while reading", m->npz->path);
    transpose(*elements, h->shape[0], h->shape[1], sorted);
    mem_free(*elements);
    *elements = sorted;
    return QUORUM_OK;
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

quorum_status npz_get_shape(npz_reader *r, const char *name, int ndim, size_t *shape)
{
    member m;
    npy_header h;
    quorum_status status = open_array(r, name, &m, &h);
    if (status >= 0)
        status = check_ndim(&m, &h, ndim);
    for (int i = 0; status >= 0 && i < ndim; i++)
        shape[i] = h.shape[i];
    close_member(&m);
    return status;
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
    TRY_OR_DONE(read_member(&m, copy, m.size));
    TRY_OR_DONE(finish_member(&m));
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
