/* Scores for several ways of predicting, side by side on the same rows. */
#ifndef QUORUM_CLI_SCORING_H
#define QUORUM_CLI_SCORING_H

#include "arguments.h"
#include "breakdown.h"
#include "progress.h"
#include "quorum.h"
#include "report.h"

typedef struct {
    char method[64], select[64], space[32];
    quorum_scores scores;
    quorum_report report; /* sums over chunks; experts_used weighted by rows until finished */
    quorum_metrics metrics;
    /* calibrated predictions: the same without calibration */
    quorum_scores scores_before;
    quorum_metrics metrics_before;
} contender;

typedef struct contenders {
    contender *items;
    size_t count;
    breakdown *by;      /* keeps the rows that are scored; NULL: nobody does */
    const char *target; /* for notes: which of several; NULL: there is one  */
} contenders;

/* Every combination of the comma lists methods ("all": each one that the
 * library has and that goes with the selection), selects and spaces.  NULL lists mean the options' present
 * values.  Returns EXIT_DONE or, after saying which item is wrong, another
 * exit code. */
int contenders_make(contenders *all, const arguments *given, const char *methods,
                    const char *selects, const char *spaces);
void contenders_free(contenders *all);

/* One more; returns the exit code. */
int contenders_add(contenders *all, const arguments *given, const char *method, const char *select,
                   const char *space);

/* Makes the options predict as this contender does. */
quorum_status contender_apply(const contender *c, quorum_options *options);

/* The smallest quorum_block_rows of all contenders; fails where one of them cannot predict. */
quorum_status contenders_block_rows(const contenders *all, const quorum_model *model,
                                    quorum_options *options, size_t *smallest);

/* Test rows, and room for what is predicted of them. */
typedef struct {
    size_t count;
    const double *X, *y;
    const double *offset, *noise, *weights; /* NULL: none */
    double *mean, *std;
} scored_rows;

/* Predicts the rows with every contender and adds up the scores. */
quorum_status contenders_score(contenders *all, const quorum_model *model, quorum_options *options,
                               progress *p, const scored_rows *rows);

/* The method that predicted, once it has: what auto meant. */
const char *contender_method(const contender *c);

/* Turns sums into metrics. */
void contenders_finish(contenders *all);

/* The list of objects of `evaluate --json`, with the groups of `by`. */
quorum_status contenders_put(json_writer *w, const contenders *all, const quorum_model *model);

/* Prints it; returns the exit code. */
int contenders_as_json(const contenders *all, const quorum_model *model, const arguments *given);

/* Notes on fall-backs, clamps and the like, where there were any. */
void contenders_say_events(const contenders *all, const quorum_model *model,
                           const arguments *given);

#endif
