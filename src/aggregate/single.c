/* The best single expert at each query: the one with the smallest variance
 * (ties: lower number). */
#include "aggregate/rule.h"

static size_t surest(const opinions *o, size_t q)
{
    size_t best = 0;
    for (size_t i = 1; i < o->p; i++)
        if (o->var[i * o->b + q] < o->var[best * o->b + q])
            best = i;
    return best;
}

static void single(const opinions *o, consensus *out)
{
    for (size_t q = 0; q < o->b; q++) {
        size_t best = surest(o, q);
        out->mean[q] = o->mean[best * o->b + q];
        out->var[q] = o->var[best * o->b + q];
    }
}

static void single_slope(const opinions *o, const opinion_slopes *s, const consensus *out,
                         consensus *slope)
{
    (void)out;
    for (size_t q = 0; q < o->b; q++) {
        size_t best = surest(o, q);
        slope->mean[q] = s->mean[best * o->b + q];
        slope->var[q] = s->var[best * o->b + q];
    }
}

const rule rule_single = {"single",       "the surest single expert at each query (a baseline)",
                          TAKES_OPINIONS, 1,
                          single,         single_slope};
