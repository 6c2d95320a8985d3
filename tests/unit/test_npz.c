/* npz files: writing, reading, and files that are damaged in every way. */
#include "base/memory.h"
#include "archive/npz.h"
#include "archive/npz_list.h"
#include "data/reader.h"
#include "archive/zip.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>

/* after our headers: it makes a macro of fail */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { HEADER = 128, MAX_FILE = 8192 };

static const reader_options defaults = {.header = HEADER_AUTO, .missing = MISSING_ERROR};

/* ---- a temporary directory, which is the working directory ---- */

static char directory[] = "/tmp/quorum-test-XXXXXX";

static int enter_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static size_t count_files(void)
{
    size_t n = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void remove_files(void)
{
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove(e->d_name);
    closedir(d);
}

static int leave_directory(void **state)
{
    (void)state;
    remove_files();
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static void write_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static size_t load(const char *path, unsigned char *bytes)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, MAX_FILE, f);
    assert_true(n < MAX_FILE);
    fclose(f);
    return n;
}

static void check_message(quorum_status status, quorum_status wanted, const char *message)
{
    assert_string_equal(quorum_message(), message);
    assert_int_equal(status, wanted);
}

/* ---- an example with one member of each sort ---- */

static const double matrix[6] = {1.5, -2, 3e300, 4, 5, 6};
static const double number = 0.1;
static const int64_t integers[3] = {-1, INT64_MAX, INT64_MIN};
static const char text[] = "{\"kernel\": \"se\"}\n";

static quorum_status add_example(npz_writer *w)
{
    TRY(npz_add_doubles(w, "matrix", 2, (const size_t[]){2, 3}, matrix));
    TRY(npz_add_doubles(w, "number", 0, NULL, &number));
    TRY(npz_add_int64(w, "integers", 1, (const size_t[]){3}, integers));
    TRY(npz_add_doubles(w, "nothing", 2, (const size_t[]){0, 4}, NULL));
    return npz_add_text(w, "meta.json", text);
}

static quorum_status save_example(const char *path)
{
    quorum_status status;
    npz_writer *w = npz_writer_new();
    if (!w)
        return QUORUM_E_MEMORY;
    status = add_example(w);
    if (status >= 0)
        status = npz_writer_save(w, path);
    npz_writer_free(w);
    return status;
}

/* Reads the example; QUORUM_OK only when all of it is as it was written. */
static quorum_status read_members(npz_reader *r)
{
    quorum_status status = QUORUM_OK;
    double *m = NULL, *n = NULL, *e = NULL;
    int64_t *i = NULL;
    char *t = NULL;
    size_t shape[2];
    TRY_OR_DONE(npz_get_doubles(r, "matrix", 2, shape, &m));
    assert_true(shape[0] == 2 && shape[1] == 3);
    assert_memory_equal(m, matrix, sizeof matrix);
    TRY_OR_DONE(npz_get_doubles(r, "number", 0, NULL, &n));
    assert_memory_equal(n, &number, sizeof number);
    TRY_OR_DONE(npz_get_int64(r, "integers", 1, shape, &i));
    assert_int_equal(shape[0], 3);
    assert_memory_equal(i, integers, sizeof integers);
    TRY_OR_DONE(npz_get_doubles(r, "nothing", 2, shape, &e));
    assert_true(shape[0] == 0 && shape[1] == 4);
    TRY_OR_DONE(npz_get_text(r, "meta.json", &t));
    assert_string_equal(t, text);
done:
    mem_free(m);
    mem_free(n);
    mem_free(e);
    mem_free(i);
    mem_free(t);
    return status;
}

static quorum_status read_example(const char *path)
{
    npz_reader *r = NULL;
    quorum_status status = npz_open(path, &r);
    if (status >= 0)
        status = read_members(r);
    else
        assert_null(r);
    npz_close(r);
    return status;
}

static void round_trip(void **state)
{
    (void)state;
    assert_int_equal(save_example("e.npz"), QUORUM_OK);
    assert_int_equal(read_example("e.npz"), QUORUM_OK);
    assert_int_equal(count_files(), 1);
    npz_reader *r;
    assert_int_equal(npz_open("e.npz", &r), QUORUM_OK);
    assert_true(npz_has(r, "matrix") && npz_has(r, "meta.json"));
    assert_false(npz_has(r, "matri"));
    assert_false(npz_has(r, "meta"));
    char name[8];
    int ndim;
    assert_int_equal(npz_count_arrays(r, name, sizeof name), 4);
    assert_string_equal(name, "matrix");
    assert_int_equal(npz_get_ndim(r, "number", &ndim), QUORUM_OK);
    assert_int_equal(ndim, 0);
    npz_close(r);
    npz_close(NULL);
}

static void equal_content_gives_equal_files(void **state)
{
    (void)state;
    unsigned char a[MAX_FILE], b[MAX_FILE];
    assert_int_equal(save_example("e.npz"), QUORUM_OK);
    assert_int_equal(save_example("f.npz"), QUORUM_OK);
    size_t n = load("e.npz", a);
    assert_int_equal(load("f.npz", b), n);
    assert_memory_equal(a, b, n);
}

/* ---- writing ---- */

