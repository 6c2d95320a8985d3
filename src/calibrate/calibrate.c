/* Calibration: how wide intervals have to be in truth.
 *
 * Some training rows are taken out of their experts, predicted from the others with
 * the model's own hyperparameters, and compared with what they were.  This is done in
 * rounds of few rows, so that the rows that are left are as dense as a query will find
 * them.  The ratios z = (y - mean) / std and |z|, sorted, are kept; model/calibration.c uses them.
 * std itself is multiplied by the s that makes the CRPS of the Gaussians N(mean, s^2 std^2) least:
 *
 *   d/ds sum_i std_i CRPS(N(0, s^2), z_i) = sum_i std_i (2 phi(z_i / s) - 1/sqrt(pi)) = 0,
 *
 * which rises with s, so that no other s, 1 among them, is better; far rows hardly count.
 *
 * Rows of weights w count as so many in the sum.  What is kept of their ratios are m quantiles of the
 * weighted distribution, at (k + 1/2) / m, m = (sum w)^2 / sum w^2: as many as rows of equal weight
 * would say as much. */
#include "calibrate/calibrate.h"

#include "base/memory.h"
#include "base/random.h"
#include "calibrate/held_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_HELD_OUT = 5000, /* rows                        */
    SHARE_HELD_OUT = 2,   /* one row in so many          */
    SHARE_OF_ROUND = 100  /* of all rows, in one round   */
};

static const double LEAST_OF_TAIL = 0.1; /* least factor of std, over that of the 95 % interval */

/* ---- Which rows ---- */

/* Drawn by the seed, in rounds of few. */
static void ask_any(row_choice *c)
{
    size_t n = c->m->rows.n;
    c->wanted = n / SHARE_HELD_OUT > MOST_HELD_OUT ? MOST_HELD_OUT : n / SHARE_HELD_OUT;
    c->together = n / SHARE_OF_ROUND > 1 ? n / SHARE_OF_ROUND : 1;
    row_choice_draw(c, STREAM_CALIBRATE);
}

/* Those that theta does not know, all at once. */
static void ask_held(row_choice *c, const char *held)
{
    for (size_t i = 0; i < c->m->rows.n; i++)
        if (held[c->m->row[i]])
            c->rows[c->asked++] = i;
    c->wanted = c->together = c->asked;
}

static quorum_status choose_rows(const quorum_model *m, const char *held, unsigned char *round,
                                 size_t *count)
{
    row_choice c;
    quorum_status status = row_choice_new(m, round, &c);
    if (status == QUORUM_OK) {
        if (held)
            ask_held(&c, held);
        else
            ask_any(&c);
        row_choice_take_out(&c);
        *count = c.count;
        if (c.count < LEAST_HELD_OUT)
            status = failure(QUORUM_E_DATA,
                             "calibrate can hold out %zu of %zu rows, and needs %d: leave it off",
                             c.count, m->rows.n, LEAST_HELD_OUT);
    }
    row_choice_free(&c);
    return status;
}

/* ---- Ratios ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int findings_new(size_t most, findings *f)
{
    NEW_ARRAY(f->c.ratio, most);
    NEW_ARRAY(f->c.z, most);
    NEW_ARRAY(f->std, most);
    NEW_ARRAY(f->weight, most);
    NEW_ARRAY(f->sorted, most);
    return f->c.ratio && f->c.z && f->std && f->weight && f->sorted;
}

void findings_free(findings *f)
{
    calibration_free(&f->c);
    mem_free(f->std);
    mem_free(f->weight);
    mem_free(f->sorted);
    f->std = f->weight = NULL;
    f->sorted = NULL;
}

calibration findings_take(findings *f)
{
    calibration c = f->c;
    f->c = (calibration){0};
    return c;
}

/* error / std as a number that a file can hold, whatever the std. */
void findings_add(findings *f, double error, double std, double unit, double weight)
{
    double z = error == 0.0 ? 0.0 : error / std;
    f->std[f->c.count] = std / unit;
    f->weight[f->c.count] = weight;
    f->c.z[f->c.count++] = fmax(-LARGEST_RATIO, fmin(LARGEST_RATIO, z));
}

