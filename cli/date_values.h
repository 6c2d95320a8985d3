/* Dates in flags, read as the model reads those of a query file. */
#ifndef QUORUM_CLI_DATE_VALUES_H
#define QUORUM_CLI_DATE_VALUES_H

#include "arguments.h"
#include "quorum.h"

#include <stdio.h>

/* Seconds since 1970-01-01 UTC of the first `bytes` of a text, a date of column d; the exit code, after saying
 * what is wrong. */
int date_read(const quorum_model *model, const quorum_info *info, size_t d, const char *text,
              size_t bytes, const char *option, const arguments *given, double *seconds);

/* The colon between FROM and TO, up to `end`: with times of day there are as many in the one as in the other;
 * NULL: there is none. */
const char *date_range_colon(const char *text, const char *end);

/* Seconds since 1970-01-01 UTC as a date of this form, such as "dd/mm/yyyy zone"; with the time of day where
 * that is not midnight, or where there is a zone. */
void write_date(double seconds, const char *form, FILE *file);

#endif
