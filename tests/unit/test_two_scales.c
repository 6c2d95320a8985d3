/* Kernels with several scales: what they are when a scale is missing, far rows, the search, options,
 * files. */
#include "gp/conditional.h"
#include "gp/covariance.h"
#include "model/model.h"
#include "support.h"
#include "train/train.h"
#include "train/vecchia.h"

#include <unistd.h>

enum { N = 700, D = 2, P = D + 2 + MOST_SHAPES };

static double lengthscale[D] = {0.4, 0.7};

/* The short component alone. */
static hyper theta_of(const kernel *k)
{
    return (hyper){.kernel = k,
                   .D = D,
                   .lengthscale = lengthscale,
                   .signal = 1.3,
                   .noise = 0.05,
                   .share = 0.4,
                   .reach = 6.0};
}

static int has_two(int k)
{
    return kernel_at(k)->component != NULL;
}

static void values_of(const hyper *theta, double *values)
{
    for (size_t i = 0; i < N; i++)
        values[i] = 1e-3 * (double)(i * i);
    kernel_values(theta, N, values);
}

/* ---- Identities ---- */

/* w = 0: the bits of the short kernel; w = 1: the longest, here with the same length-scales. */
static void one_component_is_a_kernel_of_one_scale(void **state)
{
    (void)state;
    double two[N], one[N];
    for (int k = 0; k < kernel_count(); k++) {
        if (!has_two(k))
            continue;
        hyper both = theta_of(kernel_at(k)), alone = theta_of(kernel_at(k)->component);
        both.share = 0.0;
        values_of(&both, two);
        values_of(&alone, one);
        assert_memory_equal(two, one, sizeof two);
        both.share = 1.0;
        both.reach = 1.0;
        values_of(&both, two);
        values_of(&alone, one);
        assert_memory_equal(two, one, sizeof two);
    }
}

/* The value is the same with and without slopes, and slopes that nobody wants are not written. */
static void slopes_come_with_the_same_values(void **state)
{
    (void)state;
    double values[N], with[N], slope[N], again[N], share[N], reach[N];
    for (int k = 0; k < kernel_count(); k++) {
        hyper theta = theta_of(kernel_at(k));
        values_of(&theta, values);
        for (size_t i = 0; i < N; i++)
            with[i] = 1e-3 * (double)(i * i);
        kernel_slopes(&theta, N, with,
                      &(pair_slopes){.slope = slope, .share = share, .reach = reach});
        for (size_t i = 0; i < N; i++)
            assert_close(with[i], values[i], 1e-15);
        for (size_t i = 0; i < N; i++)
            with[i] = 1e-3 * (double)(i * i);
        kernel_slopes(&theta, N, with, &(pair_slopes){.slope = again});
        assert_memory_equal(again, slope, sizeof slope);
    }
}

/* rho = 1: the share does not matter, and neither does the likelihood's gradient in it. */
static void equal_scales_are_one(void **state)
{
    (void)state;
    enum { m = 80, given = 50 };
    double *X = random_normals(m * D, 4), *y = smooth_targets(X, m, D, 0.1);
    row_set data = rows_view_of(m, D, X, y);
    for (int k = 0; k < kernel_count(); k++) {
        if (!has_two(k))
            continue;
        hyper two = theta_of(kernel_at(k)), one = theta_of(kernel_at(k)->component);
        double found[P], expected[P], value[2];
        likelihood_space ws;
        two.reach = 1.0;
        assert_ok(likelihood_space_new(m, D, two.kernel, &ws));
        assert_ok(negative_log_conditional(&two, &data, given, 3.0, &ws, &value[0], found));
        likelihood_space_free(&ws);
        assert_ok(likelihood_space_new(m, D, one.kernel, &ws));
        assert_ok(negative_log_conditional(&one, &data, given, 3.0, &ws, &value[1], expected));
        likelihood_space_free(&ws);
        assert_close(value[0], value[1], 1e-12);
        for (size_t i = 0; i < D + 2; i++)
            assert_close(found[i], expected[i], 1e-10);
        assert_true(fabs(found[D + 2]) < 1e-10);
    }
    mem_free(X);
    mem_free(y);
}

static double conditional_at(const double *x, const kernel *k, const row_set *data, size_t given,
                             double nu, double *gradient)
{
    double l[D], value;
    hyper theta = {.kernel = k, .D = D, .lengthscale = l};
    likelihood_space ws;
    theta_from_logs(x, &theta);
    assert_ok(likelihood_space_new(data->n, D, k, &ws));
    assert_ok(negative_log_conditional(&theta, data, given, nu, &ws, &value, gradient));
    likelihood_space_free(&ws);
    return value;
}

