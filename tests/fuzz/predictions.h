/* Every way of predicting with a model, and what must hold of each. */
#ifndef QRM_TESTS_FUZZ_PREDICTIONS_H
#define QRM_TESTS_FUZZ_PREDICTIONS_H

#include "quorum.h"

#include <stddef.h>

enum { QUERIES = 4, MOST_INPUTS = 8, MOST_EXPERTS = 16, MOST_ROWS = 64 };

/* 1: the model is small enough for all predictions to be quick. */
int model_is_small(const quorum_model *m);

/* Queries in the model's own units: its centre, a training row, and the numbers given. */
void make_queries(const quorum_model *m, const double *numbers /* QUERIES x MOST_INPUTS */,
                  double *X /* QUERIES x inputs */);

/* All ways; every outcome is checked.  *digest stands for every bit of every outcome, except
 * messages.  Returns how many succeeded. */
int predict_all_ways(const quorum_model *m, const double *X, unsigned long long *digest);

/* One way, by options. */
quorum_status predict_one_way(const quorum_model *m, const double *X, const quorum_options *o,
                              unsigned long long *digest);

/* Inspects the model; all that it tells must be in range. */
void inspect_all(const quorum_model *m);

#endif
