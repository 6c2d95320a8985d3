/* The queries of a block: standardised, scaled, padded (see block.h). */
#include "predict/block.h"

#include "base/memory.h"

#include <math.h>

static const double OUTSIDE = 0.9; /* a novelty from which on a query counts as outside the data */

void block_free(block_space *w)
{
    points_free(&w->Q);
    mem_free(w->X);
    mem_free(w->mean);
    mem_free(w->var);
    mem_free(w->spread);
    mem_free(w->doubt);
    mem_free(w->noise);
    mem_free(w->known);
    mem_free(w->u);
    mem_free(w->mean_slope);
    mem_free(w->var_slope);
    mem_free(w->spread_slope);
    mem_free(w->doubt_slope);
    mem_free(w->noise_slope);
    *w = (block_space){0};
}

static int slopes_new(size_t b, size_t D, block_space *w)
{
    return NEW_ARRAY(w->mean_slope, b * D) && NEW_ARRAY(w->var_slope, b * D) &&
           NEW_ARRAY(w->spread_slope, b * D) && NEW_ARRAY(w->doubt_slope, b * D) &&
           NEW_ARRAY(w->noise_slope, b * D);
}

quorum_status block_new(size_t b, size_t D, int with_slopes, block_space *w)
{
    *w = (block_space){0};
    if (points_new(b, D, &w->Q) == QUORUM_OK && NEW_ARRAY(w->X, b * D) && NEW_ARRAY(w->mean, b) &&
        NEW_ARRAY(w->var, b) && NEW_ARRAY(w->spread, b) && NEW_ARRAY(w->doubt, b) &&
        NEW_ARRAY(w->noise, b) && NEW_ZEROED(w->known, b) && NEW_ARRAY(w->u, 3 * D + 1) &&
        (!with_slopes || slopes_new(b, D, w)))
        return QUORUM_OK;
    block_free(w);
    return failure(QUORUM_E_MEMORY, "out of memory for a block of %zu queries: lower memory", b);
}

void block_take(const plan *p, const double *X, const size_t *which, size_t n, block_space *w)
{
    const quorum_model *m = p->m;
    for (size_t i = 0; i < padded_queries(n); i++)
        model_standardise(m, 1, X + which[i < n ? i : n - 1] * m->rows.D, w->X + i * m->rows.D);
    points_scale(&w->Q, padded_queries(n), w->X, NULL, m->theta.lengthscale);
}

void block_take_errors(const plan *p, const double *noise_std, const size_t *which, size_t n,
                       block_space *w)
{
    for (size_t i = 0; noise_std && i < n; i++) {
        double error = noise_std[which[i]] / p->m->units.y_scale;
        w->known[i] = error * error;
    }
}

/* The noise in the aggregated variance: that of opinions on y. */
static double opinion_noise(const plan *p)
{
    return !rule_is_latent(p->rule) && p->s->space == SPACE_OBSERVED ? p->m->theta.noise : 0.0;
}

/* What to add to the aggregated variance: the noise, unless it is wanted latent or
 * the opinions were noisy already. */
static double missing_noise(const plan *p, const block_space *w, size_t q)
{
    return (p->s->latent ? 0.0 : w->noise[q]) - opinion_noise(p);
}

/* What was asked for of one query: finite, and an interval that is one. */
static quorum_status check_query(const plan *p, const quorum_prediction *out, size_t q)
{
    const double *const arrays[] = {out->mean, out->std, out->lower, out->upper};
    size_t asked = p->s->mean_only ? 1 : sizeof arrays / sizeof *arrays;
    int good = 1;
    for (size_t a = 0; a < asked; a++)
        good = good && (!arrays[a] || isfinite(arrays[a][q]));
    for (size_t k = 0; asked > 1 && out->quantile && k < out->probabilities; k++)
        good = good && isfinite(out->quantile[q * out->probabilities + k]);
    if (good && asked > 1)
        good = (!out->std || out->std[q] >= 0.0) &&
               (!out->lower || !out->upper || out->lower[q] <= out->upper[q]);
    if (good)
        return QUORUM_OK;
    return failure(QUORUM_E_NUMERIC,
                   "query %zu has no prediction that is a finite number; the target's mean is %g "
                   "and its standard deviation %g: numbers that large or small are best rescaled "
                   "before fit",
                   q + 1, p->m->units.y_mean, p->m->units.y_scale);
}

