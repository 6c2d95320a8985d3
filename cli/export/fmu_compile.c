/* binaries/.../NAME.so of an FMU: the compiler at hand runs on the source in a folder of its own. */
#include "export/fmu.h"

#include "talk.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__APPLE__)
const char fmu_binaries[] = "binaries/darwin64";
#elif __SIZEOF_POINTER__ == 4
const char fmu_binaries[] = "binaries/linux32";
#else
const char fmu_binaries[] = "binaries/linux64"; /* the standard does not tell processors apart */
#endif

typedef struct {
    char folder[PATH_MAX - 8], source[PATH_MAX], library[PATH_MAX];
} workshop;

static bool workshop_open(workshop *w)
{
    const char *place = getenv("TMPDIR");
    memset(w, 0, sizeof *w);
    int n = snprintf(w->folder, sizeof w->folder, "%s/quorum-fmu-XXXXXX",
                     place && *place ? place : "/tmp");
    if (n < 0 || (size_t)n >= sizeof w->folder) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (!mkdtemp(w->folder))
        return false;
    snprintf(w->source, sizeof w->source, "%s/unit.c", w->folder);
    snprintf(w->library, sizeof w->library, "%s/unit.so", w->folder);
    return true;
}

static void workshop_close(const workshop *w)
{
    unlink(w->source);
    unlink(w->library);
    rmdir(w->folder);
}

static bool write_whole(const char *path, const char *text, size_t bytes)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    size_t written = fwrite(text, 1, bytes, file);
    return fclose(file) == 0 && written == bytes;
}

static bool read_whole(const char *path, char **out, size_t *bytes)
{
    FILE *file = fopen(path, "r");
    long size = -1;
    *out = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size > 0 && (*out = malloc((size_t)size))) {
        rewind(file);
        *bytes = fread(*out, 1, (size_t)size, file);
    }
    if (file)
        fclose(file);
    return *out && *bytes == (size_t)size;
}

/* An exit code; what the compiler says goes where it says it, to standard error. */
static int run_compiler(const arguments *given, const char *compiler, const workshop *w)
{
    const char *const words[] = {compiler,
                                 "-std=c99",
                                 "-O2",
                                 "-fPIC",
                                 "-shared",
                                 "-fvisibility=hidden",
                                 "-DFMI2_OVERRIDE_FUNCTION_PREFIX",
                                 w->source,
                                 "-o",
                                 w->library,
                                 "-lm",
                                 NULL};
    pid_t child;
    int status = 0,
        error = posix_spawnp(&child, compiler, NULL, NULL, (char *const *)words, environ);
    if (error == ENOENT)
        return failure(given,
                       "there is no C compiler '%s' to build the unit's library with: install one, "
                       "name another by --compiler, or leave the library out by --sources-only",
                       compiler);
    if (error)
        return failure(given, "'%s' cannot be started: %s", compiler, strerror(error));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return failure(given, "'%s' could not build the unit's library", compiler);
    return EXIT_DONE;
}

int fmu_compile(const arguments *given, const char *compiler, const char *text, size_t bytes,
                char **out, size_t *out_bytes)
{
    workshop w;
    if (!workshop_open(&w))
        return failure(given, "there is no place for temporary files: %s: %s", w.folder,
                       strerror(errno));
    int code = write_whole(w.source, text, bytes)
                   ? run_compiler(given, compiler, &w)
                   : failure(given, "%s: cannot be written: %s", w.source, strerror(errno));
    if (code == EXIT_DONE && !read_whole(w.library, out, out_bytes))
        code = failure(given, "%s: cannot be read: %s", w.library, strerror(errno));
    workshop_close(&w);
    return code;
}
