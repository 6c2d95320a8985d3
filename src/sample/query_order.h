/* The order in which queries are drawn: by a hash of their inputs.
 *
 * It is as good as random, whatever order a file has, and depends on the set of queries alone: rows
 * of a file may be in any order.  Queries with the same inputs come one after another. */
#ifndef QRM_SAMPLE_QUERY_ORDER_H
#define QRM_SAMPLE_QUERY_ORDER_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t key; /* of the inputs, and of which of equal queries it is */
    size_t row;   /* of X                                                */
} placed_query;

/* order (n): the rows of X (n x D) by their keys; equal ones by row number. */
void query_order(const double *X, size_t n, size_t D, placed_query *order);

/* A key of two others, for numbers that belong to both. */
uint64_t key_of_both(uint64_t a, uint64_t b);

#endif
