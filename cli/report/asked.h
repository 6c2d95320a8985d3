/* Rows that a model is asked about: what is known of them, and what it says. */
#ifndef QUORUM_CLI_REPORT_ASKED_H
#define QUORUM_CLI_REPORT_ASKED_H

#include "arguments.h"
#include "progress.h"
#include "quorum.h"

typedef struct {
    size_t count, room;
    size_t inputs;
    double *X;              /* count x inputs, as quorum_predict takes them               */
    double *y, *mean, *std; /* count                                                      */
    double *lower, *upper;  /* count: of the 95 % interval                                */
    double *distance;       /* count: to the nearest training row, in length-scales       */
    double *novelty;        /* count: 0 to 1                                              */
    double *below;          /* count: P(Y <= y) by the prediction's own distribution      */
    bool weighted;          /* whether rows have weights, to be said before any is there  */
    double *weight;         /* count: as how many rows each counts; NULL: as one          */
    size_t *number;         /* count: in the file, or of the training rows, from 1        */
    size_t dropped;         /* rows of the file with missing cells, left out              */
    quorum_report events;   /* sums over all rows                                         */
    quorum_distribution z;  /* as quorum_scores_add wants it                              */
} asked_rows;

/* All rows of a file with its target, predicted by the model.  Functions that return an exit code
 * have said what went wrong; free in any case. */
int asked_read(asked_rows *a, const char *path, const quorum_model *model, progress *p,
               const arguments *given);
void asked_free(asked_rows *a);

/* Room for so many rows more. */
int asked_reserve(asked_rows *a, size_t inputs, size_t more, const arguments *given);

/* Predicts the rows from count on, `more` of them, whose X, y and number are in place; offset and
 * noise may be NULL. */
int asked_predict(asked_rows *a, size_t more, const double *offset, const double *noise,
                  const quorum_model *model, const arguments *given);

/* As how many rows row i counts. */
double asked_weight(const asked_rows *a, size_t i);

/* The scores of all rows. */
quorum_metrics asked_scores(const asked_rows *a, const quorum_info *info);

#endif
