/* Exact nearest neighbours among scaled points. */
#ifndef QRM_NEAR_NEIGHBOURS_H
#define QRM_NEAR_NEIGHBOURS_H

#include "base/status.h"
#include "gp/points.h"

#include <stddef.h>

typedef struct neighbour_index neighbour_index;

/* An index over the points Z, n >= 1.  Distances between scaled points are those of
 * the learned metric.  Coordinates must be finite, the queries' too (QUORUM_E_DATA).
 * Z's arrays must outlive the index.  Free with neighbour_index_free. */
quorum_status neighbour_index_new(const points *Z, int threads, neighbour_index **out);

/* The same, made faster and searched slower: for some hundred queries of many points that lie expert by
 * expert. */
quorum_status neighbour_index_for_few(const points *Z, int threads, neighbour_index **out);
void neighbour_index_free(neighbour_index *index); /* accepts NULL */

/* rows (b x m, a query's neighbours together): for each of the b queries the m
 * nearest points, 1 <= m <= n, by ascending squared distance, ties by lower row
 * number.  distances (b x m): the squared distances, or NULL.  A query's result
 * depends on that query only, bit for bit: not on its batch, on `threads` or on
 * the method. */
quorum_status neighbour_search(const neighbour_index *index, const points *Q, size_t m, int threads,
                               size_t *rows, double *distances);

/* The same for the queries that team_map (team/work.h) gives to this process; rows and distances have
 * room for all, and those of the others are left alone.  It returns how this process fared: what is `ready` for
 * the next call that all make together. */
quorum_status neighbour_search_mine(const neighbour_index *index, const points *Q, size_t m,
                                    int threads, size_t *rows, double *distances);

/* The m nearest at most, and none farther than limit[q], a squared distance (INFINITY: any);
 * m may be more than the points.  found[q] of rows and distances (b x m) are filled. */
quorum_status neighbour_search_within(const neighbour_index *index, const points *Q, size_t m,
                                      const double *limit, int threads, size_t *rows,
                                      double *distances, size_t *found);

/* The same list the other way round: farthest first. */
void reverse_rows(size_t m, size_t *rows);

/* The method it chose: "tree" or "scan". */
const char *neighbour_index_method(const neighbour_index *index);

#endif
