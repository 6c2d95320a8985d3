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

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_HELD_OUT = 5000, /* rows                        */
    SHARE_HELD_OUT = 2,   /* one row in so many          */
    SHARE_OF_ROUND = 100  /* of all rows, in one round   */
};

static const double LEAST_OF_TAIL = 0.1; /* least factor of std, over that of the 95 % interval */

/* ---- A model without the rows that are held out ---- */

/* Which rows to take out, and when. */
typedef struct {
    const quorum_model *m;
    size_t *rows;         /* n: in the order in which they are asked ... */
    size_t asked;         /* ... and how many of them                    */
    size_t wanted;        /* rows to take out at most ...                */
    size_t together;      /* ... and in one round                        */
    unsigned char *round; /* n: 1, 2, ..: in the first round, the second, ..; 0: never */
    size_t count;         /* rows that are taken out                     */
} row_choice;

/* Drawn by the seed, in rounds of few. */
static void ask_any(row_choice *c)
{
    size_t n = c->m->rows.n;
    c->wanted = n / SHARE_HELD_OUT > MOST_HELD_OUT ? MOST_HELD_OUT : n / SHARE_HELD_OUT;
    c->together = n / SHARE_OF_ROUND > 1 ? n / SHARE_OF_ROUND : 1;
    for (size_t i = 0; i < n; i++)
        c->rows[i] = i;
    rng r = rng_seed(c->m->seed, STREAM_CALIBRATE);
    rng_shuffle(&r, c->rows, n);
    c->asked = n;
}

/* Those that theta does not know, all at once. */
static void ask_held(row_choice *c, const char *held)
{
    for (size_t i = 0; i < c->m->rows.n; i++)
        if (held[c->m->row[i]])
            c->rows[c->asked++] = i;
    c->wanted = c->together = c->asked;
}

/* Every expert keeps one row at least; left (M) is room. */
static void take_out(row_choice *c, size_t *left)
{
    const quorum_model *m = c->m;
    parts all = model_parts(m);
    for (size_t e = 0; e < m->M; e++)
        left[e] = m->offset[e + 1] - m->offset[e];
    for (size_t i = 0; i < c->asked && c->count < c->wanted; i++) {
        size_t e = part_of_row(&all, c->rows[i]);
        if (left[e] < 2)
            continue;
        left[e]--;
        c->round[c->rows[i]] = (unsigned char)(1 + c->count++ / c->together);
    }
}

static quorum_status choose_rows(const quorum_model *m, const char *held, unsigned char *round,
                                 size_t *count)
{
    row_choice c = {.m = m, .round = round};
    size_t *left = NULL;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(c.rows, m->rows.n) || !NEW_ARRAY(left, m->M)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for calibrating on %zu rows", m->rows.n);
        goto done;
    }
    if (held)
        ask_held(&c, held);
    else
        ask_any(&c);
    take_out(&c, left);
    *count = c.count;
    if (c.count < LEAST_HELD_OUT)
        status = failure(QUORUM_E_DATA,
                         "calibrate can hold out %zu of %zu rows, and needs %d: leave it off",
                         c.count, m->rows.n, LEAST_HELD_OUT);
done:
    mem_free(c.rows);
    mem_free(left);
    return status;
}

/* Copies of the arrays that prediction looks at; the rest stays empty. */
static quorum_status copy_settings(const quorum_model *m, quorum_model *to)
{
    size_t D = m->rows.D;
    NEW_ARRAY(to->units.x_mean, D);
    NEW_ARRAY(to->units.x_scale, D);
    NEW_ARRAY(to->units.constant, D);
    NEW_ARRAY(to->theta.lengthscale, D);
    NEW_ZEROED(to->columns.names, D + 1);
    if (!to->units.x_mean || !to->units.x_scale || !to->units.constant || !to->theta.lengthscale ||
        !to->columns.names)
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    memcpy(to->units.x_mean, m->units.x_mean, D * sizeof *m->units.x_mean);
    memcpy(to->units.x_scale, m->units.x_scale, D * sizeof *m->units.x_scale);
    memcpy(to->units.constant, m->units.constant, D);
    if (m->units.rotation) {
        if (!NEW_ARRAY(to->units.rotation, D * D))
            return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
        memcpy(to->units.rotation, m->units.rotation, D * D * sizeof *m->units.rotation);
    }
    memcpy(to->theta.lengthscale, m->theta.lengthscale, D * sizeof *m->units.x_mean);
    to->graph_how = m->graph_how;
    to->units.y_mean = m->units.y_mean;
    to->units.y_scale = m->units.y_scale;
    to->seed = m->seed;
    return line_copy(D, &m->units, &to->units);
}

/* The ranking, if there is one, is all that prediction wants of the graph. */
static quorum_status copy_ranking(const quorum_model *m, quorum_model *to)
{
    if (!m->learned.graph.ranking)
        return QUORUM_OK;
    if (!NEW_ARRAY(to->learned.graph.ranking, m->M))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    memcpy(to->learned.graph.ranking, m->learned.graph.ranking,
           m->M * sizeof *m->learned.graph.ranking);
    return QUORUM_OK;
}

