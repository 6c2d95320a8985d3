/* Columns of dates: what is said of them. */
#ifndef QUORUM_CLI_DATES_H
#define QUORUM_CLI_DATES_H

#include "arguments.h"
#include "quorum.h"
#include "report.h"

/* "2024-07-01", with the time of day where that is not midnight; a number where it is no date of ours. */
void date_shown(double seconds, char *text, size_t size);

/* A note of the forms in which the training data have been read; none without dates. */
void note_dates(const arguments *given, const quorum_data *data);

/* The model's columns of dates with their forms: a line, and "dates": a list of {input, form};
 * nothing without any. */
void print_dates(const quorum_info *info);
void put_date_forms(json_writer *w, const quorum_info *info);

#endif
