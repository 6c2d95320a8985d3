/* Scores of a kernel's theta on rows left out in turn, and which kernel is best: of those whose
 * density is as good as the best one's, within two standard errors, those with as small an
 * error, and of these the one with the highest likelihood.
 *
 *   density = sum_l w_l mean_i log p(y_i | rows at distance l)
 *
 * Near rows count most, since most queries lie among rows; but a kernel that is wrong in gaps, where
 * it may be so by a factor, must not be chosen for a hundredth that it gains elsewhere. */
#include "train/contender.h"

#include "base/memory.h"

#include <math.h>

static const double WORST_DENSITY = -1e10;
static const double PRIORS[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, INFINITY};

/* Nearest rows that are left out too, and what rows so far from others count. */
enum { SMALL_GAP = 64, WIDE_GAP = 1024 };
static const double FAR_WEIGHT = 0.25;

static const double BEYOND_DOUBT = 3.0; /* standard errors */

static double weight_of(int distance)
{
    return distance == 0 ? 1.0 : FAR_WEIGHT;
}

size_t distance_skip(int distance)
{
    static const size_t skip[DISTANCES] = {0, SMALL_GAP, WIDE_GAP};
    return skip[distance];
}

void contender_free(contender *c)
{
    mem_free(c->theta.lengthscale);
    for (int l = 0; l < DISTANCES; l++)
        mem_free(c->at[l].rows);
    *c = (contender){0};
}

void swap_contenders(contender *a, contender *b)
{
    contender c = *a;
    *a = *b;
    *b = c;
}

static void forget(left_out_set *set)
{
    mem_free(set->rows);
    *set = (left_out_set){0};
}

quorum_status contender_predict(quorum_status ready, contender *c, int distance,
                                const vecchia_parts *v, int threads)
{
    left_out_set *set = &c->at[distance];
    forget(set);
    if (ready >= 0 && !NEW_ARRAY(set->rows, v->parts.M))
        ready = failure(QUORUM_E_MEMORY, "out of memory for scoring %zu rows", v->parts.M);
    left_out_how how = {.V = c->V, .local_noise = c->local_noise, .threads = threads};
    quorum_status status = left_out_predict(ready, v, &c->theta, &how, set->rows);
    if (status >= 0)
        set->count = v->parts.M;
    else
        forget(set);
    return status == QUORUM_E_NUMERIC ? QUORUM_OK : status; /* merely a bad theta */
}

void contender_change_units(contender *c, double unit)
{
    for (int l = 0; l < DISTANCES; l++)
        for (size_t i = 0; i < c->at[l].count; i++) {
            c->at[l].rows[i].error *= unit;
            c->at[l].rows[i].variance *= unit * unit;
            c->at[l].rows[i].known *= unit * unit;
        }
}

/* ---- The score ---- */

static double density_at(const contender *c, const left_out_row *row, double prior)
{
    return left_out_density(row, prior) + (c->level + c->slope * row->y);
}

static double mean_density(const contender *c, const left_out_set *set, double prior)
{
    double sum = 0.0, rows = 0.0;
    for (size_t i = 0; i < set->count; i++) {
        sum += set->rows[i].weight * density_at(c, &set->rows[i], prior);
        rows += set->rows[i].weight;
    }
    return sum / rows;
}

static void try_prior(contender *c, double prior)
{
    double density = mean_density(c, &c->at[0], prior);
    if (density >= c->density) {
        c->density = density;
        c->prior = prior;
    }
}

void contender_score(contender *c, double prior)
{
    const left_out_set *near = &c->at[0];
    c->density = WORST_DENSITY;
    c->prior = prior > 0.0 ? prior : INFINITY;
    c->error = 0.0;
    if (near->count == 0)
        return;
    double rows = left_out_weights(near->rows, near->count);
    for (size_t i = 0; i < near->count; i++)
        c->error += near->rows[i].weight * (near->rows[i].error * near->rows[i].error / rows);
    if (prior > 0.0)
        try_prior(c, prior);
    for (size_t k = 0; prior <= 0.0 && k < sizeof PRIORS / sizeof *PRIORS; k++)
        try_prior(c, PRIORS[k]);
    for (int l = 1; l < DISTANCES; l++)
        if (c->at[l].count > 0)
            c->density += weight_of(l) * mean_density(c, &c->at[l], c->prior);
}

/* ---- Comparing ---- */

static double density_of(const contender *c, int distance, size_t i)
{
    return density_at(c, &c->at[distance].rows[i], c->prior);
}

