/* The numbers that an exported predictor has, and the file of C that is made of them. */
#ifndef QUORUM_CLI_EXPORTED_H
#define QUORUM_CLI_EXPORTED_H

#include "quorum.h"

#include <stdio.h>

/* What export/predictor.h calls qx_model, whose fields are listed there. */
typedef struct {
    struct {
        size_t rows, inputs, neighbours;
    } model;
    void *numbers;     /* NULL: out of memory */
    double difference; /* from the library, as it was found */
} exported;

/* From the training rows, table (rows x inputs) and y (rows), in the data's units. */
quorum_status exported_new(const quorum_model *model, const quorum_info *info,
                           const quorum_options *options, const double *table, const double *y,
                           exported *out);
void exported_free(exported *e);

/* mean, std, lower, upper at x (inputs); not 0: there is no answer. */
int exported_predict(const exported *e, const double *x, double answer[4]);

/* The whole file; its functions begin with `name`. */
void exported_write(const exported *e, const quorum_info *info, const char *name, FILE *file);

/* The text of export/predictor.h, which CMake puts into a file of C. */
extern const char predictor_text[];

#endif
