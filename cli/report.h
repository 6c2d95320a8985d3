/* JSON results: one value on stdout. */
#ifndef QUORUM_CLI_REPORT_H
#define QUORUM_CLI_REPORT_H

#include "arguments.h"

#include <jansson.h>

/* A number, or null where JSON has none (NaN, infinity). */
json_t *json_number(double value);
json_t *json_numbers(const double *values, size_t count);
json_t *json_count(size_t value);

/* Prints `value` with all digits and a line end, and releases it; NULL (out of
 * memory) is a failure.  Returns the exit code. */
int json_print(const arguments *given, FILE *file, json_t *value);

#endif
