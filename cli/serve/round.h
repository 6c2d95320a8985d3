/* One round of service: lines of many clients, predicted together, answered each in its place.
 *
 *     round_begin -> round_take for each line -> round_answer
 *
 * A row's prediction does not depend on the others of its round, so that answers are those of
 * `quorum predict` on a file, bit for bit. */
#ifndef QUORUM_CLI_SERVE_ROUND_H
#define QUORUM_CLI_SERVE_ROUND_H

#include "arguments.h"
#include "serve/client.h"
#include "serve/round_targets.h"

typedef struct answer answer;

typedef struct {
    const arguments *given;
    bool json;
    size_t most; /* rows of a round                                     */
    round_targets targets;
    const quorum_model *model; /* of this round                                      */
    size_t inputs;
    bool leaves_holes; /* a row with a missing cell has empty cells: option missing is nan */
    bool with_offset, with_noise; /* with_noise: some row of the round               */
    double *X, *offset, *noise;   /* most x inputs, most, most                       */
    answer *queue;                /* most, in the order of the lines                 */
    size_t count, rows;           /* of the queue, and those that are predicted      */
    size_t served, errors;        /* of all rounds: rows predicted, lines refused    */
} service_round;

/* The exit code, after saying what is wrong.  Free in any case. */
int round_open(service_round *r, const arguments *given, bool json, size_t most,
               const chosen_targets *targets);
void round_free(service_round *r);

void round_begin(service_round *r, const chosen_targets *targets);
bool round_is_full(const service_round *r);

/* The client's next line, of n bytes with its end; NULL: one that was too long, of more than n bytes. */
void round_take(service_round *r, client *c, const char *line, size_t n);

/* Predicts, and gives each client its answers. */
void round_answer(service_round *r);

/* A line that says what is wrong, as a client reads it, cut to ERROR_ROOM bytes. */
enum { ERROR_ROOM = 2048 };
void write_error(bool json, const char *sentence, FILE *file);

#endif
