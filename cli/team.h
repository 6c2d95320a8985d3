/* The command as one process among several (quorum-mpi). */
#ifndef QUORUM_CLI_TEAM_H
#define QUORUM_CLI_TEAM_H

#include "arguments.h"

/* Commands that several processes can share; says so of others, returns EXIT_USAGE. */
int team_check(const command *c);

/* With --verbose: what each process spent on computing and on its messages. */
void team_tell(const arguments *given);

/* The exit code of the first process whose code is not EXIT_DONE, on all of them. */
int team_code(int code);

#endif
