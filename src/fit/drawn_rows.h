/* Rows for a first, small fit: some that it learns from, and others that it is asked about. */
#ifndef QRM_FIT_DRAWN_ROWS_H
#define QRM_FIT_DRAWN_ROWS_H

#include "rows/scattered.h"

#include <stdint.h>

typedef struct {
    size_t *learned, learned_count; /* rows of the first fit ...    */
    size_t *held, held_count;       /* ... and those held out       */
    row_set room;                   /* the former ...               */
    scattered_rows rows;
    row_set rest; /* ... and the latter, on every process */
} drawn_rows;

/* At most `most` of the given rows, all sets of them equally likely, by the seed's stream; of these the
 * third, sixth and so on are held out.  Together; free it, also after a failure. */
quorum_status drawn_rows_draw(const scattered_rows *given, size_t most, uint64_t seed,
                              uint64_t stream, drawn_rows *out);
void drawn_rows_free(drawn_rows *h);

#endif
