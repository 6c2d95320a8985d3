/* Makes a tree of boxes: level by level the widest coordinate of each node is split at its
 * median, the first levels node by node in parallel, then whole subtrees; then leaves and boxes
 * are packed by lanes.  Where the order of the points stands for the first splits, those are not made. */
#include "near/box_tree.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "near/distances.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

enum {
    LEAF = 32,         /* points in a leaf at most                                       */
    SAMPLE = 128,      /* rows that show which coordinate of a node is the widest        */
    SHARED_LEVELS = 6, /* splits made one level at a time; whole subtrees below are items */
    PACKED = 64        /* leaves that one item packs                                     */
};

typedef struct {
    box_tree *tree;
    const double *Z;
    ranked *order; /* n: rows in tree order, with their key in the split under way */
    size_t splits; /* splits above the nodes that are items                        */
} build_job;

/* ---- Splitting ---- */

static size_t widest_coordinate(const build_job *job, size_t from, size_t to)
{
    size_t D = job->tree->D, step = (to - from + SAMPLE - 1) / SAMPLE, widest = 0;
    double width = -1.0;
    for (size_t d = 0; d < D; d++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = from; i < to; i += step) {
            double z = job->Z[job->order[i].row * D + d];
            low = z < low ? z : low;
            high = z > high ? z : high;
        }
        if (high - low > width) {
            width = high - low;
            widest = d;
        }
    }
    return widest;
}

/* Part k of 2^splits parts becomes parts 2k and 2k+1 of 2^(splits+1). */
static void split_part(const build_job *job, size_t splits, size_t k)
{
    const box_tree *tree = job->tree;
    size_t from = box_tree_start(tree, splits, k), to = box_tree_start(tree, splits, k + 1);
    size_t middle = box_tree_start(tree, splits + 1, 2 * k + 1);
    size_t d = widest_coordinate(job, from, to);
    for (size_t i = from; i < to; i++)
        job->order[i].key = job->Z[job->order[i].row * tree->D + d];
    ranked_select(job->order + from, to - from, middle - from);
}

static void split_to_leaves(const build_job *job, size_t splits, size_t k)
{
    if (splits == job->tree->splits)
        return;
    split_part(job, splits, k);
    split_to_leaves(job, splits + 1, 2 * k);
    split_to_leaves(job, splits + 1, 2 * k + 1);
}

static quorum_status split_item(void *context, size_t item, int worker)
{
    (void)worker;
    split_part(context, ((build_job *)context)->splits, item);
    return QUORUM_OK;
}

static quorum_status subtree_item(void *context, size_t item, int worker)
{
    (void)worker;
    split_to_leaves(context, ((build_job *)context)->splits, item);
    return QUORUM_OK;
}

static quorum_status split_all(build_job *job, int threads)
{
    for (; job->splits < job->tree->splits && job->splits < SHARED_LEVELS; job->splits++)
        TRY(parallel_for(threads, (size_t)1 << job->splits, split_item, job));
    return parallel_for(threads, (size_t)1 << job->splits, subtree_item, job);
}

/* ---- Packing leaves and boxes ---- */

/* Where the box of node k of level l is kept: a lane of its parent. */
static double *box_of(const box_tree *tree, size_t l, size_t k, size_t **least)
{
    size_t up = l == 1 ? 0 : k / LANES, lane = l == 1 ? k : k % LANES;
    size_t node = box_tree_node(tree, l - 1, up);
    *least = tree->least + node * LANES + lane;
    return tree->boxes + node * tree->D * 2 * LANES + lane;
}

/* Copies one coordinate of a leaf's points, the last one again into the padding;
 * low and high are its ends. */
static void pack_coordinate(const build_job *job, size_t from, size_t count, size_t d, double *leaf,
                            double *low, double *high)
{
    const box_tree *tree = job->tree;
    for (size_t i = 0; i < tree->leaf_groups * LANES; i++) {
        size_t row = tree->rows[from + (i < count ? i : count - 1)];
        double z = job->Z[row * tree->D + d];
        leaf[(i / LANES * tree->D + d) * LANES + i % LANES] = z;
        *low = z < *low ? z : *low;
        *high = z > *high ? z : *high;
    }
}

