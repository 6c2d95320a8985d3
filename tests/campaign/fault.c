/* Faults on demand, preloaded into the command by the campaigns (LD_PRELOAD=fault.so).
 *
 *   FAULT_CALL    which calls: memory, thread, or one of the names in `io_calls`
 *   FAULT_AT      the number of the call that fails, from 1; 0: none
 *   FAULT_STICKY  1: the later ones fail as well
 *   FAULT_KIND    EIO (default), ENOSPC, EINTR, short (one byte is read or written), or kill (the
 *                 process ends there and then)
 *   FAULT_UNDER   the directory, as an absolute path, whose files are meant; a relative path is too
 *   FAULT_COUNTS  a file for the numbers of calls, one `long` for each name in `call_names`
 *
 * Memory and threads are taken by defining the functions here, in front of the C library's.  What
 * the C library does itself, as in fwrite or opendir, does not come by here: so input and output
 * are taken at the system call, by a seccomp filter that gives them to a SIGSYS handler.
 * Counting begins with main and lasts to the end of the process.  The clock stands still, so that
 * what the command writes is the same in every run. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

typedef enum fault_call {
    CALL_MEMORY,
    CALL_THREAD,
    CALL_OPEN,
    CALL_READ,
    CALL_WRITE,
    CALL_FSYNC,
    CALL_RENAME,
    CALL_LINK,
    CALL_CLOSE,
    CALL_TRUNCATE,
    CALL_CHMOD,
    CALL_SEEK,
    CALL_STAT,
    CALLS
} fault_call;

static const char *const call_names[CALLS] = {"memory", "thread", "open", "read",  "write",
                                              "fsync",  "rename", "link", "close", "truncate",
                                              "chmod",  "seek",   "stat"};

/* What the first argument of a system call is: a descriptor, or a directory before a path. */
typedef enum subject { DESCRIPTOR, PATH, PATH_AT, ANY } subject;

static const struct io_call {
    int number;
    fault_call call;
    subject subject;
} io_calls[] = {
#ifdef SYS_open
    {SYS_open, CALL_OPEN, PATH},
#endif
    {SYS_openat, CALL_OPEN, PATH_AT},
    {SYS_read, CALL_READ, DESCRIPTOR},
    {SYS_pread64, CALL_READ, DESCRIPTOR},
    {SYS_readv, CALL_READ, DESCRIPTOR},
    {SYS_write, CALL_WRITE, DESCRIPTOR},
    {SYS_pwrite64, CALL_WRITE, DESCRIPTOR},
    {SYS_writev, CALL_WRITE, DESCRIPTOR},
    {SYS_fsync, CALL_FSYNC, DESCRIPTOR},
    {SYS_fdatasync, CALL_FSYNC, DESCRIPTOR},
#ifdef SYS_rename
    {SYS_rename, CALL_RENAME, ANY},
#endif
#ifdef SYS_renameat
    {SYS_renameat, CALL_RENAME, ANY},
#endif
    {SYS_renameat2, CALL_RENAME, ANY},
#ifdef SYS_link
    {SYS_link, CALL_LINK, ANY},
#endif
    {SYS_linkat, CALL_LINK, ANY},
    {SYS_close, CALL_CLOSE, DESCRIPTOR},
    {SYS_ftruncate, CALL_TRUNCATE, DESCRIPTOR},
    {SYS_fchmod, CALL_CHMOD, DESCRIPTOR},
    {SYS_lseek, CALL_SEEK, DESCRIPTOR},
    {SYS_fstat, CALL_STAT, DESCRIPTOR},
#ifdef SYS_stat
    {SYS_stat, CALL_STAT, PATH},
#endif
    {SYS_newfstatat, CALL_STAT, PATH_AT},
    {SYS_statx, CALL_STAT, PATH_AT},
};

enum { IO_CALLS = (int)(sizeof io_calls / sizeof *io_calls), DESCRIPTORS = 1024 };

static struct plan {
    fault_call call;
    long at; /* 0: none */
    int sticky;
    int error; /* 0: a short transfer; -1: kill */
    const char *under;
} plan;

static atomic_int started;           /* main has begun */
static atomic_long spare[CALLS];     /* counts, where nobody wants them */
static atomic_long *counts = spare;  /* or a file in memory */
static atomic_char own[DESCRIPTORS]; /* descriptors of files that are meant */

