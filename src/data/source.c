/* Bytes of a table, from a file or standard input, plain or gzip; a wait for them can be broken
 * off by the callback. */
#include "data/source.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "io/again.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    BUFFER = 1 << 17,
    PATIENCE = 100,   /* milliseconds between two questions               */
    MOST_PIECES = 64, /* of a file, that threads read at once             */
    LEAST_PIECE = 1 << 18
};

typedef enum { UNKNOWN, PLAIN, GZIP } packing;

struct source {
    int file, threads;
    char *label;
    progress asked;
    double size, taken; /* bytes of the file (0: unknown), and read so far           */
    packing packing;
    int at_end;            /* the file has no more bytes                                */
    int between;           /* gzip: the last member has ended, no other has begun       */
    z_stream z;            /* next_in, avail_in: bytes read and not used, plain or not  */
    unsigned char *buffer; /* BUFFER bytes                                           */
};

const char *source_label(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

file_kind source_kind_of_bytes(const void *bytes, size_t n)
{
    if (n >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0))
        return KIND_ZIP;
    if (n >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        return KIND_NPY;
    if (n >= 8 && memcmp(bytes, "SQLite f", 8) == 0)
        return KIND_SQLITE;
    if (n >= 4 && memcmp(bytes, "PAR1", 4) == 0)
        return KIND_PARQUET;
    if (n >= 6 && (memcmp(bytes, "ARROW1", 6) == 0 || memcmp(bytes, "FEA1\0\0", 6) == 0))
        return KIND_ARROW;
    return KIND_TEXT;
}

static quorum_status fail_to_open(const char *path)
{
    return failure(QUORUM_E_FILE, "%s: cannot be opened: %s", path, strerror(errno));
}

static quorum_status read_magic(const char *path, file_kind *kind)
{
    unsigned char first[8];
    int file = open_again(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return fail_to_open(path);
    ssize_t n = read_again(file, first, sizeof first);
    int problem = errno;
    close(file);
    if (n < 0)
        return failure(QUORUM_E_FILE, "%s: cannot be read: %s", path, strerror(problem));
    *kind = source_kind_of_bytes(first, (size_t)n);
    return QUORUM_OK;
}

quorum_status source_kind(const char *path, file_kind *kind)
{
    struct stat about;
    *kind = KIND_TEXT;
    if (strcmp(path, "-") == 0)
        return QUORUM_OK;
    if (stat(path, &about) != 0)
        return fail_to_open(path);
    if (S_ISDIR(about.st_mode))
        return failure(QUORUM_E_FILE, "%s: is a directory, not a file", path);
    return S_ISREG(about.st_mode) ? read_magic(path, kind) : QUORUM_OK;
}

/* ---- opening ---- */

/* A named pipe is opened at once and waited for later, where the wait can be broken off. */
static int open_descriptor(const char *path)
{
    struct stat about;
    if (strcmp(path, "-") == 0)
        return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    int waits = stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
    return open_again(path, O_RDONLY | O_CLOEXEC | (waits ? O_NONBLOCK : 0));
}

static double size_of(int file)
{
    struct stat about;
    return fstat(file, &about) == 0 && S_ISREG(about.st_mode) ? (double)about.st_size : 0.0;
}

double source_size(const source *s)
{
    return s->packing == PLAIN ? s->size : 0.0;
}

quorum_status source_open(const char *path, int threads, const progress *asked, source **out)
{
    source *s = NULL;
    int file = open_descriptor(path);
    if (file < 0)
        return fail_to_open(source_label(path));
    if (NEW_ZEROED(s, 1)) {
        s->file = file;
        s->threads = threads;
        s->size = size_of(file);
        s->asked = asked ? *asked : (progress){0};
        s->label = mem_copy_text(source_label(path));
        NEW_ARRAY(s->buffer, BUFFER);
    }
    if (!s || !s->label || !s->buffer) {
        if (!s)
            close(file);
        source_close(s);
        return failure(QUORUM_E_MEMORY, "%s: out of memory while opening", source_label(path));
    }
    *out = s;
    return QUORUM_OK;
}

void source_close(source *s)
{
    if (!s)
        return;
    if (s->packing == GZIP)
        inflateEnd(&s->z);
    close(s->file);
    mem_free(s->buffer);
    mem_free(s->label);
    mem_free(s);
}

/* ---- bytes of the file ---- */

static quorum_status fail_to_read(const source *s)
{
    return failure(QUORUM_E_FILE, "%s: cannot be read: %s", s->label, strerror(errno));
}

static quorum_status report_share(const source *s)
{
    double share = s->size > 0.0 ? s->taken / s->size : -1.0;
    return progress_report(&s->asked, "read", share, "%s", s->label);
}

static void note_bytes(source *s, size_t got)
{
    s->taken += (double)got;
    s->at_end = got == 0;
}

/* Until there is something to read; asks now and then whether to go on. */
static quorum_status wait_for_bytes(const source *s)
{
    struct pollfd one = {.fd = s->file, .events = POLLIN};
    for (;;) {
        TRY(report_share(s));
        int ready = poll(&one, 1, s->asked.callback ? PATIENCE : -1);
        if (ready > 0)
            return QUORUM_OK;
        if (ready < 0 && errno != EINTR)
            return fail_to_read(s);
    }
}

/* The next bytes of a file, in pieces of the same length. */
typedef struct {
    const source *source;
    off_t first; /* byte of the file */
    char *to;
    size_t bytes;            /* of a piece           */
    size_t got[MOST_PIECES]; /* fewer: the file ends */
} pieces;

static quorum_status read_piece(void *context, size_t item, int worker)
{
    pieces *p = context;
    size_t before = item * p->bytes;
    (void)worker;
    ssize_t came = pread_again(p->source->file, p->to + before, p->bytes, p->first + (off_t)before);
    if (came < 0)
        return fail_to_read(p->source);
    p->got[item] = (size_t)came;
    return QUORUM_OK;
}

/* About n bytes by several threads; what is behind a piece that is not full waits for the next call. */
static quorum_status take_pieces(source *s, size_t count, char *to, size_t n, size_t *got)
{
    pieces p = {.source = s, .first = lseek(s->file, 0, SEEK_CUR), .to = to, .bytes = n / count};
    if (p.first < 0)
        return fail_to_read(s);
    TRY(parallel_for(s->threads, count, read_piece, &p));
    *got = 0;
    for (size_t i = 0; i < count && *got == i * p.bytes; i++)
        *got += p.got[i];
    return lseek(s->file, p.first + (off_t)*got, SEEK_SET) < 0 ? fail_to_read(s) : QUORUM_OK;
}

/* How many threads share n bytes: one where a file is no regular one, or there is little to read. */
static size_t pieces_of(const source *s, size_t n)
{
    size_t most = s->size > 0.0 ? n / LEAST_PIECE : 1, threads = (size_t)s->threads;
    most = most < MOST_PIECES ? most : MOST_PIECES;
    return most < threads ? most : threads;
}

/* Up to n bytes, as they come; none only at the end. */
static quorum_status take_bytes(source *s, void *to, size_t n, size_t *got)
{
    ssize_t came;
    size_t count = pieces_of(s, n);
    if (count > 1) {
        TRY(report_share(s));
        TRY(take_pieces(s, count, to, n, got));
        note_bytes(s, *got);
        return QUORUM_OK;
    }
    do {
        TRY(wait_for_bytes(s));
        came = read(s->file, to, n);
        if (came < 0 && errno != EINTR && errno != EAGAIN)
            return fail_to_read(s);
    } while (came < 0);
    *got = (size_t)came;
    note_bytes(s, *got);
    return QUORUM_OK;
}

/* More bytes behind those that are not used yet, until there are `wanted` or the file ends. */
static quorum_status fill(source *s, size_t wanted)
{
    if (s->z.avail_in > 0)
        memmove(s->buffer, s->z.next_in, s->z.avail_in);
    s->z.next_in = s->buffer;
    while (!s->at_end && s->z.avail_in < wanted) {
        size_t got;
        TRY(take_bytes(s, s->buffer + s->z.avail_in, BUFFER - s->z.avail_in, &got));
        s->z.avail_in += (unsigned)got;
    }
    return QUORUM_OK;
}

static quorum_status read_plain(source *s, char *to, size_t n, size_t *got)
{
    if (s->z.avail_in == 0)
        return take_bytes(s, to, n, got);
    *got = n < s->z.avail_in ? n : s->z.avail_in;
    memcpy(to, s->z.next_in, *got);
    s->z.next_in += *got;
    s->z.avail_in -= (unsigned)*got;
    return QUORUM_OK;
}

/* ---- gzip: one or more members, then nothing, or zeros as tapes have them ---- */

static void *allocate(void *unused, unsigned count, unsigned size)
{
    (void)unused;
    return mem_alloc(count, size);
}

static void release(void *unused, void *pointer)
{
    (void)unused;
    mem_free(pointer);
}

static quorum_status fail_unpacking(const source *s, int code)
{
    if (code == Z_MEM_ERROR)
        return failure(QUORUM_E_MEMORY, "%s: out of memory while decompressing", s->label);
    return failure(QUORUM_E_FORMAT, "%s: the gzip data are damaged (%s); copy the file again",
                   s->label, s->z.msg ? s->z.msg : "no deflate stream");
}

static int starts_member(const source *s)
{
    return s->z.avail_in >= 2 && s->z.next_in[0] == 0x1F && s->z.next_in[1] == 0x8B;
}

static quorum_status find_packing(source *s)
{
    enum { GZIP_ONLY = 16 };
    TRY(fill(s, 2));
    if (!starts_member(s)) {
        s->packing = PLAIN;
        return QUORUM_OK;
    }
    s->z.zalloc = allocate;
    s->z.zfree = release;
    int code = inflateInit2(&s->z, GZIP_ONLY + MAX_WBITS);
    if (code != Z_OK)
        return fail_unpacking(s, code);
    s->packing = GZIP;
    return QUORUM_OK;
}

/* All that is left must be zeros. */
static quorum_status pass_padding(source *s)
{
    while (s->z.avail_in > 0) {
        for (; s->z.avail_in > 0; s->z.avail_in--)
            if (*s->z.next_in++ != 0)
                return failure(QUORUM_E_FORMAT,
                               "%s: something follows the end of the gzip data; the file is "
                               "damaged, copy it again, or unpack it with gzip and look at it",
                               s->label);
        TRY(fill(s, 1));
    }
    return QUORUM_OK;
}

static quorum_status begin_next_member(source *s)
{
    TRY(fill(s, 2));
    if (!starts_member(s))
        return pass_padding(s);
    s->between = 0;
    inflateReset(&s->z);
    return QUORUM_OK;
}

/* One step: what the bytes at hand give. */
static quorum_status unpack(source *s)
{
    if (s->between)
        return begin_next_member(s);
    if (s->z.avail_in == 0)
        TRY(fill(s, 1));
    if (s->z.avail_in == 0)
        return failure(
            QUORUM_E_FORMAT,
            "%s: the gzip data stop before their end; the file is truncated, copy it again",
            s->label);
    int code = inflate(&s->z, Z_NO_FLUSH);
    s->between = code == Z_STREAM_END;
    return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR ? QUORUM_OK
                                                                       : fail_unpacking(s, code);
}

static int is_finished(const source *s)
{
    return s->between && s->at_end && s->z.avail_in == 0;
}

static quorum_status read_packed(source *s, char *to, size_t n, size_t *got)
{
    unsigned room = n < UINT_MAX ? (unsigned)n : UINT_MAX;
    s->z.next_out = (unsigned char *)to;
    s->z.avail_out = room;
    while (s->z.avail_out > 0 && !is_finished(s))
        TRY(unpack(s));
    *got = room - s->z.avail_out;
    return QUORUM_OK;
}

quorum_status source_read(source *s, char *buffer, size_t n, size_t *got)
{
    size_t step = 1;
    *got = 0;
    if (s->packing == UNKNOWN)
        TRY(find_packing(s));
    while (*got < n && step > 0) {
        TRY((s->packing == GZIP ? read_packed : read_plain)(s, buffer + *got, n - *got, &step));
        *got += step;
    }
    return QUORUM_OK;
}
