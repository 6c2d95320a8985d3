/* The queries of a block in two sorts, near their cells and far from them (cell_map.h), each as a block of
 * its own: they are predicted in different ways. */
#ifndef QRM_CELLS_QUERY_SORTS_H
#define QRM_CELLS_QUERY_SORTS_H

#include "predict/block.h"

typedef struct {
    size_t count;
    size_t *query; /* count: places in the block of all */
    block_space w; /* once divided                      */
} query_sort;

typedef struct {
    const plan *p;
    points Q;     /* all            */
    size_t *cell; /* Q.n: room      */
    char *is_far; /* Q.n            */
    const block_space *all;
    query_sort near, far;
} query_sorts;

/* Which of the queries Q are which, by the cells of p.  Free with query_sorts_free, also after failure. */
quorum_status query_sorts_find(const plan *p, points Q, query_sorts *out);
void query_sorts_free(query_sorts *s);

/* Blocks of both sorts, and what was predicted there back to the block of all. */
quorum_status query_sorts_divide(query_sorts *s, const block_space *all);
void query_sorts_join(const query_sorts *s, block_space *all);

#endif
