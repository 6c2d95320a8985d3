/* Runs `neato -Tsvg` with the graph as its input; says what to do when it is not installed. */
#include "graphviz.h"

#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Its input and output; an errno or 0. */
static int set_actions(posix_spawn_file_actions_t *actions, int in, int out)
{
    int error = posix_spawn_file_actions_adddup2(actions, in, STDIN_FILENO);
    return error ? error : posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
}

/* Starts `neato -Tsvg`, reading from `in` and writing to `out`; an errno or 0. */
static int start_neato(int in, int out, pid_t *child)
{
    char *const argv[] = {"neato", "-Tsvg", NULL};
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = set_actions(&actions, in, out);
    if (!error)
        error = posix_spawnp(child, "neato", &actions, NULL, argv, environ);
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

static bool ends_well(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* All of the graph; an errno or 0. */
static int send_graph(int end, const expert_graph *g)
{
    FILE *file = fdopen(end, "w");
    if (!file) {
        int error = errno;
        close(end);
        return error;
    }
    errno = 0;
    write_dot(file, g);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return errno ? errno : EIO;
    return 0;
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
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* its early end is seen by ends_well */
    error = send_graph(ends[1], g);
    signal(SIGPIPE, before);
    bool drawn = ends_well(child);
    if (error && (drawn || error != EPIPE))
        return failure(given, "the graph cannot be sent to Graphviz: %s", strerror(error));
    return drawn ? EXIT_DONE
                 : failure(given, "Graphviz's 'neato' failed; write .dot to see the graph as it "
                                  "got it");
}
