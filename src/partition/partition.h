/* Splitting the training rows among experts.  To add a partition: a file like
 * random_parts.c and a line in partition.c's table. */
#ifndef QRM_PARTITION_PARTITION_H
#define QRM_PARTITION_PARTITION_H

#include "base/progress.h"
#include "base/status.h"
#include "rows/scattered.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const scattered_rows *rows; /* y is not looked at */
    size_t parts;
    uint64_t seed;
    int threads;
    const progress *progress;
} partition_problem;

typedef struct {
    const char *name, *help;
    /* label[i] in 0 .. parts-1 for every row; parts may be left empty.  Who is not `ready`
     * (team/work.h) only takes part in calls that a team makes together, and fails; the others
     * may not have heard of it. */
    quorum_status (*split)(quorum_status ready, const partition_problem *problem, size_t *label);
} partition;

extern const partition partition_kmeans, partition_kdtree, partition_random,
    partition_communication;

int partition_count(void);
const partition *partition_at(int i);
const partition *partition_by_name(const char *name);

/* The rows sorted by expert: expert e owns order[offset[e] .. offset[e+1]-1], in
 * ascending row order. */
typedef struct {
    size_t n, M;
    size_t *order;  /* n */
    size_t *offset; /* M + 1 */
} division;

/* Splits, then keeps every part's size within [floor, cap] as far as the rows
 * allow (sizes.c); M is problem->parts wherever that is possible. */
quorum_status divide(const partition *how, const partition_problem *problem, size_t floor,
                     size_t cap, division *out);
void division_free(division *d);

/* Merges and splits parts until floor <= size <= cap and the number of parts is
 * `parts` again.  label is changed in place; *count is the number of labels, most_labels at most.
 * All processes fail when one is not `ready`. */
quorum_status balance_sizes(quorum_status ready, const partition_problem *problem, size_t floor,
                            size_t cap, size_t *label, size_t *count);
size_t most_labels(const partition_problem *problem, size_t cap);

#endif
