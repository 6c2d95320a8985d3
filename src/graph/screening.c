/* Connected components by union and find over the pairs with |S_ij| > lambda. */
#include "graph/screening.h"

#include <math.h>

/* The smallest member of i's component so far; halves the path on the way. */
static size_t find_root(size_t *parent, size_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join(size_t *parent, size_t i, size_t j)
{
    size_t a = find_root(parent, i), b = find_root(parent, j);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* Replaces roots by numbers.  A root is the smallest member of its component,
 * so it has its number before the others ask for it. */
static size_t number_components(size_t p, size_t *parent)
{
    size_t count = 0;
    for (size_t i = 0; i < p; i++)
        parent[i] = find_root(parent, i);
    for (size_t i = 0; i < p; i++)
        parent[i] = parent[i] == i ? count++ : parent[parent[i]];
    return count;
}

size_t screened_components(size_t p, const double *S, double lambda, size_t *component)
{
    for (size_t i = 0; i < p; i++)
        component[i] = i;
    for (size_t j = 0; j < p; j++)
        for (size_t i = j + 1; i < p; i++)
            if (fabs(S[i + j * p]) > lambda)
                join(component, i, j);
    return number_components(p, component);
}
