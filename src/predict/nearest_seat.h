/* The GP on a query's nearest rows as an expert beside others: its covariance with the experts at
 * the same table, rows they share included. */
#ifndef QRM_PREDICT_NEAREST_SEAT_H
#define QRM_PREDICT_NEAREST_SEAT_H

#include "aggregate/assembly.h"
#include "predict/nearest.h"

/* Asks the neighbourhoods (rows found already, gamma wanted) and seats them at seat `seat` of every
 * table, their covariances with the experts in seats 0 .. seat-1 in `pairs` (as in npae.h).
 * Together (team/work.h). */
quorum_status nearest_seat(assembly *a, size_t seat, neighbourhoods *n, int threads, double *pairs);

#endif