static void saving_replaces_and_keeps_to_the_umask(void **state)
{
    (void)state;
    struct stat about;
    mode_t old = umask(027);
    remove_files();
    assert_int_equal(save_example("e.npz"), QUORUM_OK);
    assert_int_equal(chmod("e.npz", 0600), 0);
    assert_int_equal(save_example("e.npz"), QUORUM_OK);
    assert_int_equal(stat("e.npz", &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600); /* as it was */
    assert_int_equal(unlink("e.npz"), 0);
    assert_int_equal(symlink("real.npz", "e.npz"), 0);
    assert_int_equal(save_example("e.npz"), QUORUM_OK);
    assert_int_equal(lstat("e.npz", &about), 0);
    assert_true(S_ISLNK(about.st_mode)); /* the link survives */
    assert_int_equal(stat("e.npz", &about), 0);
    umask(old);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_int_equal(read_example("e.npz"), QUORUM_OK);
    assert_int_equal(mkdir("sub", 0700), 0);
    assert_int_equal(save_example("sub/e.npz"), QUORUM_OK);
    assert_int_equal(read_example("sub/e.npz"), QUORUM_OK);
    unlink("sub/e.npz");
    rmdir("sub");
}

static void an_empty_archive(void **state)
{
    (void)state;
    npz_writer *w = npz_writer_new();
    quorum_status status = npz_writer_save(w, "empty.npz");
    npz_writer_free(w);
    check_message(status, QUORUM_E_ARGUMENT, "empty.npz: there is nothing to write");
    npz_writer_free(NULL);
}

static void wrong_members(void **state)
{
    (void)state;
    npz_writer *w = npz_writer_new();
    assert_int_equal(npz_add_doubles(w, "a", 0, NULL, &number), QUORUM_OK);
    check_message(npz_add_int64(w, "a", 1, (const size_t[]){3}, integers), QUORUM_E_ARGUMENT,
                  "member a.npy is added twice");
    check_message(npz_add_doubles(w, "b", 3, (const size_t[]){1, 1, 1}, &number), QUORUM_E_ARGUMENT,
                  "member b has 3 dimensions, not 0 to 2");
    check_message(npz_add_doubles(w, "b", 2, (const size_t[]){SIZE_MAX, 2}, &number),
                  QUORUM_E_ARGUMENT, "member b is too large");
    for (int i = 0; i < 100; i++) { /* more than fit at first */
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        assert_int_equal(npz_add_int64(w, name, 1, (const size_t[]){3}, integers), QUORUM_OK);
    }
    assert_int_equal(npz_writer_save(w, "many.npz"), QUORUM_OK);
    npz_writer_free(w);
    npz_reader *r;
    size_t length;
    int64_t *data;
    assert_int_equal(npz_open("many.npz", &r), QUORUM_OK);
    assert_int_equal(npz_get_int64(r, "m99", 1, &length, &data), QUORUM_OK);
    assert_memory_equal(data, integers, sizeof integers);
    mem_free(data);
    npz_close(r);
}

static void places_that_cannot_be_written(void **state)
{
    (void)state;
    remove_files();
    check_message(save_example("none/e.npz"), QUORUM_E_FILE,
                  "none/e.npz: cannot be written: No such file or directory");
    assert_int_equal(mkdir("dir", 0700), 0);
    check_message(save_example("dir"), QUORUM_E_FILE, "dir: cannot be written: is a directory");
    check_message(save_example("/dev/null"), QUORUM_E_FILE,
                  "/dev/null: cannot be written: not a regular file");
    rmdir("dir");
    assert_int_equal(count_files(), 0);
}

/* No file may grow beyond 600 bytes: as a full disk. */
static void a_full_disk(void **state)
{
    (void)state;
    struct rlimit old, small;
    write_bytes("e.npz", "old", 3);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 600;
    setrlimit(RLIMIT_FSIZE, &small);
    quorum_status status = save_example("e.npz");
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, QUORUM_E_FILE);
    assert_non_null(strstr(quorum_message(), "e.npz: cannot be written: "));
    assert_non_null(strstr(quorum_message(), "File too large"));
    unsigned char bytes[MAX_FILE];
    assert_int_equal(load("e.npz", bytes), 3); /* as it was */
    assert_int_equal(count_files(), 1);        /* and nothing left */
}

/* ---- archives made for reading ---- */

typedef struct {
    const char *name;
    const void *bytes;
    size_t n;
} entry;

static void put(FILE *f, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        fputc((int)(value & 255), f);
}

/* Deflates `e` without a header; the caller frees it. */
static unsigned char *pack(const entry *e, size_t *packed)
{
    z_stream z = {.next_in = (unsigned char *)e->bytes, .avail_in = (uInt)e->n};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
    uLong most = deflateBound(&z, (uLong)e->n);
    unsigned char *bytes = malloc(most);
    z.next_out = bytes;
    z.avail_out = (uInt)most;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *packed = z.total_out;
    deflateEnd(&z);
    return bytes;
}

/* Made here from the zip specification, not by the writer under test. */
enum { STORE = 0, DEFLATE = 1, ZIP64 = 2, DESCRIPTOR = 4 };

static void put_common(FILE *f, const entry *e, size_t packed, int how, int local)
{
    int later = local && (how & DESCRIPTOR), big = how & ZIP64;
    put(f, how & DESCRIPTOR ? 8 : 0, 2);
    put(f, how & DEFLATE ? 8 : 0, 2);
    put(f, 0x00210000, 4);
    put(f, later ? 0 : crc32(0, e->bytes, (uInt)e->n), 4);
    put(f, big ? 0xFFFFFFFF : later ? 0 : packed, 4);
    put(f, big ? 0xFFFFFFFF : later ? 0 : e->n, 4);
    put(f, strlen(e->name), 2);
    put(f, big ? local ? 20 : 28 : 0, 2);
}

