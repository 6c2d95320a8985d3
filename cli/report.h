/* JSON results: one value, to a file that is open. */
#ifndef QUORUM_CLI_REPORT_H
#define QUORUM_CLI_REPORT_H

#include "arguments.h"
#include "io/json_writer.h"

#include <stdio.h>

/* A writer to the file, as all commands print JSON. */
json_writer json_to_file(FILE *file);

/* Members of the object that is open: key and value. */
void json_member_text(json_writer *w, const char *key, const char *text);
void json_member_number(json_writer *w, const char *key, double value);
void json_member_count(json_writer *w, const char *key, size_t value);
void json_member_flag(json_writer *w, const char *key, bool value);
void json_member_numbers(json_writer *w, const char *key, const double *values, size_t count);

/* Ends the value with a line end; what could not be written is said.  Returns the exit code. */
int json_report(json_writer *w, const arguments *given);

#endif
