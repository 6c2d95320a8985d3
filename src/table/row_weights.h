/* Rows with weights and known errors on the way into a fit (gp/noise.h). */
#ifndef QRM_TABLE_ROW_WEIGHTS_H
#define QRM_TABLE_ROW_WEIGHTS_H

#include "rows/scattered.h"

typedef struct {
    scattered_rows rows; /* those that count                                    */
    row_set room;        /* where they are not the rows that were given: they lie here */
} weighed_rows;

/* Refuses weights and errors that are negative or not finite; leaves rows of weight 0 out, and with
 * `holes` those whose target is NaN; and forgets weights that are all 1 and errors that are all 0, so
 * that such rows are as any others.  Together; free it, also after a failure. */
quorum_status weigh_rows(const scattered_rows *given, int holes, weighed_rows *w);
void weighed_rows_free(weighed_rows *w);

/* As how many rows one counts on average; 1 without weights.  Together. */
quorum_status rows_mean_weight(const scattered_rows *rows, double *mean);

#endif
