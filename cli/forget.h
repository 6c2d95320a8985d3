/* Which rows a model is to forget: --forget and --window. */
#ifndef QUORUM_CLI_FORGET_H
#define QUORUM_CLI_FORGET_H

#include "arguments.h"
#include "quorum.h"

typedef struct {
    size_t *row; /* count: numbers from 0 */
    size_t count;
    size_t window; /* 0: all rows are kept */
} forget_list;

/* Understands the flags for the model; EXIT_DONE or, after saying what is wrong, another exit code.
 * Free in any case. */
int forget_parse(forget_list *f, const quorum_model *model, const arguments *given);
void forget_free(forget_list *f);

#endif
