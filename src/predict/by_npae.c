/* Method npae: experts are joined by their covariances (aggregate/npae.h), and with neighbours the
 * GP on each query's nearest rows sits with them, at the last seat. */
#include "predict/predictor.h"

#include "base/memory.h"
#include "predict/block.h"
#include "predict/line_errors.h"
#include "predict/nearest_seat.h"
#include "predict/npae_slopes.h"
#include "team/work.h"

#include <math.h>

enum {
    ALL_MOST = 1024,       /* queries of a block: the same experts everywhere               */
    LOCAL_PER_EXPERT = 32, /* each query's own experts: so many queries for each of the
                              experts that may take part, so that a pair's covariance matrix
                              serves several queries ...                                    */
    LOCAL_MOST = 65536     /* ... at most                                                   */
};
static const double AUTO_TOLERANCE = 0.01; /* local:auto stops when the variance falls by less */
static const double JOIN_SHARE = 0.5;      /* of the time, for progress: all but gradients     */

void joint_space_free(joint_space *j)
{
    assembly_free(&j->a);
    neighbourhoods_free(&j->near);
    mem_free(j->pairs);
}

static int is_npae(const rule *r)
{
    return r->kind == TAKES_COVARIANCE;
}

/* What decides who sits at a query's table must not depend on what they say there. */
static quorum_status check_slopes(const plan *p)
{
    if (p->chosen.local_auto)
        return failure(QUORUM_E_ARGUMENT,
                       "npae has no gradients with select local:auto; use all or local:K");
    if (!team_is_alone())
        return failure(QUORUM_E_ARGUMENT, "gradients of npae are work for one process, not for %d",
                       quorum_team_size());
    return QUORUM_OK;
}

/* Pairs of experts need rows of all experts. */
static quorum_status plan_npae(plan *p, const double *X, size_t n)
{
    if (p->with_slopes)
        TRY(check_slopes(p));
    TRY(model_hold_all(p->m));
    if (p->neighbours > 0)
        TRY(plan_neighbours(p, n));
    return plan_experts(p, X, n);
}

static double query_bytes(const plan *p)
{
    double rows = 0.0;
    for (size_t i = 0; i < p->count; i++)
        rows += (double)part_size(&p->c->parts, p->experts[i]);
    rows *= (double)plan_seats(p) / (double)p->count;
    return 16.0 * (double)p->neighbours + plan_seat_bytes(p, rows) +
           8.0 * (3.0 * (double)plan_line_width(p) + (double)plan_seats(p)) +
           (p->with_slopes ? 8.0 * (3.0 * (double)p->c->parts.rows.n + rows) : 0.0);
}

static size_t block_most(const plan *p)
{
    size_t b = LOCAL_PER_EXPERT * p->count;
    if (!plan_is_local(p) || p->with_slopes)
        return ALL_MOST;
    return b < BLOCK_MOST ? BLOCK_MOST : b < LOCAL_MOST ? b : LOCAL_MOST;
}

static quorum_status joint_space_new(const plan *p, const points *Q, size_t real, size_t seats,
                                     joint_space *j)
{
    TRY(assembly_new(p->c, Q, seats, &j->a));
    if (!NEW_ZEROED(j->pairs, seats * (seats - 1) / 2 * Q->n))
        return failure(QUORUM_E_MEMORY, "out of memory for the covariances of %zu experts", seats);
    if (p->neighbours == 0)
        return QUORUM_OK;
    spread_rule spread = p->spread;
    spread.local_noise =
        0; /* experts and neighbourhood are joined by the covariances of one theta */
    TRY(neighbourhoods_new(Q->n, real, p->neighbours, spread, 1, plan_line_width(p), &j->near));
    return p->with_slopes ? neighbourhoods_want_slopes(Q->D, NULL, &j->near) : QUORUM_OK;
}