static double goodness_of(const contender *c, int distance, size_t i)
{
    const left_out_row *row = &c->at[distance].rows[i];
    return -row->error * row->error;
}

/* By how much b's mean score at a distance is higher than a's, and the square of the standard error
 * of that: with weights w,
 *
 *   gain = sum w d / sum w,   variance = sum w^2 (d - gain)^2 / (sum w)^2
 *
 * over the rows that both were asked about: fewer rows are the last ones of more. */
static void compare(double (*score)(const contender *, int, size_t), const contender *a,
                    const contender *b, int distance, double *gain, double *variance)
{
    size_t of_a = a->at[distance].count, of_b = b->at[distance].count;
    size_t count = of_a < of_b ? of_a : of_b, i = of_a - count, k = of_b - count;
    const left_out_row *row = a->at[distance].rows + i;
    double sum = 0.0, square = 0.0, n = left_out_weights(row, count);
    double with_weights = 0.0, of_weights = 0.0; /* sums of w^2 d, w^2 */
    for (; i < of_a; i++, k++, row++) {
        double d = score(b, distance, k) - score(a, distance, i), w = row->weight;
        sum += w * d;
        square += w * w * (d * d);
        with_weights += w * w * d;
        of_weights += w * w;
    }
    *gain = sum / n;
    double about = 2.0 * with_weights - sum * (of_weights / n); /* sum, without weights */
    *variance = fmax(square - sum * about / n, 0.0) / (n * n);
}

typedef struct {
    double gain, error; /* its standard error */
} difference;

/* By how much b's scores are higher than a's, over the first `distances`. */
static difference gain_over(double (*score)(const contender *, int, size_t), const contender *a,
                            const contender *b, int distances)
{
    double gain = 0.0, variance = 0.0;
    for (int l = 0; l < distances; l++) {
        double here, error;
        if (a->at[l].count == 0 || b->at[l].count == 0)
            continue;
        compare(score, a, b, l, &here, &error);
        gain += weight_of(l) * here;
        variance += weight_of(l) * weight_of(l) * error;
    }
    return (difference){.gain = gain, .error = sqrt(variance)};
}

/* Whether a's scores fall short of b's by no more than two standard errors of their difference. */
static int as_good(double (*score)(const contender *, int, size_t), const contender *a,
                   const contender *b, int distances)
{
    difference d = gain_over(score, a, b, distances);
    return a->density != WORST_DENSITY && d.gain <= 2.0 * d.error;
}

static int as_dense(const contender *a, const contender *b)
{
    return as_good(density_of, a, b, DISTANCES);
}

int contender_beats(const contender *a, const contender *b)
{
    return a->density != WORST_DENSITY && !as_dense(b, a);
}

double contender_lead(const contender *a, const contender *b)
{
    if (a->density == WORST_DENSITY || b->density == WORST_DENSITY)
        return a->density - b->density;
    return gain_over(density_of, b, a, DISTANCES).gain;
}

int contender_is_behind(const contender *a, const contender *b)
{
    if (a->density == WORST_DENSITY || b->density == WORST_DENSITY)
        return a->density < b->density;
    difference d = gain_over(density_of, a, b, DISTANCES);
    return d.gain > BEYOND_DOUBT * d.error;
}

static void move_forward(contender **list, int from, int to)
{
    contender *moved = list[from];
    for (int k = from; k > to; k--)
        list[k] = list[k - 1];
    list[to] = moved;
}

int contender_rule_out(contender **list, int count)
{
    const contender *best = list[0];
    int left = 0;
    for (int k = 1; k < count; k++)
        best = contender_lead(list[k], best) > 0.0 ? list[k] : best;
    for (int k = 0; k < count; k++)
        if (!contender_is_behind(list[k], best))
            move_forward(list, k, left++);
    return left;
}

/* From all to those that could be the best one, step by step. */
static int best_of(contender *const *list, int count)
{
    int densest = 0, nearest, best;
    for (int k = 1; k < count; k++)
        densest = list[k]->density > list[densest]->density ? k : densest;
    nearest = densest;
    for (int k = 0; k < count; k++)
        if (list[k]->error < list[nearest]->error && as_dense(list[k], list[densest]))
            nearest = k;
    best = nearest;
    for (int k = 0; k < count; k++)
        if (list[k]->nlml < list[best]->nlml && as_dense(list[k], list[densest]) &&
            as_good(goodness_of, list[k], list[nearest], 1))
            best = k;
    return best;
}

void contender_best_first(contender **list, int count)
{
    move_forward(list, best_of(list, count), 0);
}
