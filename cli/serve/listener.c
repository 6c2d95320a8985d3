/* There is no password and no encryption here, so that addresses of other machines are refused: the
 * rights of a Unix socket, or a tunnel, decide who may ask. */
#include "serve/listener.h"

#include "talk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAITING = 128 };

static int fail(listener *l, const char *where, const arguments *given)
{
    int error = errno;
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    return failure(given, "--listen %s: %s", where, strerror(error));
}

static bool start(listener *l, const struct sockaddr *address, socklen_t size)
{
    return bind(l->fd, address, size) == 0 && listen(l->fd, WAITING) == 0;
}

/* ---- Unix sockets ---- */

/* Whether a server answers there; a socket that was left behind by one that was killed does not. */
static bool is_answered(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool answered = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    if (fd >= 0)
        close(fd);
    return answered;
}

static int clear_path(const struct sockaddr_un *address, const arguments *given)
{
    struct stat about;
    const char *path = address->sun_path;
    if (lstat(path, &about) != 0)
        return EXIT_DONE;
    if (!S_ISSOCK(about.st_mode))
        return failure(given, "--listen unix:%s: there is a file of this name, and no socket",
                       path);
    if (is_answered(address))
        return failure(given, "--listen unix:%s: another server listens there", path);
    unlink(path);
    return EXIT_DONE;
}

static int listen_unix(listener *l, const char *path, const arguments *given)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) == 0 || strlen(path) >= sizeof address.sun_path)
        return usage_error(given->command, "--listen unix:PATH: a path of 1 to %zu bytes is wanted",
                           sizeof address.sun_path - 1);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int code = clear_path(&address, given);
    if (code != EXIT_DONE)
        return code;
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0 || !start(l, (const struct sockaddr *)&address, sizeof address))
        return fail(l, path, given);
    snprintf(l->path, sizeof l->path, "%s", path);
    snprintf(l->name, sizeof l->name, "unix:%s", path);
    return EXIT_DONE;
}

/* ---- TCP ---- */

static bool read_port(const char *text, in_port_t *port)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    *port = htons((uint16_t)number);
    return *text >= '0' && *text <= '9' && *end == '\0' && number <= 65535;
}

static bool is_loopback4(const char *host, struct in_addr *address)
{
    if (strcmp(host, "localhost") == 0)
        host = "127.0.0.1";
    return inet_pton(AF_INET, host, address) == 1 && ntohl(address->s_addr) >> 24 == 127;
}

static bool is_loopback6(const char *host, struct in6_addr *address)
{
    return inet_pton(AF_INET6, host, address) == 1 && IN6_IS_ADDR_LOOPBACK(address);
}

/* "127.0.0.1:8000" or "[::1]:8000" in two; false: it is neither. */
static bool split(const char *where, char host[64], const char **port)
{
    const char *colon = strrchr(where, ':');
    if (!colon)
        return false;
    size_t n = (size_t)(colon - where);
    bool bracketed = n >= 2 && where[0] == '[' && where[n - 1] == ']';
    if (bracketed) {
        where++;
        n -= 2;
    }
    if (n == 0 || n >= 64)
        return false;
    memcpy(host, where, n);
    host[n] = '\0';
    *port = colon + 1;
    return true;
}

/* The port that it has: 0 asks for any. */
static void name_tcp(listener *l, const char *host, bool six)
{
    struct sockaddr_in6 has = {0}; /* the larger one; the port is at the same place */
    socklen_t size = sizeof has;
    getsockname(l->fd, (struct sockaddr *)&has, &size);
    snprintf(l->name, sizeof l->name, six ? "[%s]:%u" : "%s:%u", host, ntohs(has.sin6_port));
}

static int listen_tcp(listener *l, const char *where, const arguments *given)
{
    char host[64];
    const char *port;
    int yes = 1;
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (!split(where, host, &port) || !read_port(port, &four.sin_port))
        return usage_error(given->command,
                           "--listen %s: unix:PATH or HOST:PORT is wanted, as in 127.0.0.1:8000",
                           where);
    six.sin6_port = four.sin_port;
    bool is_six = is_loopback6(host, &six.sin6_addr);
    if (!is_six && !is_loopback4(host, &four.sin_addr))
        return usage_error(given->command,
                           "--listen %s: only this machine's own addresses, 127.0.0.1, [::1] or "
                           "localhost, are listened at, because everybody who gets through is "
                           "answered; let a proxy or a tunnel (ssh -L) bring others",
                           where);
    l->fd = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return fail(l, where, given);
    setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!(is_six ? start(l, (const struct sockaddr *)&six, sizeof six)
                 : start(l, (const struct sockaddr *)&four, sizeof four)))
        return fail(l, where, given);
    name_tcp(l, host, is_six);
    return EXIT_DONE;
}

/* ---- Both ---- */

int listener_open(listener *l, const char *where, const arguments *given)
{
    *l = (listener){.fd = -1};
    return strncmp(where, "unix:", 5) == 0 ? listen_unix(l, where + 5, given)
                                           : listen_tcp(l, where, given);
}

int listener_accept(const listener *l)
{
    int yes = 1;
    int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0 && !l->path[0])
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes); /* answers go at once */
    return fd;
}

void listener_close(listener *l)
{
    if (l->fd < 0)
        return;
    close(l->fd);
    if (l->path[0])
        unlink(l->path);
    l->fd = -1;
}
