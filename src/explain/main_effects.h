/* What each input tells by itself, row by row. */
#ifndef QRM_EXPLAIN_MAIN_EFFECTS_H
#define QRM_EXPLAIN_MAIN_EFFECTS_H

#include "explain/alike.h"

typedef struct {
    const likeness *alike;
    const input_group *groups;
    size_t count;
    const double *f; /* n: of all rows                                                     */
    double
        *effect;   /* count x n: the mean of f over other rows of about the same x_k, less mean f */
    double *share; /* count: of Var f, as these say it */
    size_t *order; /* count: inputs, the largest share first */
    double *slope; /* count: room */
    double chance; /* deviation of a correlation between independent inputs */
} main_effects;

/* Free in any case. */
quorum_status main_effects_find(const likeness *alike, const input_group *groups, size_t count,
                                const double *f, main_effects *e);
void main_effects_free(main_effects *e);

const double *main_effect(const main_effects *e, size_t j); /* n */

/* rest (n): f - mean f less the effects of the inputs that have nothing to do with input j, whose mean
 * for a given x_j is 0. */
void main_effects_rest(const main_effects *e, size_t j, double *rest);

/* off (n), (f - mean f)^2, less products of the effects of such pairs of inputs, the mean of which is 0: what
 * is left has the same mean and varies less.  rest (n) is room. */
void main_effects_off_chance(const main_effects *e, double *off, double *rest);

#endif
