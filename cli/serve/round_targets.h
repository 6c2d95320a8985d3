/* The targets that a round is predicted for: of a model of several each has its answers, with its name in
 * front, as `quorum predict` writes them. */
#ifndef QUORUM_CLI_SERVE_ROUND_TARGETS_H
#define QUORUM_CLI_SERVE_ROUND_TARGETS_H

#include "answers.h"
#include "targets.h"

typedef struct {
    answers answers;
    double *result[4]; /* rows: mean, std, lower, upper            */
    double *inputs;    /* of its own, where they are not the first's */
    quorum_prediction values;
} round_target;

typedef struct {
    chosen_targets chosen; /* the models are the server's         */
    bool together;         /* all have the same inputs            */
    round_target *of;      /* chosen.count                        */
    char *names;           /* the columns of the answers, as csv  */
    double *row;           /* so many numbers                     */
} round_targets;

/* Room for rounds of so many rows; the exit code, after saying what is wrong.  Free in any case. */
int round_targets_open(round_targets *t, const arguments *given, size_t most,
                       const chosen_targets *targets);
void round_targets_free(round_targets *t);

/* The targets of the rounds that follow, with the columns of those before. */
void round_targets_take(round_targets *t, const chosen_targets *targets);

/* Predicts all targets at X (rows x inputs of the first), `offset` and `noise` being NULL or of the rows. */
quorum_status round_targets_predict(round_targets *t, const double *X, const double *offset,
                                    const double *noise, size_t rows, const arguments *given);

/* How many columns there are; row i as csv, and as members of an object; there NULL for a row without a
 * prediction. */
size_t round_targets_count(const round_targets *t);
void round_targets_write(const round_targets *t, size_t i, FILE *file);
void round_targets_put(const round_targets *t, const size_t *i, json_writer *w);

#endif
