/* What the program says on stderr, in one voice: "quorum fit: ...". */
#ifndef QUORUM_CLI_TALK_H
#define QUORUM_CLI_TALK_H

#include "arguments.h"
#include "quorum.h"

/* An error that `quorum COMMAND --help` would have prevented; returns EXIT_USAGE. */
int usage_error(const command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A failure at work; returns EXIT_FAILED. */
int failure(const arguments *given, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An option that the library refused: a usage error, unless memory ran out; returns the
 * exit code. */
int option_failure(const arguments *given, const char *name, quorum_status status);

/* The library's sentence for its last failure; returns the exit code that
 * belongs to the status: 1, or 128 + the signal after an interruption. */
int library_failure(const arguments *given, quorum_status status);

/* Says that a signal stopped the work; returns 128 + the signal. */
int interruption(const arguments *given);

/* A remark, left out by --quiet. */
void note(const arguments *given, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A detail, only with --verbose. */
void detail(const arguments *given, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* With --verbose: the options that differ from their defaults, and the machine's BLAS. */
void detail_settings(const arguments *given);

/* A name as it may be printed among results: without control characters, which a terminal would
 * obey.  The functions above do the same to all that they print. */
typedef struct {
    char text[1024];
} shown_text;
shown_text shown(const char *text);

/* "1 row", "2 rows": the plural's s, or "". */
const char *plural(size_t count);

#endif
