/* An assembly: for every query of a block, the experts that sit at its table, and
 * what they say.  Choosing the same experts for all queries and choosing them for
 * each query are the same thing here.
 *
 * Arrays are by seat, then query: [s * b + q].  An empty seat explains nothing. */
#ifndef QRM_AGGREGATE_ASSEMBLY_H
#define QRM_AGGREGATE_ASSEMBLY_H

#include "experts/committee.h"

#include <stddef.h>
#include <stdint.h>

#define NOBODY SIZE_MAX

/* The queries of one expert: those at whose table it sits. */
typedef struct {
    size_t expert, b; /* b: a multiple of QUERY_MULTIPLE; the padding repeats the last  */
    size_t real;      /* queries without the padding                                    */
    size_t *query;    /* b: ascending                                                   */
    size_t *seat;     /* real: its seat at each                                         */
    double *gamma;    /* m x b: C^-1 k*                                                 */
} attendance;

typedef struct {
    const committee *c;
    const points *Q; /* b queries, scaled                                               */
    size_t b, seats;
    size_t *member;    /* seats x b: expert, or NOBODY                                    */
    double *mean;      /* seats x b                                                       */
    double *explained; /* seats x b: k_A                                                */
    double *mean_slope, *explained_slope; /* D x seats x b: [d * seats * b + s * b + q], along the
                                             queries' scaled inputs; NULL: not wanted       */
    size_t attending;      /* experts that sit anywhere                                     */
    attendance *by_expert; /* attending                                                 */
    size_t *lists;         /* what by_expert's query and seat point into                    */
    double *gammas;
} assembly;

/* seats x b empty seats at the queries Q.  One that failed can still be handed to those who take
 * `ready`. */
quorum_status assembly_new(const committee *c, const points *Q, size_t seats, assembly *out);
void assembly_free(assembly *a);

/* From now on slopes are asked for too. */
quorum_status assembly_want_slopes(assembly *a);

/* The listed experts sit at every table, in this order from seat 0. */
void assembly_seat_all(assembly *a, const size_t *experts, size_t count);

/* Asks every seated expert: fills mean and, as wanted, explained and the gammas.  Together
 * (team/work.h). */
quorum_status assembly_ask(quorum_status ready, assembly *a, int with_variance, int with_gamma,
                           double budget, int threads);

/* For every seat that an expert of the committee takes: column[s * b + q], where query
 * q stands in that expert's list, and place[s * b + q], the expert's number in
 * by_expert. */
void assembly_map_seats(const assembly *a, size_t *column, size_t *place);

/* Bytes a query takes at `seats` seats, gammas of `rows` rows together. */
double assembly_query_bytes(size_t seats, double rows);

#endif
