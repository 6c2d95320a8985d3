/* Where a command writes: standard output, a pipe or a device, or a file that appears whole
 * or not at all (io/whole_file.h). */
#ifndef QUORUM_CLI_OUTPUT_H
#define QUORUM_CLI_OUTPUT_H

#include "arguments.h"
#include "io/whole_file.h"

#include <stdio.h>

typedef struct {
    FILE *file;       /* write here                                   */
    const char *name; /* for messages                                 */
    whole_file whole; /* begun unless it is stdout or a device        */
} output;

/* Opens `path` for writing; NULL and "-" are stdout.  Functions that return an
 * exit code have said what went wrong when it is not EXIT_DONE. */
int output_open(output *o, const arguments *given, const char *path);

/* Puts the finished file in its place; discards it when that fails. */
int output_commit(output *o, const arguments *given);

/* Whether a write has failed, on which all processes agree. */
bool output_failed(const output *o);

/* Removes what was written; the old file stays as it was.  Does nothing after
 * a commit or before an open. */
void output_discard(output *o);

/* Says early, before hours of work, that `path` could not be written later. */
int output_check(const arguments *given, const char *path);

/* Standard output ("-"), a pipe or a device: nothing that a file could replace. */
bool output_is_direct(const char *path);

/* True when the name ends so, whatever the case of its letters. */
bool has_extension(const char *path, const char *extension);

#endif
