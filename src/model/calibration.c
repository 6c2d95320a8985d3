/* What was learned from held-out rows, and what it says of a prediction: the interval of
 * probability P reaches as far as the ceil((h + 1) P)-th smallest of the h ratios
 * |y - mean| / std (split conformal prediction), and std is multiplied by their root mean
 * square.  fit/calibrate.c finds the ratios. */
#include "model/model.h"

#include "base/memory.h"
#include "linalg/normal.h"

#include <math.h>
#include <stdio.h>

void calibration_free(calibration *c)
{
    mem_free(c->ratio);
    mem_free(c->select);
    mem_free(c->purpose);
    *c = (calibration){0};
}

/* ---- The prediction that it is for ---- */

static quorum_status describe(calibration *c)
{
    const recipe *r = &c->how;
    char text[256], experts[96] = "";
    if (r->rule->kind != TAKES_ROWS)
        snprintf(experts, sizeof experts, ", select %s", c->select);
    snprintf(
        text, sizeof text, "method %s%s, neighbours %zu%s%s", r->rule->name, experts, r->neighbours,
        !rule_is_joint(r->rule) && r->space == SPACE_OBSERVED ? ", space observed" : "",
        r->graph_on == GRAPH_ON_TEST && selection_is_by_rank(&r->chosen) ? ", graph-on test" : "");
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

int model_is_calibrated(const quorum_model *m, const settings *s)
{
    const calibration *c = &m->calibration;
    recipe r;
    return c->count > 0 && s->calibration == CALIBRATION_AUTO && !s->latent &&
           model_recipe(m, s, &r) == QUORUM_OK && model_same_prediction(m, &c->how, &r);
}

int model_misses_calibration(const quorum_model *m, const settings *s)
{
    return m->calibration.count > 0 && s->calibration == CALIBRATION_AUTO && !s->mean_only &&
           !model_is_calibrated(m, s);
}

double model_calibration_scale(const quorum_model *m, const settings *s)
{
    return model_is_calibrated(m, s) ? m->calibration.scale : 1.0;
}

double model_interval_reach(const quorum_model *m, const settings *s, double probability)
{
    const calibration *c = &m->calibration;
    if (!model_is_calibrated(m, s))
        return normal_quantile(0.5 + 0.5 * probability);
    double place = ceil(((double)c->count + 1.0) * probability);
    if (place > (double)c->count) /* beyond what was seen: a Gaussian of the right width */
        return fmax(c->ratio[c->count - 1], c->scale * normal_quantile(0.5 + 0.5 * probability));
    return c->ratio[(size_t)place - 1];
}

double quorum_interval_factor(const quorum_model *m, const quorum_options *options,
                              double probability)
{
    if (!m || !(probability > 0.0 && probability < 1.0))
        return NAN;
    const settings *s = options_values(options);
    return model_interval_reach(m, s, probability) / model_calibration_scale(m, s);
}
