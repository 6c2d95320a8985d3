/* Places on the unit sphere, of a longitude and a latitude in degrees (made.h):
 *
 *   x = cos lat cos lon,   y = cos lat sin lon,   z = sin lat
 *
 * The distance between two places is the chord, 2 sin(a / 2) of their angle a, which differs from a by
 * less than a^3 / 24.  Kernels of it are positive definite on the sphere, because they are in space; those
 * of a itself need not be. */
#include "encode/made.h"

#include <math.h>

static const double DEGREE = 0.01745329251994329577; /* pi / 180 */

/* NULL: there is none. */
static const made_input *find_place(const made_inputs *m)
{
    for (size_t k = 0; k < m->count; k++)
        if (m->of[k].kind == MADE_X)
            return &m->of[k];
    return NULL;
}

int made_is_place(const made_input *in)
{
    return in->kind >= MADE_X;
}

size_t made_place(const made_inputs *m)
{
    const made_input *in = find_place(m);
    return in ? m->columns + (size_t)(in - m->of) : 0;
}

int made_hides(const made_inputs *m, size_t d)
{
    const made_input *in = find_place(m);
    return in && (in->column == d || in->other == d);
}

/* What is missing passes. */
quorum_status made_check(const made_inputs *m, const double *t, const char *what, size_t number,
                         char *const *names)
{
    const made_input *in = find_place(m);
    if (!in)
        return QUORUM_OK;
    double lon = t[in->column], lat = t[in->other];
    int is_far = lon < LEAST_LONGITUDE || lon > MOST_LONGITUDE;
    if (!is_far && !(fabs(lat) > MOST_LATITUDE))
        return QUORUM_OK;
    return failure(QUORUM_E_DATA, "%s %zu: %.200s is %.10g, and %s are from %d to %d degrees", what,
                   number, names[is_far ? in->column : in->other], is_far ? lon : lat,
                   is_far ? "longitudes" : "latitudes", is_far ? LEAST_LONGITUDE : -MOST_LATITUDE,
                   is_far ? MOST_LONGITUDE : MOST_LATITUDE);
}

double on_sphere(made_kind kind, double lon, double lat)
{
    if (isnan(lon) || isnan(lat))
        return NAN;
    if (kind == MADE_Z)
        return sin(DEGREE * lat);
    return cos(DEGREE * lat) * (kind == MADE_X ? cos(DEGREE * lon) : sin(DEGREE * lon));
}

void made_degrees(const made_inputs *m, double *x)
{
    const made_input *in = find_place(m);
    if (!in)
        return;
    const double *p = x + made_place(m);
    double lon = atan2(p[1], p[0]) / DEGREE, lat = atan2(p[2], hypot(p[0], p[1])) / DEGREE;
    x[in->column] = lon < in->degrees ? lon + 360.0 : lon;
    x[in->other] = lat;
}

void made_slopes(const made_inputs *m, const double *x, double *gradient)
{
    const made_input *in = find_place(m);
    if (!in)
        return;
    const double *p = x + made_place(m), *g = gradient + made_place(m);
    double lon = atan2(p[1], p[0]), across = hypot(p[0], p[1]); /* cos lat */
    gradient[in->column] = DEGREE * (p[0] * g[1] - p[1] * g[0]);
    gradient[in->other] = DEGREE * (across * g[2] - p[2] * (cos(lon) * g[0] + sin(lon) * g[1]));
}

void made_share_scale(const made_inputs *m, const char *constant, double *scale)
{
    size_t first = made_place(m);
    double sum = 0.0;
    for (size_t d = first; first > 0 && d < first + 3; d++)
        sum += constant[d] ? 0.0 : scale[d] * scale[d];
    for (size_t d = first; first > 0 && d < first + 3; d++)
        if (!constant[d])
            scale[d] = sqrt(sum / 2.0);
}
