/* Which experts a query is predicted by, and how much each counts: those of the cells with the S
 * nearest centres.  With squared distances d_1 <= d_2 <= .. in the learned metric,
 *
 *   b_i = (d_{S+1} - d_i) / sum_j (d_{S+1} - d_j),    i = 1 .. S
 *
 * A share fades to 0 where its centre stops being among the S nearest, so that predictions do not jump
 * at the borders of cells; it depends on the query alone. */
#ifndef QRM_CELLS_CELL_SEATS_H
#define QRM_CELLS_CELL_SEATS_H

#include "cells/cell_map.h"

enum { CELL_SEATS = 3 }; /* S, at most */

/* S of this map: there has to be a cell more than that, and S is one at least. */
size_t cell_seats(const cell_map *map);

/* cell and share (n x S, a query's together) of the points Q, the nearest centre's first; share_slope
 * (n x S x D, or NULL) along the points' coordinates. */
quorum_status cell_seats_find(const cell_map *map, const points *Q, int threads, size_t *cell,
                              double *share, double *share_slope);

/* What the S experts of a query say of it.  With o_i = spread_i (v_i + s^2), the variance of y that
 * expert i reports, their generalised product is
 *
 *   w_i = (b_i / o_i) / sum_j (b_j / o_j),   mean = sum w_i mean_i,   var y = sum w_i o_i = 1 / sum (b_j / o_j)
 *
 * An expert that knows less of the query counts less.  weight (S): b in, w out. */
void cell_seats_weigh(size_t S, const double *observed, double *weight);

#endif
