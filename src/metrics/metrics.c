/* Scores of predictions (docs/methods.md, "Metrics"): means over rows, by their weights. */
#include "metrics/scores.h"

#include "linalg/normal.h"

#include <math.h>

const double quorum_coverage_levels[4] = {0.50, 0.90, 0.95, 0.99};

static double negative_log_density(double y, double mean, double std)
{
    double z = (y - mean) / std;
    return 0.5 * z * z + log(std) + 0.5 * log(2.0 * M_PI);
}

/* Continuous ranked probability score of a Gaussian:
 * std (z (2 Phi(z) - 1) + 2 phi(z) - 1/sqrt(pi)). */
static double ranked_probability_score(double y, double mean, double std)
{
    double z = (y - mean) / std;
    return std *
           (z * (2.0 * normal_probability(z) - 1.0) + 2.0 * normal_density(z) - 1.0 / sqrt(M_PI));
}

/* Errors are summed in this unit: no digit changes, and squares stay in range. */
static double power_of_two_near(double x)
{
    int exponent = 0;
    if (!(x > 0.0 && isfinite(x)))
        return 1.0;
    frexp(x, &exponent);
    return ldexp(1.0, exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent);
}

scored_by scores_by(const quorum_distribution *d)
{
    scored_by b = {.d = d && d->points > 1 && d->points <= QUORUM_MOST_POINTS ? d : NULL};
    for (int k = 0; k < 4; k++) {
        double reach = normal_quantile(0.5 + 0.5 * quorum_coverage_levels[k]);
        b.lower[k] = b.d ? d->lower[k] : -reach;
        b.upper[k] = b.d ? d->upper[k] : reach;
    }
    if (b.d)
        bent_scores_prepare(b.d, &b.integrals);
    return b;
}

void scores_add_inside(quorum_scores *s, double weight, int k, int is_inside)
{
    s->inside[k] += is_inside != 0;
    s->weight_inside[k] += is_inside ? weight : 0.0;
}

static void add_density(quorum_scores *s, const scored_by *b, double weight, double y, double mean,
                        double std)
{
    double z = (y - mean) / std;
    s->sum_nlpd +=
        weight * (b->d ? log(std) - bent_log_density(b->d, z) : negative_log_density(y, mean, std));
    s->sum_crps += weight * (b->d ? std * bent_scores_crps(&b->integrals, z)
                                  : ranked_probability_score(y, mean, std));
    for (int k = 0; k < 4; k++)
        scores_add_inside(s, weight, k,
                          y - mean >= b->lower[k] * std && y - mean <= b->upper[k] * std);
}

void scores_begin(quorum_scores *s, double train_mean, double train_std)
{
    if (s->n == 0) {
        s->shift = train_mean;
        s->unit = power_of_two_near(train_std);
    }
}

void scores_add_error(quorum_scores *s, double weight, double y, double mean, double train_mean,
                      double train_std)
{
    double error = (y - mean) / s->unit, centred = (y - s->shift) / s->unit;
    s->sum_y += weight * centred;
    s->sum_yy += weight * (centred * centred);
    s->sum_sq += weight * (error * error);
    s->sum_abs += weight * fabs(error);
    s->sum_trivial += weight * negative_log_density(y, train_mean, train_std);
    s->weight += weight;
}

void scores_add_rows(quorum_scores *s, size_t n, const double *y, const double *mean,
                     const double *std, double train_mean, double train_std,
                     const quorum_distribution *distribution, const double *weight)
{
    const scored_by b = scores_by(distribution);
    scores_begin(s, train_mean, train_std);
    for (size_t i = 0; i < n; i++) {
        double w = weight ? weight[i] : 1.0;
        s->n++;
        if (w == 0.0)
            continue; /* as if it were not there, whatever its density */
        scores_add_error(s, w, y[i], mean[i], train_mean, train_std);
        add_density(s, &b, w, y[i], mean[i], std[i]);
    }
}

void quorum_scores_add(quorum_scores *s, size_t n, const double *y, const double *mean,
                       const double *std, double train_mean, double train_std,
                       const quorum_distribution *distribution)
{
    scores_add_rows(s, n, y, mean, std, train_mean, train_std, distribution, NULL);
}

void quorum_scores_finish(const quorum_scores *s, quorum_metrics *out)
{
    double n = s->weight;
    double variance = s->sum_yy / n - (s->sum_y / n) * (s->sum_y / n);
    int varies = variance > 1e-14 * (s->sum_yy / n); /* by more than rounding */
    *out = (quorum_metrics){
        .smse = varies ? s->sum_sq / n / variance : NAN,
        .msll = (s->sum_nlpd - s->sum_trivial) / n,
        .mae = s->unit * (s->sum_abs / n),
        .rmse = s->unit * sqrt(s->sum_sq / n),
        .nlpd = s->sum_nlpd / n,
        .crps = s->sum_crps / n,
    };
    for (int k = 0; k < 4; k++)
        out->coverage[k] = s->weight_inside[k] / n;
}
