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
static void doubt_by_share(const plan *p, double noise, size_t n, block_space *w)
{
    const quorum_model *m = p->m;
    for (size_t q = 0; q < n; q++) {
        double share = fmin(fmax((w->var[q] - noise) / m->theta.signal, 0.0), 1.0);
        w->doubt[q] = share * model_line_doubt(m, w->X + q * m->rows.D, NULL, w->u);
    }
}

/* v_i = s_f^2 - explained, plus s^2 in observed space. */
static void combine(const plan *p, assembly *a, size_t n, block_space *w, tally *t)
{
    const hyper *theta = &p->m->theta;
    double noise = p->s->space == SPACE_OBSERVED ? theta->noise : 0.0;
    for (size_t k = 0; k < a->seats * a->b; k++)
        a->explained[k] =
            fmax(theta->signal - a->explained[k], DBL_EPSILON * theta->signal) + noise;
    opinions o = {.p = a->seats,
                  .b = a->b,
                  .mean = a->mean,
                  .var = a->explained,
                  .prior = theta->signal + noise};
    consensus out = {.mean = w->mean, .var = w->var, .real = n};
    p->rule->combine(&o, &out);
    t->events.prior_fallbacks += out.fallbacks;
    if (plan_line_width(p) > 0)
        doubt_by_share(p, noise, n, w);
}

static quorum_status answer_opinions(const plan *p, size_t n, block_space *w, tally *t)
{
    size_t seats = plan_seats(p), unsure;
    assembly a;
    quorum_status status;
    status = assembly_new(p->c, &w->Q, seats, &a);
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
