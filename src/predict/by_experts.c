/* Rules over opinions: each expert is asked by itself, where its rows are, and the rule combines
 * what they say (aggregate/rule.h). */
#include "predict/predictor.h"

#include <float.h>
#include <math.h>
#include <string.h>

static int is_of_opinions(const rule *r)
{
    return r->kind == TAKES_OPINIONS || r->kind == TAKES_BASE;
}

/* A base that all share needs rows of all experts. */
static quorum_status plan_opinions(plan *p, const double *X, size_t n)
{
    if (p->rule->kind == TAKES_BASE)
        TRY(model_hold_all(p->m));
    return plan_experts(p, X, n);
}

static double query_bytes(const plan *p)
{
    return plan_seat_bytes(p, 0.0);
}

static size_t block_most(const plan *p)
{
    (void)p;
    return BLOCK_MOST;
}

static void take_means(const assembly *a, block_space *w)
{
    memcpy(w->mean, a->mean, a->b * sizeof *w->mean);
    memset(w->var, 0, a->b * sizeof *w->var);
}

/* Rules do not say how they weigh rows.  A linear trend has its full variance where nothing of the
 * prior's is explained, and of it the share that is not, which is not less than u' V u has:
 *
 *   doubt = f(x)' V f(x) var / s_f^2 */
void plan_doubt_by_share(const plan *p, double noise, size_t n, block_space *w)
{
    const quorum_model *m = p->m;
    for (size_t q = 0; q < n; q++) {
        double share = fmin(fmax((w->var[q] - noise) / m->theta.signal, 0.0), 1.0);
        w->doubt[q] = share * model_line_doubt(m, w->X + q * m->rows.D, NULL, w->u);
    }
}

/* explained and its slopes become v_i = s_f^2 - explained, plus s^2 in observed space, and v_i'. */
static void explained_to_variance(const hyper *theta, double noise, assembly *a)
{
    size_t n = a->seats * a->b;
    double least = DBL_EPSILON * theta->signal;
    for (size_t k = 0; k < n; k++) {
        int is_left = theta->signal - a->explained[k] > least;
        for (size_t d = 0; a->mean_slope && d < a->Q->D; d++)
            a->explained_slope[d * n + k] *= is_left ? -1.0 : 0.0;
        a->explained[k] = fmax(theta->signal - a->explained[k], least) + noise;
    }
}

/* Direction by direction: the rule's slopes at all b queries, for which the slopes of spread and doubt
 * are room. */
static void combine_slopes(const plan *p, const assembly *a, const opinions *o, size_t n,
                           block_space *w)
{
    size_t D = p->m->rows.D, each = a->seats * a->b;
    consensus at = {.mean = w->mean, .var = w->var},
              slope = {.mean = w->spread_slope, .var = w->doubt_slope};
    for (size_t d = 0; d < D; d++) {
        opinion_slopes s = {a->mean_slope + d * each, a->explained_slope + d * each};
        p->rule->slope(o, &s, &at, &slope);
        for (size_t q = 0; q < n; q++) {
            w->mean_slope[q * D + d] = slope.mean[q];
            w->var_slope[q * D + d] = slope.var[q];
        }
    }
    memset(w->spread_slope, 0, n * D * sizeof *w->spread_slope);
    memset(w->doubt_slope, 0, n * D * sizeof *w->doubt_slope);
}

/* doubt' = share' f' V f + share (f' V f)', share' = var' / s_f^2 where it is from 0 to 1. */
static void doubt_slopes(const plan *p, double noise, size_t n, block_space *w)
{
    const quorum_model *m = p->m;
    size_t D = m->rows.D;
    for (size_t q = 0; q < n; q++) {
        const double *x = w->X + q * D;
        double raw = (w->var[q] - noise) / m->theta.signal, share = fmin(fmax(raw, 0.0), 1.0);
        double full = model_line_doubt(m, x, NULL, w->u), *slope = w->doubt_slope + q * D;
        model_line_doubt_slope(m, x, w->u, slope);
        for (size_t d = 0; d < D; d++)
            slope[d] = share * slope[d] +
                       (raw == share ? full * w->var_slope[q * D + d] / m->theta.signal : 0.0);
    }
}

static void combine(const plan *p, assembly *a, size_t n, block_space *w, tally *t)
{
    const hyper *theta = &p->m->theta;
    double noise = p->s->space == SPACE_OBSERVED ? theta->noise : 0.0;
    explained_to_variance(theta, noise, a);
    opinions o = {.p = a->seats,
                  .b = a->b,
                  .mean = a->mean,
                  .var = a->explained,
                  .prior = theta->signal + noise};
    consensus out = {.mean = w->mean, .var = w->var, .real = n};
    p->rule->combine(&o, &out);
    t->events.prior_fallbacks += out.fallbacks;
    if (a->mean_slope)
        combine_slopes(p, a, &o, n, w);
    if (plan_line_width(p) > 0)
        plan_doubt_by_share(p, noise, n, w);
    if (a->mean_slope && plan_line_width(p) > 0)
        doubt_slopes(p, noise, n, w);
}

static quorum_status answer_opinions(const plan *p, size_t n, block_space *w, tally *t)
{
    size_t seats = plan_seats(p), unsure;
    assembly a;
    quorum_status status;
    status = assembly_new(p->c, &w->Q, seats, &a);
    if (status >= 0 && p->with_slopes)
        status = assembly_want_slopes(&a);
    status = plan_seat(status, p, &a, seats, n, NULL, &unsure);
    TRY_OR_DONE(assembly_ask(status, &a, !p->mean_only, 0, plan_factor_bytes(p), p->threads));
    t->events.unsure += unsure;
    t->seats += (double)seats * (double)n;
    if (p->mean_only)
        take_means(&a, w);
    else
        combine(p, &a, n, w, t);
done:
    assembly_free(&a);
    return status;
}

const predictor by_experts = {.name = "experts",
                              .applies = is_of_opinions,
                              .plan = plan_opinions,
                              .query_bytes = query_bytes,
                              .block_most = block_most,
                              .answer = answer_opinions};
