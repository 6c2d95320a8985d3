/* Seats at each query's table the experts that explain most of its prior variance. */
#ifndef QRM_AGGREGATE_LOCAL_H
#define QRM_AGGREGATE_LOCAL_H

#include "aggregate/assembly.h"

/* Seats 0 .. K-1 of every table go to the K experts out of `experts` with the largest
 * k_A at that query, best first (ties: lower number).  Candidates are the experts with
 * the nearest centres in the learned metric; only they are asked.  *unsure is increased
 * by the number of queries at which another expert could, by a bound, explain more than
 * the last one seated.  `real` queries count; the rest is padding. */
quorum_status seat_local(assembly *a, const size_t *experts, size_t count, size_t K, size_t real,
                         double budget, int threads, size_t *unsure);

/* Candidates that are asked for K seats. */
size_t local_candidates(size_t K, size_t count);

/* order (n): the queries, so that those with the same nearest experts stand together. */
quorum_status order_by_experts(const committee *c, const points *Q, size_t *order);

#endif
