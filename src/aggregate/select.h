/* Which experts take part in a prediction. */
#ifndef QRM_AGGREGATE_SELECT_H
#define QRM_AGGREGATE_SELECT_H

#include "base/status.h"

#include <stddef.h>

typedef enum {
    SELECT_ALL,   /* "all"                                                           */
    SELECT_NONE,  /* "none": nobody, as method nearest has it                         */
    SELECT_MOST,  /* "graph:A" or "best:A": the ceil(A M) most important experts      */
    SELECT_LEAST, /* "worst:A": the ceil(A M) least important ones                    */
    SELECT_ONE    /* "expert:I": expert I alone, counted from 1                       */
} selection_kind;

typedef struct {
    selection_kind kind;
    double share;
    size_t expert;
    size_t local;   /* "local:K": of those, the K that explain most at each query; 0: all */
    int local_auto; /* "local:auto": as many as still help                             */
    int by_centre;  /* "knn:K": the K whose centres are nearest instead, unasked       */
} selection;

/* One of the above, "local:..." or "knn:K" alone, or both joined as in "graph:0.8+local:4". */
quorum_status selection_parse(const char *text, selection *out);

/* How many experts of M are chosen; local choices come after that. */
size_t selection_count(const selection *s, size_t M);

/* Whether experts are chosen by the graph's ranking. */
int selection_is_by_rank(const selection *s);

/* The experts chosen, in ascending order, into experts (room for M). */
quorum_status selection_members(const selection *s, size_t M, const size_t *ranking,
                                size_t *experts, size_t *count);

#endif
