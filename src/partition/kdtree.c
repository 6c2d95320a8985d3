/* Median splits along the widest input until every part has its share: sizes equal within one
 * row, parts are boxes (near/boxes.h). */
#include "partition/partition.h"

#include "near/boxes.h"

static quorum_status split(quorum_status ready, const partition_problem *p, size_t *label)
{
    box_problem boxes = {.rows = p->rows, .parts = p->parts, .threads = p->threads};
    return boxes_label(ready, &boxes, label);
}

const partition partition_kdtree = {"kdtree", "median splits along the widest input, equal sizes",
                                    split};
