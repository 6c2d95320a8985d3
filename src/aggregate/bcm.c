/* Bayesian committee machines: the prior is counted once,
 *   P = sum_i beta_i / v_i + (1 - sum_i beta_i) / v_prior
 *   mean = P^-1 sum_i beta_i mu_i / v_i
 *   BCM   beta_i = 1
 *   RBCM  beta_i = (log v_prior - log v_i) / 2,   beta_i' = -v_i' / 2 v_i */
#include "aggregate/rule.h"

#include <math.h>

static void bcm(const opinions *o, consensus *out)
{
    for (size_t q = 0; q < o->b; q++) {
        double precision = (1.0 - (double)o->p) / o->prior, weighted = 0.0;
        for (size_t i = 0; i < o->p; i++) {
            precision += 1.0 / o->var[i * o->b + q];
            weighted += o->mean[i * o->b + q] / o->var[i * o->b + q];
        }
        settle(out, q, precision, weighted, 0.0, o->prior);
    }
}

static void rbcm(const opinions *o, consensus *out)
{
    for (size_t q = 0; q < o->b; q++) {
        double precision = 1.0 / o->prior, weighted = 0.0;
        for (size_t i = 0; i < o->p; i++) {
            double v = o->var[i * o->b + q];
            double beta = 0.5 * (log(o->prior) - log(v));
            precision += beta * (1.0 / v - 1.0 / o->prior);
            weighted += beta * o->mean[i * o->b + q] / v;
        }
        settle(out, q, precision, weighted, 0.0, o->prior);
    }
}

static void bcm_slope(const opinions *o, const opinion_slopes *s, const consensus *out,
                      consensus *slope)
{
    for (size_t q = 0; q < o->b; q++) {
        double precision = (1.0 - (double)o->p) / o->prior, dp = 0.0, dm = 0.0;
        for (size_t i = 0, k = q; i < o->p; i++, k += o->b) {
            double w = 1.0 / o->var[k], dw = -w * w * s->var[k];
            precision += w;
            dp += dw;
            dm += dw * o->mean[k] + w * s->mean[k];
        }
        settle_slope(out, slope, q, precision, dp, dm, 0.0, 0.0);
    }
}

static void rbcm_slope(const opinions *o, const opinion_slopes *s, const consensus *out,
                       consensus *slope)
{
    for (size_t q = 0; q < o->b; q++) {
        double precision = 1.0 / o->prior, dp = 0.0, dm = 0.0;
        for (size_t i = 0, k = q; i < o->p; i++, k += o->b) {
            double v = o->var[k], beta = 0.5 * (log(o->prior) - log(v));
            double dbeta = -0.5 * s->var[k] / v, w = beta / v, dw = (dbeta - w * s->var[k]) / v;
            precision += beta * (1.0 / v - 1.0 / o->prior);
            dp += dw - dbeta / o->prior;
            dm += dw * o->mean[k] + w * s->mean[k];
        }
        settle_slope(out, slope, q, precision, dp, dm, 0.0, 0.0);
    }
}

const rule rule_bcm = {"bcm", "Bayesian committee machine", TAKES_OPINIONS, 1, bcm, bcm_slope};
const rule rule_rbcm = {
    "rbcm",         "robust Bayesian committee machine: weights by entropy difference",
    TAKES_OPINIONS, 0,
    rbcm,           rbcm_slope};
