/* A GP on the m nearest training rows of each query: method nearest, and an expert of the query's
 * own for NPAE (nearest_seat.h).
 *
 * In a team each process asks some of the queries, those of the first `real` that team_map
 * (team/work.h) gives it, and the last one's padding: rows and gamma are known for the queries that
 * this process asks only, the rest, once they were asked, for all.  `ready`: team/work.h. */
#ifndef QRM_PREDICT_NEAREST_H
#define QRM_PREDICT_NEAREST_H

#include "experts/committee.h"
#include "near/scattered_search.h"

typedef struct {
    size_t b, real;           /* queries; those from `real` on are padding and repeat the last */
    size_t m;                 /* rows of each neighbourhood                             */
    size_t *row;              /* b x m: columns of the committee, each row's in its owner's part,
                       nearest last                                           */
    double *gamma;            /* b x m: C^-1 k*; NULL: not wanted                       */
    size_t width;             /* of lift: inputs + 1, or 0                              */
    double *lift;             /* b x width: sum_i gamma_i f(x_i), f(x) = (1, x), for a linear trend
                                 (model/trend.c); NULL: not wanted                      */
    double prior;             /* of the spread (gp/neighbourhood.h)                     */
    double *mean, *explained; /* b: k*' C^-1 y and k*' C^-1 k*                */
    double *spread;           /* b: the factor of the variance                */
} neighbourhoods;

quorum_status neighbourhoods_new(size_t b, size_t real, size_t m, double prior, int with_gamma,
                                 size_t width, neighbourhoods *out);
void neighbourhoods_free(neighbourhoods *n);

/* Finds the rows: `index` is over the committee's different rows, by their numbers. */
quorum_status neighbourhoods_find(quorum_status ready, const committee *c,
                                  const neighbour_index *index, const points *Q, int threads,
                                  neighbourhoods *n);

/* Asks the neighbourhoods (rows found already): fills gamma, lift, mean, explained and spread. */
quorum_status neighbourhoods_ask(quorum_status ready, const committee *c, const points *Q,
                                 int threads, neighbourhoods *n);

/* Finds and asks where each process has only some of the rows. */
quorum_status neighbourhoods_ask_scattered(quorum_status ready, const committee *c,
                                           const near_holdings *held, const points *Q, int threads,
                                           neighbourhoods *n);

/* claimed (Q->n): 1 where this process is to search first: it has the rows of the expert whose
 * centre is nearest to the query (near/scattered_search.h). */
quorum_status claim_by_centre(quorum_status ready, const committee *c, const points *Q, int threads,
                              char *claimed);

#endif
