/* Values that many targets share: a target of few values, or one with a value of its own for "none". */
#ifndef QRM_FIT_ATOMS_H
#define QRM_FIT_ATOMS_H

#include "model/model.h"
#include "rows/scattered.h"

/* Of the targets of all rows. */
quorum_status atoms_count(const scattered_rows *r, target_atoms *out);

#endif
