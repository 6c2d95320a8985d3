/* The loop of `quorum serve`: waits for lines of any client, answers them in rounds. */
#ifndef QUORUM_CLI_SERVE_SERVER_H
#define QUORUM_CLI_SERVE_SERVER_H

#include "serve/client.h"
#include "serve/listener.h"
#include "serve/round.h"
#include "serve/served_model.h"

#include <poll.h>
#include <signal.h>

typedef struct {
    const arguments *given;
    served_model model;
    service_round round;
    listener listener;     /* fd -1: standard input and output alone       */
    size_t most_clients;   /* at once                                      */
    size_t longest;        /* bytes of a line                              */
    client **clients;      /* most_clients                                 */
    size_t count, turn;    /* clients, and which comes first in a round    */
    size_t seen, refused;  /* clients so far, and those too many           */
    bool output_failed;    /* or standard input                            */
    struct pollfd *polled; /* 2 most_clients + 1: in and out of each, the listener */
    sigset_t waiting;      /* signals that are let through while it waits  */
} server;

/* Serves until the input ends, or SIGTERM or SIGINT: then what has come is answered first.  SIGHUP
 * loads the model anew.  Returns the exit code. */
int serve_all(server *s);

#endif