static void put_extra(FILE *f, const entry *e, size_t packed, int how, const size_t *offset)
{
    if (!(how & ZIP64))
        return;
    put(f, 1, 2);
    put(f, offset ? 24 : 16, 2);
    put(f, e->n, 8);
    put(f, packed, 8);
    if (offset)
        put(f, *offset, 8);
}

static size_t put_local(FILE *f, const entry *e, int how)
{
    size_t packed = e->n;
    unsigned char *bytes = how & DEFLATE ? pack(e, &packed) : NULL;
    put(f, 0x04034b50, 4);
    put(f, 45, 2);
    put_common(f, e, packed, how, 1);
    fputs(e->name, f);
    put_extra(f, e, packed, how, NULL);
    fwrite(bytes ? bytes : e->bytes, 1, packed, f);
    free(bytes);
    if (how & DESCRIPTOR) {
        put(f, 0x08074b50, 4);
        put(f, crc32(0, e->bytes, (uInt)e->n), 4);
        put(f, packed, how & ZIP64 ? 8 : 4);
        put(f, e->n, how & ZIP64 ? 8 : 4);
    }
    return packed;
}

static void put_central(FILE *f, const entry *e, size_t packed, int how, size_t offset)
{
    put(f, 0x02014b50, 4);
    put(f, 45, 2);
    put(f, 45, 2);
    put_common(f, e, packed, how, 0);
    put(f, 0, 10);
    put(f, how & ZIP64 ? 0xFFFFFFFF : offset, 4);
    fputs(e->name, f);
    put_extra(f, e, packed, how, &offset);
}

static void put_end(FILE *f, size_t central, size_t bytes, size_t n, int how)
{
    if (how & ZIP64) {
        put(f, 0x06064b50, 4);
        put(f, 44, 8);
        put(f, 45 | 45 << 16, 4);
        put(f, 0, 8);
        put(f, n, 8);
        put(f, n, 8);
        put(f, bytes, 8);
        put(f, central, 8);
        put(f, 0x07064b50, 4);
        put(f, 0, 4);
        put(f, central + bytes, 8);
        put(f, 1, 4);
    }
    put(f, 0x06054b50, 4);
    put(f, 0, 4);
    put(f, n, 2);
    put(f, n, 2);
    put(f, how & ZIP64 ? 0xFFFFFFFF : bytes, 4);
    put(f, how & ZIP64 ? 0xFFFFFFFF : central, 4);
    put(f, 0, 2);
}

static void write_archive(const char *path, const entry *entries, size_t n, int how)
{
    size_t packed[8], offset[8];
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(n <= 8);
    for (size_t i = 0; i < n; i++) {
        offset[i] = (size_t)ftell(f);
        packed[i] = put_local(f, &entries[i], how);
    }
    size_t central = (size_t)ftell(f);
    for (size_t i = 0; i < n; i++)
        put_central(f, &entries[i], packed[i], how, offset[i]);
    put_end(f, central, (size_t)ftell(f) - central, n, how);
    assert_int_equal(fclose(f), 0);
}

/* An npy of version 1 in `bytes`; returns its size. */
static size_t make_npy(unsigned char *bytes, const char *descr, int fortran, const char *shape,
                       const void *data, size_t n)
{
    char dictionary[HEADER];
    int length = snprintf(dictionary, sizeof dictionary,
                          "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr,
                          fortran ? "True" : "False", shape);
    memset(bytes, ' ', HEADER);
    memcpy(bytes, "\x93NUMPY\1\0\x76\0", 10);
    memcpy(bytes + 10, dictionary, (size_t)length);
    bytes[HEADER - 1] = '\n';
    memcpy(bytes + HEADER, data, n);
    return HEADER + n;
}

static void write_array(const char *path, const char *name, const char *descr, int fortran,
                        const char *shape, const void *data, size_t n)
{
    unsigned char bytes[1024];
    entry e = {name, bytes, make_npy(bytes, descr, fortran, shape, data, n)};
    write_archive(path, &e, 1, 1);
}

static void compressed_and_column_major(void **state)
{
    (void)state;
    npz_reader *r;
    double *d;
    int64_t *i;
    size_t shape[2];
    write_array("t.npz", "a.npy", ">i2", 1, "(2, 3)", "\0\1\0\2\0\3\0\4\0\5\xFF\xFF", 12);
    assert_int_equal(npz_open("t.npz", &r), QUORUM_OK);
    assert_int_equal(npz_get_doubles(r, "a", 2, shape, &d), QUORUM_OK);
    assert_true(shape[0] == 2 && shape[1] == 3);
    assert_memory_equal(d, ((const double[]){1, 3, 5, 2, 4, -1}), 6 * sizeof *d);
    assert_int_equal(npz_get_int64(r, "a", 2, shape, &i), QUORUM_OK);
    assert_memory_equal(i, ((const int64_t[]){1, 3, 5, 2, 4, -1}), 6 * sizeof *i);
    mem_free(d);
    mem_free(i);
    npz_close(r);
}

static void check_int64_fails(const char *descr, const void *data, size_t n, const char *message)
{
    npz_reader *r;
    int64_t *i;
    size_t shape[1];
    write_array("t.npz", "a.npy", descr, 0, "(1,)", data, n);
    assert_int_equal(npz_open("t.npz", &r), QUORUM_OK);
    check_message(npz_get_int64(r, "a", 1, shape, &i), QUORUM_E_FORMAT, message);
    assert_null(i);
    npz_close(r);
}

