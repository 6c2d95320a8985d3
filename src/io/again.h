/* System calls that are made again when a signal interrupts them (EINTR).  Results and errno are
 * those of the call itself. */
#ifndef QRM_IO_AGAIN_H
#define QRM_IO_AGAIN_H

#include <stddef.h>
#include <sys/types.h>

int open_again(const char *path, int flags);
int openat_again(int directory, const char *path, int flags, mode_t mode);
ssize_t read_again(int fd, void *to, size_t n);
ssize_t pread_again(int fd, void *to, size_t n, off_t from);

#endif
