/* The nearest rows of a neighbourhood, each left out of it in turn, and the noise that predicts them
 * best. */
#ifndef QRM_GP_LOCAL_NOISE_H
#define QRM_GP_LOCAL_NOISE_H

#include "gp/noise.h"

/* What the others say of a row, and how far it is from that. */
typedef struct {
    double surprise; /* z_i^2: the square of its distance, in standard deviations */
    double variance; /* v_i: of what is predicted for it                          */
} left_out_figures;

/* What the variance of a row is of one observation's: 1 without weights.  precision: (C^-1)_ii, rest:
 * noise of one observation less that of the row. */
static inline double share_of_row(double precision, double rest)
{
    return 1.0 / (1.0 + precision * rest);
}

/* Of the last q of the rows that C = L L' is of: T (q x q, ld) the last block of L, w (q) the last of
 * L^-1 y; rest (q) as above, room: q (q + 1). */
void leave_rows_out(size_t q, const double *T, size_t ld, const double *w, const double *rest,
                    double *room, left_out_figures *out);

/* Rows, of the nearest, that noises are compared on. */
enum { LOCAL_ROWS = 128 };

/* The noise around a query. */
typedef struct {
    double noise;     /* of one observation; theta's where nothing else is known */
    double log_level; /* log c: c (K + noise I) has the variances on average that theta says */
} noise_around;

typedef struct {
    double *C;    /* LOCAL_ROWS^2                  */
    double *w;    /* LOCAL_ROWS                    */
    double *room; /* LOCAL_ASKED (LOCAL_ASKED + 1) */
} local_noise_space;

quorum_status local_noise_space_new(local_noise_space *out);
void local_noise_space_free(local_noise_space *ws);

/* From the last of m rows, nearest last, whose covariances without noise are K (m x m, the lower
 * triangle). */
noise_around find_noise_around(const hyper *theta, const row_set *rows, size_t m, const double *K,
                               local_noise_space *ws);

#endif
