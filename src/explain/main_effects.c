/* g_k(x_i) = mean of f over the other rows that have about the same x_k as row i (alike.h), less mean f.
 *
 * Of f = sum_k g_k(x_k) + the rest, effects of other inputs are noise where E[f | x_j] is looked for, and
 * most of it.  Where x_k is independent of x_j, E[g_k | x_j] is 0, and g_k may be taken off without
 * changing what is looked for, times any number; so may products g_j g_k be taken off (f - mean f)^2.  It counts as
 * independent where neither column follows the other (alike.h), and the correlation of g_j and g_k,
 * which is what taking g_k off would hide, is within BEYOND_CHANCE deviations of chance, 1 / sqrt(n).
 * Inputs of less than LEAST_SHARE have nothing that is worth taking off. */
#include "explain/main_effects.h"

#include "base/memory.h"

#include <math.h>

static const double LEAST_SHARE = 0.02;
static const double BEYOND_CHANCE = 3.0;

const double *main_effect(const main_effects *e, size_t j)
{
    return e->effect + j * e->alike->s->n;
}

/* mean a b, weighted; of NULL 1. */
static double mean_product(const study *s, const double *a, const double *b)
{
    double sum = 0.0, whole = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        sum += s->all.weight[i] * a[i] * (b ? b[i] : 1.0);
        whole += s->all.weight[i];
    }
    return sum / whole;
}

/* mean (f - mean f) g_k / Var f. */
static double share_of(const study *s, const double *f, const double *effect)
{
    double mean = mean_product(s, f, NULL), variance = mean_product(s, f, f) - mean * mean;
    double together = mean_product(s, f, effect) - mean * mean_product(s, effect, NULL);
    return variance > 0.0 ? together / variance : 0.0;
}

/* Rows of equal weight that tell as much: (sum w)^2 / sum w^2. */
static double rows_that_count(const study *s)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        sum += s->all.weight[i];
        squares += s->all.weight[i] * s->all.weight[i];
    }
    return sum * sum / squares;
}

/* The largest first, and of equal ones the first. */
static void order_by_share(main_effects *e)
{
    for (size_t k = 0; k < e->count; k++) {
        size_t at = k;
        for (; at > 0 && e->share[e->order[at - 1]] < e->share[k]; at--)
            e->order[at] = e->order[at - 1];
        e->order[at] = k;
    }
}

quorum_status main_effects_find(const likeness *alike, const input_group *groups, size_t count,
                                const double *f, main_effects *e)
{
    const study *s = alike->s;
    *e = (main_effects){.alike = alike, .groups = groups, .count = count, .f = f};
    NEW_ARRAY(e->effect, count * s->n);
    NEW_ARRAY(e->share, count);
    NEW_ARRAY(e->slope, count);
    NEW_ARRAY(e->order, count);
    if (!e->effect || !e->share || !e->slope || !e->order)
        return failure(QUORUM_E_MEMORY, "out of memory for the effects of %zu inputs", count);
    double mean = study_mean(s->n, s->all.weight, f);
    e->chance = 1.0 / sqrt(rows_that_count(s));
    for (size_t k = 0; k < count; k++) {
        double *effect = e->effect + k * s->n;
        TRY(likeness_means(alike, &groups[k], f, effect));
        for (size_t i = 0; i < s->n; i++)
            effect[i] -= mean;
        e->share[k] = share_of(s, f, effect);
    }
    order_by_share(e);
    return QUORUM_OK;
}

void main_effects_free(main_effects *e)
{
    mem_free(e->effect);
    mem_free(e->share);
    mem_free(e->slope);
    mem_free(e->order);
    *e = (main_effects){0};
}

static double correlation(const study *s, const double *a, const double *b)
{
    double mean_a = mean_product(s, a, NULL), mean_b = mean_product(s, b, NULL);
    double square =
        (mean_product(s, a, a) - mean_a * mean_a) * (mean_product(s, b, b) - mean_b * mean_b);
    return square > 0.0 ? (mean_product(s, a, b) - mean_a * mean_b) / sqrt(square) : 0.0;
}

static int is_independent(const main_effects *e, size_t j, size_t k)
{
    const study *s = e->alike->s;
    return !likeness_goes_with(e->alike, &e->groups[j], &e->groups[k]) &&
           fabs(correlation(s, main_effect(e, j), main_effect(e, k))) <= BEYOND_CHANCE * e->chance;
}

/* The slope of f on g; 0 where g does not vary. */
static double slope_on(const study *s, const double *f, const double *g)
{
    double mean = mean_product(s, g, NULL), square = mean_product(s, g, g) - mean * mean;
    return square > 0.0 ? (mean_product(s, f, g) - mean * mean_product(s, f, NULL)) / square : 0.0;
}

/* rest -= b g_k of one input after the other, the largest share first, b (count) being the slope of what
 * is left: of inputs that tell the same the first takes it all.  Of all inputs, or of those that have
 * nothing to do with input j. */
static void take_effects_off(const main_effects *e, size_t j, double *rest, double *b)
{
    const study *s = e->alike->s;
    for (size_t at = 0; at < e->count; at++) {
        size_t k = e->order[at];
        b[k] = 0.0;
        if (e->share[k] < LEAST_SHARE || (j < e->count && (k == j || !is_independent(e, j, k))))
            continue;
        b[k] = slope_on(s, rest, main_effect(e, k));
        for (size_t i = 0; i < s->n; i++)
            rest[i] -= b[k] * main_effect(e, k)[i];
    }
}

static void centre(const main_effects *e, double *rest)
{
    const study *s = e->alike->s;
    double mean = study_mean(s->n, s->all.weight, e->f);
    for (size_t i = 0; i < s->n; i++)
        rest[i] = e->f[i] - mean;
}

void main_effects_rest(const main_effects *e, size_t j, double *rest)
{
    centre(e, rest);
    take_effects_off(e, j, rest, e->slope);
}

void main_effects_off_chance(const main_effects *e, double *off, double *rest)
{
    centre(e, rest);
    take_effects_off(e, e->count, rest, e->slope);
    for (size_t j = 0; j < e->count; j++)
        for (size_t k = 0; k < j; k++) {
            double both = e->slope[j] * e->slope[k];
            if (both == 0.0 || !is_independent(e, j, k))
                continue;
            for (size_t i = 0; i < e->alike->s->n; i++)
                off[i] -= 2.0 * both * main_effect(e, j)[i] * main_effect(e, k)[i];
        }
}