/* K experts at each of the queries Q and the neighbourhood at the last seat. */
static quorum_status aggregate(quorum_status ready, const plan *p, const points *Q, size_t K,
                               joint_space *j, npae_result *out, size_t *unsure)
{
    size_t seats = K + (p->neighbours > 0);
    neighbourhoods *near = p->neighbours > 0 ? &j->near : NULL;
    if (ready >= 0)
        ready = joint_space_new(p, Q, out->real, seats, j);
    if (p->neighbours > 0)
        TRY(neighbourhoods_find(ready, p->c, p->index, Q, p->threads, near));
    quorum_status status = plan_seat(ready, p, &j->a, K, out->real, near, unsure);
    progress_range whole = progress_narrow(ASK_SHARE);
    TRY(assembly_ask(status, &j->a, 1, 1, plan_factor_bytes(p), p->threads));
    progress_widen(whole);
    TRY(npae_pairs(&j->a, p->threads, j->pairs));
    if (p->neighbours > 0)
        TRY(nearest_seat(&j->a, seats - 1, near, p->threads, j->pairs));
    return npae_solve(&j->a, j->pairs, p->threads, out);
}

/* The same, and doubt (real): the variance of a linear trend in it. */
static quorum_status aggregate_with_line(quorum_status ready, const plan *p, const points *Q,
                                         size_t K, joint_space *j, npae_result *out, double *doubt,
                                         size_t *unsure)
{
    double *weights = NULL;
    if (plan_line_width(p) == 0)
        return aggregate(ready, p, Q, K, j, out, unsure);
    NEW_ARRAY(weights, (K + 1) * Q->n);
    if (ready >= 0 && !weights)
        ready = failure(QUORUM_E_MEMORY, "out of memory for the weights of %zu experts", K);
    out->weights = weights;
    quorum_status status = aggregate(ready, p, Q, K, j, out, unsure);
    out->weights = NULL;
    if (status >= 0)
        status = line_doubts(p->m, j, weights, out->real, doubt);
    mem_free(weights);
    return status;
}

static void count_events(const npae_result *out, tally *t)
{
    t->events.clamped += out->clamped;
    t->events.jittered += out->jittered;
    t->events.pseudo_inverses += out->pseudo_inverses;
}

/* Both of it, with slopes. */
static quorum_status answer_with_slopes(const plan *p, size_t n, block_space *w, tally *t)
{
    joint_space j = {0};
    npae_result out = {.mean = w->mean, .var = w->var, .real = n};
    size_t K = plan_seats(p), seats = K + 1, b = w->Q.n, unsure = 0;
    double *room = NULL;
    quorum_status ready = QUORUM_OK, status;
    if (!NEW_ARRAY(room, (2 * seats + 1) * b))
        ready = failure(QUORUM_E_MEMORY, "out of memory for the weights of %zu experts", K);
    out.weights = room;
    out.duals = room ? room + seats * b : NULL;
    out.jitter = room ? room + 2 * seats * b : NULL;
    progress_range whole = progress_narrow(JOIN_SHARE);
    TRY_OR_DONE(aggregate(ready, p, &w->Q, K, &j, &out, &unsure));
    progress_widen(whole);
    if (plan_line_width(p) > 0)
        TRY_OR_DONE(line_doubts(p->m, &j, out.weights, n, w->doubt));
    TRY_OR_DONE(npae_find_slopes(p, &j, &out, n, w));
    count_events(&out, t);
    t->seats += (double)K * (double)n;
    t->events.unsure += unsure;
    for (size_t q = 0; q < n && j.near.m > 0; q++)
        w->spread[q] = j.near.spread[q];
done:
    joint_space_free(&j);
    mem_free(room);
    return status;
}

static quorum_status answer_at_once(const plan *p, size_t n, block_space *w, tally *t)
{
    joint_space j = {0};
    npae_result out = {.mean = w->mean, .var = w->var, .real = n};
    size_t K = plan_seats(p), unsure = 0;
    quorum_status status = aggregate_with_line(QUORUM_OK, p, &w->Q, K, &j, &out, w->doubt, &unsure);
    count_events(&out, t);
    t->seats += (double)K * (double)n;
    t->events.unsure += unsure;
    for (size_t q = 0; status >= 0 && q < n && j.near.m > 0; q++)
        w->spread[q] = j.near.spread[q];
    joint_space_free(&j);
    return status;
}

/* ---- local:auto ---- */

/* Queries that still want more experts. */
typedef struct {
    size_t left, *active; /* their numbers in the block; the padding repeats the last */
    points Q;
    double *mean, *var, *doubt;
} round_space;