/* The block's conditional, with and without a scale of its own, against central differences. */
static void conditional_gradients_equal_differences(void **state)
{
    (void)state;
    enum { m = 60, given = 45 };
    static const double nus[] = {0.0, 3.0, 100.0}, h = 1e-5;
    double *X = random_normals(m * D, 4), *y = smooth_targets(X, m, D, 0.1);
    row_set data = rows_view_of(m, D, X, y);
    for (int c = 0; c < 3 * kernel_count(); c++) {
        const kernel *k = kernel_at(c / 3);
        hyper theta = theta_of(k);
        double x[P], gradient[P];
        for (size_t i = 0; i < theta_length(k, D); i++)
            x[i] = theta_log(&theta, i);
        conditional_at(x, k, &data, given, nus[c % 3], gradient);
        for (size_t i = 0; i < theta_length(k, D); i++) {
            double old = x[i];
            x[i] = old + h;
            double up = conditional_at(x, k, &data, given, nus[c % 3], NULL);
            x[i] = old - h;
            double down = conditional_at(x, k, &data, given, nus[c % 3], NULL);
            x[i] = old;
            assert_close(gradient[i], (up - down) / (2.0 * h), 1e-6);
        }
    }
    mem_free(X);
    mem_free(y);
}

/* ---- Far rows ---- */

typedef struct {
    double *X, *y;
    scattered_rows rows;
    vecchia_problem problem;
} world;

static int set_up(void **state)
{
    world *w = calloc(1, sizeof *w);
    w->X = random_normals((size_t)N * D, 7);
    w->y = smooth_targets(w->X, N, D, 0.2);
    row_set all = rows_view_of(N, D, w->X, w->y);
    w->rows = rows_whole(&all);
    w->problem = (vecchia_problem){.rows = &w->rows,
                                   .lengthscale = lengthscale,
                                   .block = 4,
                                   .given = 20,
                                   .seed = 5,
                                   .threads = 2};
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    mem_fail_at(0);
    mem_free(w->X);
    mem_free(w->y);
    free(w);
    return 0;
}

/* Which block, in their order, each row is in. */
static void find_turns(const vecchia_parts *v, size_t *turn)
{
    for (size_t e = 0; e < v->parts.M; e++)
        for (size_t i = v->parts.offset[e] + v->given[e]; i < v->parts.offset[e + 1]; i++)
            turn[v->row[i]] = e;
}

/* The nearest rows are what they are without; before them come rows of earlier blocks, none twice,
 * and of the first eighth of the blocks at that. */
static void far_rows_come_from_the_first_blocks(void **state)
{
    world *w = *state;
    vecchia_parts near, both;
    size_t turn[N], most = 0;
    assert_ok(vecchia_parts_new(&w->problem, &near));
    w->problem.with_far = 1;
    assert_ok(vecchia_parts_new(&w->problem, &both));
    find_turns(&near, turn);
    assert_int_equal(both.parts.M, near.parts.M);
    for (size_t e = 0; e < near.parts.M; e++) {
        size_t far = both.given[e] - near.given[e];
        const size_t *row = both.row + both.parts.offset[e];
        assert_true(both.given[e] >= near.given[e] && far <= FAR_MOST);
        assert_memory_equal(row + far, near.row + near.parts.offset[e],
                            part_size(&near.parts, e) * sizeof *row);
        for (size_t i = 0; i < far; i++) {
            assert_true(turn[row[i]] < e && turn[row[i]] < near.parts.M / 8);
            for (size_t j = i + 1; j < both.given[e]; j++)
                assert_true(row[i] != row[j]);
        }
        most = far > most ? far : most;
    }
    assert_true(most >= FAR_EACH); /* 175 blocks have two levels */
    vecchia_parts_free(&near);
    vecchia_parts_free(&both);
}

/* Few targets are searched for by an index, many by products: the same rows. */
static void far_rows_do_not_depend_on_the_search(void **state)
{
    world *w = *state;
    vecchia_parts all, some;
    w->problem.with_far = 1;
    assert_ok(vecchia_parts_new(&w->problem, &all));
    w->problem.targets = 60;
    w->problem.threads = 1;
    assert_ok(vecchia_parts_new(&w->problem, &some));
    size_t skipped = all.parts.M - some.parts.M;
    for (size_t e = 0; e < some.parts.M; e++) {
        size_t m = part_size(&some.parts, e);
        assert_int_equal(m, part_size(&all.parts, skipped + e));
        assert_memory_equal(some.row + some.parts.offset[e],
                            all.row + all.parts.offset[skipped + e], m * sizeof *some.row);
    }
    vecchia_parts_free(&all);
    vecchia_parts_free(&some);
}

