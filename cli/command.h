/* What a sub-command is.  The parser, the help, the manual and the shell
 * completion are all made from these descriptions and from the library's table
 * of options, so that none of them can say something else than the others. */
#ifndef QUORUM_CLI_COMMAND_H
#define QUORUM_CLI_COMMAND_H

#include <stdbool.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* An argument without a dash, all of them required. */
typedef struct {
    const char *name; /* "TRAIN" */
    const char *help;
} operand;

/* A flag of the command's own, beside those of the library. */
typedef struct {
    const char *name;          /* "output"                                    */
    char letter;               /* 'o', or 0                                   */
    const char *placeholder;   /* "FILE"; NULL: a switch that takes no value  */
    const char *choices;       /* "a|b|c" for the shell's completion, or NULL */
    const char *default_value; /* or NULL                                     */
    const char *help;
} own_flag;

typedef struct arguments arguments;

typedef struct {
    const char *name;
    const char *summary;      /* one line for `quorum --help`                              */
    const char *usage;        /* what follows the name                                     */
    const char *description;  /* two or three sentences                                    */
    const char *option_names; /* library options taken; NULL: those whose used_by names us */
    const operand *operands;  /* ends with a NULL name; NULL: none                         */
    const own_flag *flags;    /* ends with a NULL name; NULL: none                         */
    const char *examples;     /* lines                                                     */
    bool hidden;              /* left out of the overview: for packagers                   */
    bool lists_methods;       /* the help ends with the methods                            */
    bool in_team;             /* several processes can share the work (quorum-mpi)         */
    int (*run)(const arguments *given); /* the exit code */
    unsigned may_lack; /* operands, the last ones, that the command itself asks for      */
} command;

/* All commands, the hidden ones last; ends with NULL. */
extern const command *const all_commands[];

const command *find_command(const char *name); /* NULL: none */

extern const command fit_command, predict_command, evaluate_command, inspect_command, graph_command,
    export_c_command, export_fmu_command, demo_command, reproduce_command, options_command,
    man_command, completion_command, sample_command, suggest_command, serve_command, plot_command,
    compare_command, update_command, report_command, importance_command, effects_command;

#endif
