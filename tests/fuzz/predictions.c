/* See predictions.h. */
#include "predictions.h"

#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ways[] = {
    "method=auto",
    "method=auto neighbours=0",
    "method=nearest neighbours=3",
    "method=nearest mean-only=true",
    "method=npae neighbours=3 select=local:2",
    "method=npae neighbours=512 select=none latent=true",
    "method=npae neighbours=3",
    "method=npae",
    "method=npae select=all latent=true",
    "method=npae select=local:auto",
    "method=npae select=graph:0.5+local:1",
    "method=npae* calibration=off",
    "method=npae mean-only=true",
    "method=npae select=all graph-on=test",
    "method=npae select=knn:2",
    "method=groups",
    "method=groups graph-on=test latent=true",
    "method=groups* mean-only=true",
    "method=grbcm",
    "method=grbcm*",
    "method=grbcm select=worst:0.5 interval=0.999999",
    "method=rbcm",
    "method=rbcm space=observed",
    "method=rbcm* latent=true",
    "method=rbcm select=local:2 interval=0.001",
    "method=bcm",
    "method=bcm space=observed",
    "method=bcm*",
    "method=gpoe",
    "method=gpoe* graph-on=test",
    "method=gpoe-entropy",
    "method=gpoe-entropy space=observed latent=true",
    "method=poe",
    "method=poe mean-only=true",
    "method=poe select=best:0.3",
    "method=single",
    "method=single select=expert:2",
    "method=single mean-only=true",
};
enum { WAYS = sizeof ways / sizeof *ways };

static quorum_options *way(int i)
{
    static quorum_options *made[WAYS];
    if (made[i])
        return made[i];
    quorum_options *o = quorum_options_new();
    char text[128], *rest = text, *word;
    snprintf(text, sizeof text, "threads=1 memory=64M %s", ways[i]);
    while ((word = strsep(&rest, " "))) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        REQUIRE(o && quorum_options_set(o, word, equals + 1) == QUORUM_OK);
    }
    return made[i] = o;
}

static void mix(unsigned long long *digest, const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < size; i++)
        *digest = (*digest ^ b[i]) * 1099511628211u;
}

int model_is_small(const quorum_model *m)
{
    quorum_info info;
    REQUIRE(quorum_inspect(m, &info) == QUORUM_OK);
    size_t held = 0;
    for (size_t e = 0; e < info.experts; e++)
        held += info.sizes[e];
    return info.rows <= MOST_ROWS && held <= (size_t)4 * MOST_ROWS && info.inputs <= MOST_INPUTS &&
           info.experts <= MOST_EXPERTS;
}

static double finite_or(double x, double otherwise)
{
    return isfinite(x) ? x : otherwise;
}

void make_queries(const quorum_model *m, const double *numbers, double *X)
{
    quorum_info info;
    REQUIRE(quorum_inspect(m, &info) == QUORUM_OK);
    for (size_t q = 0; q < QUERIES; q++)
        for (size_t d = 0; d < info.inputs; d++) {
            double x = numbers[q * MOST_INPUTS + d];
            if (info.levels && info.levels[d] > 0) { /* of a category every level, and a new one */
                X[q * info.inputs + d] = (double)((q + d) % (info.levels[d] + 1)) - 1.0;
                continue;
            }
            X[q * info.inputs + d] =
                q == 0 ? info.x_mean[d]
                       : finite_or(q < 3 ? info.x_mean[d] + x * info.x_scale[d] : x, 0.0);
        }
}

/* ---- One prediction ---- */

/* The mean of a skewed distribution can be outside its interval. */
static int is_warped(const quorum_model *m)
{
    quorum_info info;
    REQUIRE(quorum_inspect(m, &info) == QUORUM_OK);
    return strcmp(info.warp, "none") != 0;
}

/* 0 on success: finite, std and distance >= 0, lower <= upper, and the mean between them
 * where the distribution is symmetric; NaN everywhere on failure. */
static void check_prediction(quorum_status status, const quorum_prediction *p, int skewed)
{
    double *const outputs[] = {p->mean, p->std, p->lower, p->upper, p->distance};
    for (size_t k = 0; k < 5; k++) {
        if (status < 0 && outputs[k])
            require_nan(outputs[k], QUERIES);
        else if (outputs[k])
            require_finite(outputs[k], QUERIES);
    }
    if (status < 0 || !p->std)
        return;
    for (size_t q = 0; q < QUERIES; q++) {
        REQUIRE(p->std[q] >= 0.0 && p->distance[q] >= 0.0);
        REQUIRE(p->lower[q] <= p->upper[q]);
        REQUIRE(skewed || (p->lower[q] <= p->mean[q] && p->mean[q] <= p->upper[q]));
    }
}

static quorum_status predict(const quorum_model *m, const double *X, const quorum_options *o,
                             unsigned long long *digest)
{
    double out[5][QUERIES] = {{0}};
    int mean_only = strcmp(quorum_options_get(o, "mean-only"), "true") == 0;
    quorum_prediction p = {
        .mean = out[0], .std = out[1], .lower = out[2], .upper = out[3], .distance = out[4]};
    quorum_report report;
    if (mean_only)
        p = (quorum_prediction){.mean = out[0]};
    quorum_status status = quorum_predict(m, X, QUERIES, o, &p, &report);
    if (status < 0)
        require_failure(status);
    check_prediction(status, &p, is_warped(m) || report.calibrated);
    mix(digest, &status, sizeof status);
    if (status >= 0)
        mix(digest, out, sizeof out);
    return status;
}

