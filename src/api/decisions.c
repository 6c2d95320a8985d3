/* Decisions by the distribution of y that a prediction states, a Gaussian of the predicted mean and
 * std (calibrated where std is).  Here and nowhere else it is said which distribution that is:
 *
 *   P(y > t) = Phi(z),   E max(0, y - t) = std (phi(z) + z Phi(z)),   z = (mean - t) / std
 *
 * and with -z the same below t.  Where std is 0, y is mean. */
#include "quorum.h"

#include "linalg/normal.h"
#include "model/model.h"

#include <math.h>

static double chance_above(const quorum_model *m, const settings *s, double mean, double std,
                           double t)
{
    (void)m, (void)s;
    return std > 0.0 ? normal_probability((mean - t) / std) : mean > t;
}

static double chance_below(const quorum_model *m, const settings *s, double mean, double std,
                           double t)
{
    (void)m, (void)s;
    return std > 0.0 ? normal_probability((t - mean) / std) : mean < t;
}

/* `gap` is by how much the mean itself is better. */
static double expected_gain(double gap, double std)
{
    if (!(std > 0.0))
        return fmax(gap, 0.0);
    double z = gap / std;
    return fmax(std * normal_density(z) + gap * normal_probability(z), 0.0);
}

static double excess_above(const quorum_model *m, const settings *s, double mean, double std,
                           double t)
{
    (void)m, (void)s;
    return expected_gain(mean - t, std);
}

static double excess_below(const quorum_model *m, const settings *s, double mean, double std,
                           double t)
{
    (void)m, (void)s;
    return expected_gain(t - mean, std);
}

/* ---- The public functions ---- */

typedef double decision(const quorum_model *m, const settings *s, double mean, double std,
                        double t);

static quorum_status decide(decision *of, const quorum_model *m, const quorum_options *options,
                            size_t n, const double *mean, const double *std, double threshold,
                            double *out)
{
    if (!m || (n > 0 && (!mean || !std || !out)))
        return failure(QUORUM_E_ARGUMENT, "a decision needs model, mean, std and room for results");
    if (!isfinite(threshold))
        return failure(QUORUM_E_ARGUMENT, "the threshold is %g: it must be finite", threshold);
    for (size_t i = 0; i < n; i++)
        out[i] = of(m, options_values(options), mean[i], std[i], threshold);
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
