/* A tree of boxes over points: median splits along the widest coordinate, three
 * at a time, so that a node has eight children whose boxes are tested together.
 *
 *   level 0       the root, with 2, 4 or 8 children
 *   levels 1 ..   eight children each
 *   the last      leaves of 16 to 32 points (fewer only if n is), their coordinates
 *                 copied in tree order
 *
 * Node k of level l holds the positions  k n / 2^b .. (k + 1) n / 2^b - 1  of the
 * tree order, b the number of splits above the level: nothing else is stored. */
#ifndef QRM_NEAR_BOX_TREE_H
#define QRM_NEAR_BOX_TREE_H

#include "base/status.h"
#include "near/ranked.h"

#include <stddef.h>

typedef struct {
    size_t n, D;
    size_t levels;       /* levels of nodes above the leaves                          */
    size_t splits;       /* 2^splits leaves                                           */
    size_t leaf_groups;  /* groups of LANES points in a leaf, the last ones padded    */
    size_t *rows;        /* n: the row at each position of the tree order             */
    double *coordinates; /* leaves x leaf_groups x D x LANES                          */
    double *boxes;       /* nodes x D x 2 x LANES: the boxes of a node's children     */
    size_t *least;       /* nodes x LANES: the lowest row number in each child        */
} box_tree;

/* From Z (D x n), n >= 1; O(n log n).  together: 0, or that many points in a row are near each other, so that
 * only parts of as many are split, O(n log together); any order is searched right, a bad one slowly.  Free with
 * box_tree_free, also after failure. */
quorum_status box_tree_build(size_t n, size_t D, const double *Z, size_t together, int threads,
                             box_tree *out);
void box_tree_free(box_tree *tree);

/* Offers `best` every point that can be one of the nearest to q; returns how many
 * points it looked at. */
size_t box_tree_search(const box_tree *tree, const double *q, nearest *best);

/* ---- Where things are ---- */

/* Splits above level l. */
static inline size_t box_tree_splits(const box_tree *tree, size_t l)
{
    return l == 0 ? 0 : tree->splits - 3 * (tree->levels - l);
}

static inline size_t box_tree_fan(const box_tree *tree, size_t l)
{
    return (size_t)1 << (box_tree_splits(tree, l + 1) - box_tree_splits(tree, l));
}

/* Where part k of 2^splits equal parts starts: floor(k n / 2^splits), without overflow. */
static inline size_t box_tree_start(const box_tree *tree, size_t splits, size_t k)
{
    size_t rest = tree->n & (((size_t)1 << splits) - 1);
    return k * (tree->n >> splits) + (k * rest >> splits);
}

/* Number of node k of level l among all nodes: 1 + 2^a + 2^(a+3) + ... before it. */
static inline size_t box_tree_node(const box_tree *tree, size_t l, size_t k)
{
    if (l == 0)
        return 0;
    size_t first = (size_t)1 << box_tree_splits(tree, 1),
           here = (size_t)1 << box_tree_splits(tree, l);
    return 1 + (here - first) / 7 + k;
}

#endif
