/* A linear trend of the model: what the target is about which the rows' y are residuals.
 *
 *   y = y_mean + y_scale (r + f(x)' beta),   f(x) = (1, x_1 .. x_D)
 *
 * x being the model's inputs, standardised and turned.  Of a mean that weighs rows by gamma,
 * r(x) + f(x)' beta has the error u' (beta - its estimate) beside the GP's own, and so
 *
 *   var += u' V u,   u = f(x) - sum_i gamma_i f(x_i) */
#include "model/model.h"

#include "base/memory.h"
#include "linalg/blas.h"

#include <math.h>
#include <string.h>

double line_at(size_t D, const double *beta, const double *x)
{
    return beta[0] + vec_dot(D, beta + 1, x);
}

double model_target_in_units(const quorum_model *m, const double *x, double y)
{
    const unit_change *u = &m->units;
    return number_in_units(u->y_mean, u->y_scale, u->line ? y + line_at(m->rows.D, u->line, x) : y);
}

double model_line_variance(const quorum_model *m, const double *u)
{
    size_t p = m->rows.D + 1;
    double sum = 0.0;
    for (size_t i = 0; i < p; i++)
        sum += u[i] * vec_dot(p, m->units.line_covariance + i * p, u);
    return fmax(sum, 0.0);
}

double model_line_doubt(const quorum_model *m, const double *x, const double *lift, double *u)
{
    u[0] = 1.0 - (lift ? lift[0] : 0.0);
    for (size_t d = 0; d < m->rows.D; d++)
        u[d + 1] = x[d] - (lift ? lift[d + 1] : 0.0);
    return model_line_variance(m, u);
}

void model_line_doubt_slope(const quorum_model *m, const double *x, double *u, double *slope)
{
    size_t D = m->rows.D;
    for (size_t i = 0; i <= D; i++) {
        const double *v = m->units.line_covariance + i * (D + 1);
        u[i] = v[0] + vec_dot(D, v + 1, x);
    }
    for (size_t d = 0; d < D; d++)
        slope[d] = 2.0 * u[d + 1] * m->theta.lengthscale[d];
}

void line_free(unit_change *u)
{
    mem_free(u->line);
    mem_free(u->line_covariance);
    u->line = u->line_covariance = NULL;
}

quorum_status line_new(size_t D, unit_change *u)
{
    NEW_ZEROED(u->line, D + 1);
    NEW_ZEROED(u->line_covariance, (D + 1) * (D + 1));
    if (u->line && u->line_covariance)
        return QUORUM_OK;
    line_free(u);
    return failure(QUORUM_E_MEMORY, "out of memory for a line of %zu inputs", D);
}

quorum_status line_copy(size_t D, const unit_change *from, unit_change *to)
{
    if (!from->line)
        return QUORUM_OK;
    TRY(line_new(D, to));
    memcpy(to->line, from->line, (D + 1) * sizeof *to->line);
    memcpy(to->line_covariance, from->line_covariance, (D + 1) * (D + 1) * sizeof *to->line);
    return QUORUM_OK;
}

/* ---- In the data's units ---- */

/* weight_k such that weight' beta is the slope along standardised input d. */
static void weigh_input(const quorum_model *m, size_t d, double *weight)
{
    size_t D = m->rows.D;
    for (size_t k = 0; k < D; k++)
        weight[k + 1] = m->units.rotation ? m->units.rotation[k * D + d] : k == d;
    weight[0] = 0.0;
}

quorum_status model_show_line(quorum_model *m)
{
    size_t D = m->rows.D;
    double *weight;
    if (!m->units.line)
        return QUORUM_OK;
    NEW_ARRAY(weight, D + 1);
    NEW_ARRAY(m->shown.slope, D);
    NEW_ARRAY(m->shown.slope_std, D);
    if (!weight || !m->shown.slope || !m->shown.slope_std) {
        mem_free(weight);
        return failure(QUORUM_E_MEMORY, "out of memory for the slopes of %zu inputs", D);
    }
    for (size_t d = 0; d < D; d++) {
        double unit = m->units.y_scale / m->units.x_scale[d];
        weigh_input(m, d, weight);
        m->shown.slope[d] = unit * vec_dot(D + 1, weight, m->units.line);
        m->shown.slope_std[d] = unit * sqrt(model_line_variance(m, weight));
    }
    mem_free(weight);
    return QUORUM_OK;
}
