/* The public functions of a quorum_distribution (bent_normal.c has the formulas). */
#include "linalg/bent_normal.h"
#include "linalg/normal.h"

#include <math.h>

/* A structure of the caller's. */
static int is_usable(const quorum_distribution *d)
{
    return d && d->points <= QUORUM_MOST_POINTS;
}

double quorum_distribution_quantile(const quorum_distribution *d, double probability)
{
    return is_usable(d) ? bent_normal_at(d, normal_quantile(probability)) : NAN;
}

double quorum_distribution_probability(const quorum_distribution *d, double z)
{
    return is_usable(d) ? normal_probability(bent_normal_score(d, z)) : NAN;
}

double quorum_distribution_log_density(const quorum_distribution *d, double z)
{
    return is_usable(d) ? bent_log_density(d, z) : NAN;
}

double quorum_distribution_crps(const quorum_distribution *d, double z)
{
    bent_scores s;
    if (!is_usable(d))
        return NAN;
    bent_scores_prepare(d, &s);
    return bent_scores_crps(&s, z);
}
