/* Directions of a linear metric, in words. */
#ifndef QUORUM_CLI_DIRECTIONS_H
#define QUORUM_CLI_DIRECTIONS_H

#include "quorum.h"

/* "0.83 a - 0.52 b", of standardised inputs: those of the largest weights in direction k of
 * info->rotation. */
void describe_direction(const quorum_info *info, size_t k, char *text, size_t size);

#endif
