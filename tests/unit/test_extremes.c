/* Numbers at the ends of what a double can hold: queries far away are the prior, and data of any
 * magnitude give the same predictions as ordinary ones, or a sentence; nothing else. */
#include "rows/scaling.h"
#include "gp/hyper.h"
#include "gp/points.h"
#include "model/model.h"
#include "support.h"

#include <float.h>

enum { N = 120, D = 3, FAR = 5, Q = 2 * FAR * (D + 1) + 2 };

static const double far[FAR] = {1e10, 1e100, 1e155, 1e300, DBL_MAX};

typedef struct {
    double *X, *y;
    double queries[Q * D];
    quorum_options *o;
} world;

/* Far in one input, then in all; on both sides; the last two are ordinary. */
static void make_queries(double *queries)
{
    double *x = queries;
    for (size_t side = 0; side < 2; side++)
        for (size_t f = 0; f < FAR; f++)
            for (size_t input = 0; input <= D; input++, x += D)
                for (size_t d = 0; d < D; d++)
                    x[d] = d == input || input == D ? (side ? -far[f] : far[f]) : 0.1;
    for (size_t i = 0; i < 2 * D; i++)
        *x++ = 0.3 - 0.1 * (double)i;
}

static int set_up(void **state)
{
    world *w = calloc(1, sizeof *w);
    w->X = random_normals((size_t)N * D, 1);
    w->y = smooth_targets(w->X, N, D, 0.2);
    make_queries(w->queries);
    w->o = quorum_options_new();
    quorum_options_set(w->o, "experts", "3");
    quorum_options_set(w->o, "theta", "1.5,1,0.1");
    quorum_options_set(w->o, "spread", "8");
    quorum_options_set(w->o, "threads", "1");
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    quorum_options_free(w->o);
    mem_free(w->X);
    mem_free(w->y);
    free(w);
    return 0;
}

static void set_kernel(world *w, int k)
{
    const char *theta = kernel_at(k)->component ? "1.5,1,0.1,0.4,5" : "1.5,1,0.1";
    assert_ok(quorum_options_set(w->o, "kernel", kernel_at(k)->name));
    assert_ok(quorum_options_set(w->o, "theta", theta));
}

static quorum_model *fit_kernel(world *w, int k)
{
    quorum_model *m = NULL;
    set_kernel(w, k);
    assert_ok(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m));
    return m;
}

/* ---- Far away ---- */

/* Distances of the farthest of three scales, whose reach is 5 times 5. */
static void kernels_vanish_at_an_infinite_distance(void **state)
{
    (void)state;
    const double distances[] = {1e6, 1e300, DBL_MAX, INFINITY};
    for (int k = 0; k < kernel_count(); k++)
        for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
            double s = 625.0 * distances[i], values[2] = {s, s}, slopes[2];
            hyper theta = {.kernel = kernel_at(k), .signal = 1.7, .share = 0.4, .reach = 5.0};
            kernel_values(&theta, 2, values);
            assert_true(values[0] == 0.0 && values[1] == 0.0);
            values[0] = values[1] = s;
            double share[2] = {0}, reach[2] = {0};
            kernel_slopes(&theta, 2, values,
                          &(pair_slopes){.slope = slopes, .share = share, .reach = reach});
            assert_true(values[0] == 0.0 && slopes[0] == 0.0 && share[0] == 0.0 && reach[0] == 0.0);
        }
}

static void coordinates_stay_finite_and_apart(void **state)
{
    (void)state;
    assert_true(bring_in(-12.5) == -12.5 && bring_in(FARTHEST) == FARTHEST);
    assert_true(bring_in(1e200) > FARTHEST && bring_in(2e200) > bring_in(1e200));
    assert_true(isfinite(bring_in(INFINITY) * bring_in(INFINITY) * 1e6));
    assert_true(bring_in(-INFINITY) == -bring_in(INFINITY));
}

/* mean and std of the prior, in the target's units. */
static void assert_prior(const quorum_model *m, const char *how, double mean, double std)
{
    double prior = m->units.y_scale * sqrt(m->theta.signal + m->theta.noise);
    if (!(fabs(mean - m->units.y_mean) <= 1e-9 * m->units.y_scale &&
          fabs(std - prior) <= 1e-9 * prior))
        fail_msg("%s, %s: mean %g, std %g where the prior is %g, %g", m->theta.kernel->name, how,
                 mean, std, m->units.y_mean, prior);
}

static void assert_far_is_the_prior(const quorum_model *m, const world *w, const char *how,
                                    int exactly)
{
    double mean[Q], std[Q], lower[Q], upper[Q];
    quorum_prediction out = {.mean = mean, .std = std, .lower = lower, .upper = upper};
    assert_ok(quorum_predict(m, w->queries, Q, w->o, &out, NULL));
    for (size_t q = 0; q < Q; q++) {
        if (!(isfinite(mean[q]) && std[q] >= 0.0 && isfinite(std[q]) && lower[q] <= upper[q]))
            fail_msg("%s, %s, query %zu: %g %g", m->theta.kernel->name, how, q, mean[q], std[q]);
        if (q < Q - 2 && exactly)
            assert_prior(m, how, mean[q], std[q]);
    }
    double alone_mean, alone_std; /* the last one does not notice the others */
    quorum_prediction alone = {.mean = &alone_mean, .std = &alone_std};
    assert_ok(quorum_predict(m, w->queries + (Q - 1) * D, 1, w->o, &alone, NULL));
    assert_true(alone_mean == mean[Q - 1] && alone_std == std[Q - 1]);
}

