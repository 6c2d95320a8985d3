/* Columns of `quorum predict` beside mean, std, lower and upper: novelty, decisions at thresholds,
 * gradients; a block of rows at a time. */
#ifndef QUORUM_CLI_COLUMNS_H
#define QUORUM_CLI_COLUMNS_H

#include "arguments.h"
#include "quorum.h"
#include "report.h"

#include <stdio.h>

typedef struct decision_column decision_column;

typedef struct {
    bool gradient, novelty, with_std;
    size_t inputs, capacity;    /* rows that there is room for                */
    decision_column *decisions; /* of all thresholds, in the order of the flags */
    size_t count;
    double *novelties;                    /* capacity: always, but with --mean-only     */
    double *mean_gradient, *std_gradient; /* capacity x inputs; NULL: not wanted        */
} extra_columns;

/* Understands the flags; EXIT_DONE or, after saying what is wrong, another exit code.  Free in any
 * case. */
int columns_parse(extra_columns *c, const arguments *given);
void columns_free(extra_columns *c);

/* Makes room for `rows` rows, and says in *out where the library is to write. */
int columns_reserve(extra_columns *c, size_t inputs, size_t rows, const arguments *given,
                    quorum_prediction *out);

/* The decisions, from mean and std. */
quorum_status columns_decide(extra_columns *c, const quorum_model *model,
                             const quorum_options *options, const quorum_prediction *v,
                             size_t rows);

/* ",novelty,above_30,dmean_x1,.." and a row of these. */
void columns_write_header(const extra_columns *c, const quorum_model *model, FILE *file);
void columns_write_row(const extra_columns *c, size_t row, FILE *file);

/* The same as numbers. */
void columns_values(const extra_columns *c, size_t row, double *out);

/* The same as members of a JSON object; row NULL: null for each. */
void columns_put_row(const extra_columns *c, const quorum_model *model, const size_t *row,
                     json_writer *w);

#endif
