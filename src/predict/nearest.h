/* A GP on the m nearest training rows of each query: method nearest, and an expert of the query's
 * own for NPAE (nearest_seat.h).
 *
 * In a team each process asks some of the queries, those of the first `real` that team_map
 * (team/work.h) gives it, and the last one's padding: rows and gamma are known for the queries that
 * this process asks only, the rest, once they were asked, for all.  `ready`: team/work.h. */
#ifndef QRM_PREDICT_NEAREST_H
#define QRM_PREDICT_NEAREST_H

#include "experts/committee.h"
#include "gp/neighbourhood.h"
#include "near/scattered_search.h"

#include <math.h>

/* Slopes along the scaled inputs of the queries (gp/slopes.h), b x D each; mean NULL: not wanted. */
typedef struct {
    double *mean, *explained, *spread;
    double *doubt;   /* of u' V u, u = f(x) - lift; NULL: there is no line */
    const double *V; /* (D + 1)^2: the covariance of its coefficients      */
} near_slopes;

/* A further target of the same rows, for one process alone (targets/predict_targets.c). */
typedef struct {
    const double *y; /* of the committee's columns  */
    spread_rule how;
    double *mean, *spread; /* b: as below            */
} near_target;

typedef struct {
    size_t b, real;           /* queries; those from `real` on are padding and repeat the last */
    size_t m;                 /* rows of each neighbourhood                             */
    size_t *row;              /* b x m: columns of the committee, each row's in its owner's part,
                       nearest last                                           */
    double *gamma;            /* b x m: C^-1 k*; NULL: not wanted                       */
    size_t width;             /* of lift: inputs + 1, or 0                              */
    double *lift;             /* b x width: sum_i gamma_i f(x_i), f(x) = (1, x), for a linear trend
                                 (model/trend.c); NULL: not wanted                      */
    spread_rule how;          /* of the spread (gp/neighbourhood.h)                     */
    double *mean, *explained; /* b: k*' C^-1 y and k*' C^-1 k*                */
    double *spread;           /* b: the factor of the variance                */
    double *noise;            /* b: of an observation, theta's but where each has its own */
    near_slopes slopes;
    near_target *other; /* others: to be filled too; freed with the rest */
    size_t others;
} neighbourhoods;

quorum_status neighbourhoods_new(size_t b, size_t real, size_t m, spread_rule how, int with_gamma,
                                 size_t width, neighbourhoods *out);
void neighbourhoods_free(neighbourhoods *n);

/* Makes room for slopes along D inputs (near_slopes.c), that of a line where V is not NULL and lift is
 * wanted. */
quorum_status neighbourhoods_want_slopes(size_t D, const double *V, neighbourhoods *n);

/* Fills the slopes of query q, whose neighbourhood X has just been asked in `own`; room: 7 D + 2. */
void neighbourhoods_find_slopes(const hyper *theta, const points *X, const points *query,
                                const neighbourhood *at, neighbourhood_space *own, double *room,
                                size_t q, neighbourhoods *n);

/* Finds the rows: `index` is over the committee's different rows, by their numbers. */
quorum_status neighbourhoods_find(quorum_status ready, const committee *c,
                                  const neighbour_index *index, const points *Q, int threads,
                                  neighbourhoods *n);

/* Asks the neighbourhoods (rows found already): fills gamma, lift, mean, explained, spread and
 * noise. */
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
