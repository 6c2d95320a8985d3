/* Reads, cuts lines, writes; nothing here waits. */
#include "serve/client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    STEP = 1 << 16,        /* bytes that are read at once                                  */
    OUTPUT_MOST = 1 << 18, /* of answers: above that a slow reader is not read from       */
    PIPE_STEP = 4096       /* bytes that a pipe takes without waiting, once it takes any   */
};

client *client_new(int in, int out, bool is_socket)
{
    client *c = calloc(1, sizeof *c);
    if (c)
        *c = (client){.in = in, .out = out, .is_socket = is_socket};
    return c;
}

void client_free(client *c)
{
    if (!c)
        return;
    if (c->is_socket)
        close(c->in);
    quorum_stream_close(c->stream);
    bytes_free(&c->input);
    bytes_free(&c->output);
    free(c->header);
    free(c);
}

void client_forget_stream(client *c)
{
    quorum_stream_close(c->stream);
    c->stream = NULL;
}

/* ---- Input ---- */

/* A last line without an end is one. */
static void end_input(client *c)
{
    c->ended = true;
    if (bytes_count(&c->input) > 0 && !bytes_append(&c->input, "\n", 1))
        c->failed = true;
}

static bool is_ready(int fd, short what)
{
    struct pollfd one = {.fd = fd, .events = what};
    return poll(&one, 1, 0) > 0;
}

/* Bytes; 0 at the end, -1 where none are there or it failed. */
static ssize_t receive(const client *c, char *to, size_t n)
{
    if (c->is_socket)
        return recv(c->in, to, n, MSG_DONTWAIT);
    if (!is_ready(c->in, POLLIN)) {
        errno = EAGAIN;
        return -1;
    }
    return read(c->in, to, n);
}

void client_read(client *c, bool draining)
{
    if (c->ended || c->failed)
        return;
    if (!bytes_reserve(&c->input, STEP)) {
        c->failed = true;
        return;
    }
    ssize_t got = receive(c, c->input.room + c->input.end, STEP);
    if (got > 0)
        c->input.end += (size_t)got;
    else if (got == 0)
        end_input(c);
    else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        c->failed = true;
    else if (draining)
        c->ended = true;
}

/* Bytes of the first line with its end; 0: it has none yet. */
static size_t line_length(client *c)
{
    size_t count = bytes_count(&c->input);
    if (c->scanned >= count)
        return 0;
    const char *front = bytes_front(&c->input);
    const char *end = memchr(front + c->scanned, '\n', count - c->scanned);
    c->scanned = end ? (size_t)(end - front) : count;
    return end ? c->scanned + 1 : 0;
}

static void take_input(client *c, size_t n)
{
    bytes_take(&c->input, n);
    c->scanned = 0;
}

/* The rest of a long line, as far as it is there; whether all of it was. */
static bool pass_over(client *c)
{
    size_t n = line_length(c);
    c->passing = n == 0;
    take_input(c, n ? n : bytes_count(&c->input));
    return n > 0;
}

line_kind client_line(client *c, size_t most, const char **line, size_t *n)
{
    if (c->passing && !pass_over(c))
        return NO_LINE;
    *n = line_length(c);
    if (*n == 0 && bytes_count(&c->input) <= most)
        return NO_LINE;
    if (*n == 0 || *n > most + 1) {
        pass_over(c);
        return LONG_LINE;
    }
    *line = bytes_front(&c->input);
    take_input(c, *n); /* the bytes stay where they are until more are read */
    return WHOLE_LINE;
}

static bool output_is_full(const client *c)
{
    return bytes_count(&c->output) > OUTPUT_MOST;
}

static bool has_line(client *c, size_t most)
{
    return line_length(c) > 0 || bytes_count(&c->input) > most;
}

bool client_has_work(client *c, size_t most)
{
    return !c->failed && !output_is_full(c) && has_line(c, most);
}

bool client_wants_input(client *c, size_t most)
{
    return !c->ended && !c->failed && !output_is_full(c) && !has_line(c, most);
}

/* ---- Output ---- */

static ssize_t send_some(const client *c)
{
    size_t n = bytes_count(&c->output);
    if (c->is_socket)
        return send(c->out, bytes_front(&c->output), n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (!is_ready(c->out, POLLOUT)) {
        errno = EAGAIN;
        return -1;
    }
    return write(c->out, bytes_front(&c->output), n < PIPE_STEP ? n : PIPE_STEP);
}

void client_write(client *c)
{
    while (!c->failed && bytes_count(&c->output) > 0) {
        ssize_t sent = send_some(c);
        if (sent > 0)
            bytes_take(&c->output, (size_t)sent);
        else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        else if (sent < 0 && errno != EINTR)
            c->failed = true;
    }
}

bool client_wants_output(const client *c)
{
    return !c->failed && bytes_count(&c->output) > 0;
}

bool client_is_done(client *c, size_t most)
{
    return c->failed || (c->ended && !has_line(c, most) && bytes_count(&c->output) == 0);
}
