/* Gradients in the data's units, from slopes along the scaled inputs z = t / l of the model, t being
 * the standardised inputs, turned by E where the metric is linear (model/inputs.c):
 *
 *   d/dt_k = 1/l_k d/dz_k,   d/dx_d = b'_d(x_d)/scale_d sum_k E_dk d/dt_k,   b: what x_d is bent to
 *   mean' = y_scale (mean' + beta),   std' = y_scale c var' / (2 sqrt(var)),   c: calibration
 *   var = spread (v + noise) + doubt + known,   var' = spread' (v + noise) + spread (v' + noise') + doubt'
 *
 * Inputs that do not vary in the training data have no effect, and an offset does not depend on x.
 * Where var is 0 it cannot fall: std' is given as 0. */
#include "predict/block.h"

#include <math.h>

/* The standardised input d of a query at z, which may be turned. */
static double before_turning(const quorum_model *m, size_t d, const double *z)
{
    double sum = m->units.rotation ? 0.0 : z[d];
    for (size_t k = 0; m->units.rotation && k < m->rows.D; k++)
        sum += m->units.rotation[k * m->rows.D + d] * z[k];
    return sum;
}

/* out (D): from slopes along the model's inputs (t) at z, a number of the target for each of which there
 * are `unit`. */
static void turn_back(const quorum_model *m, double unit, const double *z, const double *t,
                      double *out)
{
    const unit_change *u = &m->units;
    size_t D = m->rows.D;
    for (size_t d = 0; d < D; d++) {
        double along = before_turning(m, d, t);
        out[d] = u->constant[d] ? 0.0 : unit * along / u->x_scale[d];
        if (u->bend_width)
            out[d] /= model_bend_rise(m, d, before_turning(m, d, z));
    }
}

static void mean_slopes(const quorum_model *m, const double *slope, double *t)
{
    const double *line = m->units.line;
    for (size_t d = 0; d < m->rows.D; d++)
        t[d] = slope[d] / m->theta.lengthscale[d] + (line ? line[d + 1] : 0.0);
}

/* Of sqrt(var), known being a part of it. */
static void std_slopes(const plan *p, const block_space *w, size_t q, double var, double *t)
{
    const quorum_model *m = p->m;
    size_t D = m->rows.D;
    int latent = p->s->latent;
    double known = latent ? 0.0 : w->known[q];
    double own = (var - known - w->doubt[q]) / w->spread[q]; /* v + noise */
    for (size_t d = 0, i = q * D; d < D; d++, i++) {
        double left = w->var_slope[i] + (latent ? 0.0 : w->noise_slope[i]);
        double slope = w->spread_slope[i] * own + w->spread[q] * left + w->doubt_slope[i];
        t[d] = var > 0.0 ? slope / m->theta.lengthscale[d] / (2.0 * sqrt(var)) : 0.0;
    }
}

static quorum_status check_gradient(size_t D, const double *gradient, size_t query)
{
    for (size_t d = 0; d < D; d++)
        if (!isfinite(gradient[d]))
            return failure(QUORUM_E_NUMERIC,
                           "query %zu has no gradient that is a finite number: inputs or a target "
                           "with very large or small numbers are best rescaled before fit",
                           query + 1);
    return QUORUM_OK;
}

/* y + c = exp(mu + s^2 / 2) = M has the derivative M (mu' + s s'), its deviation M sqrt(e - 1), with
 * e = exp(s^2), that of M times the root and M e s s' / sqrt(e - 1).  Where s counts as less, s' is 0.
 * mean and std (D) hold mu' and s' on entry. */
static void through_warp(const unit_change *u, size_t D, double mu, double found, double *mean,
                         double *std)
{
    double s = warp_deviation(u, found), M = exp(mu + 0.5 * s * s), root = sqrt(expm1(s * s));
    for (size_t d = 0; d < D; d++) {
        double ds = s < found ? 0.0 : std[d], rise = M * (mean[d] + s * ds);
        double more = root > 0.0 ? M * exp(s * s) * s / root : M;
        std[d] = rise * root + more * ds;
        mean[d] = rise;
    }
}

quorum_status block_write_gradients(const plan *p, const block_space *w, size_t q, double var,
                                    size_t at, const quorum_prediction *out)
{
    const quorum_model *m = p->m;
    size_t D = m->rows.D;
    double unit = m->units.y_scale, scale = unit * model_calibration_scale(m, p->s);
    double *t = w->u, *mean = w->u + D, *std = w->u + 2 * D;
    mean_slopes(m, w->mean_slope + q * D, t);
    turn_back(m, unit, w->X + q * D, t, mean);
    if (!plan_skips_variance(p)) {
        std_slopes(p, w, q, var, t);
        turn_back(m, scale, w->X + q * D, t, std);
    }
    if (m->units.warp != WARP_NONE)
        through_warp(&m->units, D, block_mean(m, w, q), scale * sqrt(var), mean, std);
    for (size_t d = 0; p->s->mean_only && d < D; d++)
        std[d] = NAN;
    if (out->mean_gradient)
        TRY(check_gradient(D, mean, at));
    if (out->std_gradient && !p->s->mean_only)
        TRY(check_gradient(D, std, at));
    for (size_t d = 0; out->mean_gradient && d < D; d++)
        out->mean_gradient[at * D + d] = mean[d];
    for (size_t d = 0; out->std_gradient && d < D; d++)
        out->std_gradient[at * D + d] = std[d];
    return QUORUM_OK;
}
