/* Method nearest: a GP on each query's nearest rows.  No experts take part; of the model it uses
 * the rows, theta and the spread.
 *
 *   mean = k*' C^-1 y,   var = s_f^2 - e,   e = k*' C^-1 k*     over the m nearest rows
 *
 * and of a linear trend u' V u, u = f(x) - F' C^-1 k* (model/trend.c). */
#include "base/memory.h"
#include "predict/predictor.h"

#include <math.h>

static const double NEGLIGIBLE = 1e-13; /* of s_f^2: rows that explain no more say nothing */
static const double ROUNDING = 1e-14;   /* of s_f^2: not worth counting                    */
static const double FEW_SHARE = 0.01;   /* rows that every process of a team may have        */
static const double SEARCH_SHARE = 0.1; /* of the time, for progress                       */

static int is_nearest(const rule *r)
{
    return r->kind == TAKES_ROWS;
}

/* Rows, scaled in two orders, and a tree: so little that every process may have all of it. */
static int rows_are_few(const plan *p)
{
    double each = 8.0 * (5.0 * (double)p->m->rows.D + 6.0);
    return each * (double)p->m->rows.n < FEW_SHARE * p->memory;
}

/* Neighbourhoods can be brought together from all processes, which is dearer than having the rows. */
static quorum_status plan_nearest(plan *p, const double *X, size_t n)
{
    (void)X;
    if (rows_are_few(p))
        TRY(model_hold_all(p->m));
    TRY(model_rows(p->m, p->s, &p->c));
    return plan_neighbours(p, n);
}

static double query_bytes(const plan *p)
{
    return 8.0 * ((double)p->neighbours + 8.0 + (double)plan_line_width(p));
}

static size_t block_most(const plan *p)
{
    (void)p;
    return BLOCK_MOST;
}

/* Where further targets' answers go, for a call of `ask`. */
static void list_others(const plan *p, neighbourhoods *n)
{
    n->others = p->others;
    for (size_t k = 0; k < p->others; k++)
        n->other[k] = p->shared[k].near;
}

/* A GP at each of the queries, the first `real` of which are wanted. */
static quorum_status ask(const plan *p, const points *Q, size_t real, int with_gamma,
                         neighbourhoods *n)
{
    quorum_status ready =
        neighbourhoods_new(Q->n, real, p->neighbours, p->spread, with_gamma, plan_line_width(p), n);
    if (ready >= 0 && p->with_slopes)
        ready = neighbourhoods_want_slopes(Q->D, p->m->units.line_covariance, n);
    if (ready >= 0 && p->others > 0) {
        ready = NEW_ARRAY(n->other, p->others)
                    ? QUORUM_OK
                    : failure(QUORUM_E_MEMORY, "out of memory for %zu targets", p->others);
        if (ready >= 0)
            list_others(p, n);
    }
    if (!p->index)
        return neighbourhoods_ask_scattered(ready, p->c, p->held, Q, p->threads, n);
    progress_expect(SEARCH_SHARE);
    TRY(neighbourhoods_find(ready, p->c, p->index, Q, p->threads, n));
    progress_expect(1.0);
    return neighbourhoods_ask(QUORUM_OK, p->c, Q, p->threads, n);
}

/* The posterior at query q, its variance in [0, s_f^2 - e].  The neighbourhood's weight is 1, or 0
 * where it says nothing.  It is taken as sqrt(e) / sqrt(e), and e as its square root's square: so
 * one expert alone is rounded where experts are joined (aggregate/npae.c), and the same numbers
 * come to the last bit however they are asked for. */
static double posterior_at(const neighbourhoods *near, double signal, size_t q, npae_result *out)
{
    double e = near->explained[q];
    if (e <= NEGLIGIBLE * signal) {
        out->mean[q] = 0.0;
        out->var[q] = signal;
        return 0.0;
    }
    double root = sqrt(e), inverse = 1.0 / root, weight = root * inverse;
    double var = signal - root * root, most = fmax(0.0, signal - 1.0 / (inverse * inverse));
    out->mean[q] = weight * near->mean[q];
    out->var[q] = fmin(fmax(var, 0.0), most);
    out->clamped += q < out->real && var < -ROUNDING * signal;
    return weight;
}

/* The line's variance in the prediction at x; lift is used up. */
static double doubt_at(const quorum_model *m, const double *x, double weight, double *lift)
{
    for (size_t i = 0; i <= m->rows.D; i++)
        lift[i] *= weight;
    return model_line_doubt(m, x, lift, lift);
}

/* Slopes at query q: those of the neighbourhood, or where it says nothing those of the prior, which
 * knows a line alone. */
static void slopes_at(const plan *p, const neighbourhoods *near, size_t q, double weight,
                      block_space *w)
{
    const quorum_model *m = p->m;
    size_t D = m->rows.D;
    double *x = w->X + q * D;
    int is_left = w->var[q] > 0.0;
    if (near->slopes.doubt && weight == 0.0)
        model_line_doubt_slope(m, x, w->u, w->doubt_slope + q * D);
    for (size_t d = 0, i = q * D; d < D; d++, i++) {
        w->mean_slope[i] = weight * near->slopes.mean[i];
        w->var_slope[i] = is_left ? -weight * near->slopes.explained[i] : 0.0;
        w->spread_slope[i] = near->slopes.spread[i];
        if (near->slopes.doubt && weight > 0.0)
            w->doubt_slope[i] = near->slopes.doubt[i];
    }
}

/* Further targets have the variance of the first. */
static void take_others(const plan *p, size_t q, double weight)
{
    for (size_t k = 0; k < p->others; k++)
        p->shared[k].near.mean[q] = weight > 0.0 ? weight * p->shared[k].near.mean[q] : 0.0;
}

static quorum_status answer_nearest(const plan *p, size_t n, block_space *w, tally *t)
{
    neighbourhoods near;
    npae_result out = {.mean = w->mean, .var = w->var, .real = n};
    quorum_status status = ask(p, &w->Q, n, 0, &near);
    for (size_t q = 0; status == QUORUM_OK && q < n; q++) {
        double weight = posterior_at(&near, p->m->theta.signal, q, &out);
        w->spread[q] = near.spread[q];
        w->noise[q] = near.noise[q];
        take_others(p, q, weight);
        if (near.lift)
            w->doubt[q] =
                doubt_at(p->m, w->X + q * p->m->rows.D, weight, near.lift + q * near.width);
        if (w->mean_slope)
            slopes_at(p, &near, q, weight, w);
    }
    t->events.clamped += out.clamped;
    neighbourhoods_free(&near);
    return status;
}

static quorum_status weigh_nearest(const plan *p, const points *Q, joint_space *j, npae_result *out)
{
    j->a = (assembly){.c = p->c, .Q = Q, .b = Q->n, .seats = 1}; /* nobody else sits there */
    TRY(ask(p, Q, out->real, 1, &j->near));
    for (size_t q = 0; q < Q->n; q++)
        out->weights[q] = posterior_at(&j->near, p->m->theta.signal, q, out);
    return QUORUM_OK;
}

const predictor by_nearest = {.name = "nearest",
                              .applies = is_nearest,
                              .plan = plan_nearest,
                              .query_bytes = query_bytes,
                              .block_most = block_most,
                              .answer = answer_nearest,
                              .weigh = weigh_nearest};