/* The rules without a prior of their own have another one far away: p experts that know nothing
 * are p opinions. */
static int has_the_prior(const char *method)
{
    return strcmp(method, "poe") != 0 && strcmp(method, "gpoe-entropy") != 0;
}

static void far_queries_get_the_prior_of_every_rule(void **state)
{
    world *w = *state;
    for (int k = 0; k < kernel_count(); k++) {
        quorum_model *m = fit_kernel(w, k);
        assert_ok(quorum_options_set(w->o, "select", "auto"));
        for (int i = 0; i < quorum_method_count(); i++) {
            const char *method = quorum_method_name(i);
            assert_ok(quorum_options_set(w->o, "method", method));
            assert_far_is_the_prior(m, w, method, has_the_prior(method));
        }
        quorum_model_free(m);
    }
}

static void far_queries_get_the_prior_of_every_selection(void **state)
{
    world *w = *state;
    static const char *const selections[] = {"none",  "all",        "local:2",
                                             "knn:2", "local:auto", "graph:0.6"};
    for (int k = 0; k < kernel_count(); k++) {
        quorum_model *m = fit_kernel(w, k);
        assert_ok(quorum_options_set(w->o, "method", "npae"));
        assert_ok(quorum_options_set(w->o, "neighbours", "20"));
        for (size_t i = 0; i < sizeof selections / sizeof *selections; i++) {
            assert_ok(quorum_options_set(w->o, "select", selections[i]));
            assert_far_is_the_prior(m, w, selections[i], 1);
        }
        quorum_model_free(m);
    }
}

static void far_queries_are_independent_in_the_joint_covariance(void **state)
{
    world *w = *state;
    static double mean[Q], covariance[Q * Q];
    for (int k = 0; k < kernel_count(); k++) {
        quorum_model *m = fit_kernel(w, k);
        assert_ok(quorum_options_set(w->o, "select", "all"));
        assert_ok(quorum_predict_joint(m, w->queries, Q, w->o, mean, covariance));
        for (size_t q = 0; q + 2 < Q; q++) {
            assert_prior(m, "joint", mean[q], sqrt(covariance[q * Q + q]));
            for (size_t r = 0; r < Q; r++)
                assert_true(r == q || fabs(covariance[q * Q + r]) < 1e-9 * covariance[q * Q + q]);
        }
        quorum_model_free(m);
    }
}

/* Distances of many inputs come from a matrix product. */
static void far_queries_of_many_inputs_get_the_prior(void **state)
{
    world *w = *state;
    enum { WIDE = 24 };
    double *X = random_normals((size_t)N * WIDE, 3), x[FAR * WIDE] = {0}, mean[FAR], std[FAR];
    for (size_t f = 0; f < FAR; f++)
        for (size_t d = f % 2; d < WIDE; d += f % 2 + 1)
            x[f * WIDE + d] = d % 2 ? far[f] : -far[f];
    for (int k = 0; k < kernel_count(); k++) {
        quorum_model *m = NULL;
        quorum_prediction out = {.mean = mean, .std = std};
        set_kernel(w, k);
        assert_ok(quorum_fit(X, w->y, N, WIDE, NULL, w->o, &m));
        assert_ok(quorum_predict(m, x, FAR, w->o, &out, NULL));
        for (size_t f = 0; f < FAR; f++)
            assert_prior(m, "many inputs", mean[f], std[f]);
        quorum_model_free(m);
    }
    mem_free(X);
}

/* What no double can hold is a failure that names the query. */
static void predictions_that_overflow_are_refused(void **state)
{
    world *w = *state;
    double mean, std, lower, upper;
    quorum_prediction out = {.mean = &mean, .std = &std, .lower = &lower, .upper = &upper};
    quorum_model *m = fit_kernel(w, 0);
    m->units.y_scale = 1e308;
    assert_ok(quorum_options_set(w->o, "interval", "0.99"));
    assert_int_equal(quorum_predict(m, w->queries, 1, w->o, &out, NULL), QUORUM_E_NUMERIC);
    assert_says("query 1 ");
    assert_true(isnan(mean) && isnan(upper));
    out = (quorum_prediction){.mean = &mean};
    assert_ok(quorum_predict(m, w->queries, 1, w->o, &out, NULL));
    m->units.y_scale = 1e-200;
    assert_int_equal(quorum_predict_joint(m, w->queries, 1, w->o, NULL, &std), QUORUM_E_NUMERIC);
    assert_says("rescale the target");
    quorum_model_free(m);
}

/* ---- Data of any magnitude ---- */

