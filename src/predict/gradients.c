/* Gradients in the data's units, from slopes along the scaled inputs z = t / l of the model, t being
 * the standardised inputs, turned by E where the metric is linear (model/inputs.c):
 *
 *   d/dt_k = 1/l_k d/dz_k,   d/dx_d = 1/scale_d sum_k E_dk d/dt_k
 *   mean' = y_scale (mean' + beta),   std' = y_scale c var' / (2 sqrt(var)),   c: calibration
 *   var = spread (v + noise) + doubt,   var' = spread' (v + noise) + spread v' + doubt'
 *
 * Inputs that do not vary in the training data have no effect, and an offset does not depend on x.
 * Where var is 0 it cannot fall: std' is given as 0. */
#include "predict/block.h"

#include <math.h>

/* out (D): from slopes along the model's inputs (t), a number of the target for each of which there
 * are `unit`. */
static void turn_back(const quorum_model *m, double unit, const double *t, double *out)
{
    const unit_change *u = &m->units;
    size_t D = m->rows.D;
    for (size_t d = 0; d < D; d++) {
        double sum = u->rotation ? 0.0 : t[d];
        for (size_t k = 0; u->rotation && k < D; k++)
            sum += u->rotation[k * D + d] * t[k];
        out[d] = u->constant[d] ? 0.0 : unit * sum / u->x_scale[d];
    }
}

static void mean_slopes(const quorum_model *m, const double *slope, double *t)
{
    const double *line = m->units.line;
    for (size_t d = 0; d < m->rows.D; d++)
        t[d] = slope[d] / m->theta.lengthscale[d] + (line ? line[d + 1] : 0.0);
}

/* Of sqrt(var). */
static void std_slopes(const quorum_model *m, const block_space *w, size_t q, double var, double *t)
{
    size_t D = m->rows.D;
    double own = (var - w->doubt[q]) / w->spread[q]; /* v + noise */
    for (size_t d = 0, i = q * D; d < D; d++, i++) {
        double slope =
            w->spread_slope[i] * own + w->spread[q] * w->var_slope[i] + w->doubt_slope[i];
        t[d] = var > 0.0 ? slope / m->theta.lengthscale[d] / (2.0 * sqrt(var)) : 0.0;
    }
}

static quorum_status check_gradient(size_t D, const double *gradient, size_t query)
{
    for (size_t d = 0; gradient && d < D; d++)
        if (!isfinite(gradient[d]))
            return failure(QUORUM_E_NUMERIC,
                           "query %zu has no gradient that is a finite number: inputs or a target "
                           "with very large or small numbers are best rescaled before fit",
                           query + 1);
    return QUORUM_OK;
}

quorum_status block_write_gradients(const plan *p, const block_space *w, size_t q, double var,
                                    size_t at, const quorum_prediction *out)
{
    const quorum_model *m = p->m;
    size_t D = m->rows.D;
    double unit = m->units.y_scale, *std = out->std_gradient ? out->std_gradient + at * D : NULL;
    double *mean = out->mean_gradient ? out->mean_gradient + at * D : NULL;
    if (mean) {
        mean_slopes(m, w->mean_slope + q * D, w->u);
        turn_back(m, unit, w->u, mean);
    }
    for (size_t d = 0; std && p->s->mean_only && d < D; d++)
        std[d] = NAN;
    if (std && !p->s->mean_only) {
        std_slopes(m, w, q, var, w->u);
        turn_back(m, unit * model_calibration_scale(m, p->s), w->u, std);
    }
    TRY(check_gradient(D, mean, at));
    return p->s->mean_only ? QUORUM_OK : check_gradient(D, std, at);
}
