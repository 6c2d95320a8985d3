/* Training parts for a block-Vecchia likelihood: small compact blocks of rows, each
 * given its nearest rows among those that come earlier in a random order of blocks.
 *
 *   log p(y) = sum_b log p(y_b | y_1 .. y_b-1) ~ sum_b log p(y_b | y_N(b))
 *
 * Exact when N(b) holds all earlier rows; with few of them it still sees the data
 * at their full density, everywhere, for a price that is linear in the rows. */
#ifndef QRM_TRAIN_VECCHIA_H
#define QRM_TRAIN_VECCHIA_H

#include "rows/parts.h"
#include "rows/scattered.h"
#include "train/far_rows.h"

#include <stdint.h>

typedef struct {
    const scattered_rows *rows;
    const double *lengthscale; /* D: the metric in which rows are near                */
    size_t block;              /* rows of a block, at most                            */
    size_t given;              /* rows that a block is conditioned on, at most        */
    size_t targets;            /* with more rows than this, only the last blocks of the order,
                                  about so many rows; 0: all                          */
    size_t skip;               /* so many rows nearest to it are passed over first     */
    int with_far;              /* 1: FAR_MOST rows at most that are farther away are given too
                                  (far_rows.h)                                         */
    int others;                /* 1: nearest among all rows outside the block, which
                                  leaves one block out at a time: a score, no likelihood */
    uint64_t seed;
    int threads;
} vecchia_problem;

/* Part e: the rows that block e is conditioned on, given[e] of them, nearest last (far ones
 * before), then its own. */
typedef struct {
    parts parts;
    size_t *given; /* M                                        */
    size_t *all;   /* M: 0 .. M-1, the list of experts for train */
    size_t *row;   /* parts.rows.n: where each came from       */
} vecchia_parts;

quorum_status vecchia_parts_new(const vecchia_problem *problem, vecchia_parts *out);
void vecchia_parts_free(vecchia_parts *v);

#endif
