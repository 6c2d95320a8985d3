#include "model/contender.h"

#include "base/memory.h"

#include <math.h>

static const double WORST_DENSITY = -1e10;
static const double PRIORS[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, INFINITY};

void contender_free(contender *c)
{
    mem_free(c->theta.lengthscale);
    mem_free(c->rows);
    *c = (contender){0};
}

static double mean_density(const contender *c, double prior)
{
    double sum = 0.0;
    for (size_t i = 0; i < c->count; i++)
        sum += left_out_density(&c->rows[i], prior);
    return sum / (double)c->count;
}

static void try_prior(contender *c, double prior)
{
    double density = mean_density(c, prior);
    if (density >= c->density) {
        c->density = density;
        c->prior = prior;
    }
}

quorum_status contender_score(contender *c, const vecchia_parts *v, double prior, int threads)
{
    c->count = v->parts.M;
    c->density = WORST_DENSITY;
    c->prior = prior > 0.0 ? prior : INFINITY;
    c->error = 0.0;
    mem_free(c->rows);
    if (!NEW_ARRAY(c->rows, c->count))
        return failure(QUORUM_E_MEMORY, "out of memory for scoring %zu rows", c->count);
    quorum_status status = left_out_predict(v, &c->theta, threads, c->rows);
    if (status == QUORUM_E_NUMERIC)
        return QUORUM_OK; /* merely a bad theta */
    TRY(status);
    for (size_t i = 0; i < c->count; i++)
        c->error += c->rows[i].error * c->rows[i].error / (double)c->count;
    if (prior > 0.0)
        try_prior(c, prior);
    for (size_t k = 0; prior <= 0.0 && k < sizeof PRIORS / sizeof *PRIORS; k++)
        try_prior(c, PRIORS[k]);
    return QUORUM_OK;
}

/* Whether a falls short of b by no more than two standard errors of their difference. */
static int as_good(const contender *a, const contender *b)
{
    double mean = b->density - a->density, square = 0.0;
    if (a->density == WORST_DENSITY)
        return 0;
    for (size_t i = 0; i < a->count; i++) {
        double d = left_out_density(&b->rows[i], b->prior) -
                   left_out_density(&a->rows[i], a->prior) - mean;
        square += d * d;
    }
    return mean <= 2.0 * sqrt(square) / (double)a->count;
}

static int best_of(contender *const *list, int count)
{
    int densest = 0, best;
    for (int k = 1; k < count; k++)
        densest = list[k]->density > list[densest]->density ? k : densest;
    best = densest;
    for (int k = 0; k < count; k++)
        if (list[k]->error < list[best]->error && as_good(list[k], list[densest]))
            best = k;
    return best;
}

void contender_best_first(contender **list, int count)
{
    int best = best_of(list, count);
    contender *winner = list[best];
    for (int k = best; k > 0; k--)
        list[k] = list[k - 1];
    list[0] = winner;
}
