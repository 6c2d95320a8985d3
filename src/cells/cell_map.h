/* Cells of the rows in the learned metric, each with a centre.  A point lies in the cell whose centre
 * is nearest, ties to the lower number, wherever it is. */
#ifndef QRM_CELLS_CELL_MAP_H
#define QRM_CELLS_CELL_MAP_H

#include "near/neighbours.h"

typedef struct {
    size_t n, D, cells;
    points centre;          /* cells                                              */
    neighbour_index *index; /* over the centres                                   */
    size_t *row;            /* n: rows, cell after cell, ascending within a cell  */
    size_t *start;          /* cells + 1: where a cell's rows start; it may have none */
    double *reach; /* cells: squared distance of its farthest row, or of the centres around it */
} cell_map;

/* Cells of at most about `core` rows, core >= 2, of the rows Z.  Free with cell_map_free, also after
 * failure. */
quorum_status cell_map_new(const points *Z, size_t core, int threads, cell_map *out);
void cell_map_free(cell_map *map);

/* The cells that rows are known to be in: centre (cells x D) and label (n), as cell_map_tell told them. */
quorum_status cell_map_known(const points *Z, size_t cells, const double *centre,
                             const size_t *label, int threads, cell_map *out);
void cell_map_tell(const cell_map *map, double *centre, size_t *label);

/* cell (Q->n) of each point; and is_far (Q->n, or NULL): whether it is much farther from the cell's centre
 * than the cell's rows and the centres around it are: it then lies in a gap, or outside. */
quorum_status cell_map_find(const cell_map *map, const points *Q, int threads, size_t *cell,
                            char *is_far);

#endif
