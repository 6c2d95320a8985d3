/* A GP on the rows around one query, and how far those rows are from what theta
 * expects of them. */
#ifndef QRM_GP_NEIGHBOURHOOD_H
#define QRM_GP_NEIGHBOURHOOD_H

#include "gp/expert.h"

#include <math.h>

/* Rows, of the nearest, that are asked how well the others predict them. */
enum { SPREAD_ROWS = 32 };

/* What the nearest rows show, each left out of the neighbourhood: sums over them, weighted by
 * w_i rho_i^2, w_i being the row's own weight and rho_i = k(x, x_i) / s_f^2. */
typedef struct {
    double weight;   /* sum w_i rho_i^2                                                   */
    double surprise; /* sum w_i rho_i^2 z_i^2, z_i: row i's distance from what the others
                        predict for it, in standard deviations                            */
    double tested;   /* sum w_i rho_i^2 v_i, v_i: the variance of that prediction         */
} surroundings;

typedef struct {
    double mean;      /* k*' C^-1 y   */
    double explained; /* k*' C^-1 k*  */
    surroundings around;
} neighbourhood;

typedef struct {
    size_t room;
    double *C;    /* room^2                                        */
    double *side; /* room x 2: [k* | y], then L^-1 [k* | y]        */
    double *z;    /* SPREAD_ROWS x (SPREAD_ROWS + 1): [T^-1 | alpha] of the nearest rows */
    double *pair; /* room x 2: for slopes (slopes.h)               */
    double weight[SPREAD_ROWS]; /* of the nearest rows of the neighbourhood asked last ...      */
    double rest[SPREAD_ROWS];   /* ... and what one observation has more noise than such a row */
} neighbourhood_space;

quorum_status neighbourhood_space_new(size_t room, neighbourhood_space *out);
void neighbourhood_space_free(neighbourhood_space *ws);

/* Row i of the q nearest, left out of the neighbourhood that was asked last. */
typedef struct {
    double surprise; /* z_i^2 */
    double variance; /* v_i   */
} left_out_figures;

/* What the variance of a row is of one observation's: 1 without weights.  precision: (C^-1)_ii, rest:
 * noise of one observation less that of the row. */
static inline double share_of_row(double precision, double rest)
{
    return 1.0 / (1.0 + precision * rest);
}

left_out_figures left_out_of(const neighbourhood_space *ws, size_t q, size_t i);

/* The posterior at `query`, one point, from rows and their scaled inputs X, nearest rows last;
 * gamma (m) = C^-1 k*, or NULL. */
quorum_status neighbourhood_posterior(const hyper *theta, const points *X, const row_set *rows,
                                      const points *query, neighbourhood_space *ws, double *gamma,
                                      neighbourhood *out);

/* What multiplies variances: the rows around a query as far as they have tested them, weighed against
 * `prior` rows that are as theta says (INFINITY: they do not count), and `untested` beyond. */
typedef struct {
    double prior;
    double untested;
} spread_rule;

/* The variance of y at a query. */
static inline double variance_left(const hyper *theta, double explained)
{
    return fmax(theta->signal - explained, 0.0) + theta->noise;
}

/* The factor of the variance (of y) at the query. */
double spread_factor(spread_rule rule, surroundings around, double variance);

/* Its derivative, from those of the surroundings and of the variance. */
double spread_factor_slope(spread_rule rule, surroundings around, double variance,
                           surroundings around_slope, double variance_slope);

#endif
