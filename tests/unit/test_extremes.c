/* Numbers at the ends of what a double can hold: queries far away are the prior, and data of any
 * magnitude give the same predictions as ordinary ones, or a sentence; nothing else. */
#include "gp/kernel.h"
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

static quorum_model *fit_kernel(world *w, int k)
{
    quorum_model *m = NULL;
    assert_ok(quorum_options_set(w->o, "kernel", kernel_at(k)->name));
    assert_ok(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m));
    return m;
}

/* ---- Far away ---- */

static void kernels_vanish_at_an_infinite_distance(void **state)
{
    (void)state;
    const double distances[] = {1e6, 1e300, DBL_MAX, INFINITY};
    for (int k = 0; k < kernel_count(); k++)
        for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
            double values[2] = {distances[i], distances[i]}, slopes[2];
            kernel_at(k)->value(2, 1.7, values);
            assert_true(values[0] == 0.0 && values[1] == 0.0);
            values[0] = values[1] = distances[i];
            kernel_at(k)->value_and_slope(2, 1.7, values, slopes);
            assert_true(values[0] == 0.0 && slopes[0] == 0.0);
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
    double prior = m->y_scale * sqrt(m->theta.signal + m->theta.noise);
    if (!(fabs(mean - m->y_mean) <= 1e-9 * m->y_scale && fabs(std - prior) <= 1e-9 * prior))
        fail_msg("%s, %s: mean %g, std %g where the prior is %g, %g", m->theta.kernel->name, how,
                 mean, std, m->y_mean, prior);
}

static void assert_far_is_the_prior(const quorum_model *m, const world *w, const char *how,
                                    int exactly)
{
    double mean[Q], std[Q], lower[Q], upper[Q];
    quorum_prediction out = {mean, std, lower, upper};
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
        assert_ok(quorum_options_set(w->o, "select", "all"));
        assert_ok(quorum_options_set(w->o, "neighbours", "0"));
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
    static const char *const selections[] = {"none", "all", "local:2", "local:auto", "graph:0.6"};
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
        assert_ok(quorum_options_set(w->o, "kernel", kernel_at(k)->name));
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
    quorum_prediction out = {&mean, &std, &lower, &upper};
    quorum_model *m = fit_kernel(w, 0);
    m->y_scale = 1e308;
    assert_ok(quorum_options_set(w->o, "interval", "0.99"));
    assert_int_equal(quorum_predict(m, w->queries, 1, w->o, &out, NULL), QUORUM_E_NUMERIC);
    assert_says("query 1 ");
    assert_true(isnan(mean) && isnan(upper));
    out = (quorum_prediction){.mean = &mean};
    assert_ok(quorum_predict(m, w->queries, 1, w->o, &out, NULL));
    quorum_model_free(m);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
