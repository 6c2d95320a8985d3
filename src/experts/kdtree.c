/* Median splits along the widest input until every part has its share: sizes
 * equal within one row, parts are boxes. */
#include "experts/partition.h"

#include "base/memory.h"
#include "experts/select_nth.h"

/* Gives `rows` the labels first .. first+parts-1 in shares that differ by one at most. */
static void split_box(const partition_problem *p, size_t *rows, size_t count, size_t first,
                      size_t parts, size_t *label)
{
    if (parts <= 1) {
        for (size_t i = 0; i < count; i++)
            label[rows[i]] = first;
        return;
    }
    size_t left_parts = parts / 2;
    size_t share = count / parts,
           larger = count % parts; /* the first `larger` parts get one more */
    size_t left = left_parts * share + (larger < left_parts ? larger : left_parts);
    select_nth(rows, count, left, p->X, p->D, widest_input(rows, count, p->X, p->D));
    split_box(p, rows, left, first, left_parts, label);
    split_box(p, rows + left, count - left, first + left_parts, parts - left_parts, label);
}

static quorum_status split(const partition_problem *p, size_t *label)
{
    size_t *rows;
    if (!NEW_ARRAY(rows, p->n))
        return failure(QUORUM_E_MEMORY, "out of memory for a kd-tree of %zu rows", p->n);
    for (size_t i = 0; i < p->n; i++)
        rows[i] = i;
    split_box(p, rows, p->n, 0, p->parts, label);
    mem_free(rows);
    return QUORUM_OK;
}

const partition partition_kdtree = {"kdtree", "median splits along the widest input, equal sizes",
                                    split};
