#include "output.h"

#include "quorum.h"
#include "talk.h"
#include "team.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *directory_of(const char *path, char buffer[PATH_MAX])
{
    snprintf(buffer, PATH_MAX, "%s", path);
    return dirname(buffer);
}

/* The path itself or, of a symbolic link, the file that it leads to: so that
 * the link survives. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : strdup(path);
}

static bool is_special(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

/* New files get the usual permissions, replaced ones keep theirs. */
static mode_t mode_for(const char *path)
{
    struct stat s;
    if (stat(path, &s) == 0)
        return s.st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Leaves o->file NULL and errno set when it fails. */
static void open_temporary(output *o)
{
    size_t size = strlen(o->target) + 16;
    o->temporary = malloc(size);
    if (!o->temporary)
        return;
    snprintf(o->temporary, size, "%s.tmp-XXXXXX", o->target);
    int fd = mkstemp(o->temporary);
    if (fd < 0) {
        free(o->temporary);
        o->temporary = NULL;
        return;
    }
    if (fchmod(fd, mode_for(o->target)) == 0)
        o->file = fdopen(fd, "w");
    if (!o->file)
        close(fd);
}

bool output_is_direct(const char *path)
{
    return strcmp(path, "-") == 0 || is_special(path);
}

static int check_output(const arguments *given, const char *path)
{
    char buffer[PATH_MAX];
    struct stat s;
    if (output_is_direct(path))
        return EXIT_DONE;
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
        return failure(given, "%s: is a directory, give the name of a file", path);
    const char *directory = directory_of(path, buffer);
    if (access(directory, W_OK | X_OK) != 0)
        return failure(given, "%s: cannot be written: %s: %s", path, directory, strerror(errno));
    return EXIT_DONE;
}

/* Of several processes only the first writes. */
static bool writes(void)
{
    return quorum_team_rank() == 0;
}

static int open_output(output *o, const arguments *given, const char *path)
{
    memset(o, 0, sizeof *o);
    o->name = path ? path : "-";
    if (!writes()) {
        o->file = fopen("/dev/null", "w");
        return o->file ? EXIT_DONE : EXIT_FAILED;
    }
    if (!path || strcmp(path, "-") == 0) {
        o->file = stdout;
        o->name = "standard output";
        return EXIT_DONE;
    }
    if (check_output(given, path) != EXIT_DONE)
        return EXIT_FAILED;
    if (is_special(path))
        o->file = fopen(path, "w");
    else if ((o->target = resolve(path)))
        open_temporary(o);
    if (o->file)
        return EXIT_DONE;
    failure(given, "%s: cannot be written: %s", path, strerror(errno));
    output_discard(o);
    return EXIT_FAILED;
}

int output_open(output *o, const arguments *given, const char *path)
{
    return team_code(open_output(o, given, path));
}

int output_check(const arguments *given, const char *path)
{
    return team_code(writes() ? check_output(given, path) : EXIT_DONE);
}

static void sync_directory(const char *path)
{
    char buffer[PATH_MAX];
    int fd = open(directory_of(path, buffer), O_RDONLY | O_DIRECTORY);
    if (fd >= 0) {
        (void)fsync(fd); /* some file systems refuse; the data are already safe */
        close(fd);
    }
}

static int write_error(output *o, const arguments *given)
{
    failure(given, "%s: cannot be written: %s", o->name, strerror(errno));
    output_discard(o);
    return EXIT_FAILED;
}

static int commit(output *o, const arguments *given)
{
    errno = 0;
    if (fflush(o->file) != 0 || ferror(o->file))
        return write_error(o, given);
    if (o->file == stdout) {
        o->file = NULL;
        return EXIT_DONE;
    }
    if (o->target && fsync(fileno(o->file)) != 0)
        return write_error(o, given);
    FILE *file = o->file;
    o->file = NULL;
    if (fclose(file) != 0)
        return write_error(o, given);
    if (o->target && rename(o->temporary, o->target) != 0)
        return write_error(o, given);
    if (o->target)
        sync_directory(o->target);
    free(o->temporary);
    free(o->target);
    o->temporary = o->target = NULL;
    return EXIT_DONE;
}

int output_commit(output *o, const arguments *given)
{
    return team_code(commit(o, given));
}

bool output_failed(const output *o)
{
    return team_code(ferror(o->file) ? EXIT_FAILED : EXIT_DONE) != EXIT_DONE;
}

void output_discard(output *o)
{
    if (o->file && o->file != stdout)
        fclose(o->file);
    if (o->temporary)
        unlink(o->temporary);
    free(o->temporary);
    free(o->target);
    o->file = NULL;
    o->temporary = o->target = NULL;
}

bool has_extension(const char *path, const char *extension)
{
    size_t n = strlen(path), m = strlen(extension);
    return n > m && strcasecmp(path + n - m, extension) == 0;
}
