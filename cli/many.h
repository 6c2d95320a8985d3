/* What to say after many queries: another method would have been cheaper.  Method auto never depends on
 * how many queries there are, so that a row's prediction is the same in a file of any length. */
#ifndef QUORUM_CLI_MANY_H
#define QUORUM_CLI_MANY_H

#include "arguments.h"
#include "quorum.h"

/* Notes that --method cells is cheaper, where so many queries were predicted by nearest because method, select
 * and neighbours are auto: a factor for each query is dear (the model says 128 neighbours or more), there was a
 * query for every four training rows at least, and cells are calibrated where nearest is. */
void advise_cells(const quorum_model *model, size_t queries, const arguments *given);

#endif
