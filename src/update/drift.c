/* Whether the data have moved away from the model.  With g the density of z = (y - mean) / std that calibration
 * found, z_1 .. z_h its left-out rows and z'_1 .. z'_k the new ones,
 *
 *   density = 1/k sum_i log g(z'_i),   expected = 1/h sum_j log g(z_j)
 *
 * Chance is how often k rows drawn from the h, less a mean of h drawn from them, fall as far below: the
 * h are a sample too.  Nothing is assumed of the distribution of log densities; but rows are taken as
 * independent of each other. */
#include "update/update.h"

#include "base/memory.h"
#include "base/random.h"
#include "linalg/bent_normal.h"

#include <math.h>

enum { DRAWS = 1000, LEAST_KNOWN = 20 };
static const double RARE = 0.01;

static double mean_density(const quorum_distribution *d, const double *z, const double *weight,
                           size_t count)
{
    double sum = 0.0, all = 0.0;
    for (size_t i = 0; i < count; i++) {
        double w = weight ? weight[i] : 1.0;
        sum += w * bent_log_density(d, z[i]);
        all += w;
    }
    return sum / all;
}

static double draw_mean(rng *r, const double *density, size_t known, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += density[rng_below(r, known)];
    return sum / (double)count;
}

static double chance_of(const change *c, const double *density, size_t known, double short_of)
{
    rng r = rng_seed(c->m->seed, STREAM_UPDATE);
    size_t as_low = 0;
    for (int i = 0; i < DRAWS; i++) {
        double fall =
            draw_mean(&r, density, known, known) - draw_mean(&r, density, known, c->report.scored);
        as_low += fall >= short_of;
    }
    return (double)as_low / DRAWS;
}

static quorum_status compare(change *c, const quorum_distribution *d)
{
    const calibration *known = &c->m->calibration;
    const double *z = known->z ? known->z : known->ratio;
    double *density;
    if (!NEW_ARRAY(density, known->count))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu left-out rows", known->count);
    for (size_t i = 0; i < known->count; i++)
        density[i] = bent_log_density(d, z[i]);
    quorum_update_report *r = &c->report;
    r->expected = mean_density(d, z, NULL, known->count);
    r->chance = chance_of(c, density, known->count, r->expected - r->density);
    r->drift = r->chance < RARE;
    mem_free(density);
    return QUORUM_OK;
}

quorum_status change_watch_drift(change *c)
{
    char text[NEIGHBOURS_TEXT];
    quorum_distribution d;
    settings s = *options_values(NULL);
    c->report.density = c->report.expected = c->report.chance = NAN;
    if (c->report.scored == 0)
        return QUORUM_OK;
    change_prediction(c->m, text, &s);
    model_distribution(c->m, &s, &d);
    c->report.density = mean_density(&d, c->z, c->weight, c->report.scored);
    return d.points > 0 && c->m->calibration.count >= LEAST_KNOWN ? compare(c, &d) : QUORUM_OK;
}
