/* Margins by quorum_predict's own way, so that draws have its mean and its std.
 *
 *   latent = c std_f,   noise^2 = std^2 - latent^2
 *
 * std_f is the std of latent=true, which is never calibrated, and c the factor of the calibrated
 * std: the covariance between queries is then calibrated as the variances are. */
#include "sample/margins.h"

#include "base/memory.h"
#include "predict/block.h"

#include <math.h>

quorum_status margins_new(size_t n, margins *out)
{
    *out = (margins){0};
    NEW_ARRAY(out->mean, n);
    NEW_ARRAY(out->latent, n);
    NEW_ARRAY(out->noise, n);
    if (out->mean && out->latent && out->noise)
        return QUORUM_OK;
    margins_free(out);
    return failure(QUORUM_E_MEMORY, "out of memory for the predictions of %zu queries", n);
}

void margins_free(margins *g)
{
    mem_free(g->mean);
    mem_free(g->latent);
    mem_free(g->noise);
    *g = (margins){0};
}

double rest_of(double whole, double part)
{
    double share = part / whole;
    return share < 1.0 ? whole * sqrt((1.0 - share) * (1.0 + share)) : 0.0;
}

quorum_status margins_find(const plan *p, const double *X, size_t n, margins *g)
{
    const unit_change *u = &p->m->units;
    double c = model_calibration_scale(p->m, p->s), *centre;
    if (!NEW_ARRAY(centre, n))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n);
    quorum_prediction all = {.mean = g->mean, .std = g->noise};
    quorum_prediction latent = {.mean = centre, .std = g->latent};
    quorum_status status = predict_margins(p, X, n, &all, &latent);
    for (size_t q = 0; status == QUORUM_OK && q < n; q++) {
        warp_moments_back(u, &g->mean[q], &g->noise[q]);
        warp_moments_back(u, &centre[q], &g->latent[q]);
        g->latent[q] *= c;
        g->noise[q] = p->s->latent ? 0.0 : rest_of(g->noise[q], g->latent[q]);
    }
    mem_free(centre);
    return status;
}