static void integers_of_other_types(void **state)
{
    (void)state;
    check_int64_fails("<f8", &number, 8,
                      "t.npz: member a.npy: the array holds floats where integers are expected");
    check_int64_fails("<u8", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8,
                      "t.npz: member a.npy: element 0 is too large for an integer of 64 bits");
    npz_reader *r;
    int64_t *i;
    size_t shape[1];
    write_array("t.npz", "a.npy", "|b1", 0, "(2,)", "\0\1", 2);
    assert_int_equal(npz_open("t.npz", &r), QUORUM_OK);
    assert_int_equal(npz_get_int64(r, "a", 1, shape, &i), QUORUM_OK);
    assert_true(i[0] == 0 && i[1] == 1);
    mem_free(i);
    npz_close(r);
}

/* ---- the ways of a zip ---- */

static quorum_status get_a(const char *path)
{
    npz_reader *r = NULL;
    double *d = NULL;
    size_t shape[1];
    quorum_status status = npz_open(path, &r);
    if (status >= 0)
        status = npz_get_doubles(r, "a", 1, shape, &d);
    npz_close(r);
    mem_free(d);
    return status;
}

static void every_kind_of_archive(void **state)
{
    (void)state;
    unsigned char a[1024], b[1024];
    const entry e[] = {
        {"a.npy", a, make_npy(a, "<f8", 0, "(1,)", &number, 8)},
        {"b.npy", b, make_npy(b, "<f8", 0, "(0,)", "", 0)},
        {"t.txt", text, strlen(text)},
    };
    for (int how = 0; how < 8; how++) {
        npz_reader *r;
        double *d;
        char *t;
        size_t n;
        write_archive("t.npz", e, 3, how);
        assert_int_equal(npz_open("t.npz", &r), QUORUM_OK);
        assert_int_equal(npz_get_doubles(r, "a", 1, &n, &d), QUORUM_OK);
        assert_true(n == 1 && d[0] == number);
        mem_free(d);
        assert_int_equal(npz_get_doubles(r, "b", 1, &n, &d), QUORUM_OK);
        assert_int_equal(n, 0);
        mem_free(d);
        assert_int_equal(npz_get_text(r, "t.txt", &t), QUORUM_OK);
        assert_string_equal(t, text);
        mem_free(t);
        npz_close(r);
    }
}

/* Behind a hole of 5 GB: offsets and the end record are those of zip64. */
static void offsets_beyond_four_gigabytes(void **state)
{
    (void)state;
    const uint64_t far = (uint64_t)5 << 30;
    unsigned char npy[1024];
    size_t n = make_npy(npy, "<f8", 0, "(1,)", &number, 8);
    zip_written m = {.name = "a.npy", .size = n};
    zip_writer z = {.fd = open("t.npz", O_RDWR | O_CREAT | O_TRUNC, 0666), .position = far};
    assert_true(z.fd >= 0 && lseek(z.fd, (off_t)far, SEEK_SET) == (off_t)far);
    zip_writer_begin(&z, &m);
    zip_writer_put(&z, npy, n);
    zip_writer_end(&z, &m);
    uint64_t central = z.position;
    zip_writer_directory(&z, &m);
    zip_writer_finish(&z, central, 1);
    assert_int_equal(z.error, 0);
    close(z.fd);
    assert_int_equal(get_a("t.npz"), QUORUM_OK);
    remove_files();
}

/* Zeros, none of which are there before they are asked for. */
static quorum_status nothing_but_zeros(void *context, void *to, size_t bytes)
{
    (void)context;
    memset(to, 0, bytes);
    return QUORUM_OK;
}

/* A member beyond 4 GB: its sizes are those of zip64.  Takes 4 GB of disk, so only if asked. */
static void larger_than_four_gigabytes(void **state)
{
    (void)state;
    const size_t large = (((size_t)1 << 32) + 8) / 8;
    struct statvfs room;
    if (!getenv("QUORUM_TEST_LARGE") || statvfs(".", &room) != 0 ||
        (double)room.f_bavail * (double)room.f_frsize < 5e9)
        skip();
    npz_writer *w = npz_writer_new();
    assert_int_equal(npz_add_pulled(w, "large", 1, &large, nothing_but_zeros, NULL), QUORUM_OK);
    assert_int_equal(npz_add_doubles(w, "number", 0, NULL, &number), QUORUM_OK);
    assert_int_equal(npz_writer_save(w, "large.npz"), QUORUM_OK);
    npz_writer_free(w);
    npz_reader *r;
    double *d;
    size_t n;
    assert_int_equal(npz_open("large.npz", &r), QUORUM_OK);
    assert_int_equal(npz_get_shape(r, "large", 1, &n), QUORUM_OK);
    assert_true(n == large);
    assert_int_equal(npz_get_doubles(r, "number", 0, NULL, &d), QUORUM_OK);
    assert_true(*d == number);
    mem_free(d);
    npz_close(r);
    remove_files();
}

/* ---- what was written is read back before it takes its place ---- */

static quorum_status look_and_refuse(npz_reader *r, void *context)
{
    int *looked = context;
    assert_int_equal(read_members(r), QUORUM_OK);
    *looked += 1;
    return *looked == 1 ? failure(QUORUM_E_FORMAT, "it is not to one's taste") : QUORUM_OK;
}

