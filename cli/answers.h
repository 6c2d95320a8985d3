/* What is predicted of a row and how it is written: mean, std, lower, upper, then the columns that
 * flags ask for.  `quorum predict` and `quorum serve` answer with these. */
#ifndef QUORUM_CLI_ANSWERS_H
#define QUORUM_CLI_ANSWERS_H

#include "arguments.h"
#include "columns.h"
#include "quantiles.h"
#include "report.h"

#include <stdio.h>

typedef struct {
    bool mean_only;
    quantiles quantiles;
    extra_columns extra;
} answers;

/* Understands the flags; EXIT_DONE or, after saying what is wrong, another exit code.  Free in any
 * case. */
int answers_parse(answers *a, const arguments *given);
void answers_free(answers *a);

/* Says in *values where the library is to write what flags ask for of `rows` rows. */
int answers_reserve(answers *a, size_t inputs, size_t rows, const arguments *given,
                    quorum_prediction *values);

/* Predicts at X (rows x inputs) into *values, and decides by them. */
quorum_status answers_predict(answers *a, const quorum_model *model, const double *X, size_t rows,
                              const arguments *given, quorum_prediction *values,
                              quorum_report *report);

size_t answers_count(const answers *a, size_t inputs); /* columns */

/* "mean,std,lower,upper,..", and row i of these. */
void answers_write_names(const answers *a, const quorum_model *model, FILE *file);
void answers_write_row(const answers *a, const quorum_prediction *values, size_t i, FILE *file);

/* Row i as numbers (answers_count). */
void answers_values(const answers *a, const quorum_prediction *values, size_t i, double *out);

/* Row i as members of the object that is open, null for each of them where there is no prediction
 * (values NULL). */
void answers_put_row(const answers *a, const quorum_model *model, const quorum_prediction *values,
                     size_t i, json_writer *w);

#endif
