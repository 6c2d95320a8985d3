/* The expert graph of a model: on inputs of its own, drawn from its rows, or on others (paper: on
 * the test inputs). */
#include "model/model.h"

#include "base/memory.h"
#include "base/random.h"
#include "linalg/blas.h"
#include "team/team.h"

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

/* Standardised inputs (n x D) as the experts see them, padded to QUERY_MULTIPLE. */
static quorum_status scaled_points(const quorum_model *m, const double *Z, size_t n, points *out)
{
    size_t padded = padded_queries(n);
    double *X;
    if (!NEW_ZEROED(X, padded * m->D))
        return failure(QUORUM_E_MEMORY, "out of memory for the graph of %zu inputs", n);
    memcpy(X, Z, n * m->D * sizeof *X);
    quorum_status status = points_new(padded, m->D, out);
    if (status == QUORUM_OK)
        points_scale(out, padded, X, NULL, m->theta.lengthscale);
    mem_free(X);
    return status;
}

/* The graph of the experts' means at n standardised inputs. */
static quorum_status learn_at(const quorum_model *m, const committee *c, const double *Z, size_t n,
                              double share, const settings *s, const progress *p, expert_graph *g)
{
    points Q = {0};
    graph_options o = m->graph_how;
    o.budget = share * options_memory(s);
    o.threads = options_threads(s);
    o.progress = p;
    quorum_status status = team_agree(scaled_points(m, Z, n, &Q));
    if (status == QUORUM_OK)
        status = expert_graph_learn(c, &Q, n, &o, g);
    points_free(&Q);
    return status;
}

/* ---- Inputs of its own ---- */

/* Means and explained variances, S, Omega, and what the lasso works in: beyond memory the graph of
 * very many experts is refused. */
static quorum_status check_room(const quorum_model *m, const settings *s, size_t inputs)
{
    double M = (double)m->M, needed = 8.0 * M * (2.0 * (double)inputs + 8.0 * M);
    if (needed <= options_memory(s))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY,
                   "the graph of %zu experts needs %.2f GB, more than memory (%.2f GB) allows: "
                   "raise memory, fit fewer experts, or use select local:K, which needs no graph",
                   m->M, needed / 1e9, options_memory(s) / 1e9);
}

/* Some rows at random; from the owners of their experts, where not all have all. */
static quorum_status draw_references(const quorum_model *m, double **reference, size_t *references)
{
    size_t *rows, count = m->graph_how.rows < m->n ? m->graph_how.rows : m->n;
    team_piece *pieces;
    parts all = model_parts(m);
    int whole = model_is_whole(m);
    NEW_ARRAY(rows, m->n);
    NEW_ARRAY(pieces, count);
    NEW_ARRAY(*reference, count * m->D);
    quorum_status status = QUORUM_OK;
    if (!rows || !pieces || !*reference)
        status = failure(QUORUM_E_MEMORY, "out of memory for the reference inputs");
    TRY_OR_DONE(team_agree(status));
    *references = count;
    for (size_t i = 0; i < m->n; i++)
        rows[i] = i;
    rng r = rng_seed(m->seed, STREAM_REFERENCE);
    rng_shuffle(&r, rows, m->n);
    for (size_t i = 0; i < count; i++) {
        double *to = *reference + i * m->D;
        size_t e = part_of_row(&all, rows[i]);
        if (!whole)
            pieces[i] = (team_piece){to, m->D * sizeof *to, m->owner[e]};
        if (whole || m->owner[e] == team_rank())
            memcpy(to, m->X + rows[i] * m->D, m->D * sizeof *to);
    }
    if (!whole)
        team_share(pieces, count);
done:
    mem_free(rows);
    mem_free(pieces);
    return status;
}

quorum_status model_learn_own_graph(const quorum_model *m, const settings *s, const progress *p,
                                    learned_graph *out)
{
    learned_graph g = {0};
    const committee *c;
    quorum_status status = QUORUM_OK;
    TRY(team_agree(blas_check()));
    TRY(team_agree(check_room(m, s, m->graph_how.rows)));
    TRY_OR_DONE(draw_references(m, &g.reference, &g.references));
    TRY_OR_DONE(m->M > 1 ? model_committee(m, s, p, &c) : model_rows(m, &c));
    TRY_OR_DONE(learn_at(m, c, g.reference, g.references, SHARE_OF_OWN, s, p, &g.graph));
done:
    if (status < 0)
        learned_graph_free(&g);
    *out = g;
    return status;
}

/* ---- Other inputs ---- */

quorum_status model_graph_on(const quorum_model *m, const double *X, size_t n, const settings *s,
                             const progress *p, expert_graph *g)
{
    const committee *c;
    double *Z;
    TRY(team_agree(blas_check()));
    TRY(model_committee(m, s, p, &c));
    NEW_ARRAY(Z, n * m->D);
    TRY(team_agree(Z ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n)));
    model_standardise(m, n, X, Z);
    quorum_status status = learn_at(m, c, Z, n, SHARE_OF_OTHERS, s, p, g);
    if (status == QUORUM_OK && !g->precision)
        status = failure(QUORUM_E_NUMERIC, "the graph of these inputs could not be learned: %s",
                         g->trouble);
    if (status < 0)
        expert_graph_free(g);
    mem_free(Z);
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
