/* The metric's own coordinates,
 *
 *   z_k = sum_d R_kd (x_d - mean_d) / scale_d / lengthscale_k,
 *
 * R being the identity where the metric has no rotation: one step is one length-scale.  The first
 * axis is the direction along which the training rows have the largest standard deviation, the second the
 * one with the largest that a line in the first does not explain, s_k sqrt(1 - r^2).  Where columns can be
 * the axes they are, in their own units: a direction that is a column of numbers or dates by itself, the only two
 * such columns, longitude and latitude of a place.  One that is a category by itself has the names of its levels.
 * Of one input alone the second axis is the target. */
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
    return standardised_input(info, d, x);
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

/* Of z_j and z_k, over the training rows that charts show. */
static double covariance(const facts *f, size_t j, size_t k)
{
    double sum_j = 0.0, sum_k = 0.0, products = 0.0, n = (double)f->shown_train_count;
    for (size_t i = 0; i < f->shown_train_count; i++) {
        const double *row = f->X + f->shown_training[i] * f->info.inputs;
        double a = along(&f->info, j, row), b = along(&f->info, k, row);
        sum_j += a;
        sum_k += b;
        products += a * b;
    }
    return products / n - (sum_j / n) * (sum_k / n);
}

/* ---- The axes ---- */

enum { NONE = -1 };

typedef struct {
    ptrdiff_t at;   /* a direction, or a column; NONE: the target           */
    bool is_column; /* in its own units, and not in length-scales of a direction */
} map_axis;

static const double LEAST_SPREAD = 1e-9; /* of what is left, against all: rounding */

/* The direction of largest variance, or what the first one, given, leaves of it; NONE: there is none. */
static ptrdiff_t find_leading(const facts *f, ptrdiff_t first)
{
    ptrdiff_t best = NONE;
    double most = 0.0;
    double of_first = first == NONE ? 1.0 : covariance(f, (size_t)first, (size_t)first);
    for (size_t k = 0; k < f->info.inputs; k++) {
        double variance = covariance(f, k, k), left = variance;
        if ((ptrdiff_t)k == first)
            continue;
        if (first != NONE)
            left -= pow(covariance(f, (size_t)first, k), 2.0) / of_first;
        if (left > most && left > LEAST_SPREAD * variance) {
            most = left;
            best = (ptrdiff_t)k;
        }
    }
    return best;
}

/* Or a date. */
static bool is_number(const quorum_info *info, size_t d)
{
    return !info->constant[d] && !is_category(info, d);
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

/* A column's number; what is missing is at the mean here too. */
static double in_own_units(const quorum_info *info, size_t d, double x)
{
    return isnan(x) ? input_middle(info, d) : x;
}

static double place_along(const facts *f, map_axis axis, const double *row, double y)
{
    size_t k = (size_t)axis.at;
    if (axis.at == NONE)
        return y;
    return axis.is_column ? in_own_units(&f->info, k, row[k]) : along(&f->info, k, row);
}

/* "1.00 depth" is depth. */
static const char *without_one(const char *direction)
{
    bool alone = !strstr(direction, " + ") && !strstr(direction, " - ");
    return alone && strncmp(direction, "1.00 ", 5) == 0 ? direction + 5 : direction;
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
        bool has_names = k < info->columns && is_category(info, k);
        snprintf(text, size, has_names ? "%s" : "%s (in length-scales)", input_name(info, k).text);
    } else {
        describe_direction(info, k, direction, sizeof direction);
        snprintf(text, size, "%s (in length-scales)", without_one(direction));
    }
}

static void choose_axes(facts *f, map_axis axis[2])
{
    const quorum_info *info = &f->info;
    if (info->place > 0) {
        axis[0] = (map_axis){(ptrdiff_t)info->longitude, true};
        axis[1] = (map_axis){(ptrdiff_t)info->latitude, true};
    } else if (!find_two_columns(info, axis)) {
        axis[0].at = find_leading(f, NONE);
        axis[1].at = axis[0].at == NONE ? NONE : find_leading(f, axis[0].at);
        for (int a = 0; a < 2; a++)
            axis[a].is_column =
                axis[a].at != NONE && !info->rotation && is_number(info, (size_t)axis[a].at);
    }
    for (int a = 0; a < 2; a++) {
        bool alone = axis[a].is_column || (axis[a].at != NONE && !info->rotation);
        f->places.column[a] = alone && axis[a].at < (ptrdiff_t)info->columns ? axis[a].at : NONE;
    }
    f->places.of_target = axis[1].at == NONE;
    for (int a = 0; a < 2; a++)
        name_axis(f, axis[a], f->places.name[a], sizeof f->places.name[a]);
}

/* Where the levels of an axis are that is a category. */
static bool place_levels(facts *f, int a)
{
    const quorum_info *info = &f->info;
    places *p = &f->places;
    size_t d = (size_t)p->column[a];
    if (p->column[a] == NONE || !is_category(info, d))
        return true;
    p->level_at[a] = malloc(info->levels[d] * sizeof *p->level_at[a]);
    for (size_t l = 0; p->level_at[a] && l < info->levels[d]; l++)
        p->level_at[a][l] = standardised(info, d, (double)l) / info->lengthscale[d];
    p->level[a] =
        (named_places){.count = info->levels[d], .name = info->level[d], .at = p->level_at[a]};
    return p->level_at[a] != NULL;
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

bool axis_is_date(const facts *f, int axis)
{
    ptrdiff_t d = f->places.column[axis];
    return d != NONE && is_date(&f->info, (size_t)d);
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
    if (!place_levels(f, 0) || !place_levels(f, 1))
        return failure(f->given, "out of memory for the places of levels");
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
    free(p->level_at[0]);
    free(p->level_at[1]);
    memset(p, 0, sizeof *p);
}
