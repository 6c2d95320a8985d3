/* From the experts' means at the reference inputs to the graph and the ranking (paper, sections
 * 3.1 and 3.2):
 *
 *   S_ij = sum_q (mu_iq - mean_i)(mu_jq - mean_j) / (count - 1)    M x M
 *   Omega = graphical lasso of S, or neighbourhood selection
 *   importance_i = sum over j != i of |Omega_ij|, the largest first */
#include "graph/expert_graph.h"

#include "base/memory.h"
#include "graph/glasso.h"
#include "linalg/blas.h"
#include "team/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

quorum_status expert_graph_new(size_t M, expert_graph *out)
{
    expert_graph g = {0};
    NEW_ZEROED(g.precision, M * M);
    NEW_ZEROED(g.importance, M);
    NEW_ARRAY(g.ranking, M);
    *out = g;
    if (!g.precision || !g.importance || !g.ranking) {
        expert_graph_free(out);
        return failure(QUORUM_E_MEMORY, "out of memory for the graph of %zu experts", M);
    }
    for (size_t i = 0; i < M; i++) {
        g.precision[i * M + i] = 1.0;
        g.ranking[i] = i;
    }
    return QUORUM_OK;
}

void expert_graph_free(expert_graph *g)
{
    mem_free(g->precision);
    mem_free(g->importance);
    mem_free(g->ranking);
    mem_free(g->trouble);
    *g = (expert_graph){0};
}

quorum_status covariance_of_means(size_t p, size_t count, size_t stride, const double *mean,
                                  double *S)
{
    /* Centred in the lower triangle's own order: sums by expert pairs. */
    for (size_t i = 0; i < p; i++) {
        double mi = 0.0;
        for (size_t q = 0; q < count; q++)
            mi += mean[i * stride + q];
        S[i * p + i] = mi / (double)count; /* the means wait on the diagonal */
    }
    for (size_t i = 0; i < p; i++) {
        TRY(progress_go_on());
        for (size_t j = 0; j < i; j++) {
            double sum = 0.0, mi = S[i * p + i], mj = S[j * p + j];
            for (size_t q = 0; q < count; q++)
                sum += (mean[i * stride + q] - mi) * (mean[j * stride + q] - mj);
            S[i * p + j] = S[j * p + i] = count > 1 ? sum / (double)(count - 1) : 0.0;
        }
    }
    for (size_t i = 0; i < p; i++) {
        double sum = 0.0, mi = S[i * p + i];
        for (size_t q = 0; q < count; q++)
            sum += (mean[i * stride + q] - mi) * (mean[i * stride + q] - mi);
        S[i * p + i] = count > 1 ? sum / (double)(count - 1) : 0.0;
    }
    return QUORUM_OK;
}

static double largest_off_diagonal(size_t p, const double *S)
{
    double most = 0.0;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < i; j++)
            most = fmax(most, fabs(S[i * p + j]));
    return most;
}

static quorum_status choose_lambda(size_t p, size_t count, const double *S, const graph_options *o,
                                   double *lambda)
{
    enum { STEPS = 12 };
    *lambda = o->value;
    if (o->lambda == LAMBDA_RELATIVE)
        *lambda = o->value * largest_off_diagonal(p, S);
    if (o->lambda == LAMBDA_EBIC && largest_off_diagonal(p, S) > 0.0)
        return glasso_ebic(p, S, count, o->free_diagonal, STEPS, 0.01, lambda, NULL, NULL);
    return QUORUM_OK;
}

/* The relative duality gap that is asked for, since the error of Omega goes with its root; that is
 * as good, where rounding allows no more; and that is good enough for a ranking. */
static const double GAP_WANTED = 1e-10, GAP_FINE = 1e-6, GAP_ROUGH = 1e-3;

/* *gap: what is left of the gap, relative to the objective; infinite: there is no solution. */
static quorum_status solve(size_t p, const double *S, size_t count, const graph_options *o,
                           expert_graph *g, double *gap)
{
    *gap = INFINITY;
    TRY(choose_lambda(p, count, S, o, &g->lambda));
    TRY(progress_report(o->progress, "graph", 0.5, "lambda %.4g", g->lambda));
    if (o->graph == GRAPH_LASSO)
        return neighbourhood_lasso(p, S, g->lambda, g->precision, &g->edges);
    glasso_options settings = glasso_defaults(g->lambda);
    settings.free_diagonal = o->free_diagonal;
    settings.tolerance = GAP_WANTED;
    glasso_result result = {0};
    quorum_status status = glasso(p, S, &settings, g->precision, &result);
    if (result.gap > 0.0)
        *gap = result.gap / fmax(1.0, fabs(result.objective));
    return status;
}

