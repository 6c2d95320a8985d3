/* A standard normal variable U bent by a rising function g that is straight between points
 * (quorum_distribution): Z = g(U). */
#ifndef QRM_LINALG_BENT_NORMAL_H
#define QRM_LINALG_BENT_NORMAL_H

#include "quorum.h"

/* The probabilities below and above which quantiles make points, ascending, and 1/2 besides. */
enum { BENT_TAILS = 7 };
extern const double bent_tails[BENT_TAILS];

/* The distribution with median `middle` whose quantiles of tail[k] and 1 - tail[k] (`count` tails,
 * ascending, below 1/2) are lower[k] and upper[k], or further out where these rise too little.
 * lower and upper intervals of *out stay as they are. */
void bent_normal_through(size_t count, const double *tail, const double *lower, const double *upper,
                         double middle, quorum_distribution *out);

/* The distribution of Z / scale. */
void bent_normal_divide(quorum_distribution *d, double scale);

/* g, and its inverse. */
double bent_normal_at(const quorum_distribution *d, double u);
double bent_normal_score(const quorum_distribution *d, double z);

/* E max(0, Z - z) and E max(0, z - Z). */
double bent_normal_excess(const quorum_distribution *d, double z);
double bent_normal_shortfall(const quorum_distribution *d, double z);

/* Scores of many observations by one distribution: integrals up to and from each point. */
typedef struct {
    const quorum_distribution *d;
    double below[QUORUM_MOST_POINTS]; /* of Phi(u)^2 g'(u) up to u_k         */
    double above[QUORUM_MOST_POINTS]; /* of (1 - Phi(u))^2 g'(u) from u_k on */
} bent_scores;

void bent_scores_prepare(const quorum_distribution *d, bent_scores *s);
double bent_scores_crps(const bent_scores *s, double z);
double bent_log_density(const quorum_distribution *d, double z);

#endif