/* Takes out the rows of one round, predicts them and adds their ratios. */
static quorum_status one_round(held_out *r, const quorum_options *options, findings *f)
{
    quorum_status status = team_all(QUORUM_OK, held_out_make, r);
    if (status >= 0 && r->count > 0)
        status = held_out_predict(r, options);
    double unit = r->m->units.y_scale;
    for (size_t i = 0; status >= 0 && i < r->count; i++)
        findings_add(f, r->y[i] - r->mean[i], r->std[i], unit, r->weight[i]);
    return status;
}

/* Round after round, until no row is left to take out. */
static quorum_status all_rounds(const quorum_model *m, const unsigned char *round,
                                const quorum_options *options, findings *f)
{
    size_t taken = 1;
    for (int which = 1; taken > 0; which++) {
        held_out r = {.m = m, .round = round, .which = which};
        quorum_status status = one_round(&r, options, f);
        taken = r.count;
        held_out_free(&r);
        TRY(status);
    }
    return QUORUM_OK;
}

/* Whether the CRPS falls no more at s: mean of sqrt(2) exp(-z^2 / 2 s^2), weighted by std, is 1. */
static int is_wide(const findings *f, double s)
{
    double sum = 0.0, all = 0.0;
    for (size_t i = 0; i < f->c.count; i++) {
        double u = f->c.z[i] / s, importance = f->weight[i] * f->std[i];
        sum += importance * exp(-0.5 * u * u);
        all += importance;
    }
    return M_SQRT2 * sum >= all;
}

/* Where most rows are predicted exactly, narrower is better without end: then the least that is
 * said is LEAST_OF_TAIL of what the 95 % interval says, or 1. */
static double least_scale(const calibration *c)
{
    double reach = c->ratio[(size_t)(0.95 * (double)(c->count - 1))] / 1.96;
    return reach > 0.0 ? fmin(1.0, LEAST_OF_TAIL * reach) : 1.0;
}

/* The best factor of std is below 1.21 of the largest |z|, where the mean above is 1 or more. */
static double best_scale(const findings *f)
{
    const calibration *c = &f->c;
    double low = least_scale(c), high = 1.21 * c->ratio[c->count - 1];
    if (!(high > low) || is_wide(f, low))
        return low;
    for (int i = 0; i < 200 && high > low * (1.0 + 1e-15); i++) {
        double middle = sqrt(low) * sqrt(high);
        if (!(middle > low && middle < high))
            break;
        *(is_wide(f, middle) ? &high : &low) = middle;
    }
    return high;
}

static void sort_ratios(calibration *c)
{
    for (size_t i = 0; i < c->count; i++)
        c->ratio[i] = fabs(c->z[i]);
    qsort(c->ratio, c->count, sizeof *c->ratio, ascending);
}

/* ---- Weights ---- */

static int ascending_ratio(const void *a, const void *b)
{
    return ascending(&((const weighted_ratio *)a)->z, &((const weighted_ratio *)b)->z);
}

/* Rows of equal weight that would say as much: (sum w)^2 / sum w^2. */
static size_t count_equal(const findings *f, double *sum)
{
    double squares = 0.0, most = (double)f->c.count;
    *sum = 0.0;
    for (size_t i = 0; i < f->c.count; i++) {
        *sum += f->weight[i];
        squares += f->weight[i] * f->weight[i];
    }
    double equal = floor(*sum * *sum / squares * (1.0 + 1e-12));
    return (size_t)fmax(fmin(most, LEAST_HELD_OUT), fmin(most, equal));
}

static int has_weights(const findings *f)
{
    for (size_t i = 1; i < f->c.count; i++)
        if (f->weight[i] != f->weight[0])
            return 1;
    return 0;
}