static void a_check_before_the_file_takes_its_place(void **state)
{
    (void)state;
    int looked = 0;
    remove_files();
    npz_writer *w = npz_writer_new();
    assert_int_equal(add_example(w), QUORUM_OK);
    npz_writer_check(w, look_and_refuse, &looked);
    check_message(npz_writer_save(w, "e.npz"), QUORUM_E_FILE,
                  "e.npz: was not written: it does not read back as it should: it is not to one's "
                  "taste");
    assert_int_equal(count_files(), 0);
    assert_int_equal(npz_writer_save(w, "e.npz"), QUORUM_OK);
    assert_int_equal(looked, 2);
    npz_writer_free(w);
    assert_int_equal(read_example("e.npz"), QUORUM_OK);
}

/* A byte of the last piece that is pulled changes, in the file, before the next member: as a
 * write that went wrong without an error. */
static quorum_status spoil(void *context, void *to, size_t bytes)
{
    memset(to, 'x', bytes);
    for (int fd = 3; fd < 64; fd++) {
        struct stat about;
        if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 0)
            assert_int_equal(pwrite(fd, context, 1, 200), 1);
    }
    return QUORUM_OK;
}

static void a_write_that_goes_wrong(void **state)
{
    (void)state;
    const size_t n = 10;
    char byte = 'y';
    remove_files();
    npz_writer *w = npz_writer_new();
    assert_int_equal(npz_add_doubles(w, "matrix", 2, (const size_t[]){2, 3}, matrix), QUORUM_OK);
    assert_int_equal(npz_add_pulled(w, "p", 1, &n, spoil, &byte), QUORUM_OK);
    check_message(npz_writer_save(w, "e.npz"), QUORUM_E_FILE,
                  "e.npz: was not written: it does not read back as it should: e.npz: member "
                  "matrix.npy: CRC error; the file is damaged");
    npz_writer_free(w);
    assert_int_equal(count_files(), 0);
}

/* ---- complaints ---- */

static void wrong_requests(void **state)
{
    (void)state;
    npz_reader *r;
    double *d;
    char *t;
    size_t shape[2];
    assert_int_equal(save_example("e.npz"), QUORUM_OK);
    assert_int_equal(npz_open("e.npz", &r), QUORUM_OK);
    check_message(npz_get_doubles(r, "absent", 1, shape, &d), QUORUM_E_FORMAT,
                  "e.npz: member absent.npy: is not in the file");
    assert_null(d);
    check_message(npz_get_doubles(r, "matrix", 1, shape, &d), QUORUM_E_FORMAT,
                  "e.npz: member matrix.npy: has 2 dimensions where 1 are expected");
    check_message(npz_get_text(r, "absent.json", &t), QUORUM_E_FORMAT,
                  "e.npz: member absent.json: is not in the file");
    assert_null(t);
    check_message(npz_get_text(r, "matrix.npy", &t), QUORUM_E_FORMAT,
                  "e.npz: member matrix.npy: is not text: it contains a zero byte");
    char name[300];
    memset(name, 'a', sizeof name);
    name[299] = '\0';
    assert_int_equal(npz_get_doubles(r, name, 1, shape, &d), QUORUM_E_ARGUMENT);
    assert_false(npz_has(r, name));
    npz_close(r);
}

static quorum_status open_only(const char *path)
{
    npz_reader *r = NULL;
    quorum_status status = npz_open(path, &r);
    npz_close(r);
    return status;
}

static void files_that_are_no_npz(void **state)
{
    (void)state;
    check_message(open_only("nowhere.npz"), QUORUM_E_FILE,
                  "nowhere.npz: cannot be opened: No such file or directory");
    check_message(open_only("."), QUORUM_E_FILE, ".: is a directory, not a file");
    check_message(open_only("/dev/null"), QUORUM_E_FILE,
                  "/dev/null: is not a regular file; an npz is read from one");
    write_bytes("t.npz", "", 0);
    check_message(open_only("t.npz"), QUORUM_E_FORMAT, "t.npz: is empty, not an npz file");
    write_bytes("t.npz", "a,b\n1,2\n", 8);
    check_message(open_only("t.npz"), QUORUM_E_FORMAT,
                  "t.npz: is not an npz file, or is truncated or damaged");
}

static void check_member(const void *bytes, size_t n, const char *message)
{
    write_archive("t.npz", &(entry){"a.npy", bytes, n}, 1, 0);
    check_message(get_a("t.npz"), QUORUM_E_FORMAT, message);
}

static void hostile_members(void **state)
{
    (void)state;
    unsigned char b[1024];
    size_t n = make_npy(b, "<f8", 0, "(1000000000000,)", "", 0);
    check_member(b, n, "t.npz: member a.npy: its shape and its size disagree; the file is damaged");
    n = make_npy(b, "<f8", 0, "(1,)", "\0\0\0\0\0\0\0\0\0", 9);
    check_member(b, n, "t.npz: member a.npy: its shape and its size disagree; the file is damaged");
    n = make_npy(b, "<f8", 0, "(4294967296, 4294967296)", "", 0);
    check_member(b, n,
                 "t.npz: member a.npy: the npy header is damaged: the shape is absurdly large");
    check_member(b, 60, "t.npz: member a.npy: its npy header does not fit; the file is damaged");
    check_member("\x93NUMPY\1\0\0\0", 10, "t.npz: member a.npy: the npy header is damaged");
    check_member("\x93NUMPY\1\0\1\0{", 11, "t.npz: member a.npy: the npy header is damaged");
    check_member("hello, world", 12, "t.npz: member a.npy: is not an npy array");
    check_member("", 0, "t.npz: member a.npy: is not an npy array");
}

