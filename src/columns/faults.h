/* All columns of a training file that cannot be used as they are, once one of them has stopped its
 * reading. */
#ifndef QRM_API_FAULTS_H
#define QRM_API_FAULTS_H

#include "data/reader.h"

/* `r` is open at the first row of the file that reading has failed on with `status`, whose sentence is
 * the present one; `inputs` of its selected columns are inputs, the next is the target.  Where several
 * columns have faults, they are added to the sentence, with what to do. */
quorum_status faults_name(reader *r, size_t inputs, quorum_status status);

#endif
