/* Cells: parts of at most `core` rows by splits along the input of the largest variance, at the row
 * that leaves as many cells on either side, or one more; then
 * each row goes to the part with the nearest mean, and the means are taken anew, a few times (Lloyd).
 * Boxes of many inputs are long where they were not split; the cells of means are round, and a query
 * finds the rows around it in its cell's expert. */
#include "cells/cell_map.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "near/select_nth.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double FAR = 2.0; /* of a cell's reach, a squared distance */

enum {
    AROUND = 3,        /* cells around a cell, the nearest                   */
    ROUNDS = 8,        /* of Lloyd's, with ...                               */
    MANY_ROWS = 100000 /* ... up to so many rows; with more, fewer in proportion */
};

void cell_map_free(cell_map *map)
{
    neighbour_index_free(map->index);
    points_free(&map->centre);
    mem_free(map->row);
    mem_free(map->start);
    mem_free(map->reach);
    *map = (cell_map){0};
}

/* ---- Parts by splits ---- */

typedef struct {
    const points *Z;
    size_t *row;  /* n: rows, part after part                     */
    size_t cells; /* that parts become                            */
    size_t level; /* 2^level parts, of 0, 1 or more cells each     */
} split_job;

/* The first cell of part k: those of parts differ by one at most. */
static size_t first_cell(const split_job *j, size_t level, size_t k)
{
    size_t rest = j->cells & (((size_t)1 << level) - 1);
    return k * (j->cells >> level) + (k * rest >> level);
}

/* Where the rows of cell c start: those of cells differ by one at most. */
static size_t first_row(size_t n, size_t cells, size_t c)
{
    return c * (n / cells) + c * (n % cells) / cells;
}

/* Part `item` becomes two, if it has two cells. */
static quorum_status split_part(void *context, size_t item, int worker)
{
    const split_job *j = context;
    size_t n = j->Z->n, D = j->Z->D;
    size_t c0 = first_cell(j, j->level, item), c2 = first_cell(j, j->level, item + 1);
    size_t c1 = first_cell(j, j->level + 1, 2 * item + 1);
    size_t from = first_row(n, j->cells, c0), to = first_row(n, j->cells, c2);
    (void)worker;
    if (c1 == c0 || c1 == c2)
        return QUORUM_OK;
    size_t d = widest_input(j->row + from, to - from, j->Z->Z, D);
    select_nth(j->row + from, to - from, first_row(n, j->cells, c1) - from, j->Z->Z, D, d);
    return QUORUM_OK;
}

/* label (n): the cell of each row; row (n) is room. */
static quorum_status split_rows(const points *Z, size_t cells, int threads, size_t *row,
                                size_t *label)
{
    split_job j = {.Z = Z, .row = row, .cells = cells};
    for (size_t i = 0; i < Z->n; i++)
        row[i] = i;
    for (; (size_t)1 << j.level < cells; j.level++)
        TRY(parallel_for(threads, (size_t)1 << j.level, split_part, &j));
    for (size_t k = 0; k < cells; k++)
        for (size_t i = first_row(Z->n, cells, k); i < first_row(Z->n, cells, k + 1); i++)
            label[row[i]] = k;
    return QUORUM_OK;
}

/* ---- Cells of their means ---- */

/* start and row, from the rows' labels. */
static void list_rows(const size_t *label, cell_map *map)
{
    size_t *start = map->start;
    memset(start, 0, (map->cells + 1) * sizeof *start);
    for (size_t i = 0; i < map->n; i++)
        start[label[i] + 1]++;
    for (size_t k = 0; k < map->cells; k++)
        start[k + 1] += start[k];
    for (size_t i = 0; i < map->n; i++)
        map->row[start[label[i]]++] = i;
    memmove(start + 1, start, map->cells * sizeof *start);
    start[0] = 0;
}

static void set_centre(const points *c, size_t D, size_t k, const double *z)
{
    c->norm[k] = 0.0;
    for (size_t d = 0; d < D; d++) {
        c->Z[k * D + d] = c->T[d * c->stride + k] = z[d];
        c->norm[k] += z[d] * z[d];
    }
}

/* The mean of cell k's rows; one without rows stays where it is. */
static void move_centre(const points *Z, const cell_map *map, size_t k)
{
    const points *c = &map->centre;
    size_t D = map->D, from = map->start[k], to = map->start[k + 1];
    if (from == to)
        return;
    c->norm[k] = 0.0;
    for (size_t d = 0; d < D; d++) {
        double sum = 0.0;
        for (size_t i = from; i < to; i++)
            sum += Z->Z[map->row[i] * D + d];
        double mean = sum / (double)(to - from);
        c->Z[k * D + d] = c->T[d * c->stride + k] = mean;
        c->norm[k] += mean * mean;
    }
}

