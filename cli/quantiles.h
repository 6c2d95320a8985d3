/* The quantiles that `predict --quantiles 0.05,0.5,0.95` asks for, a column each. */
#ifndef QUORUM_CLI_QUANTILES_H
#define QUORUM_CLI_QUANTILES_H

#include "arguments.h"
#include "quorum.h"
#include "report.h"

#include <stdio.h>

enum { MOST_QUANTILES = 99 };

typedef struct {
    size_t count; /* 0: none are asked for */
    double probability[MOST_QUANTILES];
    char name[MOST_QUANTILES][32]; /* of the column: q0.05         */
    double *values;                /* rows x count, for `rows` of them */
    size_t rows;
} quantiles;

/* Reads --quantiles; returns the exit code, after saying what is wrong. */
int quantiles_read(quantiles *q, const arguments *given);
void quantiles_free(quantiles *q);

/* Makes the prediction of so many rows give them too; false: out of memory. */
bool quantiles_ask(quantiles *q, size_t rows, quorum_prediction *out);

/* ",q0.05,q0.95" and ",1.5,2.5" */
void quantiles_write_names(const quantiles *q, FILE *file);
void quantiles_write_row(const quantiles *q, size_t row, FILE *file);

/* The same as members of a JSON object; row NULL: null for each. */
void quantiles_put_row(const quantiles *q, const size_t *row, json_writer *w);

#endif
