/* What a command draws, sent through a program that makes something else of it: text goes in by a
 * pipe, what comes out goes to a file. */
#ifndef QUORUM_CLI_THROUGH_H
#define QUORUM_CLI_THROUGH_H

#include "arguments.h"

#include <stdio.h>

typedef struct {
    const char *const *argv; /* the program and its arguments, NULL at the end */
    const char *called;      /* "Graphviz's 'neato'", for messages             */
    const char *missing;     /* the sentence when it is not installed          */
    const char *failed;      /* the sentence when it fails                     */
} program;

typedef void drawing(const void *of, FILE *file);

/* Whether it is found in PATH, before hours of work. */
int program_check(const program *p, const arguments *given);

/* What `draw` writes of `of`, through the program to `file`; returns the exit code. */
int program_draw(const program *p, const arguments *given, FILE *file, drawing *draw,
                 const void *of);

#endif
