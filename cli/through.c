/* A program as a child process: its input is a pipe, its output the file (through.h). */
#include "through.h"

#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Is it there? ---- */

static bool is_in(const char *directory, size_t length, const char *name)
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof path, "%.*s/%s", (int)length, directory, name);
    return size > 0 && (size_t)size < sizeof path && access(path, X_OK) == 0;
}

int program_check(const program *p, const arguments *given)
{
    const char *rest = getenv("PATH");
    while (rest) {
        const char *end = strchrnul(rest, ':');
        if (is_in(end > rest ? rest : ".", end > rest ? (size_t)(end - rest) : 1, p->argv[0]))
            return EXIT_DONE;
        rest = *end ? end + 1 : NULL;
    }
    return failure(given, "%s", p->missing);
}

/* ---- The child ---- */

/* Its input and output; an errno or 0. */
static int set_actions(posix_spawn_file_actions_t *actions, int in, int out)
{
    int error = posix_spawn_file_actions_adddup2(actions, in, STDIN_FILENO);
    return error ? error : posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
}

/* Starts it, reading from `in` and writing to `out`; an errno or 0. */
static int start(const program *p, int in, int out, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = set_actions(&actions, in, out);
    if (!error)
        error = posix_spawnp(child, p->argv[0], &actions, NULL, (char *const *)p->argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int cannot_start(const program *p, const arguments *given, int error)
{
    if (error == ENOENT)
        return failure(given, "%s", p->missing);
    return failure(given, "%s cannot be started: %s", p->called, strerror(error));
}

static bool ends_well(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- What it gets ---- */

/* All of the text; an errno or 0. */
static int send_text(int end, drawing *draw, const void *of)
{
    FILE *file = fdopen(end, "w");
    if (!file) {
        int error = errno;
        close(end);
        return error;
    }
    errno = 0;
    draw(of, file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return errno ? errno : EIO;
    return 0;
}

int program_draw(const program *p, const arguments *given, FILE *file, drawing *draw,
                 const void *of)
{
    int ends[2];
    pid_t child = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return failure(given, "no pipe to %s: %s", p->called, strerror(errno));
    int error = start(p, ends[0], fileno(file), &child);
    close(ends[0]);
    if (error) {
        close(ends[1]);
        return cannot_start(p, given, error);
    }
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* its early end is seen by ends_well */
    error = send_text(ends[1], draw, of);
    signal(SIGPIPE, before);
    bool done = ends_well(child);
    if (error && (done || error != EPIPE))
        return failure(given, "the picture cannot be sent to %s: %s", p->called, strerror(error));
    return done ? EXIT_DONE : failure(given, "%s", p->failed);
}
