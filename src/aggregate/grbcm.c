/* Generalised robust Bayesian committee machine.  Expert 0 is the base b, the
 * others are trained on the base's rows and their own (D_b with D_i); the base
 * plays the prior's part, mean included:
 *   P = sum_i beta_i / v_bi + (1 - sum_i beta_i) / v_b
 *   mean = P^-1 (sum_i beta_i mu_bi / v_bi + (1 - sum_i beta_i) mu_b / v_b)
 * with beta = 1 for the first and (log v_b - log v_bi) / 2 for the others. */
#include "aggregate/rule.h"

#include <math.h>

static void grbcm(const opinions *o, consensus *out)
{
    for (size_t q = 0; q < o->b; q++) {
        double mean_b = o->mean[q], var_b = o->var[q];
        double precision = 0.0, weighted = 0.0, total = 0.0;
        for (size_t i = 1; i < o->p; i++) {
            double v = o->var[i * o->b + q];
            double beta = i == 1 ? 1.0 : 0.5 * (log(var_b) - log(v));
            precision += beta / v;
            weighted += beta * o->mean[i * o->b + q] / v;
            total += beta;
        }
        precision += (1.0 - total) / var_b;
        weighted += (1.0 - total) * mean_b / var_b;
        settle(out, q, precision, weighted, mean_b, var_b);
    }
}

/* beta_i' = (v_b' / v_b - v_bi' / v_bi) / 2, and of the first 0. */
static void grbcm_slope(const opinions *o, const opinion_slopes *s, const consensus *out,
                        consensus *slope)
{
    for (size_t q = 0; q < o->b; q++) {
        double var_b = o->var[q], dvar_b = s->var[q];
        double precision = 0.0, dp = 0.0, dm = 0.0, total = 0.0, dtotal = 0.0;
        for (size_t i = 1, k = q + o->b; i < o->p; i++, k += o->b) {
            double v = o->var[k], dv = s->var[k];
            double beta = i == 1 ? 1.0 : 0.5 * (log(var_b) - log(v));
            double dbeta = i == 1 ? 0.0 : 0.5 * (dvar_b / var_b - dv / v);
            double w = beta / v, dw = (dbeta - w * dv) / v;
            precision += w;
            total += beta;
            dtotal += dbeta;
            dp += dw;
            dm += dw * o->mean[k] + w * s->mean[k];
        }
        double w = (1.0 - total) / var_b, dw = (-dtotal - w * dvar_b) / var_b;
        dm += dw * o->mean[q] + w * s->mean[q];
        settle_slope(out, slope, q, precision + w, dp + dw, dm, s->mean[q], dvar_b);
    }
}

const rule rule_grbcm = {
    "grbcm",    "generalised robust BCM: every expert also holds a common base sample",
    TAKES_BASE, 0,
    grbcm,      grbcm_slope};
