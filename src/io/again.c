/* System calls that are made again when a signal interrupts them. */
#include "io/again.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int openat_again(int directory, const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = openat(directory, path, flags, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int open_again(const char *path, int flags)
{
    return openat_again(AT_FDCWD, path, flags, 0);
}

ssize_t pread_again(int fd, void *to, size_t n, off_t from)
{
    ssize_t got;
    do
        got = pread(fd, to, n, from);
    while (got < 0 && errno == EINTR);
    return got;
}

ssize_t read_again(int fd, void *to, size_t n)
{
    ssize_t got;
    do
        got = read(fd, to, n);
    while (got < 0 && errno == EINTR);
    return got;
}
