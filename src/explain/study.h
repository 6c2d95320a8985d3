/* Rows at which a model's predictions are looked at, and predictions at changed copies of them. */
#ifndef QRM_EXPLAIN_STUDY_H
#define QRM_EXPLAIN_STUDY_H

#include "options/options.h"

enum { LEAST_ROWS = 20 };

/* Columns that are changed together: one, or the two of a place. */
typedef struct {
    size_t column[2], columns;
} input_group;

/* What rows have beside inputs. */
typedef struct {
    double *weight;
    double *y, *offset, *noise; /* NULL: none */
} row_values;

typedef struct {
    const quorum_model *m;
    quorum_info info;
    quorum_options *made;   /* all defaults, where the caller gave no options            */
    quorum_options options; /* of predictions: the caller's, with `counted` as progress  */
    progress told;          /* the caller's progress                                     */
    const char *stage;
    size_t done, steps; /* predictions of all rows, for progress                         */
    int threads;
    uint64_t seed;
    size_t n, columns, inputs;
    double *table;   /* n x columns: the rows that are looked at                         */
    row_values all;  /* of these n                                                       */
    size_t used;     /* rows that are changed and predicted again and again ...          */
    size_t *row;     /* ... used: which of the n                                         */
    row_values some; /* of these                                                         */
    double *changed; /* n x columns: room for changed rows                               */
    double *X;       /* n x inputs: room for their inputs                                */
} study;

/* Looks at `most` of the rows where there are more (0: no limit), drawn by the seed, and uses `used` of
 * these (0: all), evenly; free in any case. */
quorum_status study_start(study *s, const quorum_model *m, const quorum_new_rows *rows, size_t most,
                          size_t used, const quorum_options *options, const char *stage);
void study_free(study *s);

/* The inputs as a user knows them: groups (columns at most); how many there are. */
size_t study_groups(const study *s, input_group *groups);

/* s->changed: the rows that are used, this group's cells taken from the rows `from` (used). */
void study_swap(study *s, const input_group *g, const size_t *from);

/* Predicts all n rows as they are, or the used ones as they are changed. */
quorum_status study_predict_all(study *s, quorum_prediction *out);
quorum_status study_predict(study *s, quorum_prediction *out);

/* Weighted mean of n values. */
double study_mean(size_t n, const double *weight, const double *values);

/* Whether a column is a category. */
int study_is_category(const study *s, size_t column);

#endif
