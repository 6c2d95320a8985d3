/* Training rows whose categories are encoded (encode/encoding.h). */
#ifndef QRM_TABLE_CODED_ROWS_H
#define QRM_TABLE_CODED_ROWS_H

#include "encode/encoding.h"

/* What the caller says of the inputs (quorum_data); levels NULL: all are numbers. */
typedef struct {
    const size_t *levels; /* inputs */
    char *const *const *names;
} category_names;

typedef struct {
    encoding encoding;
    scattered_rows given; /* with levels' numbers                       */
    scattered_rows rows;  /* with positions in place of them            */
    double *X;            /* theirs                                     */
} coded_rows;

/* Levels of what is `made`, if anything is, stand apart.  Learns the positions from the rows, or takes those that were learned from some of them (`learned`,
 * or NULL), and encodes the rows.  shift: encoding_learn.  Free it, also after a failure. */
quorum_status code_rows(quorum_status ready, const scattered_rows *given,
                        const category_names *names, const made_inputs *made,
                        const encoding *learned, const double *shift, coded_rows *out);

/* The same rows with positions anew, for the logarithm of the target. */
quorum_status code_again(const double *shift, coded_rows *c);
void coded_rows_free(coded_rows *c);

#endif