/* A graph is no reason to lose a fit: what the numbers do not allow is told instead. */
static quorum_status solve_or_tell(size_t p, const double *S, size_t count, const graph_options *o,
                                   expert_graph *g)
{
    double gap;
    quorum_status status = solve(p, S, count, o, g, &gap);
    if (status != QUORUM_E_NUMERIC)
        return status;
    if (gap <= GAP_FINE)
        return QUORUM_OK;
    if (!(gap <= GAP_ROUGH)) {
        mem_free(g->precision);
        g->precision = NULL;
    }
    g->trouble = mem_copy_text(quorum_message());
    return g->trouble ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for the graph");
}

typedef struct {
    double score;
    size_t expert;
} scored;

static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->expert < y->expert ? -1 : x->expert > y->expert;
}

quorum_status expert_graph_rank(size_t M, expert_graph *g, const double *instead)
{
    g->edges = 0;
    for (size_t i = 0; i < M; i++) {
        g->importance[i] = 0.0;
        for (size_t j = 0; g->precision && j < M; j++)
            if (j != i && g->precision[i * M + j] != 0.0) {
                g->importance[i] += fabs(g->precision[i * M + j]);
                g->edges += j < i;
            }
    }
    const double *score = g->edges == 0 && instead ? instead : g->importance;
    scored *list;
    if (!NEW_ARRAY(list, M))
        return failure(QUORUM_E_MEMORY, "out of memory for the ranking of %zu experts", M);
    for (size_t i = 0; i < M; i++)
        list[i] = (scored){.score = score[i], .expert = i};
    qsort(list, M, sizeof *list, by_score);
    for (size_t i = 0; i < M; i++)
        g->ranking[i] = list[i].expert;
    mem_free(list);
    return QUORUM_OK;
}

/* instead[i] = mean explained variance of expert i over the reference inputs. */
static void mean_explained(size_t M, size_t count, size_t stride, double *explained)
{
    for (size_t i = 0; i < M; i++) {
        double sum = 0.0;
        for (size_t q = 0; q < count; q++)
            sum += explained[i * stride + q];
        explained[i] = sum / (double)count; /* i <= i * stride: nothing still needed is lost */
    }
}

/* ---- Learning ---- */

/* What the experts say at the reference inputs. */
typedef struct {
    question *asked;          /* M                          */
    double *mean, *explained; /* M x inputs                 */
    double *S;                /* M x M: covariance of means */
} graph_space;

static void space_free(graph_space *w)
{
    mem_free(w->asked);
    mem_free(w->mean);
    mem_free(w->explained);
    mem_free(w->S);
}

static quorum_status space_new(size_t M, size_t inputs, graph_space *w)
{
    if (!NEW_ARRAY(w->asked, M) || !NEW_ARRAY(w->mean, M * inputs) ||
        !NEW_ARRAY(w->explained, M * inputs) || !NEW_ARRAY(w->S, M * M))
        return failure(QUORUM_E_MEMORY, "out of memory for the graph of %zu experts", M);
    for (size_t e = 0; e < M; e++)
        w->asked[e] = (question){.expert = e,
                                 .b = inputs,
                                 .mean = w->mean + e * inputs,
                                 .explained = w->explained + e * inputs};
    return QUORUM_OK;
}

/* Room for the graph of M experts at Q, and a word to the caller. */
static quorum_status prepare(size_t M, const points *Q, size_t count, const graph_options *o,
                             graph_space *w, expert_graph *g)
{
    TRY(expert_graph_new(M, g));
    TRY(space_new(M, Q->n, w));
    return progress_report(o->progress, "graph", 0.0, "%zu experts at %zu inputs", M, count);
}

/* The experts' answers to `count` of `inputs` inputs, and the graph to be learned from them. */
typedef struct {
    size_t M, count, inputs;
    const graph_options *o;
    graph_space w;
    expert_graph g;
} learning;

/* From the answers to the ranking; one expert has nobody to be compared with. */
static quorum_status learn(void *context)
{
    learning *l = context;
    size_t M = l->M;
    if (M > 1)
        mean_explained(M, l->count, l->inputs, l->w.explained);
    if (l->o->graph != GRAPH_NONE && M > 1) {
        TRY(covariance_of_means(M, l->count, l->inputs, l->w.mean, l->w.S));
        TRY(solve_or_tell(M, l->w.S, l->count, l->o, &l->g));
    }
    TRY(expert_graph_rank(M, &l->g, M > 1 ? l->w.explained : NULL));
    return progress_report(l->o->progress, "graph", 1.0, "%zu edges", l->g.edges);
}

/* Every process learns the same graph from the same answers. */
quorum_status expert_graph_learn(const committee *c, const points *Q, size_t count,
                                 const graph_options *o, expert_graph *out)
{
    size_t M = c->parts.M;
    learning l = {.M = M, .count = count, .inputs = Q->n, .o = o};
    quorum_status status = prepare(M, Q, count, o, &l.w, &l.g);
    if (M > 1)
        status = committee_answer(status, c, l.w.asked, M, Q, o->budget, o->threads);
    status = team_all(status, learn, &l);
    space_free(&l.w);
    if (status < 0)
        expert_graph_free(&l.g);
    *out = l.g;
    return status;
}
