/* Rows in about ten groups by a key, as `evaluate --by` has them, and the scores of each. */
#ifndef QUORUM_CLI_REPORT_GROUPS_H
#define QUORUM_CLI_REPORT_GROUPS_H

#include "breakdown.h"

struct facts;

typedef struct {
    char name[320]; /* "0.12 to 0.34", or a level                        */
    row_group rows; /* how many, their keys, where chance puts the coverage */
    double middle;  /* the key's median                                  */
    double trivial; /* RMSE of always saying the training mean           */
    double before;  /* ... of the earlier model; NaN: there is none      */
    group_scores scores;
} scored_group;

typedef struct {
    size_t count; /* 0: no row has the key */
    scored_group group[GROUPS_ROOM];
    size_t worst;  /* the group of the largest error among those of LEAST_ROWS rows or more ... */
    double excess; /* ... which is so many times that of all rows; 0: there is none           */
    bool tells;    /* whether a group has LEAST_ROWS rows                                  */
} grouping;

enum { LEAST_ROWS = 20 }; /* of a group that is called the worst */

/* By each column, and by distance; returns an exit code. */
int groupings_make(struct facts *f);

#endif
