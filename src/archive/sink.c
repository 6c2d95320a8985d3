/* Bytes through a buffer into a file (sink.h). */
#include "archive/sink.h"

#include "base/memory.h"
#include "io/whole_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void flush(sink *s)
{
    size_t done = 0;
    while (s->fd >= 0 && !s->error && done < s->used) {
        ssize_t n = write(s->fd, s->buffer + done, s->used - done);
        if (n < 0 && errno != EINTR)
            s->error = errno;
        done += n > 0 ? (size_t)n : 0;
    }
    s->used = 0;
}

void sink_begin(sink *s, int fd)
{
    s->fd = fd;
    s->written = 0;
    s->used = 0;
    s->error = 0;
}

void sink_put(sink *s, unsigned char byte)
{
    if (s->used == sizeof s->buffer)
        flush(s);
    s->buffer[s->used++] = byte;
    s->written++;
}

void sink_put_high(sink *s, uint64_t value, int bytes)
{
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        sink_put(s, (unsigned char)(value >> shift));
}

void sink_put_low(sink *s, uint64_t value, int bytes)
{
    for (int shift = 0; shift < 8 * bytes; shift += 8)
        sink_put(s, (unsigned char)(value >> shift));
}

uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

quorum_status sink_save(const char *path, void (*write)(const void *what, sink *s, int fd),
                        const void *what)
{
    whole_file file;
    sink *s = NULL;
    if (!NEW_ARRAY(s, 1))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while writing", path);
    int error = whole_file_begin(&file, path);
    if (error == 0) {
        write(what, s, file.fd);
        flush(s);
        error = s->error;
        if (error == 0)
            error = whole_file_commit(&file);
        else
            whole_file_discard(&file);
    }
    mem_free(s);
    if (error != 0)
        return failure(QUORUM_E_FILE, "%s: cannot be written: %s", path, whole_file_reason(error));
    return QUORUM_OK;
}
