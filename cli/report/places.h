/* Two axes along which the rows spread the most, and where rows and experts are on them. */
#ifndef QUORUM_CLI_REPORT_PLACES_H
#define QUORUM_CLI_REPORT_PLACES_H

#include "plot.h"
#include "quorum.h"

#include <stdbool.h>

struct facts;

typedef struct {
    char name[2][640]; /* of the axes                                              */
    /* The columns that they are by themselves; -1: a direction across, or the target. */
    ptrdiff_t column[2];
    named_places level[2]; /* of a category: where its levels are ... */
    double *level_at[2];   /* ... which is kept here                  */
    bool of_target;        /* there is one input alone: the second axis is the target  */
    double *training;      /* training rows x 2                                        */
    double *asked;         /* asked rows x 2                                           */
    double *centre;        /* experts x inputs: mean of the expert's rows, in length-scales */
    double *node;          /* experts x 2: the same on the two axes                    */
    size_t *expert;        /* asked rows: the expert whose centre is nearest           */
} places;

/* Returns an exit code. */
int places_make(struct facts *f);
void places_free(places *p);

bool axis_is_date(const struct facts *f, int axis);

#endif
