/* What was learned from held-out rows, and what it says of a prediction.  Of the h ratios
 * z = (y - mean) / std, ascending, the quantile of probability p < 1/2 is the floor((h + 1) p)-th,
 * and that of 1 - p as many places from the other end; the interval of probability P is between
 * those of (1 - P)/2 and (1 + P)/2.  With interval-shape=symmetric it reaches on both sides as far as
 * the ceil((h + 1) P)-th smallest |z|.  Density and scores are those of a distribution that has these
 * quantiles at a few probabilities (linalg/bent_normal.c).  calibrate/calibrate.c finds the ratios. */
#include "model/model.h"

#include "base/memory.h"
#include "linalg/bent_normal.h"
#include "linalg/normal.h"

#include <math.h>
#include <stdio.h>

void calibration_free(calibration *c)
{
    mem_free(c->ratio);
    mem_free(c->z);
    mem_free(c->select);
    mem_free(c->purpose);
    *c = (calibration){0};
}

/* ---- The prediction that it is for ---- */

/* What calibrate=auto has found for nearest rows serves cells of the size that goes with them too:
 * left-out errors of both are distributed alike (docs/methods.md, "Cells"). */
static int is_for_cells_too(const calibration *c)
{
    return c->unasked && c->how.rule && c->how.rule->kind == TAKES_ROWS;
}

static quorum_status describe(calibration *c)
{
    const recipe *r = &c->how;
    char text[256], experts[96] = "";
    if (!rule_asks_nobody(r->rule))
        snprintf(experts, sizeof experts, ", select %s", c->select);
    snprintf(text, sizeof text, "method %s%s, neighbours %zu%s%s%s", r->rule->name, experts,
             r->neighbours,
             !rule_is_latent(r->rule) && r->space == SPACE_OBSERVED ? ", space observed" : "",
             r->graph_on == GRAPH_ON_TEST && recipe_asks_graph(r) ? ", graph-on test" : "",
             is_for_cells_too(c) ? ", or method cells" : "");
    c->purpose = mem_copy_text(text);
    return c->purpose ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for the calibration");
}

quorum_status calibration_is_for(calibration *c, const quorum_model *m, const settings *s)
{
    TRY(model_recipe(m, s, &c->how));
    c->select = mem_copy_text(options_select(s, m->M));
    return c->select ? describe(c) : failure(QUORUM_E_MEMORY, "out of memory for the calibration");
}

/* ---- Use ---- */

static int serves_cells(const quorum_model *m, const calibration *c, const recipe *r)
{
    size_t rows = c->how.neighbours * CELL_NEIGHBOURS / OWN_NEIGHBOURS;
    return is_for_cells_too(c) && r->rule->kind == TAKES_CELLS &&
           r->neighbours == (rows < m->rows.n ? rows : m->rows.n);
}

int model_is_calibrated(const quorum_model *m, const settings *s)
{
    const calibration *c = &m->calibration;
    recipe r;
    return c->count > 0 && s->calibration == CALIBRATION_AUTO && !s->latent &&
           model_recipe(m, s, &r) == QUORUM_OK &&
           (model_same_prediction(m, &c->how, &r) || serves_cells(m, c, &r));
}

int model_misses_calibration(const quorum_model *m, const settings *s)
{
    return m->calibration.count > 0 && !m->calibration.unasked &&
           s->calibration == CALIBRATION_AUTO && !s->mean_only && !model_is_calibrated(m, s);
}

double model_calibration_scale(const quorum_model *m, const settings *s)
{
    return model_is_calibrated(m, s) ? m->calibration.scale : 1.0;
}

spread_rule model_spread(const quorum_model *m)
{
    return (spread_rule){.prior = m->spread,
                         .untested = m->untested > 0.0 ? m->untested : 1.0,
                         .surrounded = m->untested > 0.0 ? 1.0 : 0.0,
                         .local_noise = m->local_noise,
                         .nested = m->nested_spread};
}

spread_rule model_spread_with(const quorum_model *m, const settings *s)
{
    spread_rule spread = model_spread(m);
    double scale = fmin(1.0, model_calibration_scale(m, s));
    if (m->untested > 0.0) {
        spread.untested /= scale * scale;
        spread.surrounded /= scale * scale;
    }
    return spread;
}

/* ---- Quantiles ---- */

/* Probabilities come with rounding: a whole place that is missed by that little is meant. */
static const double ROUNDING = 1e-12;

static int is_symmetric(const quorum_model *m, const settings *s)
{
    return s->interval_shape == SHAPE_SYMMETRIC || !m->calibration.z;
}

/* |z| within which a share P of the held-out rows is; place: (h + 1) P. */
static double symmetric_reach(const calibration *c, double place, double probability)
{
    if (place > (double)c->count) /* beyond what was seen: a Gaussian of the right width */
        return fmax(c->ratio[c->count - 1], c->scale * normal_quantile(0.5 + 0.5 * probability));
    return place < 1.0 ? 0.0 : c->ratio[(size_t)place - 1];
}

/* How many places from either end the quantiles of probabilities tail and 1 - tail are; 0: there
 * were too few rows to see them. */
