/* Completion scripts, one file a shell, made of the descriptions of commands and flags. */
#ifndef QUORUM_CLI_SHELLS_H
#define QUORUM_CLI_SHELLS_H

#include "flags.h"

void print_bash(void);
void print_zsh(void);
void print_fish(void);

/* The words that a flag's value may be, separated by spaces; nothing where it is no choice. */
void print_choices(const flag *f);
bool has_choices(const flag *f);

/* What a help text says first: up to the end of its first clause. */
void first_clause(const char *help, char *text, size_t size);

#endif
