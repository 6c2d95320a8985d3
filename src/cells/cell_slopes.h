/* How what cells say of a query changes with it: slopes along its scaled inputs z (gp/slopes.h), the rows
 * of experts, those that tell of the spread and the cells that take part being as they are. */
#ifndef QRM_CELLS_CELL_SLOPES_H
#define QRM_CELLS_CELL_SLOPES_H

#include "cells/cell_expert.h"
#include "cells/cell_seats.h"

/* share_slope (S x D) of the shares of one query: centre has its S cells and the next one, d (S + 1) their
 * squared distances. */
void cell_share_slopes(const points *centres, size_t S, const size_t *centre, const double *d,
                       const double *share, double *share_slope);

/* An expert's slopes at the query that the panel's column a = L^-1 k* is of; around: its surroundings,
 * NULL where the spread is 1; variance: that of y. */
typedef struct {
    const double *z, *a;
    const surroundings *around;
    double explained, variance;
} cell_query;

void cell_expert_slopes(const cell_source *s, const cell_expert *e, const cell_query *at,
                        spread_rule how, cell_space *w, const cell_slopes *out);

/* What one of the experts of a query says: its numbers, and their slopes. */
typedef struct {
    double weight; /* w, of all experts together                   */
    double explained, spread, noise, mean;
    const double *lift;        /* width; NULL: there is no line                 */
    const double *share_slope; /* D                                            */
    cell_slopes slope;
} cell_opinion;

/* Of S opinions joined (cell_seats.h): D each, and w' of each expert (S x D). */
typedef struct {
    double *mean, *var, *noise, *spread, *weight;
} joined_slopes;

void cell_seats_join_slopes(size_t S, size_t D, double signal, const cell_opinion *of,
                            const joined_slopes *out);

#endif
