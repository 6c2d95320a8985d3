/* The metric's own coordinates,
 *
 *   z_k = sum_d R_kd (x_d - mean_d) / scale_d / lengthscale_k,
 *
 * R being the identity where the metric has no rotation: one step is one length-scale.  The two axes are
 * the directions along which the training rows have the largest standard deviation.  Where columns can be
 * the axes they are, in their own units: a direction that is a column of numbers by itself, the only two
 * such columns, longitude and latitude of a place.  Of one input alone the second axis is the target. */
#include "report/places.h"

#include "directions.h"
#include "hyperparameters.h"
#include "report/facts.h"
#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Coordinates ---- */

/* Input d of a row in standard deviations; what is missing or new is at the mean. */
static double standardised(const quorum_info *info, size_t d, double x)
{
    if (info->constant[d] || isnan(x))
        return 0.0;
    if (is_category(info, d)) {
        if (!(x >= 0.0 && x < (double)info->levels[d]))
            return 0.0;
        x = info->position[d][(size_t)x];
    }
    return (x - info->x_mean[d]) / info->x_scale[d];
}

/* z_k of a row. */
static double along(const quorum_info *info, size_t k, const double *row)
{
    double sum = 0.0;
    if (info->constant[k])
        return 0.0;
    if (!info->rotation)
        return standardised(info, k, row[k]) / info->lengthscale[k];
    for (size_t d = 0; d < info->inputs; d++)
        sum += info->rotation[k * info->inputs + d] * standardised(info, d, row[d]);
    return sum / info->lengthscale[k];
}

static double spread_along(const facts *f, size_t k)
{
    double sum = 0.0, squares = 0.0, n = (double)f->info.rows;
    for (size_t i = 0; i < f->info.rows; i++) {
        double z = along(&f->info, k, f->X + i * f->info.inputs);
        sum += z;
        squares += z * z;
    }
    return sqrt(fmax(squares / n - (sum / n) * (sum / n), 0.0));
}

/* ---- The axes ---- */

enum { NONE = -1 };

typedef struct {
    ptrdiff_t at;   /* a direction, or a column; NONE: the target           */
    bool is_column; /* in its own units, and not in length-scales of a direction */
} map_axis;

/* The two directions of largest spread; NONE: there are fewer that spread. */
static void find_leading(const facts *f, map_axis leading[2])
{
    double spread[2] = {0.0, 0.0};
    leading[0] = leading[1] = (map_axis){NONE, false};
    for (size_t k = 0; k < f->info.inputs; k++) {
        double s = spread_along(f, k);
        size_t place = s > spread[0] ? 0 : 1;
        if (s <= spread[place])
            continue;
        if (place == 0) {
            spread[1] = spread[0];
            leading[1] = leading[0];
        }
        spread[place] = s;
        leading[place].at = (ptrdiff_t)k;
    }
}

static bool is_number(const quorum_info *info, size_t d)
{
    return !info->constant[d] && !is_category(info, d) && !is_date(info, d);
}

/* Whether there are two inputs, both columns of numbers: they are the axes, whatever the metric. */
static bool find_two_columns(const quorum_info *info, map_axis axis[2])
{
    size_t vary = 0, found = 0;
    for (size_t d = 0; d < info->inputs; d++) {
        vary += !info->constant[d];
        if (found < 2 && d < info->columns && is_number(info, d))
            axis[found++] = (map_axis){(ptrdiff_t)d, true};
    }
    return found == 2 && vary == 2;
}

static double place_along(const facts *f, map_axis axis, const double *row, double y)
{
    if (axis.at == NONE)
        return y;
    return axis.is_column ? row[axis.at] : along(&f->info, (size_t)axis.at, row);
}

static void name_axis(const facts *f, map_axis axis, char *text, size_t size)
{
    const quorum_info *info = &f->info;
    size_t k = (size_t)axis.at;
    char direction[512];
    if (axis.at == NONE) {
        snprintf(text, size, "%s", target_label(info).text);
    } else if (axis.is_column) {
        snprintf(text, size, "%s", input_name(info, k).text);
    } else if (!info->rotation) {
        snprintf(text, size, "%s (in length-scales)", input_name(info, k).text);
    } else {
        describe_direction(info, k, direction, sizeof direction);
        snprintf(text, size, "%s (in length-scales)", direction);
    }
}

