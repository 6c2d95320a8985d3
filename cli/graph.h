/* A model's expert graph, ready to be drawn. */
#ifndef QUORUM_CLI_GRAPH_H
#define QUORUM_CLI_GRAPH_H

#include "arguments.h"
#include "quorum.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct {
    quorum_info info;
    char select[64]; /* "graph:0.8"                                                 */
    double alpha;    /* 0.8                                                         */
    bool *selected;  /* experts: drawn as selected                                  */
    double *mse;     /* experts: own mean squared error on the test set, or NULL    */
    bool *best;      /* experts: among the best ceil(alpha M) by mse, or NULL       */
} expert_graph;

/* Graphviz's language: nodes, edges, title and legend. */
void write_dot(FILE *file, const expert_graph *g);

/* Nodes, edges and settings; returns the exit code. */
int write_graph_as_json(FILE *file, const expert_graph *g, const arguments *given);

#endif
