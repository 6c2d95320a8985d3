/* An expert made for each query: a GP on its m nearest training rows, and its
 * covariance with the experts at the same table, rows they share included.
 *
 * In a team each rank does all of this for its own slice of the queries, my_slice(real, 1): what
 * is said below of every query holds for those; of the others only the spread is known. */
#ifndef QRM_PREDICT_NEAREST_H
#define QRM_PREDICT_NEAREST_H

#include "aggregate/assembly.h"
#include "near/scattered_search.h"

typedef struct {
    size_t b, real; /* queries; those from `real` on are padding and repeat the last */
    size_t m;       /* rows of each neighbourhood                             */
    size_t *row;    /* b x m: columns of the committee, each row's in its owner's part,
                       nearest last                                           */
    double *gamma;  /* b x m: C^-1 k*                                         */
    double prior;   /* of the spread (gp/neighbourhood.h)                     */
    double *spread; /* b: the factor of the variance                          */
} neighbourhoods;

quorum_status neighbourhoods_new(size_t b, size_t real, size_t m, double prior,
                                 neighbourhoods *out);
void neighbourhoods_free(neighbourhoods *n);

/* Finds the rows: `index` is over the committee's different rows, by their numbers. */
quorum_status neighbourhoods_find(const committee *c, const neighbour_index *index, const points *Q,
                                  int threads, neighbourhoods *n);

/* Both at once where each rank has only some of the rows: finds those of every query among all
 * ranks' and seats the neighbourhoods at `seat`, alone at their tables (seat 0). */
quorum_status nearest_seat_scattered(assembly *a, size_t seat, const near_holdings *held,
                                     neighbourhoods *n, int threads);

/* Seats the neighbourhoods (rows found already) at seat `seat` of every table: fills
 * gamma and spread, the seat's mean and explained variance and, where `pairs` is not NULL, its
 * covariances with the experts in seats 0 .. seat-1 (pairs as in npae.h). */
quorum_status nearest_seat(assembly *a, size_t seat, neighbourhoods *n, int threads, double *pairs);

#endif
