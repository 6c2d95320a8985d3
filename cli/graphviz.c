#include "graphviz.h"

#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts `neato -Tsvg`, reading from `in` and writing to `out`; an errno or 0. */
static int start_neato(int in, int out, pid_t *child)
{
    char *const argv[] = {"neato", "-Tsvg", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    int error = posix_spawnp(child, "neato", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int cannot_start(const arguments *given, int error)
{
    if (error == ENOENT)
        return failure(given, "drawing .svg needs Graphviz, whose program 'neato' is not found: "
                              "apt install graphviz, or write .dot or .json");
    return failure(given, "Graphviz's 'neato' cannot be started: %s", strerror(error));
}

static int wait_for(const arguments *given, pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return EXIT_DONE;
    return failure(given, "Graphviz's 'neato' failed; write .dot to see the graph as it got it");
}

int draw_with_graphviz(const arguments *given, FILE *file, const expert_graph *g)
{
    int ends[2];
    pid_t child = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return failure(given, "no pipe to Graphviz: %s", strerror(errno));
    int error = start_neato(ends[0], fileno(file), &child);
    close(ends[0]);
    if (error) {
        close(ends[1]);
        return cannot_start(given, error);
    }
    FILE *pipe_end = fdopen(ends[1], "w");
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* its early end is reported by wait_for */
    if (pipe_end) {
        write_dot(pipe_end, g);
        fclose(pipe_end);
    } else {
        close(ends[1]);
    }
    signal(SIGPIPE, before);
    return wait_for(given, child);
}