static void too_few_blocks_have_no_far_rows(void **state)
{
    world *w = *state;
    vecchia_parts v;
    w->problem.block = N;
    w->problem.with_far = 1;
    assert_ok(vecchia_parts_new(&w->problem, &v));
    assert_true(v.parts.M == 1 && v.given[0] == 0);
    vecchia_parts_free(&v);
}

static void out_of_memory_is_said(void **state)
{
    world *w = *state;
    quorum_status status = QUORUM_E_MEMORY;
    w->problem.with_far = 1;
    w->problem.threads = 1;
    for (long at = 1; status != QUORUM_OK; at++) {
        vecchia_parts v = {0};
        mem_fail_at(at);
        status = vecchia_parts_new(&w->problem, &v);
        mem_fail_at(0);
        assert_true(status == QUORUM_OK || status == QUORUM_E_MEMORY);
        if (status == QUORUM_OK)
            vecchia_parts_free(&v);
    }
}

/* ---- The search ---- */

/* A sum of two processes drawn from the prior is given back, roughly: the exact likelihood of a
 * few hundred rows.  The variances' search leaves length-scales and reach where they are. */
static void training_finds_two_scales(void **state)
{
    (void)state;
    enum { m = 600 };
    double *X = random_normals(m, 11), *K = mem_alloc((size_t)m * m, 8), l[1] = {0.05}, value;
    double *y = random_normals(m, 12), found[1];
    for (size_t i = 0; i < m; i++)
        X[i] *= 4.0;
    const kernel *k = kernel_by_name("matern32x2");
    hyper truth = {.kernel = k,
                   .D = 1,
                   .lengthscale = l,
                   .signal = 1.0,
                   .noise = 1e-4,
                   .share = 0.7,
                   .reach = 40.0};
    points p;
    assert_ok(points_new(m, 1, &p));
    points_scale(&p, m, X, NULL, l);
    assert_ok(covariance_self(&truth, &p, K, NULL, 1));
    for (size_t i = 0; i < m; i++)
        K[i * m + i] += truth.noise;
    assert_int_equal(blas_cholesky(m, K, m), 0);
    for (size_t i = m; i-- > 0;) { /* y = L e */
        double sum = 0.0;
        for (size_t j = 0; j <= i; j++)
            sum += K[j * m + i] * y[j];
        y[i] = sum;
    }
    parts rows = {.M = 1, .rows = rows_view_of(m, 1, X, y), .offset = (size_t[]){0, m}};
    size_t all = 0;
    training_result result;
    training_options o = {.max_evaluations = 200, .tolerance = 1e-8, .threads = 1, .memory = 1e9};
    hyper theta = {.kernel = k, .D = 1, .lengthscale = found};
    assert_ok(train(&rows, &all, 1, &o, &theta, &result));
    assert_ok(total_likelihood(&rows, &all, 1, &o, &truth, &value, NULL));
    assert_true(result.nlml <= value);
    assert_true(found[0] > 0.02 && found[0] < 0.12);
    assert_true(found[0] * theta.reach > 0.8 && found[0] * theta.reach < 5.0);
    assert_true(theta.share > 0.4 && theta.share < 0.95);
    double before = theta.reach;
    hyper start = theta;
    double l_start[1] = {found[0]};
    start.lengthscale = l_start;
    start.share = 0.5;
    o.start = &start;
    o.variances_only = 1;
    assert_ok(train(&rows, &all, 1, &o, &theta, &result));
    assert_close(theta.reach, before, 1e-14);
    assert_close(found[0], l_start[0], 1e-14);
    assert_true(fabs(theta.share - 0.5) > 1e-3);
    start.reach = 2.0 * before;
    o.variances_only = 0;
    o.keep_reach = 1;
    assert_ok(train(&rows, &all, 1, &o, &theta, &result));
    assert_close(theta.reach, 2.0 * before, 1e-14);
    assert_true(fabs(found[0] / l_start[0] - 1.0) > 1e-3);
    points_free(&p);
    mem_free(X);
    mem_free(K);
    mem_free(y);
}

/* ---- Models ---- */

static quorum_options *options_with(const char *kernel_name, const char *theta)
{
    quorum_options *o = quorum_options_new();
    assert_ok(quorum_options_set(o, "kernel", kernel_name));
    assert_ok(quorum_options_set(o, "experts", "3"));
    assert_ok(quorum_options_set(o, "theta", theta));
    return o;
}

