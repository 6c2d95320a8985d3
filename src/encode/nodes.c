/* Known levels that stand for a new one (nodes.h). */
#include "encode/nodes.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static double sample_variance(const double *a, size_t n, double *mean)
{
    double sum = 0.0;
    *mean = 0.0;
    for (size_t i = 0; i < n; i++)
        *mean += a[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - *mean) * (a[i] - *mean);
    return n > 1 ? sum / (double)(n - 1) : 0.0;
}

typedef struct {
    double position;
    size_t level;
} placed_level;

static int compare_places(const void *a, const void *b)
{
    const placed_level *p = a, *q = b;
    if (p->position != q->position)
        return p->position < q->position ? -1 : 1;
    return p->level < q->level ? -1 : 1;
}

/* Those at the quantiles. */
static void take_nodes(const category *c, const placed_level *sorted, level_nodes *out)
{
    double place[MOST_NODES], mean;
    for (size_t j = 0; j < MOST_NODES; j++) {
        size_t at = (2 * j + 1) * c->levels / ((size_t)2 * MOST_NODES);
        out->level[j] = sorted[at].level;
        place[j] = sorted[at].position;
    }
    double all = sample_variance(c->position, c->levels, &mean);
    double nodes = sample_variance(place, MOST_NODES, &mean);
    out->count = MOST_NODES;
    if (nodes > 0.0 && all > nodes)
        out->widen *= all / nodes;
}

static void take_all(const category *c, const placed_level *sorted, level_nodes *out)
{
    out->count = c->levels;
    for (size_t l = 0; l < c->levels; l++)
        out->level[l] = sorted[l].level;
}

quorum_status level_nodes_choose(const category *c, level_nodes *out)
{
    placed_level *sorted;
    out->widen = 1.0 + 1.0 / (double)c->levels;
    if (!NEW_ARRAY(sorted, c->levels))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu levels", c->levels);
    for (size_t l = 0; l < c->levels; l++)
        sorted[l] = (placed_level){c->position[l], l};
    qsort(sorted, c->levels, sizeof *sorted, compare_places);
    if (c->levels <= MOST_NODES)
        take_all(c, sorted, out);
    else
        take_nodes(c, sorted, out);
    mem_free(sorted);
    return QUORUM_OK;
}

/* ---- Of a query ---- */

node_set node_set_of(const encoding *e, const level_nodes *nodes, const double *x)
{
    node_set s = {0};
    size_t fresh = 0;
    for (size_t d = 0; d < e->inputs; d++) {
        if (!category_needs_nodes(&e->of[d], x[d]))
            continue;
        s.count = fresh++ == 0 ? nodes[d].count : MOST_NODES;
        s.widen = fmax(s.widen, nodes[d].widen);
    }
    return s;
}

/* Of the `fresh`-th new category in combination j. */
static size_t level_at(const level_nodes *n, const node_set *s, size_t fresh, size_t j)
{
    static const size_t multiplier[] = {1, 4, 3, 5, 2, 6, 7, 8};
    size_t g = multiplier[fresh % (sizeof multiplier / sizeof *multiplier)];
    size_t slot = g * (j + 1) % (MOST_NODES + 1) - 1;
    return n->level[s->count == n->count && fresh == 0 ? j : slot * n->count / MOST_NODES];
}

void node_set_fill(const encoding *e, const level_nodes *nodes, const node_set *s, size_t j,
                   const double *x, double *z)
{
    size_t fresh = 0;
    for (size_t d = 0; d < e->inputs; d++) {
        z[d] = x[d];
        if (category_needs_nodes(&e->of[d], x[d]))
            z[d] = (double)level_at(&nodes[d], s, fresh++, j);
    }
}

void node_set_join(const node_set *s, const double *a, double *mean, double *variance)
{
    *variance = s->widen * sample_variance(a, s->count, mean);
}
