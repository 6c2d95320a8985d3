/* Preloaded into a program of unit tests: it runs those of its tests that the file PASSED_OVER does not name, and says how
 * many it has in all.  Stands before cmocka's function of that name and hands on to it. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 256 };

static int is_named(const char *path, const char *name)
{
    char line[256];
    int found = 0;
    FILE *file = fopen(path, "r");
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        found = strcmp(line, name) == 0;
    }
    if (file)
        fclose(file);
    return found;
}

int _cmocka_run_group_tests(const char *group, const struct CMUnitTest *const tests,
                            const size_t count, CMFixtureFunction set_up,
                            CMFixtureFunction tear_down)
{
    struct CMUnitTest left[MOST];
    size_t n = 0;
    int (*run)(const char *, const struct CMUnitTest *, size_t, CMFixtureFunction,
               CMFixtureFunction);
    *(void **)&run = dlsym(RTLD_NEXT, "_cmocka_run_group_tests");
    for (size_t i = 0; i < count && n < MOST; i++)
        if (!is_named(getenv("PASSED_OVER"), tests[i].name))
            left[n++] = tests[i];
    printf("%zu tests in all\n", count);
    fflush(stdout);
    return run(group, left, n, set_up, tear_down);
}