static quorum_status move_centres(const points *Z, int threads, const size_t *label, cell_map *map)
{
    list_rows(label, map);
    for (size_t k = 0; k < map->cells; k++)
        move_centre(Z, map, k);
    neighbour_index_free(map->index);
    return neighbour_index_new(&map->centre, threads, &map->index);
}

/* One cell is of all rows: its expert is made for every point. */
quorum_status cell_map_find(const cell_map *map, const points *Q, int threads, size_t *cell,
                            char *is_far)
{
    double *distance = NULL;
    if (is_far && !NEW_ARRAY(distance, Q->n))
        return failure(QUORUM_E_MEMORY, "out of memory for the cells of %zu queries", Q->n);
    quorum_status status = neighbour_search(map->index, Q, 1, threads, cell, distance);
    for (size_t q = 0; is_far && status == QUORUM_OK && q < Q->n; q++)
        is_far[q] = map->cells > 1 && distance[q] > FAR * map->reach[cell[q]];
    mem_free(distance);
    return status;
}

static double squared_distance(size_t D, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t d = 0; d < D; d++)
        sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

/* To its own farthest row ... */
static void reach_rows(const points *Z, cell_map *map)
{
    size_t D = map->D;
    for (size_t k = 0; k < map->cells; k++) {
        map->reach[k] = 0.0;
        for (size_t i = map->start[k]; i < map->start[k + 1]; i++)
            map->reach[k] = fmax(
                map->reach[k], squared_distance(D, Z->Z + map->row[i] * D, map->centre.Z + k * D));
    }
}

/* ... and to the centres around it. */
static quorum_status measure_reach(const points *Z, int threads, cell_map *map)
{
    size_t around = map->cells > AROUND ? AROUND + 1 : map->cells, *centre = NULL; /* with itself */
    double *distance = NULL;
    quorum_status status = QUORUM_OK;
    reach_rows(Z, map);
    if (NEW_ARRAY(centre, map->cells * around) && NEW_ARRAY(distance, map->cells * around))
        status = neighbour_search(map->index, &map->centre, around, threads, centre, distance);
    else
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu cells", map->cells);
    for (size_t k = 0; status == QUORUM_OK && k < map->cells; k++)
        map->reach[k] = fmax(map->reach[k], distance[(k + 1) * around - 1]);
    mem_free(centre);
    mem_free(distance);
    return status;
}

static int rounds_for(size_t n)
{
    size_t rounds = n <= MANY_ROWS ? ROUNDS : (size_t)ROUNDS * MANY_ROWS / n;
    return rounds > 1 ? (int)rounds : 1;
}

static quorum_status settle_cells(const points *Z, int threads, size_t *label, cell_map *map)
{
    int rounds = rounds_for(Z->n);
    TRY(split_rows(Z, map->cells, threads, map->row, label));
    TRY(move_centres(Z, threads, label, map));
    for (int round = 0; round < rounds; round++) {
        TRY(cell_map_find(map, Z, threads, label, NULL));
        if (round + 1 < rounds)
            TRY(move_centres(Z, threads, label, map));
    }
    list_rows(label, map);
    return measure_reach(Z, threads, map);
}

static quorum_status make_room(const points *Z, size_t cells, cell_map *out)
{
    *out = (cell_map){.n = Z->n, .D = Z->D, .cells = cells};
    TRY(points_new(out->cells, out->D, &out->centre));
    if (NEW_ARRAY(out->row, out->n) && NEW_ARRAY(out->start, out->cells + 1) &&
        NEW_ARRAY(out->reach, out->cells))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for the cells of %zu rows", out->n);
}

quorum_status cell_map_new(const points *Z, size_t core, int threads, cell_map *out)
{
    assert(Z->n >= 1 && core >= 2);
    size_t *label;
    TRY(make_room(Z, (Z->n + core - 1) / core, out));
    if (!NEW_ARRAY(label, out->n))
        return failure(QUORUM_E_MEMORY, "out of memory for the cells of %zu rows", out->n);
    quorum_status status = settle_cells(Z, threads, label, out);
    mem_free(label);
    return status;
}

quorum_status cell_map_known(const points *Z, size_t cells, const double *centre,
                             const size_t *label, int threads, cell_map *out)
{
    TRY(make_room(Z, cells, out));
    for (size_t k = 0; k < cells; k++)
        set_centre(&out->centre, out->D, k, centre + k * out->D);
    list_rows(label, out);
    TRY(neighbour_index_new(&out->centre, threads, &out->index));
    return measure_reach(Z, threads, out);
}

void cell_map_tell(const cell_map *map, double *centre, size_t *label)
{
    memcpy(centre, map->centre.Z, map->cells * map->D * sizeof *centre);
    for (size_t k = 0; k < map->cells; k++)
        for (size_t i = map->start[k]; i < map->start[k + 1]; i++)
            label[map->row[i]] = k;
}