static unsigned char *find_bytes(unsigned char *bytes, size_t n, const char *what, size_t length)
{
    unsigned char *found = memmem(bytes, n, what, length);
    assert_non_null(found);
    return found;
}

/* Sizes in the directory: offset 20 compressed, 24 uncompressed; 8 flags; 10 method. */
static void hostile_directories(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        unsigned char value;
        const char *message;
    } bad[] = {
        {27, 0x40, "t.npz: member a.npy: has an impossible size; the file is damaged"},
        {23, 0x40, "t.npz: member a.npy: has an impossible size; the file is damaged"},
        {8, 1, "t.npz: member a.npy: is encrypted, which is not supported"},
        {10, 12,
         "t.npz: member a.npy: is compressed in a way that is not supported (only deflate is)"},
    };
    unsigned char bytes[MAX_FILE];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_array("t.npz", "a.npy", "<f8", 0, "(1,)", &number, 8);
        size_t n = load("t.npz", bytes);
        find_bytes(bytes, n, "PK\1\2", 4)[bad[i].at] = bad[i].value;
        write_bytes("t.npz", bytes, n);
        check_message(get_a("t.npz"), QUORUM_E_FORMAT, bad[i].message);
    }
}

static void a_wrong_checksum(void **state)
{
    (void)state;
    unsigned char bytes[MAX_FILE];
    assert_int_equal(save_example("e.npz"), QUORUM_OK);
    size_t n = load("e.npz", bytes);
    find_bytes(bytes, n, (const char *)matrix, 8)[0] ^= 1;
    write_bytes("bad.npz", bytes, n);
    check_message(read_example("bad.npz"), QUORUM_E_FORMAT,
                  "bad.npz: member matrix.npy: CRC error; the file is damaged");
}

static void the_same_name_twice(void **state)
{
    (void)state;
    unsigned char npy[1024], bytes[MAX_FILE];
    size_t n = make_npy(npy, "<f8", 0, "(1,)", &number, 8);
    write_archive("t.npz", (const entry[]){{"a.npy", npy, n}, {"b.npy", npy, n}}, 2, 0);
    n = load("t.npz", bytes);
    for (size_t i = 0; i + 5 < n; i++)
        if (memcmp(bytes + i, "b.npy", 5) == 0)
            bytes[i] = 'a';
    write_bytes("t.npz", bytes, n);
    check_message(open_only("t.npz"), QUORUM_E_FORMAT,
                  "t.npz: member a.npy: is there twice; the file is damaged");
}

/* Two entries of one member's bytes, so that one file holds more than it is long. */
static void members_that_overlap(void **state)
{
    (void)state;
    unsigned char npy[1024], bytes[MAX_FILE];
    size_t n = make_npy(npy, "<f8", 0, "(1,)", &number, 8);
    write_archive("t.npz", (const entry[]){{"a.npy", npy, n}, {"b.npy", npy, n}}, 2, 0);
    n = load("t.npz", bytes);
    unsigned char *first = find_bytes(bytes, n, "PK\1\2", 4), *second = first + 46 + 5;
    memcpy(second + 42, first + 42, 4);
    write_bytes("t.npz", bytes, n);
    assert_int_equal(open_only("t.npz"), QUORUM_E_FORMAT);
    assert_non_null(strstr(quorum_message(), "overlaps another one; the file is damaged"));
    memcpy(second + 42, "\1\0\0\0", 4);
    write_bytes("t.npz", bytes, n);
    assert_int_equal(open_only("t.npz"), QUORUM_E_FORMAT);
    assert_non_null(strstr(quorum_message(), "; the file is damaged"));
}

static void too_many_members(void **state)
{
    (void)state;
    FILE *f = fopen("t.npz", "wb");
    const entry e = {"a", "", 0};
    put_local(f, &e, 0);
    size_t central = (size_t)ftell(f);
    for (int i = 0; i < 20000; i++)
        put_central(f, &e, 0, 0, 0);
    put_end(f, central, (size_t)ftell(f) - central, 20000, 0);
    fclose(f);
    check_message(open_only("t.npz"), QUORUM_E_FORMAT,
                  "t.npz: has more than 10000 members, or very long names; no npz of that kind is "
                  "read");
}

/* 64 MB of zeros deflate about 1030 : 1, which deflate can do and is let pass. */
static void a_large_compressed_member(void **state)
{
    (void)state;
    size_t n = 8 << 20;
    unsigned char *bytes = calloc(HEADER + 8 * n, 1);
    make_npy(bytes, "<f8", 0, "(8388608,)", "", 0);
    write_archive("t.npz", &(entry){"a.npy", bytes, HEADER + 8 * n}, 1, 1);
    free(bytes);
    assert_int_equal(get_a("t.npz"), QUORUM_OK);
}

/* ---- every damage to a small file: a complaint, or the same data ---- */

static void check_harmless_or_said(const char *path)
{
    quorum_status status = read_example(path);
    if (status < 0)
        assert_non_null(strstr(quorum_message(), path));
}

static void every_truncation(void **state)
{
    (void)state;
    unsigned char bytes[MAX_FILE];
    assert_int_equal(save_example("e.npz"), QUORUM_OK);
    size_t n = load("e.npz", bytes);
    for (size_t cut = 0; cut < n; cut++) {
        write_bytes("cut.npz", bytes, cut);
        assert_int_equal(read_example("cut.npz"), QUORUM_E_FORMAT);
        assert_non_null(strstr(quorum_message(), "cut.npz: "));
    }
}

