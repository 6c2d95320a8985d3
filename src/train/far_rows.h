/* For every target block some rows of earlier blocks that are farther and farther away, beside its
 * nearest ones (earlier_rows.h): without them nothing tells how far a long scale reaches. */
#ifndef QRM_TRAIN_FAR_ROWS_H
#define QRM_TRAIN_FAR_ROWS_H

#include "train/earlier_rows.h"

enum {
    FAR_LEVELS = 4, /* distances, each of ...                */
    FAR_EACH = 3,   /* ... so many rows, which are then ...  */
    FAR_MOST = FAR_LEVELS * FAR_EACH
};

/* The blocks in their order: block t has the places first[t] .. first[t+1]-1, the last `targets` of
 * them are the targets. */
typedef struct {
    size_t blocks, targets;
    const size_t *first; /* blocks + 1 */
} placed_blocks;

/* How rows are searched: one of earlier_rows.h. */
typedef quorum_status (*search_way)(quorum_status ready, const target_search *s);

typedef struct {
    size_t *row;   /* targets x FAR_MOST: numbers of the rows, the farthest first; those that the
                      search for the nearest has found are not among them  */
    size_t *count; /* targets; NULL: there are none at all                 */
} far_rows;

/* `near` has found the targets' nearest rows, on all processes.  Fails for all of them or for none.
 * Free with far_rows_free in any case. */
quorum_status far_rows_find(const placed_blocks *b, const target_search *near, search_way search,
                            far_rows *out);
void far_rows_free(far_rows *f);

#endif
