/* Scores of predictions of a target whose logarithm is Gaussian (docs/methods.md, "Warp").
 *
 * y + c is log-normal with mean M = mean + c and deviation std, so that log(y + c) has
 *
 *   s^2 = log(1 + std^2 / M^2),   mu = log M - s^2 / 2,   z = (log(y + c) - mu) / s
 *
 *   -log p(y) = z^2 / 2 + log s + log(2 pi) / 2 + log(y + c)
 *   CRPS      = (y + c) (2 Phi(z) - 1) - 2 M (Phi(z - s) + Phi(s / sqrt 2) - 1)
 *
 * A target that is not above -c has no density.  Where calibration has found the distribution of z,
 * -log p(y) is by that, -log p(z) + log s + log(y + c), and so are intervals; CRPS stays as it is. */
#include "linalg/normal.h"
#include "metrics/scores.h"

#include <math.h>
#include <string.h>

typedef struct {
    double centre; /* M */
    double mu, s;
} lognormal;

static lognormal lognormal_of(double mean, double std, double shift)
{
    double M = mean + shift, ratio = std / M, square = log1p(ratio * ratio);
    return (lognormal){.centre = M, .mu = log(M) - 0.5 * square, .s = sqrt(square)};
}

static double deviations(const lognormal *d, double y /* + c */)
{
    return (log(fmax(y, 0.0)) - d->mu) / d->s;
}

static double negative_log_density(const lognormal *d, const scored_by *b, double y, double z)
{
    if (!(y > 0.0))
        return INFINITY;
    double of_z = b->d ? -bent_log_density(b->d, z) : 0.5 * z * z + 0.5 * log(2.0 * M_PI);
    return of_z + log(d->s) + log(y);
}

static double ranked_probability_score(const lognormal *d, double y, double z)
{
    double below = normal_probability(z - d->s), pairs = normal_probability(d->s * M_SQRT1_2);
    return y * (2.0 * normal_probability(z) - 1.0) - 2.0 * d->centre * (below + pairs - 1.0);
}

static void add_rows(quorum_scores *s, const quorum_info *info, size_t n, const double *y,
                     const double *mean, const double *std, const scored_by *b,
                     const double *weight)
{
    for (size_t i = 0; i < n; i++) {
        double w = weight ? weight[i] : 1.0;
        lognormal d = lognormal_of(mean[i], std[i], info->warp_shift);
        double shifted = y[i] + info->warp_shift, z = deviations(&d, shifted);
        if (w == 0.0)
            continue;
        scores_add_error(s, w, y[i], mean[i], info->target_mean, info->target_scale);
        s->sum_nlpd += w * negative_log_density(&d, b, shifted, z);
        s->sum_crps += w * ranked_probability_score(&d, shifted, z);
        for (int k = 0; k < 4; k++)
            scores_add_inside(s, w, k, z >= b->lower[k] && z <= b->upper[k]);
    }
    s->n += n;
}

void quorum_scores_add_weighted(quorum_scores *s, const quorum_info *info, size_t n,
                                const double *y, const double *mean, const double *std,
                                const quorum_distribution *distribution, const double *weight)
{
    if (!info->warp || strcmp(info->warp, "log") != 0) {
        scores_add_rows(s, n, y, mean, std, info->target_mean, info->target_scale, distribution,
                        weight);
        return;
    }
    const scored_by b = scores_by(distribution);
    scores_begin(s, info->target_mean, info->target_scale);
    add_rows(s, info, n, y, mean, std, &b, weight);
}

void quorum_scores_add_model(quorum_scores *s, const quorum_info *info, size_t n, const double *y,
                             const double *mean, const double *std,
                             const quorum_distribution *distribution)
{
    quorum_scores_add_weighted(s, info, n, y, mean, std, distribution, NULL);
}