/* The rows that are not held out, still sorted by expert: nobody holds the others. */
static quorum_status copy_rows(const quorum_model *m, const char *held, quorum_model *to)
{
    size_t at = 0;
    TRY(rows_new(&m->rows, to->rows.n, &to->rows));
    if (!NEW_ARRAY(to->offset, m->M + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    to->offset[0] = 0;
    for (size_t e = 0; e < m->M; e++) {
        for (size_t i = m->offset[e]; i < m->offset[e + 1]; i++)
            if (!held[i])
                rows_copy(&m->rows, i, 1, &to->rows, at++);
        to->offset[e + 1] = at;
    }
    parts own = model_parts(m);
    return extra_rows_without(&own, &m->extra, held, &to->extra);
}

static quorum_status without_rows(const quorum_model *m, const char *held, size_t count,
                                  quorum_model **out)
{
    quorum_model *to = model_new();
    if (!to)
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    to->rows.D = m->rows.D;
    to->M = m->M;
    to->rows.n = m->rows.n - count;
    to->theta = m->theta;
    to->spread = m->spread;
    to->untested = m->untested;
    to->neighbours = m->neighbours;
    to->theta.lengthscale = NULL;
    quorum_status status = copy_settings(m, to);
    if (status == QUORUM_OK)
        status = copy_ranking(m, to);
    if (status == QUORUM_OK)
        status = copy_rows(m, held, to);
    if (status < 0)
        quorum_model_free(to);
    else
        *out = to;
    return status;
}

/* ---- Ratios ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* One round: a model without the rows that it holds out, and what that predicts for them. */
typedef struct {
    const quorum_model *m;
    const unsigned char *round;
    int which;
    quorum_model *reduced;
    char *held;         /* n: 1 where a row is held out  */
    size_t count;       /* rows that are                 */
    double *X, *y;      /* count x D, count: in units    */
    double *mean, *std; /* count                         */
    double *error;      /* count: known of the rows, in units; NULL: nothing */
    double *weight;     /* count                         */
} calibration_round;

static void round_free(calibration_round *r)
{
    mem_free(r->held);
    quorum_model_free(r->reduced);
    mem_free(r->X);
    mem_free(r->y);
    mem_free(r->mean);
    mem_free(r->std);
    mem_free(r->error);
    mem_free(r->weight);
}

/* The held-out rows in their units. */
static quorum_status copy_held_out(calibration_round *r)
{
    const quorum_model *m = r->m;
    size_t D = m->rows.D, at = 0;
    if (!NEW_ARRAY(r->X, r->count * D) || !NEW_ARRAY(r->y, r->count) ||
        !NEW_ARRAY(r->mean, r->count) || !NEW_ARRAY(r->std, r->count) ||
        !NEW_ARRAY(r->weight, r->count) || (m->rows.error && !NEW_ARRAY(r->error, r->count)))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating on %zu rows", r->count);
    for (size_t i = 0; i < m->rows.n; i++) {
        if (!r->held[i])
            continue;
        model_in_units(m, m->rows.X + i * D, r->X + at * D);
        r->weight[at] = row_weight(&m->rows, i);
        if (m->rows.error && r->error)
            r->error[at] = m->rows.error[i] * m->units.y_scale;
        r->y[at++] = model_target_in_units(m, m->rows.X + i * D, m->rows.y[i]);
    }
    return QUORUM_OK;
}

static quorum_status prepare_round(void *context)
{
    calibration_round *r = context;
    if (!NEW_ARRAY(r->held, r->m->rows.n))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    for (size_t i = 0; i < r->m->rows.n; i++)
        r->count += (size_t)(r->held[i] = r->round[i] == r->which);
    if (r->count == 0)
        return QUORUM_OK;
    TRY(without_rows(r->m, r->held, r->count, &r->reduced));
    return copy_held_out(r);
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
static quorum_status one_round(calibration_round *r, const quorum_options *options, findings *f)
{
    quorum_status status = team_all(QUORUM_OK, prepare_round, r);
    quorum_prediction out = {.mean = r->mean, .std = r->std, .noise_std = r->error};
    if (status >= 0 && r->count > 0)
        status = quorum_predict(r->reduced, r->X, r->count, options, &out, NULL);
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
        calibration_round r = {.m = m, .round = round, .which = which};
        quorum_status status = one_round(&r, options, f);
        taken = r.count;
        round_free(&r);
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

quorum_status model_calibrate(quorum_model *m, const quorum_options *options, const char *held)
{
    const quorum_options how = of_observations(options);
    calibrating k = {.m = m, .s = options_values(options), .held = held};
    quorum_status status = QUORUM_OK;
    TRY_OR_DONE(team_all(QUORUM_OK, check_prediction, &k));
    TRY_OR_DONE(learn_ranking(m, &k.found.c.how, options));
    TRY_OR_DONE(team_all(QUORUM_OK, choose_rounds, &k));
    TRY_OR_DONE(all_rounds(m, k.round, &how, &k.found));
    findings_summarise(&k.found);
done:
    mem_free(k.round);
    if (status >= 0)
        m->calibration = findings_take(&k.found);
    findings_free(&k.found);
    return status;
}
