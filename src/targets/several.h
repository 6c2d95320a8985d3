/* Models of several targets of one table: the first one's model has the others with it. */
#ifndef QRM_TARGETS_SEVERAL_H
#define QRM_TARGETS_SEVERAL_H

#include "model/model.h"

enum { MOST_TARGETS = 200 };

/* Makes m[0] (count models, its own from now on) the model of all; on failure they are still the
 * caller's.  place (count): where the targets stand among all columns of the table that were kept.
 * shared: they have rows, division, encoding and theta in common (share=theta). */
quorum_status several_join(quorum_model **m, size_t count, const size_t *place, int shared);

/* Fails where models that are said to share these do not, as far as their rows are here. */
quorum_status several_check_shared(quorum_model *const *m, size_t count);

/* Fails where a model's columns are not those of the first. */
quorum_status several_check(quorum_model *const *m, size_t count);

#endif
