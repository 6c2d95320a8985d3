/* Advice after many queries (many.h). */
#include "many.h"

#include "talk.h"

#include <string.h>

enum {
    ROWS_PER_QUERY = 4,    /* training rows for each query, at most                         */
    DEAR_NEIGHBOURS = 128, /* with fewer, nearest is as cheap                               */
    NEIGHBOURHOODS = 4     /* a model has so many times the rows of a neighbourhood          */
};
static const double LEAST_MEMORY = 64e6; /* bytes, for a few experts of cells */

static bool is_auto(const arguments *given, const char *name)
{
    const char *value = quorum_options_get(given->options, name);
    return value && strcmp(value, "auto") == 0;
}

/* Whether predictions by `method` can be had, and are calibrated. */
static bool can_predict(const quorum_model *model, quorum_options *options, const char *method,
                        quorum_report *report)
{
    quorum_prediction none = {0};
    return quorum_options_set(options, "method", method) >= 0 &&
           quorum_predict(model, NULL, 0, options, &none, report) >= 0;
}

/* All but the number of queries.  The options are as they were. */
static bool could_be_cells(const quorum_model *model, const arguments *given)
{
    quorum_info info;
    quorum_report nearest = {0}, cells = {0};
    if (!is_auto(given, "method") || !is_auto(given, "select") || !is_auto(given, "neighbours") ||
        quorum_options_memory(given->options) < LEAST_MEMORY || quorum_inspect(model, &info) < 0 ||
        info.neighbours < DEAR_NEIGHBOURS || info.rows / NEIGHBOURHOODS < info.neighbours)
        return false;
    bool both = can_predict(model, given->options, "cells", &cells);
    both = can_predict(model, given->options, "auto", &nearest) && both;
    return both && strcmp(nearest.method, "nearest") == 0 && cells.calibrated == nearest.calibrated;
}

void advise_cells(const quorum_model *model, size_t queries, const arguments *given)
{
    quorum_info info;
    if (argument_value(given, "gradient") || quorum_inspect(model, &info) < 0 ||
        queries < info.rows / ROWS_PER_QUERY || !could_be_cells(model, given))
        return;
    note(given,
         "a query for every %d of %zu training rows or more: with --method cells, where queries "
         "share "
         "factors, so many take a fraction of the time",
         ROWS_PER_QUERY, info.rows);
}
