/* What missing cells cost, learned before a fit (encode/holes.h). */
#ifndef QRM_FIT_HOLE_COSTS_H
#define QRM_FIT_HOLE_COSTS_H

#include "encode/holes.h"
#include "fit/fitting.h"

/* Learns the variances of `holes` from some of f's rows, which are filled, and *warp, what the target is
 * modelled by (WARP_NONE or WARP_LOG), in whose units they are. */
quorum_status holes_learn(const fitting *f, const made_inputs *made, hole_rule *holes, int *warp);

/* The rows with the variances of their holes in their errors; they lie in *error, the caller's to free.
 * Without holes they are as they were. */
quorum_status holes_in_rows(const scattered_rows *given, const hole_rule *holes,
                            scattered_rows *out, double **error);

#endif
