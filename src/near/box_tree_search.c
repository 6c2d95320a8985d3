/* Depth first, the nearest box first.  A box is passed over when even its
 * nearest possible point, with its lowest row number, ranks behind the limit;
 * the row number matters where many points are equally far (duplicates). */
#include "near/box_tree.h"

#include "near/distances.h"

#include <stdalign.h>

enum { MOST_GROUPS = 8, LINE = 8 /* doubles fetched at once */ };

typedef struct {
    const box_tree *tree;
    const double *q;
    nearest *best;
    size_t looked_at;
} search;

static void search_leaf(search *s, size_t k)
{
    const box_tree *tree = s->tree;
    size_t from = box_tree_start(tree, tree->splits, k);
    size_t count = box_tree_start(tree, tree->splits, k + 1) - from;
    const double *leaf = tree->coordinates + k * tree->leaf_groups * LANES * tree->D;
    alignas(64) double distance[MOST_GROUPS * LANES];
    group_distances((count + LANES - 1) / LANES, tree->D, leaf, s->q, s->best->limit.key, distance);
    for (size_t i = 0; i < count; i++)
        if (distance[i] <= s->best->limit.key)
            nearest_offer(s->best, distance[i], tree->rows[from + i]);
    s->looked_at += count;
}

/* The children worth a visit, nearest first; returns how many. */
static size_t rank_children(const search *s, size_t l, size_t k, ranked *child, size_t *lane)
{
    const box_tree *tree = s->tree;
    size_t node = box_tree_node(tree, l, k), fan = box_tree_fan(tree, l), count = 0;
    const size_t *least = tree->least + node * LANES;
    alignas(64) double bound[LANES];
    box_distances(tree->D, tree->boxes + node * tree->D * 2 * LANES, s->q, bound);
    for (size_t j = 0; j < fan; j++) {
        ranked item = {bound[j], least[j]};
        if (ranked_before(s->best->limit, item))
            continue;
        size_t i = count++;
        for (; i > 0 && ranked_before(item, child[i - 1]); i--) {
            child[i] = child[i - 1];
            lane[i] = lane[i - 1];
        }
        child[i] = item;
        lane[i] = j;
    }
    return count;
}

/* Asks for a leaf's memory ahead of the visit. */
static void fetch_leaf(const box_tree *tree, size_t k)
{
    size_t size = tree->leaf_groups * LANES * tree->D;
    const double *leaf = tree->coordinates + k * size;
    for (size_t i = 0; i < size; i += LINE)
        __builtin_prefetch(leaf + i);
}

static void search_node(search *s, size_t l, size_t k)
{
    if (l == s->tree->levels) {
        search_leaf(s, k);
        return;
    }
    ranked child[LANES];
    size_t lane[LANES], count = rank_children(s, l, k, child, lane);
    for (size_t i = 0; i < count && !ranked_before(s->best->limit, child[i]); i++) {
        if (l + 1 == s->tree->levels && i + 1 < count)
            fetch_leaf(s->tree, k * LANES + lane[i + 1]);
        search_node(s, l + 1, k * LANES + lane[i]);
    }
}

size_t box_tree_search(const box_tree *tree, const double *q, nearest *best)
{
    search s = {.tree = tree, .q = q, .best = best};
    search_node(&s, 0, 0);
    return s.looked_at;
}
