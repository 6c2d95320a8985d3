/* Which rows a cell's expert has:  key_r = min over rows c of the cell of |z_r - z_c|^2, least first.
 * Rows near any row of the cell serve better than rows near its centre, which knows nothing of the
 * cell's shape; candidates bound what that costs. */
#include "cells/halo.h"

#include "base/memory.h"
#include "near/ranked.h"

#include <math.h>

enum { POOL = 4 }; /* candidates for each row that is wanted */

typedef struct {
    points core;       /* the cell's own rows   */
    size_t *candidate; /* count                 */
    ranked *order;     /* core->n + count       */
} halo_space;

static void space_free(halo_space *w)
{
    points_free(&w->core);
    mem_free(w->candidate);
    mem_free(w->order);
}

static quorum_status space_new(size_t own, size_t count, size_t D, halo_space *w)
{
    TRY(points_new(own, D, &w->core));
    if (NEW_ARRAY(w->candidate, count) && NEW_ARRAY(w->order, own + count))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for the rows around a cell");
}

/* min_c |z - z_c|^2 over the core. */
static double distance_from(const points *core, const double *z)
{
    double least = INFINITY;
    for (size_t i = 0; i < core->n; i++) {
        const double *c = core->Z + i * core->D;
        double s = 0.0;
        for (size_t d = 0; d < core->D; d++)
            s += (z[d] - c[d]) * (z[d] - c[d]);
        least = fmin(least, s);
    }
    return least;
}

static int is_own(const size_t *own, size_t count, size_t row)
{
    for (size_t i = 0; i < count; i++)
        if (own[i] == row)
            return 1;
    return 0;
}

/* The cell's own rows before all others, at -1, and the candidates at their distance. */
static size_t rank_rows(const size_t *own, size_t rows, const points *Z, size_t candidates,
                        halo_space *w)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
        w->order[count++] = (ranked){-1.0, own[i]};
    for (size_t i = 0; i < candidates; i++) {
        size_t row = w->candidate[i];
        if (!is_own(own, rows, row))
            w->order[count++] = (ranked){distance_from(&w->core, Z->Z + row * Z->D), row};
    }
    return count;
}

/* The cell's own rows; of a cell without any its centre stands for them. */
static void take_core(const cell_map *map, size_t cell, const points *Z, size_t rows, halo_space *w)
{
    if (rows > 0)
        points_gather(Z, map->row + map->start[cell], rows, &w->core);
    else
        points_gather(&map->centre, &cell, 1, &w->core);
}

quorum_status halo_choose(const cell_map *map, size_t cell, const points *Z,
                          const neighbour_index *index, size_t m, size_t *row)
{
    size_t rows = map->start[cell + 1] - map->start[cell];
    const size_t *own = map->row + map->start[cell];
    size_t candidates = m < map->n / POOL ? POOL * m : map->n;
    points centre = points_view(&map->centre, cell, 1);
    halo_space w = {0};
    quorum_status status = QUORUM_OK;
    TRY_OR_DONE(space_new(rows > 0 ? rows : 1, candidates, map->D, &w));
    take_core(map, cell, Z, rows, &w);
    TRY_OR_DONE(neighbour_search(index, &centre, candidates, 1, w.candidate, NULL));
    size_t count = rank_rows(own, rows, Z, candidates, &w);
    ranked_select(w.order, count, m - 1);
    ranked_sort(w.order, m);
    for (size_t i = 0; i < m; i++)
        row[i] = w.order[m - 1 - i].row;
done:
    space_free(&w);
    return status;
}
