/* Files that appear whole or not at all (Linux: O_TMPFILE and linkat; a named file elsewhere). */
#include "io/whole_file.h"

#include "io/again.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40, MAX_ATTEMPTS = 100, SUFFIX_SIZE = 24, PROC_SIZE = 32 };
static const char SUFFIX[] = ".quorum-tmp";

/* ---- Where the file goes ---- */

/* One link on: `path` becomes what it leads to; false: it is no link, or errno is set. */
static bool follow_link(char path[PATH_MAX])
{
    char to[PATH_MAX];
    ssize_t n = readlink(path, to, sizeof to - 1);
    if (n < 0) {
        errno = 0;
        return false;
    }
    to[n] = '\0';
    char *slash = strrchr(path, '/');
    size_t kept = to[0] == '/' || !slash ? 0 : (size_t)(slash - path) + 1;
    if (kept + (size_t)n >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + kept, to, (size_t)n + 1);
    return true;
}

/* The file itself, at the end of all links; it need not be there. */
static int resolve(const char *path, char out[PATH_MAX])
{
    if (strlen(path) >= PATH_MAX)
        return ENAMETOOLONG;
    memcpy(out, path, strlen(path) + 1);
    for (int links = 0; follow_link(out); links++)
        if (links == MAX_LINKS)
            return ELOOP;
    return errno;
}

