/* The categories of a model: their levels in the order of their positions. */
#ifndef QUORUM_CLI_LEVELS_H
#define QUORUM_CLI_LEVELS_H

#include "report.h"
#include "arguments.h"
#include "quorum.h"

enum { SHOWN_LEVELS = 24 /* of many half as many of each end */ };

typedef struct {
    const char *name; /* the model's */
    double position;
} placed_level;

/* The levels of input d by position, to be freed; NULL: out of memory, which has been said. */
placed_level *levels_in_order(const arguments *given, const quorum_info *info, size_t d);

/* Prints each category with its levels, those that are alike beside each other; nothing without
 * any.  Returns the exit code. */
int print_levels(const arguments *given, const quorum_info *info);

/* "categories": a list of {input, levels, positions}, in that order too; nothing without any. */
int put_levels(json_writer *w, const arguments *given, const quorum_info *info);

/* Says where auto found that levels stand apart. */
void note_encoding(const arguments *given, const quorum_info *info);

#endif
