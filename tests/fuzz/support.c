/* See fuzz.h. */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Quick rather than thorough where it is thorough enough: short traces of allocations, a small
 * quarantine, no pages given back. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "malloc_context_size=4:quarantine_size_mb=8:thread_local_quarantine_size_kb=256:"
           "allocator_release_to_os_interval_ms=-1:allocator_may_return_null=1:max_malloc_fill_"
           "size=256";
}

const quorum_options *options_in_use;

static void print_options(void)
{
    for (int i = 0; options_in_use && i < quorum_option_count(); i++) {
        const quorum_option_info *o = quorum_option_at(i);
        const char *value = quorum_options_get(options_in_use, o->name);
        if (strcmp(value, o->default_value) != 0)
            fprintf(stderr, "option %s = %s\n", o->name, value);
    }
}

void require(int condition, const char *what, const char *file, int line)
{
    if (condition)
        return;
    print_options();
    fprintf(stderr, "%s:%d: this does not hold: %s\nlast message: %s\n", file, line, what,
            quorum_message());
    abort();
}

void require_failure(quorum_status status)
{
    REQUIRE(status < 0 && status != QUORUM_E_INTERNAL && status != QUORUM_E_CANCELLED);
    REQUIRE(strlen(quorum_message()) > 0);
}

void require_finite(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i]))
            fprintf(stderr, "number %zu of %zu is %g\n", i + 1, count, x[i]);
        REQUIRE(isfinite(x[i]));
    }
}

void require_nan(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        REQUIRE(isnan(x[i]));
}

/* ---- Files ---- */

const char *file_of(int slot, const uint8_t *data, size_t size)
{
    static int files[FILE_SLOTS] = {-1, -1};
    static char paths[FILE_SLOTS][64];
    if (files[slot] < 0) {
        files[slot] = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(paths[slot], sizeof paths[slot], "/proc/self/fd/%d", files[slot]);
    }
    REQUIRE(files[slot] >= 0 && ftruncate(files[slot], 0) == 0);
    REQUIRE(pwrite(files[slot], data, size, 0) == (ssize_t)size);
    return paths[slot];
}

static char directory[256];

static void remove_directory(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command) != 0)
        fprintf(stderr, "%s is left behind\n", directory);
}

static void make_directory(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/quorum-fuzz-XXXXXX", base ? base : "/dev/shm");
    REQUIRE(mkdtemp(directory) != NULL);
    atexit(remove_directory);
}

const char *private_path(const char *name)
{
    static char path[512];
    if (!directory[0])
        make_directory();
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

uint8_t *read_whole(const char *path, size_t *size)
{
    struct stat about;
    FILE *f = fopen(path, "rb");
    REQUIRE(f && fstat(fileno(f), &about) == 0);
    *size = (size_t)about.st_size;
    uint8_t *bytes = malloc(*size + 1);
    REQUIRE(bytes && fread(bytes, 1, *size, f) == *size);
    fclose(f);
    return bytes;
}

/* ---- Bytes as choices ---- */

unsigned take_byte(choices *c)
{
    if (c->left == 0)
        return 0;
    c->left--;
    return *c->at++;
}

unsigned take_below(choices *c, unsigned n)
{
    return take_byte(c) % n;
}

/* One byte for most numbers: -6 .. 6 in steps, an extreme one, or the next eight bytes. */
double take_number(choices *c)
{
    unsigned pick = take_byte(c);
    double x = ((int)pick - 96) / 16.0;
    if (pick >= 250 && c->left >= sizeof x) {
        memcpy(&x, c->at, sizeof x);
        c->at += sizeof x;
        c->left -= sizeof x;
    } else if (pick >= 192) {
        x = odd_number(pick);
    }
    return isfinite(x) ? x : 0.0;
}

uint64_t roll(dice *d)
{
    d->state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = d->state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

size_t roll_below(dice *d, size_t n)
{
    return (size_t)(roll(d) % n);
}

double odd_number(uint64_t pick)
{
    static const double odd[] = {0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 0.5,
                                 2.0,
                                 1e-3,
                                 1e3,
                                 -1e3,
                                 1e-8,
                                 1e8,
                                 1e-16,
                                 1e16,
                                 1e-100,
                                 1e100,
                                 -1e100,
                                 1e-155,
                                 1e155,
                                 -1e155,
                                 1e-162,
                                 1e162,
                                 1e-300,
                                 1e300,
                                 -1e300,
                                 1e308,
                                 -1e308,
                                 1.7976931348623157e308,
                                 -1.7976931348623157e308,
                                 2.2250738585072014e-308,
                                 5e-324,
                                 -5e-324,
                                 1e-310,
                                 3.0,
                                 7.0,
                                 100.0,
                                 -100.0,
                                 99.99,
                                 709.0,
                                 -745.0,
                                 0.1,
                                 9007199254740993.0,
                                 2147483647.0,
                                 2147483648.0,
                                 4294967296.0,
                                 1e19,
                                 INFINITY,
                                 -INFINITY,
                                 NAN};
    return odd[pick % (sizeof odd / sizeof *odd)];
}
