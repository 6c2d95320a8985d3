/* Graphviz as a child process: the graph goes in by a pipe, the picture to a file. */
#ifndef QUORUM_CLI_GRAPHVIZ_H
#define QUORUM_CLI_GRAPHVIZ_H

#include "arguments.h"
#include "graph.h"

/* Draws the graph into `file`, as PNG or SVG by the ending of `path`; returns the exit code. */
int draw_with_graphviz(const arguments *given, FILE *file, const char *path, const expert_graph *g);

#endif
