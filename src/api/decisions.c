/* Decisions by the distribution of y that a prediction states, mean + std Z, Z being the standard
 * normal or what calibration found (linalg/bent_normal.h):
 *
 *   P(y > t) = P(Z > z),   E max(0, y - t) = std E max(0, Z - z),   z = (t - mean) / std
 *
 * and below t likewise.  Where std is 0, y is mean.  Of a warped target log(y + c) is mu + s Z
 * (model/warp.c); the expected improvement is then that of the log-normal distribution with the
 * predicted mean and std,
 *
 *   E max(0, y - t) = M Phi(e + s) - (t + c) Phi(e),   M = mean + c,   e = (mu - log(t + c)) / s */
#include "quorum.h"

#include "linalg/bent_normal.h"
#include "linalg/normal.h"
#include "model/model.h"

#include <math.h>

/* What all predictions of a call share. */
typedef struct {
    const unit_change *units;
    quorum_distribution z;
    double threshold;
} asked_of;

/* Where the threshold is in the distribution of Z. */
static double place(const asked_of *q, double mean, double std)
{
    double t = q->threshold;
    if (q->units->warp != WARP_NONE && t + q->units->shift <= 0.0)
        return -INFINITY;
    warp_moments_back(q->units, &mean, &std);
    t = warp_forward(q->units, t);
    return std > 0.0 ? (t - mean) / std : t < mean ? -INFINITY : t > mean ? INFINITY : 0.0;
}

static double chance_below(const asked_of *q, double mean, double std)
{
    double z = place(q, mean, std);
    if (!(std > 0.0))
        return mean < q->threshold;
    return isinf(z) ? z > 0.0 : normal_probability(bent_normal_score(&q->z, z));
}

static double chance_above(const asked_of *q, double mean, double std)
{
    double z = place(q, mean, std);
    if (!(std > 0.0))
        return mean > q->threshold;
    return isinf(z) ? z < 0.0 : normal_probability(-bent_normal_score(&q->z, z));
}

static double warped_excess(const asked_of *q, double mean, double std)
{
    double M = mean + q->units->shift, t = q->threshold + q->units->shift;
    if (t <= 0.0)
        return M - t;
    warp_moments_back(q->units, &mean, &std);
    double e = (mean - log(t)) / std;
    return fmax(M * normal_probability(e + std) - t * normal_probability(e), 0.0);
}

static double excess_above(const asked_of *q, double mean, double std)
{
    if (!(std > 0.0))
        return fmax(mean - q->threshold, 0.0);
    return q->units->warp != WARP_NONE ? warped_excess(q, mean, std)
                                       : std * bent_normal_excess(&q->z, place(q, mean, std));
}

static double excess_below(const asked_of *q, double mean, double std)
{
    if (!(std > 0.0))
        return fmax(q->threshold - mean, 0.0);
    return q->units->warp != WARP_NONE
               ? fmax(warped_excess(q, mean, std) + q->threshold - mean, 0.0)
               : std * bent_normal_shortfall(&q->z, place(q, mean, std));
}

/* ---- The public functions ---- */

typedef double decision(const asked_of *q, double mean, double std);

static quorum_status decide(decision *of, const quorum_model *m, const quorum_options *options,
                            size_t n, const double *mean, const double *std, double threshold,
                            double *out)
{
    if (!m || (n > 0 && (!mean || !std || !out)))
        return failure(QUORUM_E_ARGUMENT, "a decision needs model, mean, std and room for results");
    if (!isfinite(threshold))
        return failure(QUORUM_E_ARGUMENT, "the threshold is %g: it must be finite", threshold);
    asked_of q = {.units = &m->units, .threshold = threshold};
    TRY(quorum_distribution_of(m, options, &q.z));
    for (size_t i = 0; i < n; i++)
        out[i] = of(&q, mean[i], std[i]);
    return QUORUM_OK;
}

quorum_status quorum_probability_above(const quorum_model *m, const quorum_options *options,
                                       size_t n, const double *mean, const double *std,
                                       double threshold, double *probability)
{
    return decide(chance_above, m, options, n, mean, std, threshold, probability);
}

quorum_status quorum_probability_below(const quorum_model *m, const quorum_options *options,
                                       size_t n, const double *mean, const double *std,
                                       double threshold, double *probability)
{
    return decide(chance_below, m, options, n, mean, std, threshold, probability);
}

quorum_status quorum_improvement_above(const quorum_model *m, const quorum_options *options,
                                       size_t n, const double *mean, const double *std, double best,
                                       double *improvement)
{
    return decide(excess_above, m, options, n, mean, std, best, improvement);
}

quorum_status quorum_improvement_below(const quorum_model *m, const quorum_options *options,
                                       size_t n, const double *mean, const double *std, double best,
                                       double *improvement)
{
    return decide(excess_below, m, options, n, mean, std, best, improvement);
}
