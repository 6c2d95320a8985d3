/* From the experts' means at the reference inputs to the graph and the ranking (paper, sections
 * 3.1 and 3.2):
 *
 *   S_ij = sum_q (mu_iq - mean_i)(mu_jq - mean_j) / (count - 1)    M x M
 *   Omega = graphical lasso of S, or neighbourhood selection
 *   importance_i = sum over j != i of |Omega_ij|, the largest first
 *
 * Variances are asked for only where no edge tells who matters. */
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

quorum_status graph_lambda(size_t p, size_t count, const double *S, const graph_options *o,
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
    TRY(graph_lambda(p, count, S, o, &g->lambda));
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

/* The experts' answers to `count` of `inputs` inputs, and the graph to be learned from them. */
typedef struct {
    size_t M, count, inputs;
    const graph_options *o;
    question *asked; /* M                                                  */
    double *answer;  /* M x inputs: means, or explained variances later on */
    double *S;       /* M x M: covariance of means                         */
    expert_graph g;
} learning;

static void learning_free(learning *l)
{
    mem_free(l->asked);
    mem_free(l->answer);
    mem_free(l->S);
}

/* Room for the graph of M experts, and a word to the caller. */
static quorum_status prepare(learning *l)
{
    size_t M = l->M;
    TRY(expert_graph_new(M, &l->g));
    if (!NEW_ARRAY(l->asked, M) || !NEW_ARRAY(l->answer, M * l->inputs) || !NEW_ARRAY(l->S, M * M))
        return failure(QUORUM_E_MEMORY, "out of memory for the graph of %zu experts", M);
    return progress_report(l->o->progress, "graph", 0.0, "%zu experts at %zu inputs", M, l->count);
}

typedef enum { THEIR_MEANS, THEIR_EXPLAINED } wanted;

/* One kind of answer of all experts. */
static quorum_status ask(quorum_status ready, learning *l, wanted kind, const committee *c,
                         const points *Q)
{
    for (size_t e = 0; ready >= 0 && e < l->M; e++) {
        double *to = l->answer + e * l->inputs;
        l->asked[e] = (question){.expert = e,
                                 .b = l->inputs,
                                 .mean = kind == THEIR_MEANS ? to : NULL,
                                 .explained = kind == THEIR_EXPLAINED ? to : NULL};
    }
    return committee_answer(ready, c, l->asked, l->M, Q, l->o->budget, l->o->threads);
}

/* From the means to the ranking; one expert has nobody to be compared with. */
static quorum_status learn(void *context)
{
    learning *l = context;
    if (l->o->graph != GRAPH_NONE && l->M > 1) {
        TRY(covariance_of_means(l->M, l->count, l->inputs, l->answer, l->S));
        TRY(solve_or_tell(l->M, l->S, l->count, l->o, &l->g));
    }
    TRY(expert_graph_rank(l->M, &l->g, NULL));
    return progress_report(l->o->progress, "graph", 1.0, "%zu edges", l->g.edges);
}

static quorum_status rank_by_explained(void *context)
{
    learning *l = context;
    mean_explained(l->M, l->count, l->inputs, l->answer);
    return expert_graph_rank(l->M, &l->g, l->answer);
}

/* Every process learns the same graph from the same answers. */
quorum_status expert_graph_learn(const committee *c, const points *Q, size_t count,
                                 const graph_options *o, expert_graph *out)
{
    learning l = {.M = c->parts.M, .count = count, .inputs = Q->n, .o = o};
    quorum_status status = prepare(&l);
    if (l.M > 1 && o->graph != GRAPH_NONE)
        status = ask(status, &l, THEIR_MEANS, c, Q);
    status = team_all(status, learn, &l);
    if (status >= 0 && l.M > 1 && l.g.edges == 0)
        status = team_all(ask(status, &l, THEIR_EXPLAINED, c, Q), rank_by_explained, &l);
    learning_free(&l);
    if (status < 0)
        expert_graph_free(&l.g);
    *out = l.g;
    return status;
}
