#include "data/source.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { GZIP_BUFFER = 1 << 17, MAX_READ = 1 << 30 };

struct source {
    gzFile stream; /* zlib passes plain files through */
    char *label;
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
    return KIND_TEXT;
}

static quorum_status fail_to_open(const char *path)
{
    return failure(QUORUM_E_FILE, "%s: cannot be opened: %s", path, strerror(errno));
}

static quorum_status read_magic(const char *path, file_kind *kind)
{
    unsigned char first[8];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return fail_to_open(path);
    ssize_t n = read(file, first, sizeof first);
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

static int open_descriptor(const char *path)
{
    if (strcmp(path, "-") == 0)
        return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    return open(path, O_RDONLY | O_CLOEXEC);
}

quorum_status source_open(const char *path, source **out)
{
    quorum_status status = QUORUM_OK;
    source *s = NULL;
    int file = open_descriptor(path);
    if (file < 0)
        return fail_to_open(source_label(path));
    NEW_ZEROED(s, 1);
    if (s)
        s->label = mem_copy_text(source_label(path));
    if (s && s->label)
        s->stream = gzdopen(file, "rb");
    if (!s || !s->stream) {
        status = failure(QUORUM_E_MEMORY, "%s: out of memory while opening", source_label(path));
        close(file);
        source_close(s);
        return status;
    }
    gzbuffer(s->stream, GZIP_BUFFER);
    *out = s;
    return status;
}

static quorum_status fail_to_read(const source *s)
{
    int code = Z_OK;
    int problem = errno;
    const char *text = gzerror(s->stream, &code);
    if (code == Z_ERRNO)
        return failure(QUORUM_E_FILE, "%s: cannot be read: %s", s->label, strerror(problem));
    if (code == Z_MEM_ERROR)
        return failure(QUORUM_E_MEMORY, "%s: out of memory while decompressing", s->label);
    if (code == Z_BUF_ERROR)
        return failure(
            QUORUM_E_FORMAT,
            "%s: the gzip data stop before their end; the file is truncated, copy it again",
            s->label);
    const char *why = strstr(text, ">: "); /* after zlib's own name for the file */
    return failure(QUORUM_E_FORMAT, "%s: the gzip data are damaged (%s); copy the file again",
                   s->label, why ? why + 3 : text);
}

quorum_status source_read(source *s, char *buffer, size_t n, size_t *got)
{
    *got = 0;
    while (*got < n) {
        size_t rest = n - *got;
        int code = Z_OK;
        int step = gzread(s->stream, buffer + *got, rest < MAX_READ ? (unsigned)rest : MAX_READ);
        gzerror(s->stream, &code);
        if (step < 0 || (code != Z_OK && code != Z_STREAM_END))
            return fail_to_read(s);
        if (step == 0)
            break;
        *got += (size_t)step;
    }
    return QUORUM_OK;
}

void source_close(source *s)
{
    if (!s)
        return;
    if (s->stream)
        gzclose_r(s->stream);
    mem_free(s->label);
    mem_free(s);
}
