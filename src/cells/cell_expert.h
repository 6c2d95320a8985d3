/* The expert of one cell: a GP on the rows of the cell and around it, whose factor serves all of the
 * cell's queries.  With k* = k(X, x) and C = k(X, X) + s^2 I = L L' (m x m),
 *
 *   mean = k*' alpha,   explained = |L^-1 k*|^2,   lift = W' L^-1 k*,   W = L^-1 F (m x width)
 *
 * and the spread's surroundings (gp/neighbourhood.h) from the WIDE_ROWS rows nearest to x among
 * the last ones, the cell's own and some around, each left out of the expert:  z_i^2 = alpha_i^2 / (C^-1)_ii,  v_i = 1 / (C^-1)_ii, but for
 * weights.  With a local noise s^2 is that around the cell (gp/local_noise.h). */
#ifndef QRM_CELLS_CELL_EXPERT_H
#define QRM_CELLS_CELL_EXPERT_H

#include "cells/halo.h"
#include "gp/neighbourhood.h"
#include "near/ranked.h"

/* What experts are made of; nothing is owned. */
typedef struct {
    const hyper *theta;
    const points *Z;     /* all rows, scaled ...                                   */
    const row_set *rows; /* ... and as they are, whole                             */
    const neighbour_index *index;
    const double
        *centre; /* D x experts: the middles of the rows' parts, by which a gap is told from
                             what lies outside (predict/nearest.c)                        */
    size_t experts;
    int local_noise; /* whether each expert has a noise of its own */
    size_t width;    /* of a linear trend's features f(x) = (1, x): D + 1; 0: no trend */
} cell_source;

typedef struct {
    size_t m, tail;
    points X;         /* m: its rows, nearest to the cell last         */
    double *packed;   /* L, the lower triangle (linalg/packed_triangle.h) */
    double *alpha;    /* m                                             */
    double *W;        /* m x width; NULL: there is no trend            */
    double *surprise; /* tail: z_i^2 of the last rows ...              */
    double *variance; /* tail: ... v_i ...                             */
    double *weight;   /* tail: ... and as how many rows each counts    */
    noise_around noise;
} cell_expert;

quorum_status cell_expert_new(const cell_source *s, const cell_map *map, size_t cell, size_t m,
                              cell_expert *out);
void cell_expert_free(cell_expert *e);

/* Bytes that it takes. */
double cell_expert_bytes(size_t m, size_t D, size_t width);

/* A worker's space for asking experts of m rows. */
enum { CELL_PANEL = 96 }; /* queries at a time: whole groups for BLAS and packed triangles */
typedef struct {
    points Q;     /* CELL_PANEL */
    double *K;    /* m x CELL_PANEL: k*, then L^-1 k* */
    double *room; /* of that solve                    */
    ranked *near; /* nearest_room(WIDE_ROWS) */
    size_t which[CELL_PANEL];
    /* for slopes: */
    double *pair;         /* m x 2: [k* | its slope]             */
    double *panel;        /* m x CELL_PANEL: along some inputs   */
    surroundings *around; /* D                                   */
} cell_space;

quorum_status cell_space_new(size_t m, size_t D, cell_space *out);
quorum_status cell_space_want_slopes(size_t m, size_t D, cell_space *w);
void cell_space_free(cell_space *w);

/* Slopes along the scaled inputs of queries (cells/cell_slopes.h), D for each; mean NULL: not wanted. */
typedef struct {
    double *mean, *explained, *spread;
    double *lift; /* D x width for each; NULL: there is no trend */
} cell_slopes;

/* From query `first` on. */
cell_slopes cell_slopes_from(const cell_slopes *all, size_t first, size_t D, size_t width);

/* What is wanted at b queries. */
typedef struct {
    double *mean;      /* b                                                    */
    double *explained; /* b; NULL: means alone are wanted, and nothing below   */
    double *spread;    /* b: the factor of the variance                        */
    double *noise;     /* b: of an observation                                 */
    double *lift;      /* b x width; NULL: there is no trend                   */
    cell_slopes slope; /* with explained alone                                 */
} cell_answers;

/* Which of the last rows are nearest to a query, having the largest k (m), nearest first: row (WIDE_ROWS), from
 * the first of the tail on.  Returns how many there are; room: nearest_room(WIDE_ROWS). */
size_t cell_expert_nearest(const cell_expert *e, const double *k, ranked *room, size_t *row);

/* At the listed queries of Q (b of them), a query's numbers depending on that query alone; how: of
 * the spread. */
void cell_expert_ask(const cell_source *s, const cell_expert *e, const points *Q,
                     const size_t *query, size_t b, spread_rule how, cell_space *w,
                     const cell_answers *out);

#endif
