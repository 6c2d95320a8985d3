/* Which rows a cell's expert has:  key_r = min over rows c of the cell of |z_r - z_c|^2, least first.
 * Rows near any row of the cell serve better than rows near its centre, which knows nothing of the
 * cell's shape; candidates bound what that costs. */
#include "cells/halo.h"

#include "base/memory.h"
#include "linalg/clones.h"
#include "near/ranked.h"

#include <math.h>

enum { POOL = 4 }; /* candidates for each row that is wanted */

typedef struct {
    points core;       /* the cell's own rows         */
    points pool;       /* count: the candidates ...   */
    size_t *candidate; /* count: ... their rows ...   */
    double *distance;  /* count: ... and their key    */
    double *room;      /* count                       */
    ranked *order;     /* core->n + count             */
} halo_space;

static void space_free(halo_space *w)
{
    points_free(&w->core);
    points_free(&w->pool);
    mem_free(w->candidate);
    mem_free(w->distance);
    mem_free(w->room);
    mem_free(w->order);
}

static quorum_status space_new(size_t own, size_t count, size_t D, halo_space *w)
{
    TRY(points_new(own, D, &w->core));
    TRY(points_new(count, D, &w->pool));
    if (NEW_ARRAY(w->candidate, count) && NEW_ARRAY(w->distance, count) &&
        NEW_ARRAY(w->room, count) && NEW_ARRAY(w->order, own + count))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for the rows around a cell");
}

/* least_i = min(least_i, |t_i - z|^2) over n points, input after input in T (D x stride); s (n) is
 * room. */
CLONED
static void keep_least(size_t n, size_t D, size_t stride, const double *restrict T,
                       const double *restrict z, double *restrict s, double *restrict least)
{
    for (size_t i = 0; i < n; i++)
        s[i] = 0.0;
    for (size_t d = 0; d < D; d++) {
        const double *t = T + d * stride;
        double c = z[d];
        for (size_t i = 0; i < n; i++)
            s[i] += (t[i] - c) * (t[i] - c);
    }
    for (size_t i = 0; i < n; i++)
        least[i] = s[i] < least[i] ? s[i] : least[i];
}

/* distance (count) of the candidates from the core. */
static void measure_pool(const points *Z, size_t count, halo_space *w)
{
    points_gather(Z, w->candidate, count, &w->pool);
    for (size_t i = 0; i < count; i++)
        w->distance[i] = INFINITY;
    for (size_t c = 0; c < w->core.n; c++)
        keep_least(count, Z->D, w->pool.stride, w->pool.T, w->core.Z + c * Z->D, w->room,
                   w->distance);
}

static int is_own(const size_t *own, size_t count, size_t row)
{
    for (size_t i = 0; i < count; i++)
        if (own[i] == row)
            return 1;
    return 0;
}

/* The cell's own rows before all others, at -1, and the candidates at their distance. */
static size_t rank_rows(const size_t *own, size_t rows, size_t candidates, halo_space *w)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
        w->order[count++] = (ranked){-1.0, own[i]};
    for (size_t i = 0; i < candidates; i++) {
        size_t row = w->candidate[i];
        if (!is_own(own, rows, row))
            w->order[count++] = (ranked){w->distance[i], row};
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
    measure_pool(Z, candidates, &w);
    size_t count = rank_rows(own, rows, candidates, &w);
    ranked_select(w.order, count, m - 1);
    ranked_sort(w.order, m);
    for (size_t i = 0; i < m; i++)
        row[i] = w.order[m - 1 - i].row;
done:
    space_free(&w);
    return status;
}
