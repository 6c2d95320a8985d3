/* Cells kept in a model (kept_cells.h). */
#include "cells/kept_cells.h"

#include "base/memory.h"
#include "cells/cell_store.h"
#include "team/work.h"

/* Rows of an expert of the default prediction. */
static size_t default_rows(const quorum_model *m)
{
    recipe r;
    return model_recipe(m, options_values(NULL), &r) == QUORUM_OK && r.rule->kind == TAKES_CELLS
               ? r.neighbours
               : 0;
}

quorum_status cells_of_model(const quorum_model *m, const points *Z, size_t rows, int threads,
                             cell_map *out)
{
    const known_cells *k = &m->cells;
    if (k->count > 0 && rows == default_rows(m))
        return cell_map_known(Z, k->count, k->centre, k->of_row, threads, out);
    return cell_store_divide(Z, rows, threads, out);
}

typedef struct {
    quorum_model *m;
    const points *Z;
    int threads;
} keeping;

static quorum_status find_cells(void *context)
{
    const keeping *k = context;
    known_cells *to = &k->m->cells;
    cell_map map;
    quorum_status status = cell_store_divide(k->Z, default_rows(k->m), k->threads, &map);
    if (status == QUORUM_OK &&
        (!NEW_ARRAY(to->centre, map.cells * map.D) || !NEW_ARRAY(to->of_row, map.n)))
        status = failure(QUORUM_E_MEMORY, "out of memory for the cells of %zu rows", map.n);
    if (status == QUORUM_OK) {
        cell_map_tell(&map, to->centre, to->of_row);
        to->count = map.cells;
    }
    cell_map_free(&map);
    return status;
}

quorum_status keep_cells(quorum_model *m, const settings *s)
{
    const committee *c;
    keeping k = {.m = m, .threads = options_threads(s)};
    if (!m->method.by_cells || default_rows(m) == 0)
        return QUORUM_OK;
    TRY(model_hold_all(m));
    TRY(model_rows(m, s, &c));
    TRY(model_points(m, &k.Z));
    return team_all(QUORUM_OK, find_cells, &k);
}