static void round_free(round_space *r)
{
    points_free(&r->Q);
    mem_free(r->active);
    mem_free(r->mean);
    mem_free(r->var);
    mem_free(r->doubt);
}

static quorum_status round_new(size_t b, size_t D, size_t n, round_space *r)
{
    *r = (round_space){.left = n};
    TRY(points_new(b, D, &r->Q));
    if (!NEW_ARRAY(r->active, b) || !NEW_ARRAY(r->mean, b) || !NEW_ARRAY(r->var, b) ||
        !NEW_ZEROED(r->doubt, b))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n);
    for (size_t i = 0; i < n; i++)
        r->active[i] = i;
    return QUORUM_OK;
}

/* K experts at the queries that are left. */
static quorum_status ask_again(quorum_status ready, const plan *p, size_t K, round_space *r,
                               block_space *w, tally *t, size_t *unsure)
{
    joint_space j = {0};
    npae_result out = {.mean = r->mean, .var = r->var, .real = r->left};
    size_t padded = padded_queries(r->left);
    for (size_t i = r->left; ready >= 0 && i < padded; i++)
        r->active[i] = r->active[r->left - 1];
    if (ready >= 0)
        points_gather(&w->Q, r->active, padded, &r->Q);
    K = K < p->count ? K : p->count;
    quorum_status status = aggregate_with_line(ready, p, &r->Q, K, &j, &out, r->doubt, unsure);
    for (size_t i = 0; status >= 0 && i < r->left && j.near.m > 0; i++)
        w->spread[r->active[i]] = j.near.spread[i];
    count_events(&out, t);
    joint_space_free(&j);
    return status;
}

/* Queries whose variance hardly fell, or that have all experts they may, leave. */
static void keep_unsettled(size_t K, int is_last, round_space *r, block_space *w, tally *t)
{
    size_t stay = 0;
    for (size_t i = 0; i < r->left; i++) {
        size_t q = r->active[i];
        int settled = is_last || r->var[i] >= w->var[q] * (1.0 - AUTO_TOLERANCE);
        w->mean[q] = r->mean[i];
        w->var[q] = r->var[i];
        w->doubt[q] = r->doubt[i];
        if (settled)
            t->seats += (double)K;
        else
            r->active[stay++] = q;
    }
    r->left = stay;
}

/* 1, 2, 4, ... experts, until the variance falls by less than the tolerance. */
static quorum_status answer_gradually(const plan *p, size_t n, block_space *w, tally *t)
{
    size_t most = plan_seats(p), unsure = 0;
    round_space r;
    quorum_status ready = round_new(w->Q.n, p->m->rows.D, n, &r), status = QUORUM_OK;
    for (size_t i = 0; i < n; i++)
        w->var[i] = INFINITY;
    for (size_t K = 1; status >= 0 && r.left > 0; K = 2 * K < most ? 2 * K : most) {
        progress_range whole = progress_narrow((double)K / (double)most);
        status = ask_again(ready, p, K, &r, w, t, &unsure);
        progress_widen(whole);
        if (status >= 0)
            keep_unsettled(K, K == most, &r, w, t);
    }
    t->events.unsure += unsure; /* of the last round */
    round_free(&r);
    return status;
}

static quorum_status answer_npae(const plan *p, size_t n, block_space *w, tally *t)
{
    if (p->with_slopes)
        return answer_with_slopes(p, n, w, t);
    if (p->mean_only)
        return by_experts.answer(p, n, w, t);
    if (p->chosen.local_auto && p->count > 1)
        return answer_gradually(p, n, w, t);
    return answer_at_once(p, n, w, t);
}

static quorum_status weigh_npae(const plan *p, const points *Q, joint_space *j, npae_result *out)
{
    size_t unsure;
    return aggregate(QUORUM_OK, p, Q, plan_seats(p), j, out, &unsure);
}

const predictor by_npae = {.name = "npae",
                           .applies = is_npae,
                           .plan = plan_npae,
                           .query_bytes = query_bytes,
                           .block_most = block_most,
                           .answer = answer_npae,
                           .weigh = weigh_npae};
