#include "talk.h"

#include "interrupt.h"
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int usage_error(const command *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    progress_hide();
    fprintf(stderr, "quorum %s: ", c->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, "; try 'quorum %s --help'\n", c->name);
    va_end(args);
    return EXIT_USAGE;
}

int failure(const arguments *given, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    progress_hide();
    fprintf(stderr, "quorum %s: ", given->command->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return EXIT_FAILED;
}

int library_failure(const arguments *given, quorum_status status)
{
    failure(given, "%s", quorum_message());
    if (status == QUORUM_E_CANCELLED && interrupted())
        return 128 + interrupted();
    return EXIT_FAILED;
}

int interruption(const arguments *given)
{
    failure(given, "cancelled");
    return 128 + interrupted();
}

void note(const arguments *given, const char *format, ...)
{
    if (given->quiet)
        return;
    va_list args;
    va_start(args, format);
    progress_hide();
    fprintf(stderr, "quorum %s: note: ", given->command->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void detail(const arguments *given, const char *format, ...)
{
    if (!given->verbose)
        return;
    va_list args;
    va_start(args, format);
    progress_hide();
    fprintf(stderr, "quorum %s: ", given->command->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void detail_settings(const arguments *given)
{
    detail(given, "quorum %s, BLAS kernels %s", quorum_version(), quorum_blas_kernel());
    for (size_t i = 0; i < given->flag_count; i++)
        if (given->flags[i].library && given->values[i])
            detail(given, "%s = %s", given->flags[i].name,
                   quorum_options_get(given->options, given->flags[i].name));
}

const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}
