/* The rows of a cell's expert: those of the cell, its core, and the rows around, its halo. */
#ifndef QRM_CELLS_HALO_H
#define QRM_CELLS_HALO_H

#include "cells/cell_map.h"
#include "near/neighbours.h"

/* row (m, 1 <= m <= n): the m rows with the least distance from any row of the cell, of the cell's
 * own rows and the candidates, which are the POOL m rows nearest to its centre; nearest last, ties
 * by row number.  Z are all rows and `index` a search among them. */
quorum_status halo_choose(const cell_map *map, size_t cell, const points *Z,
                          const neighbour_index *index, size_t m, size_t *row);

#endif
