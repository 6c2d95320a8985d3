/* Scores as JSON, in the same words wherever they are written: `evaluate --json`, the page of `report`. */
#ifndef QUORUM_CLI_SCORE_JSON_H
#define QUORUM_CLI_SCORE_JSON_H

#include "breakdown.h"
#include "report.h"

/* Members of an object that has been begun: smse .. crps and coverage. */
void metrics_put(json_writer *w, const quorum_metrics *m);

/* "key": {"50": .., "90": .., "95": .., "99": ..} */
void coverage_put(json_writer *w, const char *key, const double coverage[4]);

/* Members: name, low, high, rows, coverage, expected, width, rmse, msll. */
void group_put(json_writer *w, const char *name, const row_group *g, const group_scores *s);

#endif
