/* The graph of the experts: who depends on whom, who matters (paper, sections
 * 3.1 and 3.2). */
#ifndef QRM_GRAPH_EXPERT_GRAPH_H
#define QRM_GRAPH_EXPERT_GRAPH_H

#include "base/progress.h"
#include "experts/committee.h"

/* GRAPH_AUTO is the graphical lasso where the caller has decided that there is to be one. */
typedef enum { GRAPH_AUTO, GRAPH_GLASSO, GRAPH_LASSO, GRAPH_NONE } graph_kind;
typedef enum { LAMBDA_RELATIVE, LAMBDA_ABSOLUTE, LAMBDA_EBIC } lambda_kind;

typedef struct {
    graph_kind graph;
    lambda_kind lambda;
    double value;      /* of lambda: absolute, or a share of max_{i != j} |S_ij| */
    int free_diagonal; /* 1: leave the diagonal unpenalised                      */
    size_t rows;       /* inputs to learn it on, where they are drawn            */
    double budget;     /* bytes                                                  */
    int threads;
    const progress *progress;
} graph_options;

typedef struct {
    double lambda; /* absolute                                                */
    size_t edges;
    double *precision;  /* M x M: Omega; NULL: no graph was learned                */
    double *importance; /* M: I_i = sum_{j != i} |Omega_ij|                        */
    size_t *ranking;    /* M: most important first                                 */
    char *trouble;      /* why there is no graph, or only a rough one; NULL: none  */
} expert_graph;

/* From the experts' means at the reference inputs Q (scaled; the number of
 * points is a multiple of QUERY_MULTIPLE, of which the first `count` are used).
 * An empty graph orders the experts by their mean explained variance, and so does one that the
 * numbers do not allow: then there is no precision and trouble says why. */
quorum_status expert_graph_learn(const committee *c, const points *Q, size_t count,
                                 const graph_options *options, expert_graph *out);

/* Importance and ranking from `precision`, ties to the lower number.  `instead`
 * (M) orders the experts when there is no edge. */
quorum_status expert_graph_rank(size_t M, expert_graph *g, const double *instead);

quorum_status expert_graph_new(size_t M, expert_graph *out); /* precision = I */
void expert_graph_free(expert_graph *g);

/* The absolute penalty of S (p x p), from `count` inputs. */
quorum_status graph_lambda(size_t p, size_t count, const double *S, const graph_options *o,
                           double *lambda);

/* S (p x p) = sample covariance of the rows of mean (p x stride, count used). */
quorum_status covariance_of_means(size_t p, size_t count, size_t stride, const double *mean,
                                  double *S);

#endif