static void choose_axes(facts *f, map_axis axis[2])
{
    const quorum_info *info = &f->info;
    if (info->place > 0) {
        axis[0] = (map_axis){(ptrdiff_t)info->longitude, true};
        axis[1] = (map_axis){(ptrdiff_t)info->latitude, true};
    } else if (!find_two_columns(info, axis)) {
        find_leading(f, axis);
        for (int a = 0; a < 2; a++)
            axis[a].is_column =
                axis[a].at != NONE && !info->rotation && is_number(info, (size_t)axis[a].at);
    }
    f->places.of_target = axis[1].at == NONE;
    for (int a = 0; a < 2; a++)
        name_axis(f, axis[a], f->places.name[a], sizeof f->places.name[a]);
}

static void place_rows(const facts *f, const map_axis axis[2], const double *X, const double *y,
                       size_t count, double *out /* count x 2 */)
{
    for (size_t i = 0; i < count; i++)
        for (int a = 0; a < 2; a++)
            out[2 * i + (size_t)a] = place_along(f, axis[a], X + i * f->info.inputs, y[i]);
}

/* ---- Experts ---- */

/* Means over an expert's own rows: they stand together (quorum_info.offset). */
static void place_experts(facts *f)
{
    const quorum_info *info = &f->info;
    places *p = &f->places;
    for (size_t e = 0; e < info->experts; e++) {
        double n = (double)(info->offset[e + 1] - info->offset[e]);
        for (size_t i = info->offset[e]; i < info->offset[e + 1]; i++) {
            for (size_t a = 0; a < 2; a++)
                p->node[2 * e + a] += p->training[2 * i + a] / n;
            for (size_t k = 0; k < info->inputs; k++)
                p->centre[e * info->inputs + k] += along(info, k, f->X + i * info->inputs) / n;
        }
    }
}

static size_t nearest_centre(const facts *f, const double *z)
{
    size_t best = 0, D = f->info.inputs;
    double least = INFINITY;
    for (size_t e = 0; e < f->info.experts; e++) {
        double sum = 0.0;
        for (size_t k = 0; k < D; k++) {
            double step = z[k] - f->places.centre[e * D + k];
            sum += step * step;
        }
        if (sum < least) {
            least = sum;
            best = e;
        }
    }
    return best;
}

static bool find_experts(facts *f)
{
    double *z = malloc(f->info.inputs * sizeof *z);
    bool fits = z != NULL;
    for (size_t i = 0; fits && i < f->rows.count; i++) {
        for (size_t k = 0; k < f->info.inputs; k++)
            z[k] = along(&f->info, k, f->rows.X + i * f->info.inputs);
        f->places.expert[i] = nearest_centre(f, z);
    }
    free(z);
    return fits;
}

int places_make(facts *f)
{
    places *p = &f->places;
    map_axis axis[2];
    size_t experts = f->info.experts;
    p->training = malloc(2 * f->info.rows * sizeof *p->training);
    p->asked = malloc(2 * f->rows.count * sizeof *p->asked);
    p->centre = calloc(experts * f->info.inputs, sizeof *p->centre);
    p->node = calloc(2 * experts, sizeof *p->node);
    p->expert = malloc(f->rows.count * sizeof *p->expert);
    if (!p->training || !p->asked || !p->centre || !p->node || !p->expert)
        return failure(f->given, "out of memory for the places of %zu rows", f->info.rows);
    choose_axes(f, axis);
    place_rows(f, axis, f->X, f->y, f->info.rows, p->training);
    place_rows(f, axis, f->rows.X, f->rows.y, f->rows.count, p->asked);
    place_experts(f);
    return find_experts(f) ? EXIT_DONE : failure(f->given, "out of memory for a row");
}

void places_free(places *p)
{
    free(p->training);
    free(p->asked);
    free(p->centre);
    free(p->node);
    free(p->expert);
    memset(p, 0, sizeof *p);
}
