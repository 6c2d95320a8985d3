/* The rules of the arrays of a model file, beyond shape and finite numbers (members.h). */
#include "model/member_rules.h"

#include "linalg/blas.h"
#include "train/regression.h"

#include <math.h>

static const double NOT_ORTHOGONAL = 1e-6;
static const double MOST_LOG = 100.0; /* of a hyperparameter: exp of it is still a number */

double *log_lengthscale_of(const quorum_model *m)
{
    return m->log_theta;
}

double *log_signal_of(const quorum_model *m)
{
    return m->log_theta + m->rows.D;
}

double *log_noise_of(const quorum_model *m)
{
    return m->log_theta + m->rows.D + 1;
}

double *logit_share_of(const quorum_model *m)
{
    return m->log_theta + m->rows.D + 2;
}

double *log_reach_of(const quorum_model *m)
{
    return m->log_theta + m->rows.D + 3;
}

static quorum_status check_logs(const double *logs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(logs[i]) <= MOST_LOG))
            return damaged("a hyperparameter is out of range");
    return QUORUM_OK;
}

quorum_status check_log_lengthscale(const quorum_model *m, const model_sizes *sizes)
{
    return check_logs(log_lengthscale_of(m), sizes->length[SIDE_INPUTS]);
}

quorum_status check_log_signal(const quorum_model *m, const model_sizes *sizes)
{
    (void)sizes;
    return check_logs(log_signal_of(m), 1);
}

quorum_status check_log_noise(const quorum_model *m, const model_sizes *sizes)
{
    (void)sizes;
    return check_logs(log_noise_of(m), 1);
}

quorum_status check_logit_share(const quorum_model *m, const model_sizes *sizes)
{
    (void)sizes;
    return check_logs(logit_share_of(m), 1);
}

/* The long component reaches no less far than the short one. */
quorum_status check_log_reach(const quorum_model *m, const model_sizes *sizes)
{
    (void)sizes;
    TRY(check_logs(log_reach_of(m), 1));
    return *log_reach_of(m) >= 0.0 ? QUORUM_OK : damaged("a hyperparameter is out of range");
}

/* Rows of unit length at right angles. */
quorum_status check_rotation(const quorum_model *m, const model_sizes *sizes)
{
    size_t D = sizes->length[SIDE_INPUTS];
    const double *E = m->units.rotation;
    if (D > MOST_DIRECTIONS)
        return damaged("rotation has too many directions");
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j <= i; j++)
            if (!(fabs(vec_dot(D, E + i * D, E + j * D) - (i == j)) < NOT_ORTHOGONAL))
                return damaged("rotation is none");
    return QUORUM_OK;
}

/* Widths; that numbers are finite is seen for all arrays. */
quorum_status check_bends(const quorum_model *m, const model_sizes *sizes)
{
    int some = 0;
    for (size_t d = 0; d < sizes->length[SIDE_INPUTS]; d++) {
        double width = m->units.bend_width[d];
        if (width < 0.0 || (width > 0.0 && !isnormal(width)))
            return damaged("bend_width is out of range");
        some |= width > 0.0;
    }
    return some ? QUORUM_OK : damaged("bend_width bends nothing");
}

quorum_status check_line_covariance(const quorum_model *m, const model_sizes *sizes)
{
    size_t p = sizes->length[SIDE_LINE];
    const double *V = m->units.line_covariance;
    if (p - 1 > MOST_LINE_INPUTS)
        return damaged("trend_covariance has too many inputs");
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j <= i; j++)
            if (V[i * p + j] != V[j * p + i] || !(V[i * p + i] >= 0.0))
                return damaged("trend_covariance is none");
    return QUORUM_OK;
}

/* Every expert has rows of its own. */
quorum_status check_offset(const quorum_model *m, const model_sizes *sizes)
{
    size_t M = sizes->length[SIDE_EXPERTS];
    if (m->offset[0] != 0 || m->offset[M] != sizes->length[SIDE_ROWS])
        return damaged("offset does not span the rows");
    for (size_t e = 0; e < M; e++)
        if (m->offset[e] >= m->offset[e + 1])
            return damaged("offset is not ascending");
    return QUORUM_OK;
}

quorum_status check_extra(const quorum_model *m, const model_sizes *sizes)
{
    size_t count = sizes->length[SIDE_EXTRAS];
    for (size_t k = 0; k < count; k++)
        if (m->extra.row[k] >= sizes->length[SIDE_ROWS])
            return damaged("extra");
    return count > 0 ? QUORUM_OK : damaged("extra");
}

/* The extra rows of expert e: ascending, and owned by others. */
static quorum_status check_extra_of(const quorum_model *m, size_t e)
{
    const extra_rows *x = &m->extra;
    for (size_t k = x->offset[e]; k < x->offset[e + 1]; k++) {
        if (k > x->offset[e] && x->row[k] <= x->row[k - 1])
            return damaged("extra is not ascending within an expert");
        if (x->row[k] >= m->offset[e] && x->row[k] < m->offset[e + 1])
            return damaged("extra names a row of the expert's own");
    }
    return QUORUM_OK;
}

quorum_status check_extra_offset(const quorum_model *m, const model_sizes *sizes)
{
    const size_t *offset = m->extra.offset, M = sizes->length[SIDE_EXPERTS];
    if (offset[0] != 0 || offset[M] != sizes->length[SIDE_EXTRAS])
        return damaged("extra_offset does not span the extra rows");
    for (size_t e = 0; e < M; e++)
        if (offset[e] > offset[e + 1])
            return damaged("extra_offset is not ascending");
    for (size_t e = 0; e < M; e++)
        TRY(check_extra_of(m, e));
    return QUORUM_OK;
}

quorum_status check_calibration(const quorum_model *m, const model_sizes *sizes)
{
    const calibration *c = &m->calibration;
    size_t count = sizes->length[SIDE_HELD_OUT];
    if (!c->how.rule)
        return damaged("its calibration does not say what it holds for");
    if (count == 0 || c->ratio[0] < 0.0 || c->ratio[count - 1] > LARGEST_RATIO)
        return damaged("calibration is out of range");
    for (size_t i = 1; i < count; i++)
        if (c->ratio[i] < c->ratio[i - 1])
            return damaged("calibration is not ascending");
    return QUORUM_OK;
}

/* From both ends inwards, the larger |z| first, they are the absolute ratios, largest first. */
static int same_without_signs(const calibration *c, size_t count)
{
    size_t first = 0, behind = count;
    while (behind > first) {
        double low = fabs(c->z[first]), high = fabs(c->z[behind - 1]);
        size_t left = behind - first;
        if (fmax(low, high) != c->ratio[left - 1])
            return 0;
        if (low > high)
            first++;
        else
            behind--;
    }
    return 1;
}

quorum_status check_signed_ratios(const quorum_model *m, const model_sizes *sizes)
{
    const calibration *c = &m->calibration;
    size_t count = sizes->length[SIDE_HELD_OUT];
    if (!c->ratio || !c->how.rule)
        return damaged("its calibration does not say what it holds for");
    for (size_t i = 1; i < count; i++)
        if (c->z[i] < c->z[i - 1])
            return damaged("calibration_signed is not ascending");
    return same_without_signs(c, count) ? QUORUM_OK
                                        : damaged("calibration_signed and calibration differ");
}

quorum_status check_cells(const quorum_model *m, const model_sizes *sizes)
{
    for (size_t i = 0; i < sizes->length[SIDE_ROWS]; i++)
        if (m->cells.of_row[i] >= sizes->length[SIDE_CELLS])
            return damaged("cell is out of range");
    return QUORUM_OK;
}