static void theta_can_be_given(void **state)
{
    world *w = *state;
    static const char *const wrong[] = {"1,1,0.1", "1,2,1,0.1", "0.5,0.6,1,0.1,0.3", "1,1,0.1,1,3",
                                        "1,1,0.1,0.5,0.9"};
    quorum_model *m = NULL;
    quorum_info info;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        quorum_options *o = options_with("matern52x2", wrong[i]);
        assert_int_equal(quorum_fit(w->X, w->y, N, D, NULL, o, &m), QUORUM_E_ARGUMENT);
        quorum_options_free(o);
    }
    quorum_options *o = options_with("matern52x2", "0.5,0.6,1.2,0.1,0.3,8");
    assert_ok(quorum_fit(w->X, w->y, N, D, NULL, o, &m));
    assert_ok(quorum_inspect(m, &info));
    assert_close(info.lengthscale[1], 0.6, 1e-14);
    assert_close(info.signal_variance, 1.2, 1e-14);
    assert_close(info.long_share, 0.3, 1e-14);
    assert_close(info.long_reach, 8.0, 1e-14);
    quorum_model_free(m);
    quorum_options_free(o);
    o = options_with("matern12", "0.5,0.6,1.2,0.1");
    assert_ok(quorum_fit(w->X, w->y, N, D, NULL, o, &m));
    assert_ok(quorum_inspect(m, &info));
    assert_true(info.long_share == 0.0 && info.long_reach == 1.0);
    quorum_model_free(m);
    quorum_options_free(o);
}

/* Predictions at the first rows. */
typedef struct {
    double mean[20], std[20];
} answers;

static answers answers_of(const quorum_model *m, const world *w, const quorum_options *o)
{
    answers a;
    quorum_prediction out = {.mean = a.mean, .std = a.std};
    assert_ok(quorum_predict(m, w->X, 20, o, &out, NULL));
    return a;
}

/* The same bits after saving and loading: also with rows that experts share, and a rotation. */
static void models_survive_their_file(void **state)
{
    world *w = *state;
    char path[] = "/tmp/quorum_two_scales_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (int k = 0; k < 3; k++) {
        quorum_model *m = NULL, *loaded = NULL;
        quorum_options *o = quorum_options_new();
        assert_ok(quorum_options_set(o, "kernel", "matern32x2"));
        assert_ok(quorum_options_set(o, "max-evaluations", "15"));
        assert_ok(quorum_options_set(o, "experts", "3"));
        assert_ok(quorum_options_set(o, "overlap", k == 1 ? "0.5" : "0"));
        assert_ok(quorum_options_set(o, "metric", k == 2 ? "linear" : "ard"));
        assert_true(quorum_fit(w->X, w->y, N, D, NULL, o, &m) >= 0);
        assert_ok(quorum_save(m, path));
        assert_ok(quorum_load(path, &loaded));
        assert_memory_equal(m->log_theta, loaded->log_theta, P * sizeof(double));
        assert_true(m->theta.share == loaded->theta.share && m->theta.reach == loaded->theta.reach);
        assert_true(m->theta.share > 0.0 && m->theta.share < 1.0 && m->theta.reach >= 1.0);
        assert_true((loaded->extra.offset != NULL) == (k == 1));
        assert_true((loaded->units.rotation != NULL) == (k == 2));
        answers a = answers_of(m, w, o), b = answers_of(loaded, w, o);
        assert_memory_equal(&a, &b, sizeof a);
        quorum_model_free(m);
        quorum_model_free(loaded);
        quorum_options_free(o);
    }
    unlink(path);
}

static void damaged_scales_are_refused(void **state)
{
    world *w = *state;
    static const double wrong[][2] = {{101.0, 1.0}, {NAN, 1.0}, {0.0, -0.1}, {0.0, INFINITY}};
    char path[] = "/tmp/quorum_two_scales_XXXXXX";
    int file = mkstemp(path);
    quorum_model *m = NULL;
    quorum_options *o = options_with("matern52x2", "0.5,0.6,1.2,0.1,0.3,8");
    assert_true(file >= 0);
    close(file);
    assert_ok(quorum_fit(w->X, w->y, N, D, NULL, o, &m));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(m->log_theta + D + 2, wrong[i], sizeof wrong[i]);
        assert_int_equal(quorum_save(m, path), QUORUM_E_FILE); /* it is read back */
    }
    quorum_model_free(m);
    quorum_options_free(o);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_component_is_a_kernel_of_one_scale),
        cmocka_unit_test(slopes_come_with_the_same_values),
        cmocka_unit_test(equal_scales_are_one),
        cmocka_unit_test(conditional_gradients_equal_differences),
        cmocka_unit_test_setup_teardown(far_rows_come_from_the_first_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(far_rows_do_not_depend_on_the_search, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_few_blocks_have_no_far_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(out_of_memory_is_said, set_up, tear_down),
        cmocka_unit_test(training_finds_two_scales),
        cmocka_unit_test_setup_teardown(theta_can_be_given, set_up, tear_down),
        cmocka_unit_test_setup_teardown(models_survive_their_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_scales_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