/* Opens the directory; later changes of the working directory do not matter. */
static int open_directory(whole_file *f, char *path)
{
    char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (!*path)
        return ENOENT;
    if (!*name)
        return EISDIR;
    if (strlen(name) > NAME_MAX)
        return ENAMETOOLONG;
    memcpy(f->name, name, strlen(name) + 1);
    if (slash)
        slash[slash == path] = '\0'; /* keeps the / of the root */
    f->directory = open_again(slash ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return f->directory < 0 ? errno : 0;
}

/* What is there already: 0 with st_mode 0 where there is nothing. */
static int look_at_old(const whole_file *f, struct stat *old)
{
    memset(old, 0, sizeof *old);
    if (fstatat(f->directory, f->name, old, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : errno;
    if (S_ISDIR(old->st_mode))
        return EISDIR;
    return S_ISREG(old->st_mode) ? 0 : WHOLE_FILE_SPECIAL;
}

/* ---- The new file ---- */

static void format_proc_path(int fd, char out[PROC_SIZE])
{
    snprintf(out, PROC_SIZE, "/proc/self/fd/%d", fd);
}

/* Whether both are the same file. */
static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whoever writes holds the file's lock, until its process ends, however that ends.  Some file
 * systems have no locks: there all are taken to be in use. */
static bool lock(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Without a name, if it can be given one later. */
static bool open_nameless(whole_file *f, mode_t mode)
{
    char proc[PROC_SIZE];
    struct stat direct, by_proc;
    f->fd = openat_again(f->directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (f->fd < 0)
        return false;
    format_proc_path(f->fd, proc);
    if (fstat(f->fd, &direct) == 0 && stat(proc, &by_proc) == 0 && is_same(&direct, &by_proc)) {
        (void)lock(f->fd);
        return true;
    }
    close(f->fd);
    return false;
}

static void name_temporary(whole_file *f, int attempt)
{
    char suffix[SUFFIX_SIZE];
    int n = attempt == 0 ? snprintf(suffix, sizeof suffix, "%s", SUFFIX)
                         : snprintf(suffix, sizeof suffix, "%s-%d", SUFFIX, attempt);
    snprintf(f->temporary, sizeof f->temporary, "%.*s%s", NAME_MAX - n, f->name, suffix);
}

/* A temporary name that is there already: of a file that can be locked it was left by a killed
 * process, and is removed.  False: it is in use. */
static bool remove_dead(const whole_file *f)
{
    int fd =
        openat_again(f->directory, f->temporary, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0)
        return errno == ENOENT;
    struct stat locked, named;
    bool dead = lock(fd);
    if (dead && fstat(fd, &locked) == 0 &&
        fstatat(f->directory, f->temporary, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        is_same(&locked, &named))
        dead = unlinkat(f->directory, f->temporary, 0) == 0;
    close(fd);
    return dead;
}

/* Locks the new file.  EEXIST: another took it for dead and removed it before that. */
static int take_named(const whole_file *f)
{
    struct stat mine;
    (void)lock(f->fd);
    if (fstat(f->fd, &mine) == 0)
        return mine.st_nlink > 0 ? 0 : EEXIST;
    int error = errno;
    unlinkat(f->directory, f->temporary, 0);
    return error;
}

/* With a temporary name beside the file's own. */
static int open_named(whole_file *f, mode_t mode)
{
    int attempt = 0, error = EEXIST;
    for (int tries = 0; error == EEXIST && tries < MAX_ATTEMPTS; tries++) {
        name_temporary(f, attempt);
        f->fd =
            openat_again(f->directory, f->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        error = f->fd >= 0 ? take_named(f) : errno;
        if (f->fd >= 0 && error != 0)
            close(f->fd);
        else if (error == EEXIST)
            attempt += !remove_dead(f);
    }
    if (error != 0) {
        f->fd = -1;
        f->temporary[0] = '\0';
    }
    return error;
}

/* Owner and group of the old file as far as permitted; where the group cannot be kept, the
 * new one may do what others may. */
static int keep_mode(const whole_file *f, const struct stat *old)
{
    struct stat now;
    mode_t mode = old->st_mode & 0777;
    if (fstat(f->fd, &now) != 0)
        return errno;
    if (now.st_uid != old->st_uid || now.st_gid != old->st_gid) {
        if (fchown(f->fd, old->st_uid, old->st_gid) != 0 &&
            fchown(f->fd, (uid_t)-1, old->st_gid) != 0)
            mode = (mode & ~(mode_t)0070) | (mode & 0007) << 3;
    }
    return fchmod(f->fd, mode) == 0 ? 0 : errno;
}

static void close_all(whole_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    if (f->directory >= 0)
        close(f->directory);
    f->begun = false;
}

int whole_file_begin(whole_file *f, const char *path)
{
    char real[PATH_MAX];
    struct stat old;
    memset(f, 0, sizeof *f);
    f->fd = f->directory = -1;
    int error = resolve(path, real);
    if (error == 0)
        error = open_directory(f, real);
    if (error == 0)
        error = look_at_old(f, &old);
    if (error == 0) {
        bool replaces = old.st_mode != 0;
        mode_t mode = replaces ? 0600 : 0666; /* less the umask */
        if (!open_nameless(f, mode))
            error = open_named(f, mode);
        f->begun = error == 0;
        if (error == 0 && replaces)
            error = keep_mode(f, &old);
    }
    if (f->begun && error != 0)
        whole_file_discard(f);
    else if (error != 0)
        close_all(f);
    return error;
}

/* ---- The end ---- */

static int sync_file(int fd)
{
    int result;
    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EINVAL ? 0 : errno; /* EINVAL: there is nothing to sync */
}

/* Some file systems refuse; the data themselves are safe already. */
static void sync_directory(const whole_file *f)
{
    int fd = openat_again(f->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd >= 0) {
        (void)sync_file(fd);
        close(fd);
    }
}

static int link_as(const whole_file *f, const char *name)
{
    char proc[PROC_SIZE];
    format_proc_path(f->fd, proc);
    return linkat(AT_FDCWD, proc, f->directory, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

static int rename_temporary(const whole_file *f)
{
    return renameat(f->directory, f->temporary, f->directory, f->name) == 0 ? 0 : errno;
}

/* linkat cannot replace: over an old file it goes by a temporary name and a rename. */
static int place_nameless(whole_file *f)
{
    int attempt = 0, error = link_as(f, f->name);
    if (error != EEXIST)
        return error;
    for (int tries = 0; error == EEXIST && tries < MAX_ATTEMPTS; tries++) {
        name_temporary(f, attempt);
        error = link_as(f, f->temporary);
        if (error == EEXIST)
            attempt += !remove_dead(f);
    }
    if (error != 0)
        f->temporary[0] = '\0'; /* it is not there, or another's */
    return error != 0 ? error : rename_temporary(f);
}

int whole_file_commit(whole_file *f)
{
    int error = sync_file(f->fd);
    if (error == 0)
        error = f->temporary[0] ? rename_temporary(f) : place_nameless(f);
    if (error != 0) {
        whole_file_discard(f);
        return error;
    }
    sync_directory(f);
    close_all(f);
    return 0;
}

void whole_file_discard(whole_file *f)
{
    if (!f->begun)
        return;
    if (f->temporary[0])
        unlinkat(f->directory, f->temporary, 0);
    close_all(f);
}

int whole_file_remove(const char *path)
{
    char real[PATH_MAX];
    int error = resolve(path, real);
    return error == 0 && unlink(real) != 0 ? errno : error;
}

const char *whole_file_reason(int error)
{
    if (error == WHOLE_FILE_SPECIAL)
        return "not a regular file";
    return error == EISDIR ? "is a directory" : strerror(error);
}
