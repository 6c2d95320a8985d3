/* How the prediction changes with the inputs that matter most: partial dependence by quorum_effect
 * over some of the asked rows, or of the training rows where those are too few. */
#ifndef QUORUM_CLI_REPORT_CURVES_H
#define QUORUM_CLI_REPORT_CURVES_H

#include <stdbool.h>
#include <stddef.h>

struct facts;

enum { MOST_EFFECTS = 6, FEWEST_THERE = 5 };

typedef struct {
    size_t column, points;
    bool each;      /* the points are all values that there are, or levels              */
    double *values; /* points: of the column, level numbers of a category            */
    double *mean, *lower, *upper, *support; /* points, as quorum_effect_curves has them */
    double *
        occurring; /* points: mean prediction of the asked rows that have about this value, with all
                          that goes with it; NaN: fewer than FEWEST_THERE have, or there is an offset */
} input_effect;

typedef struct {
    size_t count, rows; /* effects; rows that were averaged over */
    input_effect of[MOST_EFFECTS];
} found_effects;

/* f->effects, of the inputs with the largest f->shares; none where there are no shares.  Returns an
 * exit code. */
int effects_find(struct facts *f);
void effects_free(found_effects *e);

#endif