static size_t tail_place(const calibration *c, double tail)
{
    return (size_t)floor(((double)c->count + 1.0) * tail * (1.0 + ROUNDING));
}

static double median(const calibration *c)
{
    return 0.5 * c->z[(c->count - 1) / 2] + 0.5 * c->z[c->count / 2];
}

/* The quantile of `tail` < 1/2, or from the upper end. */
static double signed_quantile(const quorum_model *m, const settings *s, double tail, int upper)
{
    const calibration *c = &m->calibration;
    size_t place = tail_place(c, tail), h = c->count;
    quorum_distribution d;
    if (place > 0)
        return upper ? c->z[h - place] : c->z[place - 1];
    model_distribution(m, s, &d);
    double u = normal_quantile(tail);
    return upper ? fmax(c->z[h - 1], bent_normal_at(&d, -u)) : fmin(c->z[0], bent_normal_at(&d, u));
}

void model_interval_ends(const quorum_model *m, const settings *s, double probability,
                         double *lower, double *upper)
{
    const calibration *c = &m->calibration;
    double tail = 0.5 - 0.5 * probability;
    if (!model_is_calibrated(m, s)) {
        *upper = normal_quantile(0.5 + 0.5 * probability);
        *lower = -*upper;
    } else if (is_symmetric(m, s)) {
        double place = ceil(((double)c->count + 1.0) * probability);
        *upper = symmetric_reach(c, place, probability);
        *lower = -*upper;
    } else {
        *lower = signed_quantile(m, s, tail, 0);
        *upper = signed_quantile(m, s, tail, 1);
    }
}

/* The quantile of p, from absolute ratios. */
static double symmetric_quantile(const calibration *c, double p)
{
    double inside = fabs(2.0 * p - 1.0);
    double place = ceil(((double)c->count + 1.0) * inside * (1.0 - ROUNDING));
    return copysign(symmetric_reach(c, place, inside), p - 0.5);
}

double model_quantile(const quorum_model *m, const settings *s, double p)
{
    const calibration *c = &m->calibration;
    if (!model_is_calibrated(m, s))
        return normal_quantile(p);
    if (is_symmetric(m, s))
        return symmetric_quantile(c, p);
    if (p == 0.5)
        return median(c);
    return signed_quantile(m, s, fmin(p, 1.0 - p), p > 0.5);
}

/* ---- The whole distribution ---- */

/* Whether the quantiles of tail and 1 - tail were seen, and if so which they are. */
static int seen_quantiles(const quorum_model *m, const settings *s, double tail, double *lower,
                          double *upper)
{
    const calibration *c = &m->calibration;
    double h = (double)c->count;
    if (is_symmetric(m, s)) {
        *upper = symmetric_quantile(c, 1.0 - tail);
        *lower = -*upper;
        return ceil((h + 1.0) * (1.0 - 2.0 * tail) * (1.0 - ROUNDING)) <= h;
    }
    size_t place = tail_place(c, tail);
    if (place == 0)
        return 0;
    *lower = c->z[place - 1];
    *upper = c->z[c->count - place];
    return 1;
}

void model_distribution(const quorum_model *m, const settings *s, quorum_distribution *out)
{
    double tail[BENT_TAILS], lower[BENT_TAILS], upper[BENT_TAILS];
    size_t seen = 0;
    *out = (quorum_distribution){0};
    if (!model_is_calibrated(m, s))
        return;
    for (int k = 0; k < BENT_TAILS; k++)
        if (seen_quantiles(m, s, bent_tails[k], &lower[seen], &upper[seen]))
            tail[seen++] = bent_tails[k];
    if (seen > 0) /* a file of very few ratios may have none: Gaussian */
        bent_normal_through(seen, tail, lower, upper,
                            is_symmetric(m, s) ? 0.0 : median(&m->calibration), out);
}

quorum_status quorum_distribution_of(const quorum_model *m, const quorum_options *options,
                                     quorum_distribution *out)
{
    if (!m || !out)
        return failure(QUORUM_E_ARGUMENT, "quorum_distribution_of: model and out must not be NULL");
    const settings *s = options_values(options);
    double scale = model_calibration_scale(m, s);
    model_distribution(m, s, out);
    bent_normal_divide(out, scale);
    for (int k = 0; k < 4 && out->points > 0; k++) {
        model_interval_ends(m, s, quorum_coverage_levels[k], &out->lower[k], &out->upper[k]);
        out->lower[k] /= scale;
        out->upper[k] /= scale;
    }
    return QUORUM_OK;
}

static int is_probability(double p)
{
    return p > 0.0 && p < 1.0;
}

double quorum_interval_factor(const quorum_model *m, const quorum_options *options,
                              double probability)
{
    double lower, upper;
    if (!m || !is_probability(probability))
        return NAN;
    const settings *s = options_values(options);
    model_interval_ends(m, s, probability, &lower, &upper);
    return 0.5 * (upper - lower) / model_calibration_scale(m, s);
}

double quorum_quantile_factor(const quorum_model *m, const quorum_options *options,
                              double probability)
{
    if (!m || !is_probability(probability))
        return NAN;
    const settings *s = options_values(options);
    return model_quantile(m, s, probability) / model_calibration_scale(m, s);
}
