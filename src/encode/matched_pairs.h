/* Pairs of rows that are nearly alike in their numbers, and what the levels of their categories explain
 * of the difference between their targets.
 *
 * Of n rows with standardised numbers x, levels l and standardised target u, each with its NEAR nearest
 * others j (distance in the numbers alone; rows alike in them are paired at random):
 *
 *   u_i - u_j = sum_d beta_d (x_id - x_jd) + sum_c (b_c[l_ic] - b_c[l_jc]) + error
 *
 * by least squares with a pair counted w_i / NEAR times, w_i the row's weight, and PRIOR_ROWS rows' worth of shrinkage of every
 * unknown towards 0:  (A'WA + PRIOR_ROWS I) (beta, b) = A'Wd, A being pairs x unknowns. */
#ifndef QRM_ENCODE_MATCHED_PAIRS_H
#define QRM_ENCODE_MATCHED_PAIRS_H

#include "encode/encoding.h"

typedef struct {
    const encoding *e;
    const row_set *rows; /* inputs: numbers standardised, of categories levels' numbers; y: u */
    size_t near;         /* others for each: NEAR, or fewer of few rows                      */
    size_t *other;       /* n x near                                                         */
    size_t *first;       /* inputs + 1: the unknowns of input d begin at first[d]            */
} matched_pairs;

/* Finds the pairs.  Free it, also after a failure. */
quorum_status matched_pairs_new(const encoding *e, const row_set *rows, matched_pairs *out);
void matched_pairs_free(matched_pairs *p);

/* The unknowns (first[inputs] of them). */
quorum_status matched_pairs_solve(const matched_pairs *p, double *b);

/* Adds to gain (inputs) how much less is left of the pairs' differences, squared and weighted, by the
 * effects of each category in b than with those of the other inputs in b alone. */
void matched_pairs_gain(const matched_pairs *p, const double *b, double *gain);

#endif
