/* Cells: parts of at most `core` rows by median splits along the input of the largest variance; then
 * each row goes to the part with the nearest mean, and the means are taken anew, a few times (Lloyd).
 * Boxes of many inputs are long where they were not split; the cells of means are round, and a query
 * finds the rows around it in its cell's expert. */
#include "cells/cell_map.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "near/select_nth.h"

#include <assert.h>
#include <string.h>

enum {
    ROUNDS = 8,        /* of Lloyd's, with ...                               */
    MANY_ROWS = 100000 /* ... up to so many rows; with more, fewer in proportion */
};

void cell_map_free(cell_map *map)
{
    neighbour_index_free(map->index);
    points_free(&map->centre);
    mem_free(map->row);
    mem_free(map->start);
    *map = (cell_map){0};
}

/* ---- Parts by splits ---- */

typedef struct {
    const points *Z;
    size_t *row;  /* n: rows, part after part */
    size_t level; /* 2^level parts            */
} split_job;

/* Where part k of 2^level equal parts of the rows starts. */
static size_t part_start(size_t n, size_t level, size_t k)
{
    size_t rest = n & (((size_t)1 << level) - 1);
    return k * (n >> level) + (k * rest >> level);
}

/* Part `item` becomes two. */
static quorum_status split_part(void *context, size_t item, int worker)
{
    const split_job *j = context;
    size_t n = j->Z->n, D = j->Z->D, from = part_start(n, j->level, item);
    size_t to = part_start(n, j->level, item + 1);
    size_t middle = part_start(n, j->level + 1, 2 * item + 1);
    size_t d = widest_input(j->row + from, to - from, j->Z->Z, D);
    (void)worker;
    select_nth(j->row + from, to - from, middle - from, j->Z->Z, D, d);
    return QUORUM_OK;
}

static size_t splits_for(size_t n, size_t core)
{
    size_t level = 0;
    while ((n - 1) >> level >= core)
        level++;
    return level;
}

/* label (n): the part of each row; row (n) is room. */
static quorum_status split_rows(const points *Z, size_t splits, int threads, size_t *row,
                                size_t *label)
{
    split_job j = {.Z = Z, .row = row};
    for (size_t i = 0; i < Z->n; i++)
        row[i] = i;
    for (; j.level < splits; j.level++)
        TRY(parallel_for(threads, (size_t)1 << j.level, split_part, &j));
    for (size_t k = 0; k < (size_t)1 << splits; k++)
        for (size_t i = part_start(Z->n, splits, k); i < part_start(Z->n, splits, k + 1); i++)
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

quorum_status cell_map_find(const cell_map *map, const points *Q, int threads, size_t *cell)
{
    return neighbour_search(map->index, Q, 1, threads, cell, NULL);
}

static int rounds_for(size_t n)
{
    size_t rounds = n <= MANY_ROWS ? ROUNDS : (size_t)ROUNDS * MANY_ROWS / n;
    return rounds > 1 ? (int)rounds : 1;
}

static quorum_status settle_cells(const points *Z, size_t splits, int threads, size_t *label,
                                  cell_map *map)
{
    int rounds = rounds_for(Z->n);
    TRY(split_rows(Z, splits, threads, map->row, label));
    TRY(move_centres(Z, threads, label, map));
    for (int round = 0; round < rounds; round++) {
        TRY(cell_map_find(map, Z, threads, label));
        if (round + 1 < rounds)
            TRY(move_centres(Z, threads, label, map));
    }
    list_rows(label, map);
    return QUORUM_OK;
}

quorum_status cell_map_new(const points *Z, size_t core, int threads, cell_map *out)
{
    assert(Z->n >= 1 && core >= 2);
    size_t splits = splits_for(Z->n, core), *label;
    *out = (cell_map){.n = Z->n, .D = Z->D, .cells = (size_t)1 << splits};
    TRY(points_new(out->cells, out->D, &out->centre));
    NEW_ARRAY(out->row, out->n);
    NEW_ARRAY(out->start, out->cells + 1);
    if (!out->row || !out->start || !NEW_ARRAY(label, out->n))
        return failure(QUORUM_E_MEMORY, "out of memory for the cells of %zu rows", out->n);
    quorum_status status = settle_cells(Z, splits, threads, label, out);
    mem_free(label);
    return status;
}
