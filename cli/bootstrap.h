/* Is the difference of two models' scores more than chance?  Both are scored on the same rows; rows are
 * drawn again, with replacement, as many as there are, and the difference is taken of those. */
#ifndef BOOTSTRAP_H
#define BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

/* A row's loss by either model, counted as `weight` rows. */
typedef struct {
    double a, b, weight;
} loss_pair;

typedef struct {
    double a, b;      /* weighted means                                              */
    double change;    /* (b - a) / a, or b - a                                       */
    double low, high; /* the central 95 % of it over the draws                       */
} loss_change;

/* relative: the change is a share of a.  NaN where nothing can be said: no weight, or a is 0. */
bool bootstrap_change(const loss_pair *pairs, size_t count, bool relative, loss_change *out);

#endif
