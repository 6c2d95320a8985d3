/* Between one process's splits (boxes.c) and a team's (scattered_boxes.c). */
#ifndef QRM_NEAR_SCATTERED_BOXES_H
#define QRM_NEAR_SCATTERED_BOXES_H

#include "near/boxes.h"

/* Parts first .. first + parts - 1, of `count` rows together. */
typedef struct {
    size_t first, parts, count;
} box;

/* The first half of a box's parts and their rows; the first parts are larger by one where rows do
 * not divide. */
static inline box lower_half(box b)
{
    size_t half = b.parts / 2, share = b.count / b.parts, larger = b.count % b.parts;
    return (box){b.first, half, half * share + (larger < half ? larger : half)};
}

static inline box upper_half(box b)
{
    box low = lower_half(b);
    return (box){b.first + low.parts, b.parts - low.parts, b.count - low.count};
}

/* Labels of the rows in `out`, which lie one box after another, ascending in each: every box is
 * split until its parts are single ones. */
quorum_status split_own_boxes(const box_problem *p, const box *boxes, size_t count,
                              boxed_rows *out);

/* box_rows where each rank holds a slice of the rows. */
quorum_status box_scattered_rows(quorum_status ready, const box_problem *p, boxed_rows *out);

#endif
