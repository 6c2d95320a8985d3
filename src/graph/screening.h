/* Exact screening for the graphical lasso (Witten, Friedman and Simon;
 * Mazumder and Hastie): the connected components of the graph with an edge
 * where |S_ij| > lambda are those of the solution's graph, so each is solved on
 * its own. */
#ifndef QRM_GRAPH_SCREENING_H
#define QRM_GRAPH_SCREENING_H

#include <stddef.h>

/* component[i] (p) = the number of i's component, 0, 1, ... in the order of
 * their smallest members.  Reads the lower triangle of S (p x p, symmetric).
 * Returns how many components there are. */
size_t screened_components(size_t p, const double *S, double lambda, size_t *component);

#endif
