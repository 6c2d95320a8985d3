/* The expert graph on other inputs than those of the fit (paper: on the test inputs). */
#include "model/model.h"

#include "base/memory.h"
#include "linalg/blas.h"
#include "team/team.h"

static const double SHARE_OF_MEMORY = 0.2; /* that factors made for this may take */

quorum_status model_graph_on(const quorum_model *m, const double *X, size_t n, const settings *s,
                             const progress *p, expert_graph *g)
{
    const committee *c;
    graph_options o = m->graph_how;
    TRY(team_agree(blas_check()));
    o.budget = SHARE_OF_MEMORY * options_memory(s);
    o.threads = options_threads(s);
    o.progress = p;
    size_t padded = (n + QUERY_MULTIPLE - 1) / QUERY_MULTIPLE * QUERY_MULTIPLE;
    double *Z;
    points Q = {0};
    TRY(model_committee(m, s, p, &c));
    if (!NEW_ZEROED(Z, padded * m->D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n);
    model_standardise(m, n, X, Z);
    quorum_status status = points_new(padded, m->D, &Q);
    if (status == QUORUM_OK) {
        points_scale(&Q, padded, Z, NULL, m->theta.lengthscale);
        status = expert_graph_learn(c, &Q, n, &o, g);
    }
    if (status == QUORUM_OK && !g->precision)
        status = failure(QUORUM_E_NUMERIC, "the graph of these inputs could not be learned: %s",
                         g->trouble);
    if (status < 0)
        expert_graph_free(g);
    points_free(&Q);
    mem_free(Z);
    return status;
}

quorum_status quorum_learn_graph(quorum_model *m, const double *X, size_t rows,
                                 const quorum_options *options)
{
    expert_graph fresh = {0};
    progress_watch watch;
    if (!m || !X || rows < 2)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_learn_graph: needs a model and two inputs or more");
    TRY(model_check_queries(m, X, rows));
    options_watch(options, "graph", &watch);
    quorum_status status =
        model_graph_on(m, X, rows, options_values(options), options_progress(options), &fresh);
    progress_watch_end(&watch);
    TRY(status);
    expert_graph_free(&m->graph);
    m->graph = fresh;
    return status;
}
