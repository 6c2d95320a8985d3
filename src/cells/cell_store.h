/* The cells of a model and those of their experts that are kept, by all threads that predict.  An
 * expert is made when a query of its cell is first asked, and stays as long as there is room; what
 * is kept changes the time, and no result. */
#ifndef QRM_CELLS_CELL_STORE_H
#define QRM_CELLS_CELL_STORE_H

#include "cells/cell_expert.h"

typedef struct cell_store cell_store;

/* The cells themselves, with experts of m rows. */
quorum_status cell_store_divide(const points *Z, size_t m, int threads, cell_map *out);

/* Cells with experts of m rows; the source's parts must outlive it.  map: the cells, which become the
 * store's, also after failure. */
quorum_status cell_store_new(const cell_source *s, size_t m, cell_map *map, cell_store **out);
void cell_store_free(cell_store *store); /* accepts NULL */

const cell_map *cell_store_map(const cell_store *store);
const cell_source *cell_store_source(const cell_store *store);

/* The expert of a cell, kept if it or others that nobody uses give way within `room` bytes, those that
 * were not asked for longest first.  Give every expert back with cell_store_release. */
quorum_status cell_store_take(cell_store *store, size_t cell, double room,
                              const cell_expert **expert);
void cell_store_release(cell_store *store, size_t cell, const cell_expert *expert);

double cell_store_kept(cell_store *store); /* bytes of experts that are there */

#endif
