/* GRBCM's experts: a base, and every part joined with the base's rows. */
#ifndef QRM_EXPERTS_BASE_H
#define QRM_EXPERTS_BASE_H

#include "rows/parts.h"

#include <stdint.h>

/* Of the new parts, 0 is the base; k > 0 holds the base's rows followed by those of its part that are
 * not in the base.  They come from the listed parts.  base_expert < M: that expert's part is the base (it must be
 * listed); SIZE_MAX: the base is n/M rows (n different ones in the whole model) drawn at
 * random with `seed` from those that the listed experts own.  Free with parts_free. */
quorum_status augment_parts(const parts *p, const size_t *experts, size_t count, size_t base_expert,
                            uint64_t seed, parts *out);

#endif
