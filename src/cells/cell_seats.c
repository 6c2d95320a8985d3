/* The experts of queries, their shares and their weights (cell_seats.h). */
#include "cells/cell_seats.h"

#include "cells/cell_slopes.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

size_t cell_seats(const cell_map *map)
{
    size_t most = map->cells > 1 ? map->cells - 1 : 1;
    return most < CELL_SEATS ? most : CELL_SEATS;
}

/* share (S) of the squared distances d (S + 1); where all are the same, the first one has all. */
static void fade(size_t S, const double *d, double *share)
{
    double sum = 0.0;
    for (size_t i = 0; i < S; i++)
        sum += share[i] = d[S] - d[i];
    for (size_t i = 0; i < S; i++)
        share[i] = sum > 0.0 ? share[i] / sum : i == 0;
}

/* Of one query, from the centres nearest to it: S + 1, or the only one. */
static void take_seats(size_t S, size_t looked, const size_t *centre, const double *d, size_t *cell,
                       double *share)
{
    for (size_t i = 0; i < S; i++)
        cell[i] = centre[i];
    if (looked > S)
        fade(S, d, share);
    else
        share[0] = 1.0;
}

/* Of one query, as in take_seats. */
static void take_slopes(const cell_map *map, size_t S, size_t looked, const size_t *centre,
                        const double *d, const double *share, double *slope)
{
    if (looked > S)
        cell_share_slopes(&map->centre, S, centre, d, share, slope);
    else
        memset(slope, 0, S * map->D * sizeof *slope);
}

quorum_status cell_seats_find(const cell_map *map, const points *Q, int threads, size_t *cell,
                              double *share, double *share_slope)
{
    size_t S = cell_seats(map), looked = map->cells > S ? S + 1 : S, *centre;
    double *distance;
    quorum_status status = QUORUM_OK;
    NEW_ARRAY(centre, Q->n * looked);
    NEW_ARRAY(distance, Q->n * looked);
    if (centre && distance)
        status = neighbour_search(map->index, Q, looked, threads, centre, distance);
    else
        status = failure(QUORUM_E_MEMORY, "out of memory for the cells of %zu queries", Q->n);
    for (size_t q = 0; status == QUORUM_OK && q < Q->n; q++) {
        const size_t *near = centre + q * looked;
        const double *d = distance + q * looked;
        take_seats(S, looked, near, d, cell + q * S, share + q * S);
        if (share_slope)
            take_slopes(map, S, looked, near, d, share + q * S, share_slope + q * S * map->D);
    }
    mem_free(centre);
    mem_free(distance);
    return status;
}

void cell_seats_weigh(size_t S, const double *observed, double *weight)
{
    double sum = 0.0;
    for (size_t i = 0; i < S; i++)
        sum += weight[i] /= fmax(observed[i], DBL_MIN);
    for (size_t i = 0; i < S; i++)
        weight[i] /= sum;
}
