/* Inputs as the model takes them: finite, bent where they have heavy tails, and standardised.  Those that do not vary in the training
 * data are left out: nothing can be learned about them. */
#include "model/model.h"

#include "gp/points.h"
#include "linalg/blas.h"
#include "rows/bend.h"
#include "rows/scaling.h"

#include <float.h>
#include <math.h>
#include <string.h>

const double LOG_LONGEST = 100.0;

/* What another way of writing a number may change of it. */
static const double SAME_VALUE = 1e-9;

size_t model_varying(const quorum_model *m)
{
    size_t count = 0;
    for (size_t d = 0; d < m->rows.D; d++)
        count += !m->units.constant[d];
    return count;
}

size_t model_scales(const quorum_model *m)
{
    size_t count = 0;
    for (size_t d = 0; d < m->rows.D; d++)
        count += !m->units.constant[d] && (!m->same || m->same[d] == d);
    return count;
}

quorum_status model_check_varying(const quorum_model *m)
{
    if (model_varying(m) > 0)
        return QUORUM_OK;
    return failure(QUORUM_E_DATA,
                   "no input varies (%s is %.17g in all %zu rows): there is nothing to learn the "
                   "target from",
                   m->columns.names[0], m->units.x_mean[0], m->rows.n);
}

size_t model_table_columns(const quorum_model *m)
{
    return m->rows.D - m->made.count;
}

static quorum_status check_holes(const quorum_model *m, const double *table, size_t query)
{
    if (m->holes.of)
        return QUORUM_OK;
    for (size_t d = 0; d < m->made.columns; d++)
        if (isnan(table[d]))
            return failure(QUORUM_E_DATA, "query %zu: %.200s is missing: inputs must be finite",
                           query, m->columns.names[d]);
    return QUORUM_OK;
}

quorum_status model_make_inputs(const quorum_model *m, size_t n, const double *table, double *X)
{
    if (m->made.count == 0) {
        memcpy(X, table, n * m->rows.D * sizeof *X);
        return QUORUM_OK;
    }
    for (size_t i = 0; i < n; i++) {
        TRY(check_holes(m, table + i * m->made.columns, i + 1));
        TRY(made_check(&m->made, table + i * m->made.columns, "query", i + 1, m->columns.names));
    }
    made_apply(&m->made, n, table, X);
    return QUORUM_OK;
}

static const category *category_at(const quorum_model *m, size_t d)
{
    return m->encoding.of && m->encoding.of[d].levels > 0 ? &m->encoding.of[d] : NULL;
}

static quorum_status check_input(const quorum_model *m, size_t d, double x, size_t query)
{
    const category *c = category_at(m, d);
    if (isnan(x) && d < m->holes.columns)
        return failure(QUORUM_E_DATA,
                       "query %zu, input %s is missing: predictions fill it with --missing impute",
                       query, m->columns.names[d]);
    if (isnan(x) && m->place > 0 && d - m->place < 3)
        return failure(QUORUM_E_DATA,
                       "query %zu has no longitude or no latitude: a place cannot be filled in",
                       query);
    if (!isfinite(x))
        return failure(QUORUM_E_DATA, "query %zu, input %s is %g: inputs must be finite", query,
                       m->columns.names[d], x);
    if (c && !category_has(c, x) && x != -1.0)
        return failure(QUORUM_E_DATA,
                       "query %zu, input %s is %g: it is a category, of which X has the number of "
                       "a level, 0 to %zu, or -1 for a level that the training data do not have",
                       query, m->columns.names[d], x, c->levels - 1);
    return QUORUM_OK;
}

quorum_status model_check_queries(const quorum_model *m, const double *X, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < m->rows.D; d++)
            TRY(check_input(m, d, X[i * m->rows.D + d], i + 1));
    return QUORUM_OK;
}

size_t model_count_new_levels(const quorum_model *m, const double *X, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; m->encoding.of && i < n; i++)
        count += (size_t)encoding_is_new(&m->encoding, X + i * m->rows.D);
    return count;
}

quorum_status model_check_known_levels(const quorum_model *m, const double *X, size_t n)
{
    for (size_t i = 0; m->encoding.of && i < n; i++)
        for (size_t d = 0; d < m->rows.D; d++)
            if (category_needs_nodes(&m->encoding.of[d], X[i * m->rows.D + d]))
                return failure(QUORUM_E_DATA,
                               "query %zu has a level of %.200s that was not in the training data",
                               i + 1, m->columns.names[d]);
    return QUORUM_OK;
}

/* z = E' z: how far z reaches along each direction, the columns of E (D x D). */
static void turn(size_t D, const double *E, double *z)
{
    double inputs[MOST_DIRECTIONS];
    for (size_t d = 0; d < D; d++)
        inputs[d] = bring_in(z[d]); /* so that sums stay finite */
    for (size_t k = 0; k < D; k++)
        z[k] = vec_dot(D, E + k * D, inputs);
}

void model_standardise(const quorum_model *m, size_t n, const double *X, double *Z)
{
    const unit_change *u = &m->units;
    size_t D = m->rows.D;
    if (m->encoding.of)
        encoding_apply(&m->encoding, n, X, Z);
    if (u->bend_width)
        bends_apply(n, D, m->encoding.of ? Z : X, u->bend_at, u->bend_width, Z);
    scaling_apply(n, D, m->encoding.of || u->bend_width ? Z : X, u->x_mean, u->x_scale, Z);
    for (size_t d = 0; d < D; d++)
        for (size_t i = 0; u->constant[d] && i < n; i++)
            Z[i * D + d] = 0.0;
    for (size_t i = 0; u->rotation && i < n; i++)
        turn(D, u->rotation, Z + i * D);
}

double number_in_units(double mean, double scale, double z)
{
    return fmax(-DBL_MAX, fmin(DBL_MAX, mean + scale * z));
}

void model_in_units(const quorum_model *m, const double *z, double *x)
{
    const unit_change *u = &m->units;
    size_t D = m->rows.D;
    for (size_t d = 0; d < D; d++) {
        double input = u->rotation ? 0.0 : z[d];
        for (size_t k = 0; u->rotation && k < D; k++)
            input += u->rotation[k * D + d] * z[k];
        x[d] = number_in_units(u->x_mean[d], u->x_scale[d], input);
        if (u->bend_width && u->bend_width[d] > 0.0)
            x[d] = number_in_units(u->bend_at[d], u->bend_width[d], sinh(x[d]));
    }
}

/* 1 / t'(x) = width cosh t, x being bent to t, of which the standardised z is. */
double model_bend_rise(const quorum_model *m, size_t d, double z)
{
    const unit_change *u = &m->units;
    int is_bent = u->bend_width && u->bend_width[d] > 0.0;
    return is_bent ? u->bend_width[d] * cosh(u->x_mean[d] + u->x_scale[d] * z) : 1.0;
}

static int is_off_constant(const quorum_model *m, const double *x)
{
    for (size_t d = 0; d < m->rows.D; d++)
        if (m->units.constant[d] && !category_at(m, d) &&
            fabs(x[d] - m->units.x_mean[d]) > SAME_VALUE * fabs(m->units.x_mean[d]))
            return 1;
    return 0;
}

size_t model_count_off_constants(const quorum_model *m, const double *X, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (size_t)is_off_constant(m, X + i * m->rows.D);
    return count;
}
