/* calibrate=strict: rows that nothing is learned from but how far off predictions are. */
#ifndef QRM_FIT_STRICT_H
#define QRM_FIT_STRICT_H

#include "model/model.h"
#include "rows/scattered.h"

/* The rows in two: those that are held out, and the rest, that all else is learned from. */
typedef struct {
    const scattered_rows *all;
    uint64_t seed;
    int fold;            /* which rows: no two folds share any */
    char *held;          /* n: 1 where a row is held out */
    size_t count;        /* rows that are not            */
    size_t *which;       /* count: their numbers         */
    row_set room;        /* count: themselves, ...       */
    scattered_rows rest; /* ... as a fit takes them      */
} strict_split;

enum { STRICT_FOLDS = 5 }; /* one row in so many is held out */

/* Splits `all` by the seed, for fold 0 .. STRICT_FOLDS - 1; free in any case. */
quorum_status strict_split_make(const scattered_rows *all, uint64_t seed, int fold,
                                strict_split *out);
void strict_split_free(strict_split *s);

/* Gives a model without any the units, theta and history of one that was fitted to the rest. */
quorum_status strict_adopt(const quorum_model *learned, quorum_model *m);

/* The same of what targets share (share=theta): the inputs' units, theta and history, and how many
 * neighbours are enough; what is of the target, its units and spread, is not there yet. */
quorum_status shared_adopt(const quorum_model *learned, quorum_model *m);

/* The rows that a process holds, as given, in the units of m. */
void strict_standardise(const quorum_model *m, const row_set *given, row_set *own);

#endif
