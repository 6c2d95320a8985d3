/* Numerical events of predictions: added up over chunks, and said aloud. */
#ifndef QUORUM_CLI_EVENTS_H
#define QUORUM_CLI_EVENTS_H

#include "arguments.h"
#include "quorum.h"

#include <stdbool.h>

/* total += r.  While adding, experts_used is a sum over rows.  All r are of the same options. */
void add_events(quorum_report *total, const quorum_report *r, size_t rows);

/* Notes "NAME: 3 predictions fell back to the prior, ..." on `rows` predictions, if
 * there are any. */
void note_events(const arguments *given, const char *name, const quorum_report *r, size_t rows);

/* Notes how many queries had another value of a constant input, if any had. */
void note_off_constants(const arguments *given, const quorum_model *model, const quorum_report *r);

/* Notes how many queries had a level of a category that the training data do not have, if any had. */
void note_unseen(const arguments *given, const quorum_report *r);

/* Notes how many queries had missing cells that were filled, if any had. */
void note_filled(const arguments *given, const quorum_report *r);

/* Notes what the model's calibration is for, and that `what` ("std and interval are") is not. */
void note_calibration(const arguments *given, const char *what, const quorum_model *model);

/* Whether the model has its expert graph, and so before a prediction and after it. */
bool has_graph(const quorum_model *model);

/* Notes that a graph which a prediction had to learn is approximate, if it is. */
void note_learned_graph(const arguments *given, const quorum_model *model, bool had_graph);

/* Notes where most of the rows are outside the data. */
void note_outside(const arguments *given, const quorum_report *r, size_t rows);

#endif
