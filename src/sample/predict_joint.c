/* quorum_predict_joint: a prediction as weights of rows, and from them the covariance of the errors
 * between queries (joint.h). */
#include "base/memory.h"
#include "predict/block.h"
#include "predict/joint.h"
#include "predict/line_errors.h"
#include "team/work.h"

#include <math.h>

static quorum_status check_joint_results(size_t n, const double *mean, const double *covariance)
{
    for (size_t q = 0; q < n; q++)
        for (size_t k = 0; k < n; k++)
            if (!isfinite(covariance[q * n + k]) || (mean && !isfinite(mean[q])))
                return failure(QUORUM_E_NUMERIC,
                               "query %zu has no covariance that is a finite number: rescale the "
                               "target before fit if its numbers are very large",
                               q + 1);
    return QUORUM_OK;
}

/* The covariance of two queries' latent errors.  Where both are all but known, rounding must not
 * make a variance negative or a correlation larger than 1. */
static double bounded(const double *cov, size_t b, size_t q, size_t k)
{
    double of_q = fmax(0.0, cov[q * b + q]), of_k = fmax(0.0, cov[k * b + k]);
    double most = sqrt(of_q) * sqrt(of_k);
    return q == k ? of_q : fmax(-most, fmin(most, cov[q * b + k]));
}

/* Room for means where the caller has none: the covariance of a warped target needs them. */
static quorum_status unwarp(const plan *p, size_t n, const block_space *w, double *mean,
                            double *covariance)
{
    double *room = mean;
    if (p->m->units.warp == WARP_NONE)
        return QUORUM_OK;
    if (!room && !NEW_ARRAY(room, n))
        return failure(QUORUM_E_MEMORY, "out of memory for the means of %zu queries", n);
    for (size_t q = 0; q < n; q++)
        room[q] = block_mean(p->m, w, q);
    warp_joint(&p->m->units, n, room, covariance);
    if (!mean)
        mem_free(room);
    return QUORUM_OK;
}

/* near: of all queries, or NULL; doubt (b x b): the covariance of a line's errors, or NULL. */
static void joint_to_units(const plan *p, size_t n, const block_space *w, const double *cov,
                           const neighbourhoods *near, const double *doubt, double *mean,
                           double *covariance)
{
    const quorum_model *m = p->m;
    size_t b = padded_queries(n);
    double scale = m->units.y_scale * model_calibration_scale(m, p->s), unit = scale * scale;
    for (size_t q = 0; q < n; q++) {
        double noise = p->s->latent ? 0.0 : near ? near->noise[q] : m->theta.noise;
        if (mean)
            mean[q] = block_mean(m, w, q);
        for (size_t k = 0; k < n; k++) {
            double own = (near ? sqrt(near->spread[q] * near->spread[k]) : 1.0) *
                         (bounded(cov, b, q, k) + (q == k ? noise : 0.0));
            covariance[q * n + k] = unit * (doubt ? own + doubt[q * b + k] : own);
        }
    }
}

static quorum_status predict_jointly(const plan *p, const double *X, size_t n, double *mean,
                                     double *covariance)
{
    block_space w;
    joint_space j = {0};
    double *weights = NULL, *cov = NULL, *doubt = NULL;
    size_t b = padded_queries(n), *order = NULL;
    quorum_status status = QUORUM_OK;
    TRY(block_new(b, p->m->rows.D, 0, &w));
    if (!NEW_ARRAY(order, n) || !NEW_ARRAY(weights, (plan_seats(p) + 1) * b) ||
        !NEW_ARRAY(cov, b * b)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for the covariance of %zu queries", n);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    block_take(p, X, order, n, &w);
    npae_result out = {.mean = w.mean, .var = w.var, .weights = weights, .real = n};
    TRY_OR_DONE(p->how->weigh(p, &w.Q, &j, &out));
    neighbourhoods *near = j.near.m > 0 ? &j.near : NULL;
    TRY_OR_DONE(joint_covariance(&j.a, weights, near, p->threads, cov));
    if (p->m->units.line)
        TRY_OR_DONE(line_error_covariance(p->m, &j, weights, &doubt));
    joint_to_units(p, n, &w, cov, near, doubt, mean, covariance);
    TRY_OR_DONE(unwarp(p, n, &w, mean, covariance));
    TRY_OR_DONE(check_joint_results(n, mean, covariance));
done:
    mem_free(order);
    mem_free(weights);
    mem_free(cov);
    mem_free(doubt);
    joint_space_free(&j);
    block_free(&w);
    return status;
}

static quorum_status check_joint(const plan *p, size_t n)
{
    double rows = (double)p->c->parts.rows.n;
    double needed = joint_bytes(padded_queries(n), rows) +
                    (double)padded_queries(n) * assembly_query_bytes(plan_seats(p) + 1, rows);
    if (!p->how->weigh)
        return failure(QUORUM_E_ARGUMENT, "method %s has no joint covariance; use nearest or npae",
                       p->rule->name);
    if (needed > p->memory)
        return failure(QUORUM_E_MEMORY,
                       "the joint covariance of %zu queries may need %.2f GB, more than memory "
                       "(%.2f GB) allows: ask for fewer at a time",
                       n, needed / 1e9, p->memory / 1e9);
    if (!isnormal(p->m->units.y_scale * p->m->units.y_scale))
        return failure(QUORUM_E_NUMERIC,
                       "the target's standard deviation is %g, and its square is not a number that "
                       "a covariance can be given in: rescale the target before fit",
                       p->m->units.y_scale);
    return QUORUM_OK;
}

/* A neighbourhood is known to one process only, a covariance needs two of them. */
static quorum_status check_alone(void)
{
    if (team_is_alone())
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT, "the joint covariance is work for one process, not for %d",
                   quorum_team_size());
}

quorum_status quorum_predict_joint(const quorum_model *m, const double *X, size_t rows,
                                   const quorum_options *options, double *mean, double *covariance)
{
    plan p = {0};
    progress_watch watch;
    if (!m || !X || !covariance || rows == 0)
        return failure(
            QUORUM_E_ARGUMENT,
            "quorum_predict_joint: model, X and covariance must not be NULL, rows not 0");
    quorum_prediction out = {.mean = mean};
    quorum_options by_rows;
    options = options_by_rows(m, options, &by_rows); /* cells have no joint covariance */
    options_watch(options, "predict", &watch);
    quorum_status status = check_alone();
    if (status == QUORUM_OK)
        status = model_check_queries(m, X, rows);
    if (status == QUORUM_OK)
        status = model_check_known_levels(m, X, rows);
    if (status == QUORUM_OK)
        status = plan_make(m, options, 0, X, rows, &p);
    if (status == QUORUM_OK)
        status = check_joint(&p, rows);
    if (status == QUORUM_OK)
        status = model_turn_rows(m, p.s);
    if (status == QUORUM_OK)
        status = predict_jointly(&p, X, rows, mean, covariance);
    progress_watch_end(&watch);
    mem_free(p.experts);
    if (status < 0) {
        fill_nan(&out, rows, m->rows.D);
        for (size_t i = 0; i < rows * rows; i++)
            covariance[i] = NAN;
    }
    return status;
}