/* Predictions of data times factors, divided by them again. */
static void fit_scaled(world *w, double x_factor, double y_factor, double *mean, double *std)
{
    double *X = mem_alloc((size_t)N * D, sizeof *X), *y = mem_alloc(N, sizeof *y), x[2 * D];
    quorum_model *m = NULL;
    quorum_prediction out = {.mean = mean, .std = std};
    for (size_t i = 0; i < (size_t)N * D; i++)
        X[i] = x_factor * w->X[i];
    for (size_t i = 0; i < N; i++)
        y[i] = y_factor * w->y[i];
    for (size_t i = 0; i < 2 * D; i++)
        x[i] = x_factor * w->queries[(Q - 2) * D + i];
    assert_ok(quorum_fit(X, y, N, D, NULL, w->o, &m));
    assert_ok(quorum_predict(m, x, 2, w->o, &out, NULL));
    for (size_t q = 0; q < 2; q++) {
        mean[q] /= y_factor;
        std[q] /= y_factor;
    }
    quorum_model_free(m);
    mem_free(X);
    mem_free(y);
}

static void predictions_do_not_depend_on_the_data_s_magnitude(void **state)
{
    world *w = *state;
    static const double factors[] = {1e-300, 1e-200, 1e-162, 1e150, 1e300};
    double mean[2], std[2], m[2], s[2];
    assert_ok(quorum_options_set(w->o, "theta", "")); /* trained */
    fit_scaled(w, 1.0, 1.0, mean, std);
    for (size_t i = 0; i < 2 * sizeof factors / sizeof *factors; i++) {
        double f = factors[i / 2];
        fit_scaled(w, i % 2 ? 1.0 : f, i % 2 ? f : 1.0, m, s);
        for (size_t q = 0; q < 2; q++) {
            assert_close(m[q], mean[q], 1e-6);
            assert_close(s[q], std[q], 1e-6);
        }
    }
}

static void the_ends_of_the_range_can_be_standardised(void **state)
{
    (void)state;
    double X[] = {DBL_MAX, -DBL_MAX, DBL_MAX, DBL_MAX}, mean, scale, z[4];
    char constant;
    row_set all = rows_view_of(4, 1, X, NULL);
    scattered_rows rows = rows_scattered(4, &all);
    assert_int_equal(scaling_learn(QUORUM_OK, &rows, &mean, &scale, &constant), QUORUM_OK);
    assert_false(constant);
    assert_close(mean / DBL_MAX, 0.5, 1e-12);
    assert_close(scale / DBL_MAX, sqrt(0.75), 1e-12);
    scaling_apply(4, 1, X, &mean, &scale, z);
    assert_close(z[0], 0.5 / sqrt(0.75), 1e-12);
    assert_close(z[1], -1.5 / sqrt(0.75), 1e-12);
}

static void a_target_that_varies_by_rounding_alone_is_refused(void **state)
{
    world *w = *state;
    quorum_model *m = NULL;
    for (size_t i = 0; i < N; i++)
        w->y[i] = i % 2 ? 1e6 : nextafter(1e6, 2e6);
    assert_int_equal(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m), QUORUM_E_DATA);
    assert_says("nothing to learn");
}

static void scores_do_not_depend_on_the_target_s_magnitude(void **state)
{
    (void)state;
    static const double factors[] = {1.0, 1e-300, 1e-162, 1e200, 1e300};
    quorum_metrics ordinary = {0};
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        double y[] = {1.0, 2.0, 4.0}, mean[] = {1.5, 2.0, 3.0}, std[] = {0.5, 1.0, 1.0};
        quorum_scores s = {0};
        quorum_metrics r;
        for (size_t i = 0; i < 3; i++) {
            y[i] *= factors[f];
            mean[i] *= factors[f];
            std[i] *= factors[f];
        }
        quorum_scores_add(&s, 3, y, mean, std, 2.0 * factors[f], factors[f], NULL);
        quorum_scores_finish(&s, &r);
        if (f == 0)
            ordinary = r;
        assert_close(r.smse, ordinary.smse, 1e-12);
        assert_close(r.msll, ordinary.msll, 1e-9);
        assert_close(r.rmse / factors[f], ordinary.rmse, 1e-12);
        assert_close(r.mae / factors[f], ordinary.mae, 1e-12);
        assert_memory_equal(r.coverage, ordinary.coverage, sizeof r.coverage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_vanish_at_an_infinite_distance),
        cmocka_unit_test(coordinates_stay_finite_and_apart),
        cmocka_unit_test_setup_teardown(far_queries_get_the_prior_of_every_rule, set_up, tear_down),
        cmocka_unit_test_setup_teardown(far_queries_get_the_prior_of_every_selection, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(far_queries_are_independent_in_the_joint_covariance, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(far_queries_of_many_inputs_get_the_prior, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(predictions_that_overflow_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(predictions_do_not_depend_on_the_data_s_magnitude, set_up,
                                        tear_down),
        cmocka_unit_test(the_ends_of_the_range_can_be_standardised),
        cmocka_unit_test_setup_teardown(a_target_that_varies_by_rounding_alone_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test(scores_do_not_depend_on_the_target_s_magnitude),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
