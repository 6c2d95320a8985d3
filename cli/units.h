/* Columns whose texts are numbers with something beside them. */
#ifndef QUORUM_CLI_UNITS_H
#define QUORUM_CLI_UNITS_H

#include "arguments.h"
#include "quorum.h"

/* Names the categories of the training data whose levels are numbers but for a sign or unit, the same for
 * all, as in 31%, $12 and 4.5 kg. */
void note_units(const arguments *given, const quorum_data *data);

#endif