/* ---- Whose turn it is ---- */

/* Counts one call and says whether it fails.  An interrupted call is tried again by a careful
 * program, for ever if it had to: of those, every other one fails. */
static int must_fail(fault_call call)
{
    if (!atomic_load(&started))
        return 0;
    long turn = atomic_fetch_add(&counts[call], 1) + 1;
    if (call != plan.call || plan.at == 0 || turn < plan.at)
        return 0;
    if (turn == plan.at)
        return 1;
    return plan.sticky && (plan.error != EINTR || (turn - plan.at) % 2 == 0);
}

/* ---- Memory ---- */

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t line, size_t bytes);

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t bytes)
{
    return must_fail(CALL_MEMORY) ? no_memory() : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return must_fail(CALL_MEMORY) ? no_memory() : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return must_fail(CALL_MEMORY) ? no_memory() : __libc_realloc(old, bytes);
}

void *reallocarray(void *old, size_t count, size_t bytes)
{
    size_t all;
    if (must_fail(CALL_MEMORY) || __builtin_mul_overflow(count, bytes, &all))
        return no_memory();
    return __libc_realloc(old, all);
}

void *memalign(size_t line, size_t bytes)
{
    return must_fail(CALL_MEMORY) ? no_memory() : __libc_memalign(line, bytes);
}

void *aligned_alloc(size_t line, size_t bytes)
{
    return must_fail(CALL_MEMORY) ? no_memory() : __libc_memalign(line, bytes);
}

int posix_memalign(void **result, size_t line, size_t bytes)
{
    if (must_fail(CALL_MEMORY))
        return ENOMEM;
    void *p = __libc_memalign(line, bytes);
    if (!p)
        return ENOMEM;
    *result = p;
    return 0;
}

/* Memory without a file behind it is an allocation.  The C library's own calls, for the stacks of
 * threads and for large blocks, do not come by here. */
void *mmap(void *address, size_t bytes, int protection, int flags, int descriptor, off_t offset)
{
    if ((flags & MAP_ANONYMOUS) && must_fail(CALL_MEMORY)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, descriptor, offset);
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int descriptor, off_t offset)
{
    return mmap(address, bytes, protection, flags, descriptor, offset);
}

/* ---- Threads and the clock ---- */

typedef int thread_maker(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *data)
{
    static thread_maker *next;
    if (must_fail(CALL_THREAD))
        return EAGAIN;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return next(thread, attributes, run, data);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){.tv_sec = 1000000000};
    return 0;
}

/* ---- Input and output ---- */

/* A system call that the filter lets pass: its sixth argument, which none of ours has, says so. */
enum { PASS = 0x51724d21 };

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define ARGUMENT(context, i)                                                                       \
    ((context)->uc_mcontext.gregs[(const int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8}[i]])
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define ARGUMENT(context, i) ((context)->uc_mcontext.regs[i])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#endif

#ifdef ARCHITECTURE
static int is_under(const char *path)
{
    size_t n = plan.under ? strlen(plan.under) : 0;
    return path && (*path != '/' || (n && strncmp(path, plan.under, n) == 0));
}

static int is_meant(const struct io_call *c, ucontext_t *context)
{
    long first = (long)ARGUMENT(context, 0);
    if (c->subject == DESCRIPTOR)
        return first >= 0 && first < DESCRIPTORS && atomic_load(&own[first]);
    if (c->subject == PATH)
        return is_under((const char *)first);
    if (c->subject == PATH_AT && c->call == CALL_STAT) { /* an empty path: of a descriptor */
        const char *path = (const char *)ARGUMENT(context, 1);
        if (path && *path == '\0')
            return first >= 0 && first < DESCRIPTORS && atomic_load(&own[first]);
    }
    return c->subject == ANY || is_under((const char *)ARGUMENT(context, 1));
}

static long carry_out(int number, ucontext_t *context, long length)
{
    long result = syscall(number, ARGUMENT(context, 0), ARGUMENT(context, 1), length,
                          ARGUMENT(context, 3), ARGUMENT(context, 4), (long)PASS);
    return result == -1 ? -errno : result;
}

/* The call fails, or its transfer is short: one byte, or one piece of a vector.  A descriptor is
 * gone after close, whatever close says. */
