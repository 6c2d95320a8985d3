/* The targets of a model: all, or those that --target names. */
#ifndef QUORUM_CLI_TARGETS_H
#define QUORUM_CLI_TARGETS_H

#include "arguments.h"
#include "quorum.h"

#include <stdio.h>

enum { MOST_TARGETS = 200 };

typedef struct {
    quorum_model *all;                 /* to be freed                                 */
    quorum_model *model[MOST_TARGETS]; /* count: one a target, in the order asked for */
    size_t count;
    bool several; /* the model has more than one: columns are called after their target */
} chosen_targets;

/* Loads MODEL, the first operand, and chooses; returns an exit code, after saying what went wrong.
 * Free in any case. */
int chosen_load(chosen_targets *c, const arguments *given);
void chosen_free(chosen_targets *c);

/* The targets of `model` that take the place of those chosen before, of another model: all in their order, or,
 * where --target was given, those of the same names.  false: it lacks one. */
bool chosen_again(chosen_targets *c, quorum_model *model, const chosen_targets *before,
                  const arguments *given);

/* The same for a command that takes one target: of several it has to be said which. */
int chosen_load_one(chosen_targets *c, const arguments *given);

/* As it is in the data. */
const char *name_of_target(const quorum_model *model);

/* *out (count x inputs of `model`) from X (count x inputs of `first`), both of the same columns: X itself where no
 * inputs are made of them.  *room is grown, and the caller's to free.  Returns an exit code. */
int chosen_inputs(const quorum_model *first, const quorum_model *model, const double *X,
                  size_t count, double **room, const arguments *given, const double **out);

/* Whether all targets of the model were chosen, in its order, and have the same inputs: then
 * quorum_predict_targets predicts them. */
bool chosen_together(const chosen_targets *c);

/* Writes names of columns, as csv has them, each with "TARGET_" in front. */
void chosen_write_names(const char *target, const char *names, FILE *file);

/* The flag of commands that take one or several. */
#define TARGET_FLAG_ONE                                                                            \
    {                                                                                              \
        "target", 0, "COL", NULL, NULL,                                                            \
            "Of a model of several targets: which one, by its name, or its number from 1."         \
    }
#define TARGET_FLAG_LIST                                                                           \
    {                                                                                              \
        "target", 0, "COLS", NULL, NULL,                                                           \
            "Of a model of several targets: only these, by name, or by number from 1, separated "  \
            "by commas "                                                                           \
            "(a name with a comma in double quotes)."                                              \
    }

#endif
