/* Files that appear whole or not at all: links, modes, what is left behind, and writers that
 * come in each other's way.  The calls of the system that matter go through here, so that
 * they can be made to fail. */
#include "io/whole_file.h"

#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the system, with faults ---- */

static bool no_nameless_files; /* as on a file system without O_TMPFILE */
static int fail_sync, fail_rename;
static void (*before_rename)(void); /* once */

/* Named apart: the system's declarations say more about the arguments than is needed here. */
int openat_with_faults(int directory, const char *path, int flags, mode_t mode) __asm__("openat");
int fsync_with_faults(int fd) __asm__("fsync");
int renameat_with_faults(int from_directory, const char *from, int to_directory,
                         const char *to) __asm__("renameat");

static int fault(int error)
{
    errno = error;
    return -1;
}

int openat_with_faults(int directory, const char *path, int flags, mode_t mode)
{
    if (no_nameless_files && (flags & O_TMPFILE) == O_TMPFILE)
        return fault(EOPNOTSUPP);
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

int fsync_with_faults(int fd)
{
    return fail_sync ? fault(fail_sync) : (int)syscall(SYS_fsync, fd);
}

int renameat_with_faults(int from_directory, const char *from, int to_directory, const char *to)
{
    void (*hook)(void) = before_rename;
    before_rename = NULL;
    if (hook)
        hook();
    if (fail_rename)
        return fault(fail_rename);
    return (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, 0);
}

/* ---- a temporary directory, which is the working directory ---- */

static char directory[] = "/tmp/quorum-test-XXXXXX";

static int enter_directory(void **state)
{
    (void)state;
    umask(022);
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int remove_files(void **state)
{
    (void)state;
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove(e->d_name);
    closedir(d);
    no_nameless_files = false;
    fail_sync = fail_rename = 0;
    return 0;
}

static int leave_directory(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static size_t count_files(void)
{
    size_t n = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void assert_content(const char *path, const char *text)
{
    char found[64] = "";
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(found, 1, sizeof found - 1, f);
    found[n] = '\0';
    fclose(f);
    assert_string_equal(found, text);
}

static mode_t mode_of(const char *path)
{
    struct stat s;
    assert_int_equal(lstat(path, &s), 0);
    return s.st_mode;
}

static int begin_text(whole_file *f, const char *path, const char *text)
{
    int error = whole_file_begin(f, path);
    if (error == 0)
        assert_int_equal(write(f->fd, text, strlen(text)), strlen(text));
    return error;
}

static int save_text(const char *path, const char *text)
{
    whole_file f;
    int error = begin_text(&f, path, text);
    return error == 0 ? whole_file_commit(&f) : error;
}

/* ---- both ways of making a file ---- */

static void check_new_and_replaced(void)
{
    whole_file f;
    assert_int_equal(begin_text(&f, "a", "one"), 0);
    assert_int_equal(access("a", F_OK), -1); /* not before the commit */
    char back[3];
    assert_int_equal(pread(f.fd, back, 3, 0), 3);
    assert_memory_equal(back, "one", 3);
    assert_int_equal(whole_file_commit(&f), 0);
    whole_file_discard(&f); /* does nothing */
    assert_content("a", "one");
    assert_int_equal(mode_of("a") & 07777, 0644);
    assert_int_equal(begin_text(&f, "a", "lost"), 0);
    whole_file_discard(&f);
    assert_content("a", "one");
    assert_int_equal(save_text("a", "two"), 0);
    assert_content("a", "two");
    assert_int_equal(count_files(), 1);
}

static void new_and_replaced(void **state)
{
    (void)state;
    check_new_and_replaced();
    remove_files(state);
    no_nameless_files = true;
    check_new_and_replaced();
}

static void check_modes(void)
{
    static const mode_t modes[] = {0600, 0640, 0400, 0666, 0755};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(save_text("a", "old"), 0);
        assert_int_equal(chmod("a", modes[i]), 0);
        assert_int_equal(save_text("a", "new"), 0);
        assert_int_equal(mode_of("a") & 07777, modes[i]);
    }
    umask(077);
    assert_int_equal(save_text("b", "secret"), 0);
    umask(022);
    assert_int_equal(mode_of("b") & 07777, 0600);
}

static void modes_are_kept(void **state)
{
    (void)state;
    check_modes();
    remove_files(state);
    no_nameless_files = true;
    check_modes();
}

static void owners_are_kept_where_permitted(void **state)
{
    (void)state;
    struct stat s;
    if (geteuid() != 0)
        skip();
    assert_int_equal(save_text("a", "old"), 0);
    assert_int_equal(chmod("a", 0640), 0);
    assert_int_equal(chown("a", 12, 34), 0);
    assert_int_equal(save_text("a", "new"), 0);
    assert_int_equal(stat("a", &s), 0);
    assert_int_equal(s.st_uid, 12);
    assert_int_equal(s.st_gid, 34);
    assert_int_equal(s.st_mode & 07777, 0640);
}

static void links_survive(void **state)
{
    (void)state;
    char longest[PATH_MAX + 8];
    assert_int_equal(mkdir("d", 0777), 0);
    assert_int_equal(save_text("d/file", "old"), 0);
    assert_int_equal(symlink("file", "d/near"), 0);
    assert_int_equal(symlink("d/near", "far"), 0);
    assert_int_equal(save_text("far", "new"), 0);
    assert_content("d/file", "new");
    assert_int_equal(symlink("d/to-be", "dangling"), 0);
    assert_int_equal(save_text("dangling", "made"), 0);
    assert_content("d/to-be", "made");
    assert_true(S_ISLNK(mode_of("far")) && S_ISLNK(mode_of("d/near")));
    assert_true(S_ISLNK(mode_of("dangling")));
    assert_int_equal(symlink("nowhere/file", "lost"), 0);
    assert_int_equal(save_text("lost", "x"), ENOENT);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(save_text("loop", "x"), ELOOP);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(save_text(longest, "x"), ENAMETOOLONG);
    longest[NAME_MAX] = '\0'; /* the longest name there is: its temporary one is cut */
    assert_int_equal(save_text(longest, "one"), 0);
    assert_int_equal(save_text(longest, "two"), 0);
    assert_content(longest, "two");
    assert_int_equal(whole_file_remove("far"), 0);
    assert_int_equal(access("d/file", F_OK), -1);
    assert_true(S_ISLNK(mode_of("far")));
    assert_int_equal(whole_file_remove("far"), ENOENT);
    assert_int_equal(unlink("d/near") + unlink("d/to-be"), 0);
}

static void places_that_are_refused(void **state)
{
    (void)state;
    whole_file f;
    assert_int_equal(whole_file_begin(&f, "."), EISDIR);
    assert_int_equal(whole_file_begin(&f, "/"), EISDIR);
    assert_int_equal(whole_file_begin(&f, "no/file"), ENOENT);
    assert_int_equal(whole_file_begin(&f, ""), ENOENT);
    assert_int_equal(whole_file_begin(&f, "/dev/null"), WHOLE_FILE_SPECIAL);
    whole_file_discard(&f);
    assert_string_equal(whole_file_reason(EISDIR), "is a directory");
    assert_string_equal(whole_file_reason(WHOLE_FILE_SPECIAL), "not a regular file");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(whole_file_begin(&f, "pipe"), WHOLE_FILE_SPECIAL);
}

static void the_working_directory_may_change(void **state)
{
    (void)state;
    whole_file f;
    assert_int_equal(begin_text(&f, "a", "text"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(whole_file_commit(&f), 0);
    assert_int_equal(chdir(directory), 0);
    assert_content("a", "text");
}

/* ---- faults ---- */

static void check_faults(void)
{
    assert_int_equal(save_text("a", "old"), 0);
    fail_sync = EIO;
    assert_int_equal(save_text("a", "new"), EIO);
    fail_sync = 0;
    fail_rename = ENOSPC;
    assert_int_equal(save_text("a", "new"), ENOSPC);
    fail_rename = 0;
    assert_content("a", "old");
    assert_int_equal(count_files(), 1);
}

static void a_failure_leaves_the_old_file_alone(void **state)
{
    (void)state;
    check_faults();
    no_nameless_files = true;
    check_faults();
}

/* A killed process leaves no name at all, or in the other way one that the next save removes,
 * but not that of a process that lives. */
static void nothing_is_left_behind(void **state)
{
    (void)state;
    whole_file f, living;
    assert_int_equal(begin_text(&f, "a", "killed"), 0);
    assert_int_equal(count_files(), 0);
    whole_file_discard(&f);
    no_nameless_files = true;
    assert_int_equal(begin_text(&living, "a", "living"), 0);
    assert_int_equal(begin_text(&f, "a", "killed"), 0);
    assert_int_equal(count_files(), 2);
    close(f.fd); /* what the kernel does at the death of a process */
    close(f.directory);
    assert_int_equal(save_text("a", "next"), 0);
    assert_content("a", "next");
    assert_int_equal(count_files(), 2);
    assert_int_equal(whole_file_commit(&living), 0);
    assert_content("a", "living");
    assert_int_equal(count_files(), 1);
}

static void litter_of_the_instant_is_removed(void **state)
{
    (void)state;
    assert_int_equal(save_text("a", "old"), 0);
    assert_int_equal(save_text("a.quorum-tmp", "litter"), 0);
    assert_int_equal(save_text("a", "new"), 0);
    assert_content("a", "new");
    assert_int_equal(count_files(), 1);
}

/* ---- another writer, at the worst instant ---- */

static void save_another(void)
{
    assert_int_equal(save_text("a", "another"), 0);
}

static void kill_another(void)
{
    whole_file f;
    no_nameless_files = true;
    assert_int_equal(begin_text(&f, "a", "another"), 0);
    close(f.fd);
    close(f.directory);
    no_nameless_files = false;
}

static void two_writers(void **state)
{
    (void)state;
    assert_int_equal(save_text("a", "old"), 0);
    before_rename = save_another;
    assert_int_equal(save_text("a", "new"), 0);
    assert_content("a", "new");
    assert_int_equal(count_files(), 1);
    before_rename = kill_another;
    assert_int_equal(save_text("a", "newer"), 0);
    assert_content("a", "newer");
    assert_int_equal(count_files(), 2); /* a.quorum-tmp-1 ... */
    before_rename = save_another;
    assert_int_equal(save_text("a", "newest"), 0);
    assert_content("a", "newest");
    assert_int_equal(count_files(), 1); /* ... whose turn came again */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(new_and_replaced, remove_files),
        cmocka_unit_test_teardown(modes_are_kept, remove_files),
        cmocka_unit_test_teardown(owners_are_kept_where_permitted, remove_files),
        cmocka_unit_test_teardown(links_survive, remove_files),
        cmocka_unit_test_teardown(places_that_are_refused, remove_files),
        cmocka_unit_test_teardown(the_working_directory_may_change, remove_files),
        cmocka_unit_test_teardown(a_failure_leaves_the_old_file_alone, remove_files),
        cmocka_unit_test_teardown(nothing_is_left_behind, remove_files),
        cmocka_unit_test_teardown(litter_of_the_instant_is_removed, remove_files),
        cmocka_unit_test_teardown(two_writers, remove_files),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