/* A covariance: symmetric, no negative variance, no correlation beyond 1 but for rounding. */
static void check_covariance(const double *C)
{
    require_finite(C, (size_t)QUERIES * QUERIES);
    for (size_t i = 0; i < QUERIES; i++)
        for (size_t j = 0; j < QUERIES; j++) {
            double bound = sqrt(C[i * QUERIES + i]) * sqrt(C[j * QUERIES + j]);
            REQUIRE(C[i * QUERIES + i] >= 0.0);
            REQUIRE(C[i * QUERIES + j] == C[j * QUERIES + i]);
            REQUIRE(fabs(C[i * QUERIES + j]) <= bound * (1.0 + 1e-6));
        }
}

static void predict_joint(const quorum_model *m, const double *X, const quorum_options *o,
                          unsigned long long *digest)
{
    double mean[QUERIES], C[QUERIES * QUERIES];
    quorum_status status = quorum_predict_joint(m, X, QUERIES, o, mean, C);
    mix(digest, &status, sizeof status);
    if (status < 0) {
        require_failure(status);
        require_nan(mean, QUERIES);
        require_nan(C, (size_t)QUERIES * QUERIES);
        return;
    }
    require_finite(mean, QUERIES);
    check_covariance(C);
    mix(digest, mean, sizeof mean);
    mix(digest, C, sizeof C);
}

/* Draws, which every method has, and suggestions of them. */
static void sample(const quorum_model *m, const double *X, const quorum_options *o,
                   unsigned long long *digest)
{
    enum { DRAWS = 2 };
    double out[QUERIES * DRAWS], reduction[DRAWS];
    size_t row[DRAWS] = {0};
    quorum_status status = quorum_sample(m, X, QUERIES, o, DRAWS, out);
    mix(digest, &status, sizeof status);
    if (status < 0) {
        require_failure(status);
        require_nan(out, (size_t)QUERIES * DRAWS);
        return;
    }
    require_finite(out, (size_t)QUERIES * DRAWS);
    mix(digest, out, sizeof out);
    status = quorum_suggest(m, X, QUERIES, NULL, 0, o, DRAWS, row, reduction, NULL);
    if (status < 0) {
        require_failure(status);
        require_nan(reduction, DRAWS);
        return;
    }
    require_finite(reduction, DRAWS);
    REQUIRE(row[0] < QUERIES && row[1] < QUERIES && row[0] != row[1]);
}

static int is_joint(const char *method)
{
    return strncmp(method, "npae", 4) == 0 || strcmp(method, "nearest") == 0 ||
           strcmp(method, "auto") == 0;
}

/* Quantiles rise; probability, density and score are numbers. */
static void require_distribution(const quorum_model *m, const quorum_options *o)
{
    quorum_distribution d;
    double before = -INFINITY;
    REQUIRE(quorum_distribution_of(m, o, &d) == QUORUM_OK);
    for (int k = 1; k < 40; k++) {
        double q = quorum_quantile_factor(m, o, k / 40.0);
        double z = quorum_distribution_quantile(&d, k / 40.0);
        REQUIRE(isfinite(q) && q >= before && isfinite(z));
        REQUIRE(fabs(quorum_distribution_probability(&d, z) - k / 40.0) < 1e-6);
        REQUIRE(isfinite(quorum_distribution_log_density(&d, z)));
        REQUIRE(quorum_distribution_crps(&d, z) >= 0.0);
        before = q;
    }
}

quorum_status predict_one_way(const quorum_model *m, const double *X, const quorum_options *o,
                              unsigned long long *digest)
{
    options_in_use = o;
    quorum_status status = predict(m, X, o, digest);
    if (is_joint(quorum_options_get(o, "method")))
        predict_joint(m, X, o, digest);
    if (status >= 0)
        sample(m, X, o, digest);
    double factor = quorum_interval_factor(m, o, 0.9);
    REQUIRE(isfinite(factor) && factor >= 0.0);
    mix(digest, &factor, sizeof factor);
    require_distribution(m, o);
    REQUIRE(quorum_block_rows(m, o) > 0);
    options_in_use = NULL;
    return status;
}

int predict_all_ways(const quorum_model *m, const double *X, unsigned long long *digest)
{
    int succeeded = 0;
    *digest = 14695981039346656037u;
    for (int i = 0; i < WAYS; i++)
        succeeded += predict_one_way(m, X, way(i), digest) >= 0;
    return succeeded;
}

/* ---- Inspection ---- */

void inspect_all(const quorum_model *m)
{
    quorum_info i;
    REQUIRE(quorum_inspect(m, &i) == QUORUM_OK);
    REQUIRE(i.rows > 0 && i.inputs > 0 && i.experts > 0 && i.experts <= i.rows);
    REQUIRE(i.kernel && i.partition && i.train && i.options);
    require_finite(i.lengthscale, i.inputs);
    require_finite(i.input_lengthscale, i.inputs);
    if (i.rotation)
        require_finite(i.rotation, i.inputs * i.inputs);
    require_finite(i.x_mean, i.inputs);
    require_finite(i.x_scale, i.inputs);
    REQUIRE(!i.importance == !i.ranking && (i.ranking || !i.precision));
    if (i.importance)
        require_finite(i.importance, i.experts);
    REQUIRE(isfinite(i.signal_variance) && i.signal_variance > 0.0);
    REQUIRE(isfinite(i.noise_variance) && i.noise_variance > 0.0);
    for (size_t d = 0; d <= i.inputs; d++)
        REQUIRE(i.names[d] != NULL);
    for (size_t e = 0; e < i.experts; e++) {
        REQUIRE((!i.ranking || i.ranking[e] < i.experts) && i.sizes[e] > 0);
        REQUIRE(i.offset[e] < i.offset[e + 1] && i.offset[e + 1] <= i.rows);
    }
}