static void every_flipped_byte(void **state)
{
    (void)state;
    static const unsigned char flips[] = {0x01, 0x80, 0xFF};
    unsigned char bytes[MAX_FILE];
    assert_int_equal(save_example("e.npz"), QUORUM_OK);
    size_t n = load("e.npz", bytes), harmless = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof flips; k++) {
            bytes[i] ^= flips[k];
            write_bytes("flip.npz", bytes, n);
            check_harmless_or_said("flip.npz");
            harmless += read_example("flip.npz") >= 0;
            bytes[i] ^= flips[k];
        }
    }
    assert_true(harmless < n); /* most of the bytes are checked */
}

/* ---- an npz as a table ---- */

static quorum_status read_table(const char *path, size_t *columns, size_t *rows, double *cells,
                                char *last)
{
    reader *r = NULL;
    quorum_status status = reader_open(path, &defaults, &r);
    if (status < 0)
        return status;
    *columns = reader_columns(r);
    assert_false(reader_has_names(r));
    snprintf(last, 8, "%s", reader_name(r, *columns - 1));
    status = reader_next(r, 8, cells, rows);
    reader_close(r);
    return status;
}

static void save_pair(const char *path, int ndim_x, const size_t *shape_x, int ndim_y,
                      const size_t *shape_y)
{
    static const int64_t y[4] = {7, 8, 9, 10};
    npz_writer *w = npz_writer_new();
    assert_int_equal(npz_add_int64(w, "y", ndim_y, shape_y, y), QUORUM_OK);
    assert_int_equal(npz_add_doubles(w, "X", ndim_x, shape_x, matrix), QUORUM_OK);
    assert_int_equal(npz_writer_save(w, path), QUORUM_OK);
    npz_writer_free(w);
}

static void inputs_and_target(void **state)
{
    (void)state;
    size_t columns, rows;
    double cells[64];
    char last[8];
    save_pair("t.npz", 2, (const size_t[]){2, 3}, 1, (const size_t[]){2});
    assert_int_equal(read_table("t.npz", &columns, &rows, cells, last), QUORUM_OK);
    assert_true(columns == 4 && rows == 2);
    assert_memory_equal(cells, ((const double[]){1.5, -2, 3e300, 7, 4, 5, 6, 8}), 64);
    assert_string_equal(last, "y");
    save_pair("t.npz", 1, (const size_t[]){3}, 2, (const size_t[]){3, 1});
    assert_int_equal(read_table("t.npz", &columns, &rows, cells, last), QUORUM_OK);
    assert_true(columns == 2 && rows == 3);
    assert_memory_equal(cells, ((const double[]){1.5, 7, -2, 8, 3e300, 9}), 48);
    save_pair("t.npz", 2, (const size_t[]){2, 3}, 1, (const size_t[]){3});
    check_message(read_table("t.npz", &columns, &rows, cells, last), QUORUM_E_DATA,
                  "t.npz: array X has 2 rows and y has 3");
    save_pair("t.npz", 2, (const size_t[]){2, 3}, 2, (const size_t[]){2, 2});
    check_message(read_table("t.npz", &columns, &rows, cells, last), QUORUM_E_DATA,
                  "t.npz: array y has 2 columns, not one");
    save_pair("t.npz", 0, NULL, 1, (const size_t[]){1});
    check_message(read_table("t.npz", &columns, &rows, cells, last), QUORUM_E_DATA,
                  "t.npz: array X is a single number, not rows");
    save_pair("t.npz", 2, (const size_t[]){2, 0}, 1, (const size_t[]){2});
    check_message(read_table("t.npz", &columns, &rows, cells, last), QUORUM_E_DATA,
                  "t.npz: has no columns");
    save_pair("t.npz", 2, (const size_t[]){0, SIZE_MAX / 8}, 1, (const size_t[]){0});
    assert_int_equal(read_table("t.npz", &columns, &rows, cells, last), QUORUM_E_FORMAT);
}

static void the_only_array(void **state)
{
    (void)state;
    size_t columns, rows;
    double cells[64];
    char last[8];
    write_array("t.npz", "anything.npy", "|u1", 1, "(2, 2)", "\1\2\3\4", 4);
    assert_int_equal(read_table("t.npz", &columns, &rows, cells, last), QUORUM_OK);
    assert_true(columns == 2 && rows == 2);
    assert_memory_equal(cells, ((const double[]){1, 3, 2, 4}), 32);
    assert_string_equal(last, "x2");
    assert_int_equal(save_example("e.npz"), QUORUM_OK);
    check_message(read_table("e.npz", &columns, &rows, cells, last), QUORUM_E_DATA,
                  "e.npz: holds 4 arrays; arrays X and y, or one array alone, can be read as data");
    write_array("t.npz", "a.npy", "<f4", 0, "(2,)", "\0\0\xC0\x7F\0\0\0\0", 8);
    check_message(read_table("t.npz", &columns, &rows, cells, last), QUORUM_E_DATA,
                  "t.npz: row 1, column 1: value is nan, a missing value; fix it, or skip such "
                  "rows with --missing drop");
    reader *r;
    assert_int_equal(
        reader_open("t.npz", &(reader_options){.header = HEADER_AUTO, .missing = MISSING_DROP}, &r),
        QUORUM_OK);
    assert_int_equal(reader_next(r, 8, cells, &rows), QUORUM_OK);
    assert_true(rows == 1 && cells[0] == 0 && reader_dropped(r) == 1);
    reader_close(r);
}

/* ---- memory that runs out, at every allocation in turn ---- */

