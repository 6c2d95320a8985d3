/* The cells that a model whose method auto is cells keeps in its file: finding them takes longer than
 * many a call.  They are those of its default prediction; what is found anew has the same bits. */
#ifndef QRM_CELLS_KEPT_CELLS_H
#define QRM_CELLS_KEPT_CELLS_H

#include "cells/cell_map.h"
#include "model/model.h"

/* The cells for experts of m rows, Z being all rows, scaled: kept ones, or found.  Free with
 * cell_map_free, also after failure. */
quorum_status cells_of_model(const quorum_model *m, const points *Z, size_t rows, int threads,
                             cell_map *out);

/* Finds and keeps them, where method auto is cells; all processes of a team at once. */
quorum_status keep_cells(quorum_model *m, const settings *s);

#endif
