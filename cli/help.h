/* `quorum --help` and `quorum COMMAND --help`. */
#ifndef QUORUM_CLI_HELP_H
#define QUORUM_CLI_HELP_H

#include "command.h"

#include <stdio.h>

void print_overview(FILE *file);
void print_help(FILE *file, const command *c);

#endif
