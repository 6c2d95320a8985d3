/* A GP on the rows around one query, and how far those rows are from what theta
 * expects of them. */
#ifndef QRM_GP_NEIGHBOURHOOD_H
#define QRM_GP_NEIGHBOURHOOD_H

#include "gp/expert.h"
#include "gp/local_noise.h"

#include <math.h>

/* Rows, of the nearest, that are asked how well the others predict them: many around, those nearby, and
 * the closest. */
enum { WIDE_ROWS = 128, SPREAD_ROWS = 32, CLOSE_ROWS = 8 };

typedef struct {
    double weight, surprise;
} row_sums;

/* What the nearest rows show, each left out of the neighbourhood: sums over them, weighted by
 * w_i rho_i^2, w_i being the row's own weight and rho_i = k(x, x_i) / s_f^2; over those nearby. */
typedef struct {
    double weight;    /* sum w_i rho_i^2                                                   */
    double surprise;  /* sum w_i rho_i^2 z_i^2, z_i: row i's distance from what the others
                        predict for it, in standard deviations                            */
    double tested;    /* sum w_i rho_i^2 v_i, v_i: the variance of that prediction         */
    row_sums wide;    /* the first two over more rows ...                                  */
    row_sums close;   /* ... and over fewer                                                */
    double log_level; /* where the noise is the neighbourhood's own (gp/local_noise.h), and ...   */
    double excess;    /* ... what it is more than theta's: both 0 otherwise                       */
    int is_surrounded; /* whether rows lie on both sides of the query, as far as that was asked   */
} surroundings;

/* Adds the place-th nearest row, from 0 on: what the others say of it, weighted by rho2. */
void surroundings_add(surroundings *to, size_t place, double rho2, left_out_figures shown);

typedef struct {
    double mean;      /* k*' C^-1 y   */
    double explained; /* k*' C^-1 k*  */
    double noise;     /* of an observation there */
    surroundings around;
} neighbourhood;

typedef struct {
    size_t room;
    double *C;                /* room^2                                        */
    double *side;             /* room x 2: [k* | y], then L^-1 [k* | y]        */
    double *z;                /* WIDE_ROWS x (WIDE_ROWS + 1): room        */
    double *pair;             /* room x 2: for slopes (slopes.h)               */
    double weight[WIDE_ROWS]; /* of the nearest rows of the neighbourhood asked last ...      */
    left_out_figures shown[WIDE_ROWS]; /* ... and what the others say of them                 */
    int has_own_noise;                 /* whether neighbourhoods have                         */
    local_noise_space local;
} neighbourhood_space;

/* local_noise: whether the noise is each neighbourhood's own. */
quorum_status neighbourhood_space_new(size_t room, int local_noise, neighbourhood_space *out);
void neighbourhood_space_free(neighbourhood_space *ws);

/* The posterior at `query`, one point, from rows and their scaled inputs X, nearest rows last;
 * gamma (m) = C^-1 k*, or NULL. */
quorum_status neighbourhood_posterior(const hyper *theta, const points *X, const row_set *rows,
                                      const points *query, neighbourhood_space *ws, double *gamma,
                                      neighbourhood *out);

/* The same rows with other targets (rows->y), by the factor that the call before has left in ws: the bits
 * of neighbourhood_posterior, for m^2 operations instead of m^3. */
void neighbourhood_of_other_targets(const hyper *theta, const points *X, const row_set *rows,
                                    const points *query, neighbourhood_space *ws,
                                    neighbourhood *out);

/* What multiplies variances: the rows around a query as far as they have tested them, weighed against
 * `prior` rows that are as theta says (INFINITY: they do not count), and beyond `untested`, or of a query
 * in a gap, with rows on both sides, `surrounded` times the root of what the rows around show (0: untested there
 * too). */
typedef struct {
    double prior;
    double untested, surrounded;
    int local_noise; /* whether a neighbourhood has a noise of its own */
    int nested;      /* whether what more rows say is the prior of fewer ones */
} spread_rule;

/* The variance of y at a query. */
static inline double variance_left(double signal, double explained, double noise)
{
    return fmax(signal - explained, 0.0) + noise;
}

/* Whether rows around have tested variances like this one, so that nothing depends on `untested`. */
int spread_is_tested(surroundings around, double variance);

/* What may lie on the other side of a query than its nearest row, in scaled inputs. */
typedef struct {
    size_t D;
    const double *x, *nearest;
    const double *rows, *centres; /* row_count and centre_count x D: around it, and of experts */
    size_t row_count, centre_count;
} query_sides;

/* Whether a query whose variance rows around have not tested lies in a gap, with something on its other side. */
int lies_in_gap(const query_sides *s, surroundings around, double variance);

/* The factor of the variance (of y) at the query. */
double spread_factor(spread_rule rule, surroundings around, double variance);

/* Its derivative, from those of the surroundings and of the variance. */
double spread_factor_slope(spread_rule rule, surroundings around, double variance,
                           surroundings around_slope, double variance_slope);

#endif