/* z becomes the quantiles of the weighted ratios, ascending. */
static void take_quantiles(findings *f)
{
    calibration *c = &f->c;
    weighted_ratio *list = f->sorted;
    double sum, before = 0.0;
    size_t i = 0, m = count_equal(f, &sum);
    for (size_t k = 0; k < c->count; k++)
        list[k] = (weighted_ratio){c->z[k], f->weight[k]};
    qsort(list, c->count, sizeof *list, ascending_ratio);
    for (size_t k = 0; k < m; k++) {
        double at = ((double)k + 0.5) / (double)m * sum;
        while (i + 1 < c->count && before + list[i].weight < at)
            before += list[i++].weight;
        c->z[k] = list[i].z;
    }
    c->count = m;
}

void findings_summarise(findings *f)
{
    calibration *c = &f->c;
    sort_ratios(c);
    c->scale = best_scale(f);
    if (has_weights(f)) {
        take_quantiles(f);
        sort_ratios(c);
    }
    qsort(c->z, c->count, sizeof *c->z, ascending);
}

/* Rows are compared with what was observed, noise and all, whatever is to be predicted later. */
static quorum_options of_observations(const quorum_options *options)
{
    quorum_options o = *options;
    o.values.latent = o.values.mean_only = 0;
    return o;
}

/* Of all rows: those who predict without some of them have no graph of their own. */
static quorum_status learn_ranking(const quorum_model *m, const recipe *how,
                                   const quorum_options *options)
{
    const size_t *ranking;
    if (how->graph_on == GRAPH_ON_TEST)
        return QUORUM_OK;
    return model_ranking(m, &how->chosen, options_values(options), options_progress(options),
                         &ranking);
}

/* What calibration begins with. */
typedef struct {
    const quorum_model *m;
    const settings *s;
    const char *held; /* as of model_calibrate */
    findings found;
    unsigned char *round; /* n */
} calibrating;

static quorum_status check_prediction(void *context)
{
    calibrating *k = context;
    TRY(calibration_is_for(&k->found.c, k->m, k->s));
    return model_check_recipe(k->m, &k->found.c.how);
}

static quorum_status choose_rounds(void *context)
{
    calibrating *k = context;
    size_t count = 0;
    if (!NEW_ZEROED(k->round, k->m->rows.n))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    TRY(choose_rows(k->m, k->held, k->round, &count));
    if (!findings_new(count, &k->found))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating on %zu rows", count);
    return QUORUM_OK;
}

static quorum_status find_ratios(const quorum_model *m, const quorum_options *options,
                                 const char *held, findings *found)
{
    const quorum_options how = of_observations(options);
    calibrating k = {.m = m, .s = options_values(options), .held = held};
    quorum_status status = QUORUM_OK;
    TRY_OR_DONE(team_all(QUORUM_OK, check_prediction, &k));
    TRY_OR_DONE(learn_ranking(m, &k.found.c.how, options));
    TRY_OR_DONE(team_all(QUORUM_OK, choose_rounds, &k));
    TRY_OR_DONE(all_rounds(m, k.round, &how, &k.found));
done:
    mem_free(k.round);
    *found = k.found;
    return status;
}

quorum_status model_calibrate(quorum_model *m, const quorum_options *options, const char *held)
{
    findings found;
    quorum_status status = find_ratios(m, options, held, &found);
    if (status >= 0) {
        findings_summarise(&found);
        m->calibration = findings_take(&found);
    }
    findings_free(&found);
    return status;
}

quorum_status model_pool_ratios(quorum_model *m, const quorum_options *options, const char *held,
                                findings *pool)
{
    findings found;
    quorum_status status = find_ratios(m, options, held, &found);
    for (size_t i = 0; status >= 0 && i < found.c.count; i++) {
        pool->std[pool->c.count] = found.std[i];
        pool->weight[pool->c.count] = found.weight[i];
        pool->c.z[pool->c.count++] = found.c.z[i];
    }
    findings_free(&found);
    return status;
}
