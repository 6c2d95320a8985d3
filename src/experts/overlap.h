/* Experts that overlap: beside its own part, each expert also holds near rows of other
 * parts.  Every row still has one owner, and is stored once; what experts hold is a
 * larger view of the same rows. */
#ifndef QRM_EXPERTS_OVERLAP_H
#define QRM_EXPERTS_OVERLAP_H

#include "base/status.h"
#include "rows/parts.h"

/* Rows that experts hold beyond their own: expert e's are row[offset[e]] ..
 * row[offset[e+1]-1], columns of the disjoint parts, ascending. */
typedef struct {
    size_t *offset; /* M + 1; NULL: nobody holds any */
    size_t *row;    /* offset[M] */
} extra_rows;

/* Part e of m rows gets round(share m) extra ones, or all there are: of the 4 times as
 * many outside rows with the least distance from its centre, those with the least
 * distance from any of its own rows, x_d / lengthscale_d being the coordinates; ties by
 * lower row.  The parts are disjoint.  Free with extra_rows_free. */
quorum_status extra_rows_choose(const parts *own, const double *lengthscale, double share,
                                int threads, extra_rows *out);
void extra_rows_free(extra_rows *x);

/* The same for parts that have lost the rows with gone[row] = 1, numbered anew. */
quorum_status extra_rows_without(const parts *own, const extra_rows *x, const char *gone,
                                 extra_rows *out);

/* All that the experts hold; free with parts_free. */
quorum_status held_parts_new(const parts *own, const extra_rows *x, parts *out);

/* Bytes of the rows that experts will hold with this share, gathered and scaled. */
double held_parts_bytes(const parts *own, double share);

#endif