static void pack_leaf(const build_job *job, size_t k)
{
    box_tree *tree = job->tree;
    size_t from = box_tree_start(tree, tree->splits, k);
    size_t count = box_tree_start(tree, tree->splits, k + 1) - from;
    size_t least = SIZE_MAX, *least_kept = &least;
    double *leaf = tree->coordinates + k * tree->leaf_groups * LANES * tree->D;
    double *box = tree->levels > 0 ? box_of(tree, tree->levels, k, &least_kept) : NULL;
    for (size_t i = from; i < from + count; i++) {
        tree->rows[i] = job->order[i].row;
        least = tree->rows[i] < least ? tree->rows[i] : least;
    }
    *least_kept = least;
    for (size_t d = 0; d < tree->D; d++) {
        double low = INFINITY, high = -INFINITY;
        pack_coordinate(job, from, count, d, leaf, &low, &high);
        if (box) {
            box[2 * d * LANES] = low;
            box[(2 * d + 1) * LANES] = high;
        }
    }
}

static quorum_status pack_item(void *context, size_t item, int worker)
{
    (void)worker;
    const build_job *job = context;
    size_t leaves = (size_t)1 << job->tree->splits, from = item * PACKED;
    for (size_t k = from; k < leaves && k < from + PACKED; k++)
        pack_leaf(job, k);
    return QUORUM_OK;
}

/* The box of node k of level l holds the boxes of its children. */
static void join_boxes(const box_tree *tree, size_t l, size_t k)
{
    size_t *least, node = box_tree_node(tree, l, k), fan = box_tree_fan(tree, l);
    double *box = box_of(tree, l, k, &least);
    const double *child = tree->boxes + node * tree->D * 2 * LANES;
    *least = SIZE_MAX;
    for (size_t j = 0; j < fan; j++)
        *least = tree->least[node * LANES + j] < *least ? tree->least[node * LANES + j] : *least;
    for (size_t d = 0; d < tree->D; d++, child += (size_t)2 * LANES) {
        double low = INFINITY, high = -INFINITY;
        for (size_t j = 0; j < fan; j++) {
            low = child[j] < low ? child[j] : low;
            high = child[LANES + j] > high ? child[LANES + j] : high;
        }
        box[2 * d * LANES] = low;
        box[(2 * d + 1) * LANES] = high;
    }
}

static quorum_status pack_all(build_job *job, int threads)
{
    const box_tree *tree = job->tree;
    size_t leaves = (size_t)1 << tree->splits;
    TRY(parallel_for(threads, (leaves + PACKED - 1) / PACKED, pack_item, job));
    for (size_t l = tree->levels; l-- > 1;)
        for (size_t k = 0; k < (size_t)1 << box_tree_splits(tree, l); k++)
            join_boxes(tree, l, k);
    return QUORUM_OK;
}

/* ---- The tree ---- */

static box_tree shape_of(size_t n, size_t D)
{
    box_tree tree = {.n = n, .D = D};
    while (n >> tree.splits > LEAF || (n >> tree.splits == LEAF && n > (size_t)LEAF << tree.splits))
        tree.splits++;
    tree.levels = (tree.splits + 2) / 3;
    size_t most = (n + ((size_t)1 << tree.splits) - 1) >> tree.splits;
    tree.leaf_groups = (most + LANES - 1) / LANES;
    return tree;
}

/* Splits after which a part has no more than `together` points. */
static size_t splits_to(const box_tree *tree, size_t together)
{
    size_t splits = 0;
    while (splits < tree->splits && tree->n >> splits > together)
        splits++;
    return splits;
}

quorum_status box_tree_build(size_t n, size_t D, const double *Z, size_t together, int threads,
                             box_tree *out)
{
    assert(n >= 1);
    quorum_status status = QUORUM_OK;
    *out = shape_of(n, D);
    size_t leaves = (size_t)1 << out->splits;
    size_t nodes = out->levels > 0 ? box_tree_node(out, out->levels, 0) : 0;
    build_job job = {.tree = out, .Z = Z, .splits = together > 0 ? splits_to(out, together) : 0};
    NEW_ARRAY(job.order, n);
    NEW_ARRAY(out->rows, n);
    NEW_ARRAY(out->coordinates, leaves * out->leaf_groups * LANES * D);
    NEW_ZEROED(out->boxes, nodes * D * 2 * LANES);
    NEW_ZEROED(out->least, nodes * LANES);
    if (!job.order || !out->rows || !out->coordinates || !out->boxes || !out->least) {
        status = failure(QUORUM_E_MEMORY, "out of memory for a neighbour tree of %zu rows", n);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        job.order[i].row = i;
    TRY_OR_DONE(split_all(&job, threads));
    TRY_OR_DONE(pack_all(&job, threads));
done:
    mem_free(job.order);
    return status;
}

void box_tree_free(box_tree *tree)
{
    mem_free(tree->rows);
    mem_free(tree->coordinates);
    mem_free(tree->boxes);
    mem_free(tree->least);
    *tree = (box_tree){0};
}
