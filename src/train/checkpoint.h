/* A training that can be taken up where it was broken off.
 *
 * The optimiser is deterministic: its state is the list of answers that it has been given.
 * The checkpoint keeps every evaluation of value and gradient, of all searches of a fit in
 * their order.  A fit that is started again asks the same questions, is answered from the
 * list as long as it lasts, and goes on from there: it ends with the same bits.
 *
 * The file is an .npz, replaced as a whole after every evaluation, or after some of them
 * where writing would take more than a hundredth of the time.  In a team, the first process
 * reads and writes it. */
#ifndef QRM_TRAIN_CHECKPOINT_H
#define QRM_TRAIN_CHECKPOINT_H

#include "base/status.h"

#include <stddef.h>

typedef struct checkpoint checkpoint;

/* Takes up what `path` holds, or begins it.  `fit` says what fit this is, a line each for
 * what may differ ("data: ..."); a file with other lines is refused.  `parameters`: numbers
 * of x, at most.  The caller frees it with checkpoint_close, which brings the file up to date. */
quorum_status checkpoint_open(const char *path, const char *fit, size_t parameters,
                              checkpoint **out);
void checkpoint_close(checkpoint *c); /* accepts NULL */

/* One evaluation: the answer at x. */
typedef struct {
    size_t parameters;    /* numbers of x, no more than the checkpoint's */
    quorum_status status; /* QUORUM_OK or QUORUM_E_NUMERIC           */
    double value;
    double *gradient; /* parameters numbers, or NULL: not asked for  */
} evaluation;

/* *known = 1: the next recorded evaluation is this one, and *e is filled; 0: all have been
 * used.  A record of another x is QUORUM_E_FORMAT.  c may be NULL: nothing is known. */
quorum_status checkpoint_recall(checkpoint *c, const double *x, evaluation *e, int *known);

/* Appends an evaluation.  c may be NULL. */
quorum_status checkpoint_record(checkpoint *c, const double *x, const evaluation *e);

#endif