double block_mean(const quorum_model *m, const block_space *w, size_t q)
{
    const unit_change *u = &m->units;
    double mean = w->mean[q];
    if (u->line)
        mean += line_at(m->rows.D, u->line, w->X + q * m->rows.D);
    return u->y_mean + u->y_scale * mean;
}

/* The variance at query q in standardised units, uncalibrated. */
static double block_variance(const plan *p, const block_space *w, size_t q)
{
    return w->spread[q] * fmax(0.0, w->var[q] + missing_noise(p, w, q)) + w->doubt[q] +
           (p->s->latent ? 0.0 : w->known[q]);
}

/* The standard deviation at query q, uncalibrated; of a warped target that of w(y). */
static double block_std(const plan *p, const block_space *w, size_t q)
{
    return plan_skips_variance(p) ? NAN : p->m->units.y_scale * sqrt(block_variance(p, w, q));
}

/* mean + Q(p) std of every probability that is asked for. */
static void write_quantiles(const plan *p, const block_space *w, const size_t *which, size_t n,
                            const quorum_prediction *out)
{
    for (size_t k = 0; out->quantile && k < out->probabilities; k++) {
        double reach = model_quantile(p->m, p->s, out->probability[k]);
        for (size_t q = 0; q < n; q++)
            out->quantile[which[q] * out->probabilities + k] =
                warp_back(&p->m->units, block_mean(p->m, w, q) + reach * block_std(p, w, q));
    }
}

/* The share of the prior's latent variance that is left, by the method's own variance. */
static double block_novelty(const plan *p, const block_space *w, size_t q)
{
    const hyper *theta = &p->m->theta;
    return fmin(fmax((w->var[q] - opinion_noise(p)) / theta->signal, 0.0), 1.0);
}

quorum_status block_write(const plan *p, const block_space *w, const size_t *which, size_t n,
                          const quorum_prediction *out, tally *t)
{
    const quorum_model *m = p->m;
    double lower, upper;
    model_interval_ends(m, p->s, p->s->interval, &lower, &upper);
    double scale = model_calibration_scale(m, p->s);
    write_quantiles(p, w, which, n, out);
    for (size_t q = 0; q < n; q++) {
        double mu = block_mean(m, w, q), own = block_std(p, w, q), mean, std;
        warp_moments(&m->units, mu, scale * own, &mean, &std);
        if (p->s->mean_only)
            own = std = NAN;
        if (out->mean)
            out->mean[which[q]] = mean;
        if (out->std)
            out->std[which[q]] = std;
        if (out->lower)
            out->lower[which[q]] = warp_back(&m->units, mu + lower * own);
        if (out->upper)
            out->upper[which[q]] = warp_back(&m->units, mu + upper * own);
        double novelty = p->s->mean_only ? NAN : block_novelty(p, w, q);
        if (out->novelty)
            out->novelty[which[q]] = novelty;
        t->events.outside += novelty > OUTSIDE;
        TRY(check_query(p, out, which[q]));
        if (w->mean_slope)
            TRY(block_write_gradients(p, w, q, block_variance(p, w, q), which[q], out));
    }
    return QUORUM_OK;
}

void fill_nan(const quorum_prediction *out, size_t n, size_t D)
{
    double *const arrays[] = {out->mean,  out->std,     out->lower,
                              out->upper, out->novelty, out->distance};
    double *const gradients[] = {out->mean_gradient, out->std_gradient};
    for (size_t a = 0; a < sizeof gradients / sizeof *gradients; a++)
        for (size_t i = 0; gradients[a] && i < n * D; i++)
            gradients[a][i] = NAN;
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        for (size_t i = 0; arrays[a] && i < n; i++)
            arrays[a][i] = NAN;
    for (size_t i = 0; out->quantile && i < n * out->probabilities; i++)
        out->quantile[i] = NAN;
}
