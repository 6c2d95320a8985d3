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
    void *numbers;            /* NULL: out of memory */
    double difference;        /* from the library, as it was found */
    double slopes_difference; /* that of derivatives        */
} exported;

/* From the training rows, table (rows x inputs) and y (rows), in the data's units. */
quorum_status exported_new(const quorum_model *model, const quorum_info *info,
                           const quorum_options *options, const double *table, const double *y,
                           exported *out);
void exported_free(exported *e);

/* mean, std, lower, upper at x (inputs); not 0: there is no answer. */
int exported_predict(const exported *e, const double *x, double answer[4]);

/* The derivatives of mean and std by each input at x, all inputs numbers. */
int exported_slopes(const exported *e, const double *x, double *mean, double *std);

/* The whole file; its functions begin with `name`. */
void exported_write(const exported *e, const quorum_info *info, const char *name, FILE *file);

/* Parts of it: the lines of a comment that tell what x is, to its end; and the numbers, as the constant qx_this. */
void exported_write_inputs(const quorum_info *info, FILE *file);
void exported_write_model(const exported *e, FILE *file);

/* The texts of export/predictor.h, slopes.h, fmi2.h and unit.h, which CMake puts into a file of C. */
extern const char predictor_text[], slopes_text[], fmi2_text[], unit_text[];

#endif
