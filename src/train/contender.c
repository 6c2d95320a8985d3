/* Scores of a kernel's theta on rows left out in turn, and which kernel is best: of those whose
 * density is as good as the best one's, within two standard errors, those with as small an
 * error, and of these the one with the highest likelihood. */
#include "train/contender.h"

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
    NEW_ARRAY(c->rows, c->count);
    quorum_status ready =
        c->rows ? QUORUM_OK
                : failure(QUORUM_E_MEMORY, "out of memory for scoring %zu rows", c->count);
    quorum_status status = left_out_predict(ready, v, &c->theta, threads, c->rows);
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

static double density_of(const contender *c, size_t i)
{
    return left_out_density(&c->rows[i], c->prior);
}

static double goodness_of(const contender *c, size_t i)
{
    return -c->rows[i].error * c->rows[i].error;
}

/* Whether the mean of a's scores falls short of that of b's by no more than two standard errors
 * of their difference. */
static int as_good(double (*score)(const contender *, size_t), const contender *a,
                   const contender *b)
{
    double sum = 0.0, square = 0.0, n = (double)a->count;
    if (a->density == WORST_DENSITY)
        return 0;
    for (size_t i = 0; i < a->count; i++) {
        double d = score(b, i) - score(a, i);
        sum += d;
        square += d * d;
    }
    return sum <= 2.0 * sqrt(fmax(square - sum * sum / n, 0.0));
}

/* From all to those that could be the best one, step by step. */
static int best_of(contender *const *list, int count)
{
    int densest = 0, nearest, best;
    for (int k = 1; k < count; k++)
        densest = list[k]->density > list[densest]->density ? k : densest;
    nearest = densest;
    for (int k = 0; k < count; k++)
        if (list[k]->error < list[nearest]->error && as_good(density_of, list[k], list[densest]))
            nearest = k;
    best = nearest;
    for (int k = 0; k < count; k++)
        if (list[k]->nlml < list[best]->nlml && as_good(density_of, list[k], list[densest]) &&
            as_good(goodness_of, list[k], list[nearest]))
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
