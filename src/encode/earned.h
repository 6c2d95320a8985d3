/* Whether the effects of a category's levels are more than chance.
 *
 * The position of a level is learned from the rows that are then predicted by it: with many levels of few
 * rows each, positions of a category that tells nothing follow the noise of these very rows, and a model
 * takes it for signal.  So the rows are cut into two halves, effects are learned from each and tried on
 * the pairs of the other (matched_pairs.h).  With r_ij what is left of a pair's difference,
 *
 *   gain_c = sum over pairs of both halves of w (r_ij + e_c)^2 - w r_ij^2,   e_c = b_c[l_ic] - b_c[l_jc]
 *
 * is what the category's effects explain of rows that they were not learned from: below 0 on average
 * where there are none. */
#ifndef QRM_ENCODE_EARNED_H
#define QRM_ENCODE_EARNED_H

#include "encode/encoding.h"

/* earned (inputs): 0 of a category of more than FEW_LEVELS levels that gains nothing, otherwise 1. */
quorum_status encoding_earned(const encoding *e, const row_set *rows, char *earned);

#endif
