/* What a prediction computes, and what of it does not go together. */
#include "model/model.h"

/* Whether the fit's choice decides, nothing that it depends on being asked for. */
static int is_by_choice(const quorum_model *m, const settings *s, const recipe *r)
{
    return m->method.by_cells && options_method_is_auto(s) && options_neighbours_are_auto(s) &&
           r->rule == &rule_nearest;
}

const quorum_options *options_by_rows(const quorum_model *m, const quorum_options *options,
                                      quorum_options *own)
{
    const settings *s = options_values(options);
    if (!m->method.by_cells || !options_method_is_auto(s))
        return options;
    *own = options ? *options : (quorum_options){.values = *s};
    own->values.method = rule_nearest.name;
    return own;
}

quorum_status model_recipe(const quorum_model *m, const settings *s, recipe *out)
{
    *out = (recipe){.space = s->space, .graph_on = s->graph_on};
    TRY(options_method(s, m->M, &out->rule, &out->chosen, &out->neighbours));
    if (is_by_choice(m, s, out))
        out->rule = &rule_cells;
    if (out->rule->kind == TAKES_ROWS && options_neighbours_are_auto(s) && m->neighbours > 0)
        out->neighbours = m->neighbours;
    if (out->rule->kind == TAKES_CELLS && options_neighbours_are_auto(s) && m->neighbours > 0)
        out->neighbours = m->neighbours * CELL_NEIGHBOURS / OWN_NEIGHBOURS;
    out->neighbours = out->neighbours < m->rows.n ? out->neighbours : m->rows.n;
    return QUORUM_OK;
}

static int is_local(const selection *s)
{
    return s->local > 0 || s->local_auto;
}

int recipe_asks_graph(const recipe *r)
{
    return selection_is_by_rank(&r->chosen) || r->rule->kind == TAKES_GROUPS;
}

/* Methods nearest and cells ask nobody, and with select none they are asked for. */
static quorum_status check_nearest(const recipe *r)
{
    int nobody = r->chosen.kind == SELECT_NONE;
    if (!rule_asks_nobody(r->rule))
        return !nobody ? QUORUM_OK
                       : failure(QUORUM_E_ARGUMENT,
                                 "select none leaves method %s nobody to ask: use method nearest",
                                 r->rule->name);
    if (!nobody || is_local(&r->chosen))
        return failure(QUORUM_E_ARGUMENT,
                       "method %s asks no experts, and select names some: leave select out, "
                       "or use method npae",
                       r->rule->name);
    if (r->neighbours == 0)
        return failure(QUORUM_E_ARGUMENT,
                       "method %s has no rows to predict from: give neighbours 1 or more",
                       r->rule->name);
    return QUORUM_OK;
}

quorum_status recipe_check(const recipe *r)
{
    const char *name = r->rule->name;
    TRY(check_nearest(r));
    if (r->rule->kind == TAKES_BASE && is_local(&r->chosen))
        return failure(QUORUM_E_ARGUMENT,
                       "method %s joins all experts with one base: select local does not apply",
                       name);
    if ((r->rule->kind == TAKES_GROUPS || r->rule->kind == TAKES_GRAPH) && is_local(&r->chosen))
        return failure(QUORUM_E_ARGUMENT,
                       "method %s joins the same experts at all queries: select local and knn do "
                       "not apply",
                       name);
    if (r->chosen.local_auto && r->rule->kind != TAKES_COVARIANCE)
        return failure(QUORUM_E_ARGUMENT,
                       "method %s does not say which experts still help: use select local:K", name);
    if (r->neighbours > 0 && !rule_is_joint(r->rule))
        return failure(QUORUM_E_ARGUMENT,
                       "method %s takes the experts as independent, which a neighbourhood is not: "
                       "use neighbours with nearest or npae",
                       name);
    return QUORUM_OK;
}

quorum_status model_check_recipe(const quorum_model *m, const recipe *r)
{
    TRY(recipe_check(r));
    if (r->chosen.kind == SELECT_ONE && r->chosen.expert >= m->M)
        return failure(QUORUM_E_ARGUMENT, "select expert:%zu: the model has %zu experts",
                       r->chosen.expert + 1, m->M);
    if (!recipe_asks_graph(r) || r->graph_on == GRAPH_ON_TEST)
        return QUORUM_OK;
    const expert_graph known = model_now(m).learned.graph;
    return expert_graph_check(&known);
}

/* What makes no difference set to one value: a choice of all experts however it is called, the K
 * nearest of no more than K, the space where nearest and npae know only one, inputs of a graph that nobody
 * asks. */
static recipe settled(const quorum_model *m, recipe r)
{
    selection *c = &r.chosen;
    size_t count = selection_count(c, m->M);
    c->kind = count == m->M ? SELECT_ALL : c->kind;
    c->share = (double)count;
    c->expert = c->kind == SELECT_ONE ? c->expert : 0;
    c->local = c->local < count ? c->local : 0;
    c->local_auto = c->local_auto && count > 1;
    c->by_centre = c->by_centre && c->local > 0;
    r.space = rule_is_latent(r.rule) ? SPACE_LATENT : r.space;
    r.graph_on = recipe_asks_graph(&r) ? r.graph_on : GRAPH_ON_TRAIN;
    return r;
}

int model_same_prediction(const quorum_model *m, const recipe *a, const recipe *b)
{
    recipe x = settled(m, *a), y = settled(m, *b);
    return x.rule == y.rule && x.chosen.kind == y.chosen.kind && x.chosen.share == y.chosen.share &&
           x.chosen.expert == y.chosen.expert && x.chosen.local == y.chosen.local &&
           x.chosen.local_auto == y.chosen.local_auto && x.chosen.by_centre == y.chosen.by_centre &&
           x.neighbours == y.neighbours && x.space == y.space && x.graph_on == y.graph_on;
}
