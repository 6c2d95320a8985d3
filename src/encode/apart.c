/* Categories whose levels stand apart: in the distance of two rows a category counts 0 where their levels
 * are the same and otherwise 2 / l^2, with one length-scale l a category.  Each of its K levels is an
 * input (made.h), level k being the unit vector e_k of them:
 *
 *   |e_j - e_k|^2 / l^2 = 2 / l^2 [j differs from k]
 *
 * A level that is not known is unlike all others by the same: a (1, .., 1) with (1 - a)^2 + (K - 1) a^2 = 2,
 * a = (1 - sqrt(1 + K)) / K.  So a prediction has the variance of a level of which nothing is known. */
#include "encode/made.h"

#include <math.h>

static double of_unknown(const made_input *in)
{
    double K = (double)in->levels;
    return (1.0 - sqrt(1.0 + K)) / K;
}

double level_apart(const made_input *in, double t)
{
    int known = t >= 0.0 && t < (double)in->levels && t == floor(t);
    if (!known)
        return of_unknown(in);
    return (size_t)t == in->level ? 1.0 : 0.0;
}

size_t made_first_level(const made_inputs *m, size_t column)
{
    for (size_t k = 0; k < m->count; k++)
        if (m->of[k].kind == MADE_LEVEL && m->of[k].column == column)
            return m->columns + k;
    return 0;
}

size_t made_share_scales(const made_inputs *m, size_t inputs, size_t *same)
{
    size_t own = inputs;
    for (size_t d = 0; d < inputs; d++)
        same[d] = d;
    for (size_t k = 0; k < m->count; k++) {
        const made_input *in = &m->of[k];
        size_t before = in->kind == MADE_LEVEL ? in->level
                        : made_is_place(in)    ? in->kind - MADE_X
                                               : 0;
        same[m->columns + k] = m->columns + k - before;
        own -= before > 0;
    }
    return own;
}
