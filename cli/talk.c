/* Errors, notes and details on stderr, each one line without control characters. */
#include "talk.h"

#include "interrupt.h"
#include "io/plain_text.h"
#include "progress.h"
#include "terminal.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SENTENCE = 3 * PATH_MAX };

/* "quorum COMMAND: sentence": names and cells of files are in it, so it goes out without
 * control characters, on one line. */
__attribute__((format(printf, 5, 0))) static void say(terminal_ink ink, const char *name,
                                                      const char *mark, const char *end,
                                                      const char *format, va_list args)
{
    char text[SENTENCE], plain[SENTENCE + 64];
    vsnprintf(text, sizeof text, format, args);
    plain_text_copy(plain, sizeof plain, text);
    progress_hide();
    fprintf(stderr, "%squorum %s:%s %s%s%s\n", ink_begin(stderr, ink), name, ink_end(stderr), mark,
            plain, end);
}

int usage_error(const command *c, const char *format, ...)
{
    char end[64];
    va_list args;
    va_start(args, format);
    snprintf(end, sizeof end, "; try 'quorum %s --help'", c->name);
    say(INK_ERROR, c->name, "", end, format, args);
    va_end(args);
    return EXIT_USAGE;
}

int failure(const arguments *given, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(INK_ERROR, given->command->name, "", "", format, args);
    va_end(args);
    return EXIT_FAILED;
}

int option_failure(const arguments *given, const char *name, quorum_status status)
{
    if (status == QUORUM_E_MEMORY)
        return failure(given, "%s", quorum_message());
    return usage_error(given->command, "--%s: %s", name, library_complaint(name));
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
    say(INK_NOTE, given->command->name, "note: ", "", format, args);
    va_end(args);
}

void detail(const arguments *given, const char *format, ...)
{
    if (!given->verbose)
        return;
    va_list args;
    va_start(args, format);
    say(INK_NOTE, given->command->name, "", "", format, args);
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

shown_text shown(const char *text)
{
    shown_text out;
    size_t length = strlen(text), fits = plain_text_copy(out.text, sizeof out.text - 3, text);
    if (fits < length)
        memcpy(out.text + strlen(out.text), "...", 4);
    return out;
}

const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}