static long fail(const struct io_call *c, ucontext_t *context)
{
    long length = (long)ARGUMENT(context, 2);
    if (plan.error < 0)
        syscall(SYS_kill, getpid(), SIGKILL);
    if (plan.error == 0)
        return carry_out(c->number, context, length > 1 ? 1 : length);
    if (c->call == CALL_CLOSE)
        carry_out(c->number, context, length);
    return -plan.error;
}

static void keep_track(const struct io_call *c, ucontext_t *context, long result)
{
    if (c->call == CALL_OPEN && result >= 0 && result < DESCRIPTORS)
        atomic_store(&own[result], 1);
    if (c->call == CALL_CLOSE)
        atomic_store(&own[ARGUMENT(context, 0)], 0);
}

static const struct io_call *find_call(int number)
{
    for (int i = 0; i < IO_CALLS; i++)
        if (io_calls[i].number == number)
            return &io_calls[i];
    return NULL;
}

static void take_call(int signal_number, siginfo_t *info, void *data)
{
    (void)signal_number;
    ucontext_t *context = data;
    int error = errno;
    const struct io_call *c = find_call(info->si_syscall);
    long result;
    if (c && is_meant(c, context)) {
        result = must_fail(c->call) ? fail(c, context)
                                    : carry_out(c->number, context, (long)ARGUMENT(context, 2));
        keep_track(c, context, result);
    } else {
        result = carry_out(info->si_syscall, context, (long)ARGUMENT(context, 2));
    }
    RESULT(context) = result;
    errno = error;
}

/* pass: sixth argument == PASS; trap: one of io_calls; pass. */
static int filter_calls(void)
{
    struct sock_filter program[IO_CALLS + 6];
    int n = 0;
    program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                offsetof(struct seccomp_data, args[5]));
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PASS, IO_CALLS + 1, 0);
    program[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < IO_CALLS; i++)
        program[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)io_calls[i].number,
                                         (unsigned char)(IO_CALLS - i), 0);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    struct sock_fprog all = {.len = (unsigned short)n, .filter = program};
    struct sigaction action = {.sa_sigaction = take_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0;
}
#else
static int filter_calls(void)
{
    return 0;
}
#endif

/* ---- The start ---- */

static fault_call find_name(const char *name)
{
    for (int i = 0; name && i < CALLS; i++)
        if (strcmp(name, call_names[i]) == 0)
            return (fault_call)i;
    return CALLS;
}

static int find_error(const char *kind)
{
    if (kind && strcmp(kind, "short") == 0)
        return 0;
    if (kind && strcmp(kind, "kill") == 0)
        return -1;
    if (kind && strcmp(kind, "ENOSPC") == 0)
        return ENOSPC;
    return kind && strcmp(kind, "EINTR") == 0 ? EINTR : EIO;
}

static void share_counts(const char *path)
{
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    size_t bytes = CALLS * sizeof *counts;
    if (file < 0 || ftruncate(file, (off_t)bytes) < 0)
        return;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (p != MAP_FAILED)
        counts = p;
}

static void read_plan(void)
{
    const char *at = getenv("FAULT_AT"), *sticky = getenv("FAULT_STICKY");
    plan.call = find_name(getenv("FAULT_CALL"));
    plan.at = at ? strtol(at, NULL, 10) : 0;
    plan.sticky = sticky && *sticky == '1';
    plan.error = find_error(getenv("FAULT_KIND"));
    plan.under = getenv("FAULT_UNDER");
    share_counts(getenv("FAULT_COUNTS"));
}

typedef int main_function(int, char **, char **);
static main_function *real_main;

/* Exit code 99: the machine does not let us look at system calls. */
static int main_with_faults(int argc, char **argv, char **environment)
{
    read_plan();
    unsetenv("LD_PRELOAD");
    atomic_store(&own[STDIN_FILENO], 1);
    atomic_store(&own[STDOUT_FILENO], 1);
    if (plan.call > CALL_THREAD && !filter_calls())
        return 99;
    atomic_store(&started, 1);
    return real_main(argc, argv, environment);
}

typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void),
                           void (*)(void), void *);

int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end);

int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    start_function *next;
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = program;
    return next(main_with_faults, argc, argv, init, fini, loader_fini, stack_end);
}
