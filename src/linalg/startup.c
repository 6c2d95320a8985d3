/* Starts OpenBLAS with the right kernels and without threads of its own.
 *
 * Debian 12's OpenBLAS 0.3.21 does not know recent Intel models and falls back
 * to its oldest kernels, 5 to 10 times slower.  Its kernels for AVX-512 round a
 * column of a product by the number of columns beside it, so that a prediction
 * would depend on its company: such processors get those for AVX2.  It reads OPENBLAS_CORETYPE, and
 * how many threads to start, in its own constructor; so an earlier constructor
 * of the same object sets both, starts OpenBLAS, and puts the environment back
 * as it was, for any other OpenBLAS in the process.  A core type that the user
 * has set wins; processors that OpenBLAS knows by itself are left alone. */
#include "linalg/blas.h"

#include <stdlib.h>
#include <string.h>

extern char *openblas_get_corename(void);
extern void openblas_set_num_threads(int threads);
extern void gotoblas_init(void) __attribute__((weak)); /* OpenBLAS's constructor: runs once */

const char *blas_kernel_name(void)
{
    return openblas_get_corename();
}

#if defined(__x86_64__)
#include <cpuid.h>

static int is_intel(void)
{
    unsigned int a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return 0;
    return b == 0x756e6547u && d == 0x49656e69u && c == 0x6c65746eu; /* "GenuineIntel" */
}

static const char *core_type(void)
{
    __builtin_cpu_init();
    int fits = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return fits && (is_intel() || __builtin_cpu_supports("avx512f")) ? "Haswell" : NULL;
}
#else
static const char *core_type(void)
{
    return NULL;
}
#endif

/* Sets a variable and returns what it was: a copy, or NULL when it was not set. */
static char *exchange_variable(const char *name, const char *value)
{
    const char *old = getenv(name);
    char *copy = old ? strdup(old) : NULL;
    setenv(name, value, 1);
    return copy;
}

static void restore_variable(const char *name, char *old)
{
    if (old)
        setenv(name, old, 1);
    else
        unsetenv(name);
    free(old);
}

__attribute__((constructor(101))) void start_blas(void)
{
    const char *core = getenv("OPENBLAS_CORETYPE") ? NULL : core_type();
    if (!gotoblas_init) { /* another OpenBLAS: leave it the kernels at least */
        if (core)
            setenv("OPENBLAS_CORETYPE", core, 0);
        return;
    }
    char *threads = exchange_variable("OPENBLAS_NUM_THREADS", "1");
    if (core)
        setenv("OPENBLAS_CORETYPE", core, 0);
    gotoblas_init();
    if (core)
        unsetenv("OPENBLAS_CORETYPE");
    restore_variable("OPENBLAS_NUM_THREADS", threads);
}

/* Where OpenBLAS had to start by itself: at least keep to the calling thread. */
__attribute__((constructor)) static void keep_to_one_thread(void)
{
    if (gotoblas_init)
        openblas_set_num_threads(1);
}
