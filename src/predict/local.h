/* Seats at each query's table the experts that explain most of its prior variance, or those whose
 * rows lie around it. */
#ifndef QRM_PREDICT_LOCAL_H
#define QRM_PREDICT_LOCAL_H

#include "aggregate/assembly.h"
#include "predict/nearest.h"

/* Seats 0 .. K-1 of every table go to the K experts out of `experts` with the largest
 * k_A at that query, best first (ties: lower number).  Candidates, who alone are asked,
 * are the experts with the nearest centres in the learned metric, less a share of their
 * radius, and, where the query's nearest rows are known (`near` may be NULL), the owners of
 * those.  *unsure becomes the number of queries at which another expert could, by a bound, explain more than the
 * last one seated.  `real` queries count; the rest is padding.  Together (team/work.h). */
quorum_status seat_local(quorum_status ready, assembly *a, const size_t *experts, size_t count,
                         size_t K, size_t real, const neighbourhoods *near, double budget,
                         int threads, size_t *unsure);

/* Seats 0 .. K-1 of every table go to the K < count experts out of `experts` whose centres, the means
 * of their rows, are nearest to the query in the learned metric, nearest first (ties: lower number).
 * Nobody is asked for that.  Together. */
quorum_status seat_nearest(quorum_status ready, assembly *a, const size_t *experts, size_t count,
                           size_t K, size_t real, int threads);

/* Candidates that are asked for K seats. */
size_t local_candidates(size_t K, size_t count);

/* order (n): the queries, so that those with the same nearest experts stand together. */
quorum_status order_by_experts(const committee *c, const points *Q, size_t *order);

#endif
