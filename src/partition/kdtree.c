/* Median splits along the widest input until every part has its share: sizes equal within one
 * row, parts are boxes (near/boxes.h). */
#include "partition/partition.h"

#include "near/boxes.h"

static quorum_status split(const partition_problem *p, size_t *label)
{
    sliced_rows rows = {.n = p->n, .D = p->D, .X = p->X, .whole = p->alone};
    box_problem boxes = {.rows = &rows, .parts = p->parts, .threads = p->threads};
    return boxes_label(QUORUM_OK, &boxes, label);
}

const partition partition_kdtree = {"kdtree", "median splits along the widest input, equal sizes",
                                    split};
