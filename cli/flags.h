/* All flags of a command as one list: its own, the library's, and the common ones. */
#ifndef QUORUM_CLI_FLAGS_H
#define QUORUM_CLI_FLAGS_H

#include "command.h"

#include <stddef.h>

enum { MAX_FLAGS = 128 };

typedef struct {
    const char *name;
    char letter;               /* 0: none                                              */
    const char *placeholder;   /* how the value is named; NULL: needs no value         */
    const char *choices;       /* "a|b|c", or NULL                                     */
    const char *default_value; /* or NULL                                              */
    const char *help;
    bool library; /* set by quorum_options_set; else read by the command  */
} flag;

/* Fills `flags` and returns how many there are. */
size_t collect_flags(const command *c, flag flags[MAX_FLAGS]);

/* The groups that help shows flags in: title i, or NULL after the last. */
const char *group_title(int group);

/* The group of a flag; unknown library options fall into the last one. */
int group_of(const flag *f);

/* "-o, --output FILE", "--kernel se|matern12", "--[no-]latent". */
void flag_synopsis(const flag *f, char *text, size_t size);

/* True when the list of words, separated by spaces, has this word. */
bool has_word(const char *words, const char *word);

#endif
