/* The expert graph of a model: on inputs of its own, drawn from its rows, or on others (paper: on
 * the test inputs). */
#include "model/model.h"

#include "base/memory.h"
#include "base/random.h"
#include "linalg/blas.h"

#include <string.h>

/* Of memory, that factors made for the graph may take: of the model's own inputs, and beside a
 * prediction's. */
static const double SHARE_OF_OWN = 0.3, SHARE_OF_OTHERS = 0.2;

void learned_graph_free(learned_graph *g)
{
    expert_graph_free(&g->graph);
    mem_free(g->reference);
    *g = (learned_graph){0};
}

quorum_status expert_graph_check(const expert_graph *g)
{
    if (g->precision || !g->trouble)
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT,
                   "the model has no graph to select by, since it could not be learned: %s; or use "
                   "select local:K",
                   g->trouble);
}

/* Inputs at which the graph is learned. */
typedef struct {
    const quorum_model *m;
    const double *X; /* n x D: standardised, or, with in_units, to be standardised */
    size_t n;
    int in_units;
    points Q; /* as the experts see them, padded to QUERY_MULTIPLE */
} graph_inputs;

static quorum_status scale_graph_inputs(void *context)
{
    graph_inputs *in = context;
    const quorum_model *m = in->m;
    size_t padded = padded_queries(in->n);
    double *Z;
    if (!NEW_ZEROED(Z, padded * m->rows.D))
        return failure(QUORUM_E_MEMORY, "out of memory for the graph of %zu inputs", in->n);
    if (in->in_units)
        model_standardise(m, in->n, in->X, Z);
    else
        memcpy(Z, in->X, in->n * m->rows.D * sizeof *Z);
    quorum_status status = points_new(padded, m->rows.D, &in->Q);
    if (status == QUORUM_OK)
        points_scale(&in->Q, padded, Z, NULL, m->theta.lengthscale);
    mem_free(Z);
    return status;
}

/* The graph of the experts' means at these inputs. */
static quorum_status learn_at(graph_inputs *in, const committee *c, double share, const settings *s,
                              const progress *p, expert_graph *g)
{
    graph_options o = in->m->graph_how;
    o.budget = share * options_memory(s);
    o.threads = options_threads(s);
    o.progress = p;
    quorum_status status = team_all(QUORUM_OK, scale_graph_inputs, in);
    if (status == QUORUM_OK)
        status = expert_graph_learn(c, &in->Q, in->n, &o, g);
    points_free(&in->Q);
    return status;
}

/* ---- Inputs of its own ---- */

/* Means, S, Omega, and what the lasso works in: beyond memory the graph of
 * very many experts is refused. */
static quorum_status check_room(const quorum_model *m, const settings *s, size_t inputs)
{
    double M = (double)m->M, needed = 8.0 * M * ((double)inputs + 8.0 * M);
    if (needed <= options_memory(s))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY,
                   "the graph of %zu experts needs %.2f GB, more than memory (%.2f GB) allows: "
                   "raise memory, fit fewer experts, or use select local:K, which needs no graph",
                   m->M, needed / 1e9, options_memory(s) / 1e9);
}

size_t model_reference_rows(const quorum_model *m, size_t *rows)
{
    for (size_t i = 0; i < m->rows.n; i++)
        rows[i] = i;
    rng r = rng_seed(m->seed, STREAM_REFERENCE);
    rng_shuffle(&r, rows, m->rows.n);
    return m->graph_how.rows < m->rows.n ? m->graph_how.rows : m->rows.n;
}

/* Some rows at random. */
static quorum_status draw_references(quorum_status ready, const quorum_model *m, learned_graph *out)
{
    size_t *rows, count = m->graph_how.rows < m->rows.n ? m->graph_how.rows : m->rows.n;
    parts all = model_parts(m);
    NEW_ARRAY(rows, m->rows.n);
    NEW_ARRAY(out->reference, count * m->rows.D);
    if (ready >= 0 && (!rows || !out->reference))
        ready = failure(QUORUM_E_MEMORY, "out of memory for the reference inputs");
    if (ready >= 0)
        model_reference_rows(m, rows);
    out->references = count;
    quorum_status status = holdings_fetch(ready, &m->held, &all, rows, count, out->reference);
    mem_free(rows);
    return status;
}

static quorum_status check_learning(const quorum_model *m, const settings *s)
{
    TRY(blas_check());
    return check_room(m, s, m->graph_how.rows);
}

quorum_status model_learn_own_graph(const quorum_model *m, const settings *s, const progress *p,
                                    learned_graph *out)
{
    learned_graph g = {0};
    const committee *c;
    quorum_status status = QUORUM_OK;
    TRY_OR_DONE(draw_references(check_learning(m, s), m, &g));
    TRY_OR_DONE(m->M > 1 ? model_committee(m, s, p, &c) : model_rows(m, s, &c));
    graph_inputs in = {.m = m, .X = g.reference, .n = g.references};
    TRY_OR_DONE(learn_at(&in, c, SHARE_OF_OWN, s, p, &g.graph));
done:
    if (status < 0)
        learned_graph_free(&g);
    *out = g;
    return status;
}

/* ---- Other inputs ---- */

static quorum_status check_blas(void *context)
{
    (void)context;
    return blas_check();
}

quorum_status model_graph_on(const quorum_model *m, const double *X, size_t n, const settings *s,
                             const progress *p, expert_graph *g)
{
    const committee *c;
    graph_inputs in = {.m = m, .X = X, .n = n, .in_units = 1};
    TRY(team_all(QUORUM_OK, check_blas, NULL));
    TRY(model_committee(m, s, p, &c));
    quorum_status status = learn_at(&in, c, SHARE_OF_OTHERS, s, p, g);
    if (status == QUORUM_OK && !g->precision)
        status = failure(QUORUM_E_NUMERIC, "the graph of these inputs could not be learned: %s",
                         g->trouble);
    if (status < 0)
        expert_graph_free(g);
    return status;
}

/* ---- For the caller ---- */

static quorum_status learn_own(const quorum_model *m, const quorum_options *options)
{
    const expert_graph *g;
    TRY(model_graph(m, options_values(options), options_progress(options), &g));
    if (g->precision || !g->trouble)
        return QUORUM_OK;
    return failure(QUORUM_E_NUMERIC, "the expert graph could not be learned: %s", g->trouble);
}

static quorum_status learn_on(const quorum_model *m, const double *X, size_t rows,
                              const quorum_options *options)
{
    learned_graph fresh = {0};
    TRY(model_graph_on(m, X, rows, options_values(options), options_progress(options),
                       &fresh.graph));
    model_take_graph(m, &fresh);
    return QUORUM_OK;
}

quorum_status quorum_learn_graph(quorum_model *m, const double *X, size_t rows,
                                 const quorum_options *options)
{
    progress_watch watch;
    if (!m || (X && rows < 2) || (!X && rows > 0))
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_learn_graph: needs a model, and two inputs or more or none");
    if (X)
        TRY(model_check_queries(m, X, rows));
    options_watch(options, "graph", &watch);
    quorum_status status = X ? learn_on(m, X, rows, options) : learn_own(m, options);
    progress_watch_end(&watch);
    return status;
}
