/* An input that varies, as --x and --y name it: "NAME", or "NAME=FROM:TO" in numbers or, where it is a date,
 * in dates. */
#ifndef QUORUM_CLI_AXIS_RANGE_H
#define QUORUM_CLI_AXIS_RANGE_H

#include "arguments.h"
#include "quorum.h"

typedef struct {
    size_t column;
    bool ranged; /* whether a range is given: ... */
    double from, to;
} axis_range;

/* The exit code, after saying what is wrong. */
int axis_read(const quorum_model *model, const quorum_info *info, const char *option,
              const arguments *given, axis_range *out);

/* The column of this name; info->columns: there is none. */
size_t column_named(const quorum_info *info, const char *name);

#endif
