/* quorum: finds the command and runs it.
 *
 *     main -> arguments_parse -> command's run -> the library (quorum.h)
 *
 * Results go to stdout, everything else to stderr.  Exit codes: 0 done, 1 the
 * work failed, 2 the command line is wrong, 128 + N stopped by signal N. */
#include "arguments.h"
#include "command.h"
#include "help.h"
#include "quorum.h"
#include "spelling.h"
#include "talk.h"
#include "team.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Whoever closes a standard descriptor leaves its number to the next file that is opened: what is
 * said on stderr would go into the result.  /dev/null takes the place, opened the wrong way
 * round, so that reading and writing still fail. */
static int hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return -1;
    return 0;
}

static int unknown_command(const char *name)
{
    suggestion s = suggestion_for(name);
    for (const command *const *c = all_commands; *c; c++)
        if (!(*c)->hidden)
            suggestion_offer(&s, (*c)->name);
    const char *best = suggestion_best(&s);
    if (best)
        fprintf(stderr, "quorum: '%s' is not a command (did you mean '%s'?)", shown(name).text,
                best);
    else
        fprintf(stderr, "quorum: '%s' is not a command", shown(name).text);
    fprintf(stderr, "; try 'quorum --help'\n");
    return EXIT_USAGE;
}

static int print_version(void)
{
    printf("quorum %s\nBLAS kernels: %s\n", quorum_version(), quorum_blas_kernel());
    return EXIT_DONE;
}

/* `quorum help` and `quorum help COMMAND`. */
static int explain(const char *name)
{
    if (!name) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    const command *c = find_command(name);
    if (!c)
        return unknown_command(name);
    print_help(stdout, c);
    return EXIT_DONE;
}

static int run_command(const command *c, int argc, char **argv)
{
    arguments given;
    int code = arguments_parse(c, argc, argv, &given);
    if (code == EXIT_DONE && given.help)
        print_help(stdout, c);
    else if (code == EXIT_DONE && (code = team_check(c)) == EXIT_DONE)
        code = c->run(&given);
    if (code == EXIT_DONE && !given.help)
        team_tell(&given);
    arguments_free(&given);
    return code;
}

static int dispatch(int argc, char **argv)
{
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return explain(argc > 2 ? argv[2] : NULL);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return print_version();
    const command *c = find_command(name);
    return c ? run_command(c, argc - 2, argv + 2) : unknown_command(name);
}

static int start_and_dispatch(int argc, char **argv)
{
    if (quorum_team_start(&argc, &argv) < 0) {
        fprintf(stderr, "quorum: %s\n", quorum_message());
        return EXIT_FAILED;
    }
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    return dispatch(argc, argv);
}

int main(int argc, char **argv)
{
    if (hold_standard_descriptors() < 0)
        return EXIT_FAILED; /* nobody can be told */
    int code = quorum_team_finish(start_and_dispatch(argc, argv));
    errno = 0;
    if (code != EXIT_DONE || (fflush(stdout) == 0 && !ferror(stdout)))
        return code; /* a failure has been said already */
    fprintf(stderr, "quorum: cannot write to standard output: %s\n",
            errno ? strerror(errno) : "not all of it was taken");
    return EXIT_FAILED;
}
