/* The socket that clients come to: unix:PATH, or HOST:PORT of this machine alone. */
#ifndef QUORUM_CLI_SERVE_LISTENER_H
#define QUORUM_CLI_SERVE_LISTENER_H

#include "arguments.h"

#include <limits.h>

typedef struct {
    int fd;                   /* -1: none                                      */
    char path[PATH_MAX];      /* of a Unix socket, to be removed at the end; "" */
    char name[PATH_MAX + 16]; /* as it is said, with the port that it has      */
} listener;

/* Opens it; the exit code, after saying what is wrong. */
int listener_open(listener *l, const char *where, const arguments *given);

/* A client's socket; -1: nobody is waiting. */
int listener_accept(const listener *l);

void listener_close(listener *l);

#endif
