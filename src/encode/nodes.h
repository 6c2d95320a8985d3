/* What stands for a level that is not known.  Levels are taken for draws from one population, of which
 * the known ones are a sample: a new level is as likely to be like one of them as like another.  With
 * means a_l of the predictions at the known levels l = 1 .. L, of variances v_l,
 *
 *   mean = average a_l,   variance = average v_l + (1 + 1/L) sum_l (a_l - mean)^2 / (L - 1)
 *
 * the variance of one more draw about the mean of the sample.  Of many levels MOST_NODES stand for all:
 * those at the quantiles (j + 1/2) / MOST_NODES of the positions, and the sum is widened by the ratio
 * of the variances of all positions and of theirs.
 *
 * Where several categories are new at once, MOST_NODES combinations stand for all: combination j has of
 * category c the level at slot (g_c (j + 1) mod 17) - 1 of MOST_NODES, by position, with multipliers
 * g_c under which slots of different categories are as good as uncorrelated. */
#ifndef QRM_ENCODE_NODES_H
#define QRM_ENCODE_NODES_H

#include "encode/encoding.h"

enum { MOST_NODES = 16 };

typedef struct {
    size_t count;
    size_t level[MOST_NODES]; /* count, by position                                  */
    double widen;             /* by which the sample variance of the nodes is multiplied */
} level_nodes;

quorum_status level_nodes_choose(const category *c, level_nodes *out);

/* The combinations that stand for one query. */
typedef struct {
    size_t count;
    double widen;
} node_set;

/* Those of a query x (inputs) with new levels; nodes has those of every category. */
node_set node_set_of(const encoding *e, const level_nodes *nodes, const double *x);

/* Combination j: z (inputs) is x with known levels in place of the new ones. */
void node_set_fill(const encoding *e, const level_nodes *nodes, const node_set *s, size_t j,
                   const double *x, double *z);

/* The average of a (count), and widen times their sample variance: 0 of one alone. */
void node_set_join(const node_set *s, const double *a, double *mean, double *variance);

#endif
