/* Predictions of all targets of a model.  Where they share rows and theta (share=theta), method nearest finds the
 * neighbours, and factors their covariance, once:
 *
 *   C = L L',   mean_t = (L^-1 k*)' (L^-1 y_t),   var = s_f^2 - |L^-1 k*|^2     for every target t
 *
 * m^3 / 3 operations for the first target and 2 m^2 for each other.  Otherwise, and where levels are new or
 * gradients wanted, each target is predicted by itself.  The bits are the same either way. */
#include "base/memory.h"
#include "base/parallel.h"
#include "experts/committee.h"
#include "predict/block.h"
#include "team/work.h"

typedef struct {
    const quorum_model *m;
    const double *X;
    size_t rows;
    const quorum_options *options;
    const quorum_prediction *const *out;
    quorum_report *report; /* targets; NULL: not wanted */
} target_call;

static const quorum_model *model_at(const quorum_model *m, size_t t)
{
    return t == 0 ? m : m->further.model[t - 1];
}

static int wants_slopes(const target_call *c)
{
    for (size_t t = 0; t <= c->m->further.count; t++)
        if (c->out[t]->mean_gradient || c->out[t]->std_gradient)
            return 1;
    return 0;
}

/* Whether neighbourhoods and factors serve all targets: of these options, and this process alone. */
static int is_shared(const target_call *c)
{
    recipe r;
    return c->m->further.shared && !c->m->holes.of && team_is_alone() && c->rows > 0 &&
           !wants_slopes(c) && model_recipe(c->m, options_values(c->options), &r) >= 0 && r.rule &&
           r.rule->kind == TAKES_ROWS && model_check_queries(c->m, c->X, c->rows) >= 0 &&
           model_count_new_levels(c->m, c->X, c->rows) == 0;
}

/* ---- Each by itself ---- */

static quorum_status predict_each(const target_call *c)
{
    quorum_status status = QUORUM_OK;
    for (size_t t = 0; t <= c->m->further.count && status >= 0; t++)
        status = quorum_predict(model_at(c->m, t), c->X, c->rows, c->options, c->out[t],
                                c->report ? &c->report[t] : NULL);
    for (size_t t = 0; t <= c->m->further.count && status < 0; t++)
        fill_nan(c->out[t], c->rows, model_at(c->m, t)->rows.D);
    return status;
}

/* ---- Together ---- */

typedef struct {
    const target_call *call;
    shared_target *other; /* further targets */
    tally t;
} together;

static void together_free(together *g)
{
    for (size_t k = 0; g->other && k < g->call->m->further.count; k++) {
        mem_free(g->other[k].near.mean);
        mem_free(g->other[k].near.spread);
    }
    mem_free(g->other);
}

/* The target's numbers, as the committee has its rows. */
static quorum_status find_targets(const plan *p, shared_target *t)
{
    const committee *c;
    t->near.y = t->m->rows.y;
    if (!t->m->extra.offset)
        return QUORUM_OK;
    TRY(model_rows(t->m, p->s, &c));
    t->near.y = c->parts.rows.y;
    return QUORUM_OK;
}

static quorum_status room_for_blocks(together *g, const plan *p)
{
    size_t room = p->block + QUERY_MULTIPLE;
    for (size_t k = 0; k < p->others; k++) {
        shared_target *t = &g->other[k];
        TRY(find_targets(p, t));
        t->near.how = model_spread_with(t->m, p->s);
        if (!NEW_ARRAY(t->near.mean, room) || !NEW_ARRAY(t->near.spread, room))
            return failure(QUORUM_E_MEMORY, "out of memory for %zu targets", p->others + 1);
    }
    return QUORUM_OK;
}

static quorum_status predict_planned(void *context)
{
    together *g = context;
    const target_call *c = g->call;
    plan p = {0};
    quorum_status status = plan_make(c->m, c->options, 0, c->X, c->rows, &p);
    p.shared = g->other;
    p.others = c->m->further.count;
    if (status >= 0)
        status = room_for_blocks(g, &p);
    if (status >= 0)
        status = predict_by_plan(&p, c->X, c->rows, c->out[0], &g->t);
    mem_free(p.experts);
    return status;
}

static quorum_status start(together *g)
{
    const target_call *c = g->call;
    if (!NEW_ZEROED(g->other, c->m->further.count))
        return failure(QUORUM_E_MEMORY, "out of memory for the targets");
    TRY(predict_check(c->m, c->X, c->rows, c->options, c->out[0], &g->t));
    for (size_t k = 0; k < c->m->further.count; k++) {
        shared_target *t = &g->other[k];
        t->m = c->m->further.model[k];
        t->out = c->out[k + 1];
        TRY(predict_check(t->m, c->X, c->rows, c->options, t->out, &t->t));
    }
    return QUORUM_OK;
}

static quorum_status predict_together(const target_call *c)
{
    together g = {.call = c};
    double begun = wall_seconds();
    quorum_status status = start(&g);
    if (status >= 0)
        status = predict_watched(c->m, c->options, predict_planned, &g);
    double each = (wall_seconds() - begun) / (double)(c->m->further.count + 1);
    for (size_t t = 0; t <= c->m->further.count; t++) {
        tally none = {0}, *of = t == 0 ? &g.t : g.other ? &g.other[t - 1].t : &none;
        predict_finish(model_at(c->m, t), c->X, c->rows, c->out[t], status, of);
        of->events.seconds = each;
        if (c->report)
            c->report[t] = of->events;
    }
    together_free(&g);
    return status;
}

quorum_status quorum_predict_targets(const quorum_model *m, const double *X, size_t rows,
                                     const quorum_options *options,
                                     const quorum_prediction *const *out, quorum_report *report)
{
    if (!m || !out || (!X && rows > 0))
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_predict_targets: model, X and out must not be NULL");
    for (size_t t = 0; t <= m->further.count; t++)
        if (!out[t])
            return failure(QUORUM_E_ARGUMENT, "quorum_predict_targets: out[%zu] is NULL", t);
    target_call c = {m, X, rows, options, out, report};
    return is_shared(&c) ? predict_together(&c) : predict_each(&c);
}