static quorum_status read_pair_table(const char *path)
{
    size_t columns, rows;
    double cells[64];
    char last[8];
    return read_table(path, &columns, &rows, cells, last);
}

static void check_memory_failures(quorum_status (*run)(const char *path), const char *path)
{
    for (long n = 1;; n++) {
        mem_fail_at(n);
        quorum_status status = run(path);
        long asked = mem_allocations();
        mem_fail_at(0);
        if (asked < n) {
            assert_int_equal(status, QUORUM_OK);
            assert_true(n > 5);
            return;
        }
        assert_int_equal(status, QUORUM_E_MEMORY);
    }
}

static void memory_that_runs_out(void **state)
{
    (void)state;
    remove_files();
    check_memory_failures(save_example, "e.npz");
    assert_int_equal(count_files(), 1);
    check_memory_failures(read_example, "e.npz");
    save_pair("t.npz", 2, (const size_t[]){2, 3}, 1, (const size_t[]){2});
    check_memory_failures(read_pair_table, "t.npz");
    write_array("t.npz", "f.npy", "|u1", 1, "(2, 2)", "\1\2\3\4", 4);
    check_memory_failures(read_pair_table, "t.npz");
}

/* ---- rows that come and go piece by piece ---- */

/* 0, 1, 2, ... as many as are asked for, up to a limit. */
typedef struct {
    size_t next, limit; /* bytes */
} counter;

static quorum_status count_up(void *context, void *to, size_t bytes)
{
    counter *c = context;
    for (size_t i = 0; i < bytes; i++, c->next++) {
        double value = (double)(c->next / sizeof value);
        if (c->next >= c->limit)
            return QUORUM_E_DATA;
        ((char *)to)[i] = ((char *)&value)[c->next % sizeof value];
    }
    return QUORUM_OK;
}

static void pulled_and_read_in_part(void **state)
{
    (void)state;
    enum { rows = 50000, width = 3 };
    const size_t shape[] = {rows, width}, first[] = {0, 10, 20000, 20001, rows};
    const char wanted[] = {0, 1, 0, 1};
    counter c = {.limit = (size_t)rows * width * sizeof(double)};
    npz_writer *w = npz_writer_new();
    assert_int_equal(npz_add_pulled(w, "X", 2, shape, count_up, &c), QUORUM_OK);
    assert_int_equal(npz_writer_save(w, "pulled.npz"), QUORUM_OK);
    npz_writer_free(w);
    npz_reader *r;
    double *all, *some;
    size_t found[2];
    npz_sections sections = {.count = 4, .first = first, .wanted = wanted};
    assert_int_equal(npz_open("pulled.npz", &r), QUORUM_OK);
    assert_int_equal(npz_get_doubles(r, "X", 2, found, &all), QUORUM_OK);
    assert_int_equal(npz_get_some_doubles(r, "X", 2, found, &sections, &some), QUORUM_OK);
    for (size_t i = 0; i < (size_t)rows * width; i++)
        assert_true(all[i] == (double)i);
    for (size_t i = 30; i < (size_t)20000 * width; i++)
        assert_true(some[i] == (double)i);
    for (size_t i = (size_t)20001 * width; i < (size_t)rows * width; i++)
        assert_true(some[i] == (double)i);
    mem_free(all);
    mem_free(some);
    found[0] = found[1] = 0;
    assert_int_equal(npz_get_shape(r, "X", 2, found), QUORUM_OK);
    assert_memory_equal(found, shape, sizeof shape);
    sections.count = 3; /* ends too early */
    assert_int_equal(npz_get_some_doubles(r, "X", 2, found, &sections, &some), QUORUM_E_FORMAT);
    npz_close(r);
    remove_files();
}

static void a_pull_that_fails(void **state)
{
    (void)state;
    const size_t shape[] = {1000};
    counter c = {.limit = 4000};
    npz_writer *w = npz_writer_new();
    assert_int_equal(npz_add_pulled(w, "X", 1, shape, count_up, &c), QUORUM_OK);
    assert_int_equal(npz_writer_save(w, "pulled.npz"), QUORUM_E_DATA);
    npz_writer_free(w);
    assert_int_equal(count_files(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(equal_content_gives_equal_files),
        cmocka_unit_test(saving_replaces_and_keeps_to_the_umask),
        cmocka_unit_test(an_empty_archive),
        cmocka_unit_test(wrong_members),
        cmocka_unit_test(places_that_cannot_be_written),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(compressed_and_column_major),
        cmocka_unit_test(integers_of_other_types),
        cmocka_unit_test(every_kind_of_archive),
        cmocka_unit_test(offsets_beyond_four_gigabytes),
        cmocka_unit_test(larger_than_four_gigabytes),
        cmocka_unit_test(a_check_before_the_file_takes_its_place),
        cmocka_unit_test(a_write_that_goes_wrong),
        cmocka_unit_test(wrong_requests),
        cmocka_unit_test(files_that_are_no_npz),
        cmocka_unit_test(hostile_members),
        cmocka_unit_test(hostile_directories),
        cmocka_unit_test(a_wrong_checksum),
        cmocka_unit_test(the_same_name_twice),
        cmocka_unit_test(members_that_overlap),
        cmocka_unit_test(too_many_members),
        cmocka_unit_test(a_large_compressed_member),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(every_flipped_byte),
        cmocka_unit_test(inputs_and_target),
        cmocka_unit_test(the_only_array),
        cmocka_unit_test(memory_that_runs_out),
        cmocka_unit_test(pulled_and_read_in_part),
        cmocka_unit_test(a_pull_that_fails),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
