/* The words after `quorum COMMAND`, understood and checked. */
#ifndef QUORUM_CLI_ARGUMENTS_H
#define QUORUM_CLI_ARGUMENTS_H

#include "command.h"
#include "flags.h"
#include "quorum.h"

enum { MAX_OPERANDS = 4 };

struct arguments {
    const command *command;
    quorum_options *options;       /* the library's flags, already set and checked  */
    flag flags[MAX_FLAGS];         /* all that the command knows                    */
    const char *values[MAX_FLAGS]; /* beside each flag: as given, or NULL           */
    size_t flag_count;
    const char *operands[MAX_OPERANDS]; /* in order; as many as the command asks for     */
    size_t operand_count;
    bool help, quiet, verbose;
};

/* Parses argv[0..argc), the words after the command's name.  Returns EXIT_DONE
 * or, after saying what is wrong, another exit code.  With --help nothing else
 * is checked.  Call arguments_free in any case. */
int arguments_parse(const command *c, int argc, char **argv, arguments *given);
void arguments_free(arguments *given);

/* The value of a flag as it was given ("true" for a bare switch), or NULL. */
const char *argument_value(const arguments *given, const char *name);

/* Whether a flag of the library is set to anything but false, no, off or 0. */
bool option_is_on(const arguments *given, const char *name);

/* The library's sentence on a refused option without the option's name, which
 * the command line says itself ("--name: ..."). */
const char *library_complaint(const char *name);

#endif
