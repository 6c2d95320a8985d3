/* Bayesian committee machines: the prior is counted once,
 *   P = sum_i beta_i / v_i + (1 - sum_i beta_i) / v_prior
 *   mean = P^-1 sum_i beta_i mu_i / v_i
 *   BCM   beta_i = 1
 *   RBCM  beta_i = (log v_prior - log v_i) / 2 */
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

const rule rule_bcm = {"bcm", "Bayesian committee machine", TAKES_OPINIONS, 1, bcm};
const rule rule_rbcm = {"rbcm", "robust Bayesian committee machine: weights by entropy difference",
                        TAKES_OPINIONS, 0, rbcm};
