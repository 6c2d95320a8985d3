/* Opens, checks and commits what a command writes, whatever it is: file, pipe, device, stdout. */
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

static bool is_special(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

/* Leaves o->file NULL and gives the reason when it fails.  The file has a descriptor of its
 * own, so that it can be closed, and its errors seen, before the commit. */
static const char *open_whole(output *o, const char *path)
{
    int error = whole_file_begin(&o->whole, path);
    if (error != 0)
        return whole_file_reason(error);
    int fd = fcntl(o->whole.fd, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0 && !(o->file = fdopen(fd, "w"))) {
        error = errno;
        close(fd);
        errno = error;
    }
    return strerror(errno);
}

static const char *open_direct(output *o, const char *path)
{
    o->file = fopen(path, "w");
    return strerror(errno);
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
    const char *why = is_special(path) ? open_direct(o, path) : open_whole(o, path);
    if (o->file)
        return EXIT_DONE;
    failure(given, "%s: cannot be written: %s", path, why);
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

static int write_error(output *o, const arguments *given, int error)
{
    failure(given, "%s: cannot be written: %s", o->name, whole_file_reason(error));
    output_discard(o);
    return EXIT_FAILED;
}

static int commit(output *o, const arguments *given)
{
    errno = 0;
    if (fflush(o->file) != 0 || ferror(o->file))
        return write_error(o, given, errno ? errno : EIO);
    FILE *file = o->file;
    o->file = NULL;
    if (file == stdout)
        return EXIT_DONE;
    if (fclose(file) != 0)
        return write_error(o, given, errno ? errno : EIO);
    int error = o->whole.begun ? whole_file_commit(&o->whole) : 0;
    return error == 0 ? EXIT_DONE : write_error(o, given, error);
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
    o->file = NULL;
    whole_file_discard(&o->whole);
}

bool has_extension(const char *path, const char *extension)
{
    size_t n = strlen(path), m = strlen(extension);
    return n > m && strcasecmp(path + n - m, extension) == 0;
}
