/* Products of experts: P = sum_i beta_i / v_i, mean = P^-1 sum_i beta_i mu_i / v_i.
 *   PoE           beta_i = 1
 *   GPoE          beta_i = 1/M
 *   GPoE-entropy  beta_i = (log v_prior - log v_i) / 2,   beta_i' = -v_i' / 2 v_i
 * and the slopes of weights w = beta / v: w' = (beta' - w v') / v. */
#include "aggregate/rule.h"

#include <math.h>

static void product(const opinions *o, consensus *out, double beta)
{
    for (size_t q = 0; q < o->b; q++) {
        double precision = 0.0, weighted = 0.0;
        for (size_t i = 0; i < o->p; i++) {
            double w = beta / o->var[i * o->b + q];
            precision += w;
            weighted += w * o->mean[i * o->b + q];
        }
        settle(out, q, precision, weighted, 0.0, o->prior);
    }
}

static void product_slope(const opinions *o, const opinion_slopes *s, const consensus *out,
                          consensus *slope, double beta)
{
    for (size_t q = 0; q < o->b; q++) {
        double precision = 0.0, dp = 0.0, dm = 0.0;
        for (size_t i = 0, k = q; i < o->p; i++, k += o->b) {
            double w = beta / o->var[k], dw = -w * s->var[k] / o->var[k];
            precision += w;
            dp += dw;
            dm += dw * o->mean[k] + w * s->mean[k];
        }
        settle_slope(out, slope, q, precision, dp, dm, 0.0, 0.0);
    }
}

static void poe(const opinions *o, consensus *out)
{
    product(o, out, 1.0);
}

static void gpoe(const opinions *o, consensus *out)
{
    product(o, out, 1.0 / (double)o->p);
}

static void poe_slope(const opinions *o, const opinion_slopes *s, const consensus *out,
                      consensus *slope)
{
    product_slope(o, s, out, slope, 1.0);
}

static void gpoe_slope(const opinions *o, const opinion_slopes *s, const consensus *out,
                       consensus *slope)
{
    product_slope(o, s, out, slope, 1.0 / (double)o->p);
}

static void gpoe_entropy(const opinions *o, consensus *out)
{
    for (size_t q = 0; q < o->b; q++) {
        double precision = 0.0, weighted = 0.0;
        for (size_t i = 0; i < o->p; i++) {
            double v = o->var[i * o->b + q];
            double w = 0.5 * (log(o->prior) - log(v)) / v;
            precision += w;
            weighted += w * o->mean[i * o->b + q];
        }
        settle(out, q, precision, weighted, 0.0, o->prior);
    }
}

static void gpoe_entropy_slope(const opinions *o, const opinion_slopes *s, const consensus *out,
                               consensus *slope)
{
    for (size_t q = 0; q < o->b; q++) {
        double precision = 0.0, dp = 0.0, dm = 0.0;
        for (size_t i = 0, k = q; i < o->p; i++, k += o->b) {
            double v = o->var[k], w = 0.5 * (log(o->prior) - log(v)) / v;
            double dw = (-0.5 / v - w) * s->var[k] / v;
            precision += w;
            dp += dw;
            dm += dw * o->mean[k] + w * s->mean[k];
        }
        settle_slope(out, slope, q, precision, dp, dm, 0.0, 0.0);
    }
}

const rule rule_poe = {
    "poe",    "product of experts: all count in full (overconfident)", TAKES_OPINIONS, 1, poe,
    poe_slope};
const rule rule_gpoe = {
    "gpoe",         "generalised product of experts, weights 1/M (conservative)",
    TAKES_OPINIONS, 1,
    gpoe,           gpoe_slope};
const rule rule_gpoe_entropy = {
    "gpoe-entropy", "generalised product of experts, weights by entropy difference",
    TAKES_OPINIONS, 1,
    gpoe_entropy,   gpoe_entropy_slope};
