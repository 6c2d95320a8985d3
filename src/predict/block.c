/* The queries of a block: standardised, scaled, padded (see block.h). */
#include "predict/block.h"

#include "base/memory.h"

#include <math.h>

void block_free(block_space *w)
{
    points_free(&w->Q);
    mem_free(w->X);
    mem_free(w->mean);
    mem_free(w->var);
    mem_free(w->spread);
    mem_free(w->doubt);
    mem_free(w->u);
    *w = (block_space){0};
}

quorum_status block_new(size_t b, size_t D, block_space *w)
{
    *w = (block_space){0};
    if (points_new(b, D, &w->Q) == QUORUM_OK && NEW_ARRAY(w->X, b * D) && NEW_ARRAY(w->mean, b) &&
        NEW_ARRAY(w->var, b) && NEW_ARRAY(w->spread, b) && NEW_ARRAY(w->doubt, b) &&
        NEW_ARRAY(w->u, D + 1))
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

/* What to add to the aggregated variance: the noise, unless it is wanted latent or
 * the opinions were noisy already. */
static double missing_noise(const plan *p)
{
    int has_noise = !rule_is_joint(p->rule) && p->s->space == SPACE_OBSERVED;
    return p->m->theta.noise * ((p->s->latent ? 0.0 : 1.0) - (has_noise ? 1.0 : 0.0));
}

/* What was asked for of one query: finite, and an interval that is one. */
static quorum_status check_query(const plan *p, const quorum_prediction *out, size_t q)
{
    const double *const arrays[] = {out->mean, out->std, out->lower, out->upper};
    size_t asked = p->s->mean_only ? 1 : sizeof arrays / sizeof *arrays;
    int good = 1;
    for (size_t a = 0; a < asked; a++)
        good = good && (!arrays[a] || isfinite(arrays[a][q]));
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

/* Half the width of the interval in deviations, and what calibration multiplies these by. */
typedef struct {
    double reach, scale;
} interval_shape;

/* Of a warped target mu and std (not calibrated) are those of w(y). */
static void write_warped(const plan *p, double mu, double std, const interval_shape *shape,
                         size_t place, const quorum_prediction *out)
{
    const unit_change *u = &p->m->units;
    double mean, deviation;
    warp_moments(u, mu, shape->scale * std, &mean, &deviation);
    if (out->mean)
        out->mean[place] = mean;
    if (out->std)
        out->std[place] = p->s->mean_only ? NAN : deviation;
    if (out->lower)
        out->lower[place] = p->s->mean_only ? NAN : warp_back(u, mu - shape->reach * std);
    if (out->upper)
        out->upper[place] = p->s->mean_only ? NAN : warp_back(u, mu + shape->reach * std);
}

quorum_status block_write(const plan *p, const block_space *w, const size_t *which, size_t n,
                          const quorum_prediction *out)
{
    const quorum_model *m = p->m;
    double noise = missing_noise(p);
    double z = model_interval_reach(m, p->s, p->s->interval);
    double scale = model_calibration_scale(m, p->s);
    const interval_shape shape = {.reach = z, .scale = scale};
    for (size_t q = 0; q < n; q++) {
        double mean = block_mean(m, w, q);
        double var = w->spread[q] * fmax(0.0, w->var[q] + noise) + w->doubt[q];
        double std = plan_skips_variance(p) ? NAN : m->units.y_scale * sqrt(var);
        if (m->units.warp != WARP_NONE) {
            write_warped(p, mean, std, &shape, which[q], out);
            TRY(check_query(p, out, which[q]));
            continue;
        }
        if (out->mean)
            out->mean[which[q]] = mean;
        if (out->std)
            out->std[which[q]] = scale * std;
        if (out->lower)
            out->lower[which[q]] = mean - z * std;
        if (out->upper)
            out->upper[which[q]] = mean + z * std;
        TRY(check_query(p, out, which[q]));
    }
    return QUORUM_OK;
}

void fill_nan(const quorum_prediction *out, size_t n)
{
    double *const arrays[] = {out->mean, out->std, out->lower, out->upper, out->distance};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        for (size_t i = 0; arrays[a] && i < n; i++)
            arrays[a][i] = NAN;
}
