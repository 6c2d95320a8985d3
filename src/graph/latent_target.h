/* A Gaussian graphical model of the experts' means and the target, which is latent. */
#ifndef QRM_GRAPH_LATENT_TARGET_H
#define QRM_GRAPH_LATENT_TARGET_H

#include "graph/expert_graph.h"

#include <float.h>
#include <math.h>

/* An expert's mean as the target's share of it and a rest w of variance 1, both divided by the rest's
 * deviation: u = g f + w.  Of the prior, c = explained and v = s_f^2 - c,
 *
 *   mean = (c / s_f^2) f + sqrt(c v / s_f^2) w      u = mean / sqrt(c v / s_f^2)      g = sqrt(c / (s_f^2 v))
 *
 * An expert that knows nothing, as far as numbers can tell, says nothing: u = g = 0. */
static inline void stand_expert(double mean, double explained, double signal, double *u, double *g)
{
    static const double NOTHING = 1e-200;
    double c = fmin(explained, signal), v = fmax(signal - c, DBL_EPSILON * signal);
    *u = *g = 0.0;
    if (c > NOTHING * signal) {
        *u = mean / sqrt(c * v / signal);
        *g = sqrt(c / (signal * v));
    }
}

/* What is known at n rows of M experts. */
typedef struct {
    size_t M, n;
    const double *u, *g; /* n x M: a row's together */
    const double *y;     /* n: targets ...          */
    const double *noise; /* n: ... and the variances of their noise */
    double signal;       /* s_f^2                    */
} latent_rows;

/* omega (M x M): the precision of w, by the EM algorithm with the graphical lasso inside, which begins
 * with I.  `o` says how it is penalised.  *steps: of EM; may be NULL. */
quorum_status latent_target_learn(const latent_rows *r, const graph_options *o, double *omega,
                                  int *steps);

/* The target given `count` experts, omega being theirs; 1/P is its variance:
 *   P = 1/s_f^2 + g' Omega g,   mean = g' Omega u / P */
void latent_target_predict(size_t count, const double *omega, const double *u, const double *g,
                           double signal, double *mean, double *var);

#endif
