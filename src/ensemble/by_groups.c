/* Method groups: experts that depend on each other are joined by their covariances, and groups of them,
 * taken as independent given f, by the Bayesian committee machine.  Per query x, g = 1 .. G:
 *
 *   (m_g, v_g) = NPAE of group g's experts                     (aggregate/npae.h)
 *   P = sum_g 1 / v_g + (1 - G) / s_f^2,   mean = (1/P) sum_g m_g / v_g,   var = 1/P
 *
 * Groups are those of the expert graph (graph/spectral.h), so they do not depend on the queries. */
#include "predict/predictor.h"

#include "base/memory.h"
#include "graph/spectral.h"
#include "team/work.h"

#include <float.h>
#include <math.h>

enum { GROUPS_MOST = 1024 }; /* queries of a block, as of NPAE on all experts */

static int is_groups(const rule *r)
{
    return r->kind == TAKES_GROUPS;
}

/* ---- The plan ---- */

typedef struct {
    plan *p;
    const expert_graph *graph;
} grouping;

/* Puts p->experts in the order of their groups, p->first (groups + 1) saying where each begins. */
static quorum_status group_experts(void *context)
{
    const grouping *g = context;
    plan *p = g->p;
    size_t *label, *sorted, at = 0;
    NEW_ARRAY(label, p->count);
    NEW_ARRAY(sorted, p->count);
    quorum_status status = QUORUM_OK;
    if (!label || !sorted)
        status = failure(QUORUM_E_MEMORY, "out of memory for groups of %zu experts", p->count);
    if (status >= 0)
        status =
            spectral_groups(p->m->M, g->graph->precision, p->experts, p->count, label, &p->groups);
    for (size_t k = 0; status >= 0 && k < p->groups; k++) {
        p->first[k] = at;
        for (size_t i = 0; i < p->count; i++)
            if (label[i] == k)
                sorted[at++] = p->experts[i];
    }
    p->first[p->groups] = p->count;
    for (size_t i = 0; status >= 0 && i < p->count; i++)
        p->experts[i] = sorted[i];
    mem_free(label);
    mem_free(sorted);
    return status;
}

/* By the model's own graph, or with graph-on test by that of the queries. */
static quorum_status find_groups(plan *p, const double *X, size_t n)
{
    expert_graph fresh = {0};
    grouping g = {.p = p, .graph = &fresh};
    if (p->s->graph_on == GRAPH_ON_TEST)
        TRY(model_graph_on(p->m, X, n, p->s, p->progress, &fresh));
    else
        TRY(model_graph(p->m, p->s, p->progress, &g.graph));
    quorum_status status = expert_graph_check(g.graph);
    if (status >= 0)
        status = team_all(QUORUM_OK, group_experts, &g);
    expert_graph_free(&fresh);
    return status;
}

/* Pairs of experts need rows of all experts. */
static quorum_status plan_groups(plan *p, const double *X, size_t n)
{
    if (p->with_slopes)
        return failure(QUORUM_E_ARGUMENT, "method groups has no gradients: use nearest, or npae");
    TRY(model_hold_all(p->m));
    TRY(plan_experts(p, X, n));
    p->groups = 1;
    p->first[0] = 0;
    p->first[1] = p->count;
    return p->count > 1 && n > 0 ? find_groups(p, X, n) : QUORUM_OK;
}

static size_t group_size(const plan *p, size_t g)
{
    return p->first[g + 1] - p->first[g];
}

/* Of the group that takes most. */
static double query_bytes(const plan *p)
{
    double most = 0.0;
    for (size_t g = 0; g < p->groups; g++) {
        double rows = 0.0;
        for (size_t i = p->first[g]; i < p->first[g + 1]; i++)
            rows += (double)part_size(&p->c->parts, p->experts[i]);
        most = fmax(most, assembly_query_bytes(group_size(p, g) + 1, rows));
    }
    return most + 16.0 * (double)p->groups;
}

static size_t block_most(const plan *p)
{
    (void)p;
    return GROUPS_MOST;
}

/* ---- The answer ---- */

/* NPAE of the experts of group g to out. */
static quorum_status answer_group(quorum_status ready, const plan *p, const points *Q, size_t g,
                                  npae_result *out)
{
    joint_space j = {0};
    size_t seats = group_size(p, g);
    quorum_status status = ready;
    if (status >= 0)
        status = assembly_new(p->c, Q, seats, &j.a);
    if (status >= 0 && !NEW_ZEROED(j.pairs, seats * (seats - 1) / 2 * Q->n + 1))
        status =
            failure(QUORUM_E_MEMORY, "out of memory for the covariances of %zu experts", seats);
    if (status >= 0)
        assembly_seat_all(&j.a, p->experts + p->first[g], seats);
    progress_range whole = progress_narrow(ASK_SHARE);
    TRY_OR_DONE(assembly_ask(status, &j.a, 1, 1, plan_factor_bytes(p), p->threads));
    progress_widen(whole);
    TRY_OR_DONE(npae_pairs(&j.a, p->threads, j.pairs));
    TRY_OR_DONE(npae_solve(&j.a, j.pairs, p->threads, out));
done:
    joint_space_free(&j);
    return status;
}

/* The groups' answers to one; a variance of 0 is as little as numbers know. */
static void join_groups(const plan *p, double *mean, double *var, size_t n, block_space *w,
                        tally *t)
{
    double signal = p->m->theta.signal;
    size_t b = w->Q.n;
    for (size_t k = 0; k < p->groups * b; k++)
        var[k] = fmax(var[k], DBL_EPSILON * signal);
    opinions o = {.p = p->groups, .b = b, .mean = mean, .var = var, .prior = signal};
    consensus out = {.mean = w->mean, .var = w->var, .real = n};
    rule_bcm.combine(&o, &out);
    t->events.prior_fallbacks += out.fallbacks;
    t->seats += (double)p->count * (double)n;
    if (plan_line_width(p) > 0)
        plan_doubt_by_share(p, 0.0, n, w);
}

static quorum_status answer_groups(const plan *p, size_t n, block_space *w, tally *t)
{
    size_t b = w->Q.n;
    double *room = NULL;
    quorum_status status = QUORUM_OK;
    if (p->mean_only)
        return by_experts.answer(p, n, w, t);
    if (!NEW_ARRAY(room, 2 * p->groups * b))
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu groups", p->groups);
    for (size_t g = 0; g < p->groups; g++) {
        npae_result out = {.mean = room ? room + g * b : NULL,
                           .var = room ? room + (p->groups + g) * b : NULL,
                           .real = n};
        progress_range whole = progress_narrow((double)(g + 1) / (double)p->groups);
        TRY_OR_DONE(answer_group(status, p, &w->Q, g, &out));
        progress_widen(whole);
        t->events.clamped += out.clamped;
        t->events.jittered += out.jittered;
        t->events.pseudo_inverses += out.pseudo_inverses;
    }
    join_groups(p, room, room + p->groups * b, n, w, t);
done:
    mem_free(room);
    return status;
}

const predictor by_groups = {.name = "groups",
                             .applies = is_groups,
                             .plan = plan_groups,
                             .query_bytes = query_bytes,
                             .block_most = block_most,
                             .answer = answer_groups};
