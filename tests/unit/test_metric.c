/* The linear metric: directions of change, inputs turned by a rotation, and models that have one. */
#include "theta/theta.h"
#include "model/model.h"
#include "support.h"
#include "train/directions.h"

#include <unistd.h>

enum { N = 160, D = 4, Q = 40 };

typedef struct {
    double *X, *y, *queries, lengthscale[D];
    char constant[D], folder[64], path[96];
    hyper theta;
    scattered_rows rows;
    vecchia_parts parts; /* every row, given the 30 nearest others */
    quorum_options *o;   /* of a fit with a rotation */
} world;

/* y = sin(3 (x_0 + x_1)) and a little noise. */
static double *turned_targets(const double *X, size_t n)
{
    double *y = mem_alloc(n, sizeof *y);
    rng r = rng_seed(5, 5);
    for (size_t i = 0; i < n; i++)
        y[i] = sin(3.0 * (X[i * D] + X[i * D + 1])) + 0.05 * rng_normal(&r);
    return y;
}

static void find_parts(world *w)
{
    vecchia_problem problem = {.rows = &w->rows,
                               .lengthscale = w->lengthscale,
                               .block = 1,
                               .given = 30,
                               .others = 1,
                               .seed = 5,
                               .threads = 2};
    vecchia_parts_free(&w->parts);
    assert_ok(vecchia_parts_new(&problem, &w->parts));
}

static int set_up(void **state)
{
    static const double lengthscale[D] = {0.9, 1.1, 3.0, 2.0};
    world *w = calloc(1, sizeof *w);
    w->X = random_normals((size_t)N * D, 3);
    w->y = turned_targets(w->X, N);
    w->queries = random_normals((size_t)Q * D, 4);
    memcpy(w->lengthscale, lengthscale, sizeof lengthscale);
    w->theta = (hyper){.kernel = &kernel_matern32,
                       .D = D,
                       .lengthscale = w->lengthscale,
                       .signal = 1.4,
                       .noise = 0.08};
    row_set all = rows_view_of(N, D, w->X, w->y);
    w->rows = rows_whole(&all);
    find_parts(w);
    w->o = quorum_options_new();
    quorum_options_set(w->o, "metric", "linear");
    quorum_options_set(w->o, "max-evaluations", "12");
    quorum_options_set(w->o, "graph-rows", "20");
    quorum_options_set(w->o, "experts", "3");
    strcpy(w->folder, "/tmp/quorum-test-XXXXXX");
    if (!mkdtemp(w->folder))
        return -1;
    snprintf(w->path, sizeof w->path, "%s/model.npz", w->folder);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    mem_fail_at(0);
    vecchia_parts_free(&w->parts);
    unlink(w->path);
    rmdir(w->folder);
    quorum_options_free(w->o);
    mem_free(w->X);
    mem_free(w->y);
    mem_free(w->queries);
    free(w);
    return 0;
}

/* ---- Directions ---- */

static double covariance_of(const hyper *theta, const double *a, const double *b)
{
    double s = 0.0;
    for (size_t d = 0; d < D; d++)
        s += pow((a[d] - b[d]) / theta->lengthscale[d], 2.0);
    kernel_values(theta, 1, &s);
    return s;
}

/* alpha = C^-1 y by elimination, C being positive definite. */
static void solve(size_t m, double *C, double *alpha)
{
    for (size_t p = 0; p < m; p++)
        for (size_t i = p + 1; i < m; i++) {
            double factor = C[i * m + p] / C[p * m + p];
            for (size_t j = p; j < m; j++)
                C[i * m + j] -= factor * C[p * m + j];
            alpha[i] -= factor * alpha[p];
        }
    for (size_t p = m; p-- > 0;) {
        for (size_t j = p + 1; j < m; j++)
            alpha[p] -= C[p * m + j] * alpha[j];
        alpha[p] /= C[p * m + p];
    }
}

static double mean_at(const hyper *theta, const row_set *rows, size_t m, const double *alpha,
                      const double *x)
{
    double mean = 0.0;
    for (size_t i = 0; i < m; i++)
        mean += alpha[i] * covariance_of(theta, rows->X + i * D, x);
    return mean;
}

/* By central differences of k(x, N) C^-1 y at the part's last row. */
static void gradient_by_differences(const hyper *theta, const row_set *rows, double *gradient)
{
    size_t m = rows->n - 1;
    const double *x = rows->X + m * D, h = 1e-5;
    double *C = mem_alloc(m * m, sizeof *C), *alpha = mem_alloc(m, sizeof *alpha);
    for (size_t i = 0; i < m; i++) {
        alpha[i] = rows->y[i];
        for (size_t j = 0; j < m; j++)
            C[i * m + j] = covariance_of(theta, rows->X + i * D, rows->X + j * D) +
                           (i == j ? theta->noise : 0.0);
    }
    solve(m, C, alpha);
    for (size_t d = 0; d < D; d++) {
        double at[2][D];
        memcpy(at[0], x, sizeof at[0]);
        memcpy(at[1], x, sizeof at[1]);
        at[0][d] -= h;
        at[1][d] += h;
        gradient[d] =
            (mean_at(theta, rows, m, alpha, at[1]) - mean_at(theta, rows, m, alpha, at[0])) /
            (2.0 * h);
    }
    mem_free(C);
    mem_free(alpha);
}

/* S = 1/M sum g g'. */
static void outer_products(const world *w, double S[D][D])
{
    memset(S, 0, sizeof(double[D][D]));
    for (size_t e = 0; e < w->parts.parts.M; e++) {
        double g[D];
        row_set rows = part_rows(&w->parts.parts, e);
        gradient_by_differences(&w->theta, &rows, g);
        for (size_t a = 0; a < D; a++)
            for (size_t b = 0; b < D; b++)
                S[a][b] += g[a] * g[b] / (double)w->parts.parts.M;
    }
}

static void find(const world *w, int threads, double *E, double *change)
{
    assert_ok(directions_find(&w->parts, &w->theta, w->constant, threads, E, change));
}

static void assert_orthonormal(const double *E)
{
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            double dot = 0.0;
            for (size_t d = 0; d < D; d++)
                dot += E[i * D + d] * E[j * D + d];
            assert_close(dot, i == j ? 1.0 : 0.0, 1e-12);
        }
}

/* The entry of largest magnitude is positive. */
static void assert_signs(const double *E)
{
    for (size_t k = 0; k < D; k++) {
        size_t most = 0;
        for (size_t d = 1; d < D; d++)
            most = fabs(E[k * D + d]) > fabs(E[k * D + most]) ? d : most;
        assert_true(E[k * D + most] > 0.0);
    }
}

/* E diag(change) E' is the mean outer product, for every kernel. */
static void directions_are_those_of_finite_differences(void **state)
{
    world *w = *state;
    for (int i = 0; i < kernel_count(); i++) {
        double S[D][D], E[D * D], change[D];
        w->theta.kernel = kernel_at(i);
        w->theta.share = 0.4;
        w->theta.reach = 3.0;
        outer_products(w, S);
        find(w, 1, E, change);
        for (size_t a = 0; a < D; a++)
            for (size_t b = 0; b < D; b++) {
                double sum = 0.0;
                for (size_t k = 0; k < D; k++)
                    sum += change[k] * E[k * D + a] * E[k * D + b];
                assert_close(sum, S[a][b], 1e-6);
            }
        assert_orthonormal(E);
        assert_signs(E);
        for (size_t k = 1; k < D; k++)
            assert_true(change[k] <= change[k - 1]);
    }
}

static void the_first_direction_is_where_the_target_changes(void **state)
{
    world *w = *state;
    double E[D * D], change[D];
    find(w, 2, E, change);
    assert_close(E[0], sqrt(0.5), 0.1);
    assert_close(E[1], sqrt(0.5), 0.1);
    assert_true(change[0] > 5.0 * change[1]);
}

/* A constant input is a direction of its own in its own place, and is in no other. */
static void constants_stay_in_their_places(void **state)
{
    world *w = *state;
    double E[D * D], change[D];
    for (size_t i = 0; i < N; i++)
        w->X[i * D + 1] = 0.0;
    w->constant[1] = 1;
    find_parts(w);
    find(w, 2, E, change);
    for (size_t d = 0; d < D; d++) {
        assert_true(E[D + d] == (d == 1 ? 1.0 : 0.0));
        assert_true(E[d * D + 1] == (d == 1 ? 1.0 : 0.0));
    }
    assert_true(change[1] == 0.0 && change[0] >= change[2] && change[2] >= change[3]);
    assert_orthonormal(E);
    assert_signs(E);
}

static void directions_do_not_depend_on_threads(void **state)
{
    world *w = *state;
    double E[2][D * D], change[2][D];
    find(w, 1, E[0], change[0]);
    find(w, 3, E[1], change[1]);
    assert_memory_equal(E[0], E[1], sizeof E[0]);
    assert_memory_equal(change[0], change[1], sizeof change[0]);
}

static void every_allocation_may_fail_in_directions(void **state)
{
    world *w = *state;
    double E[D * D], change[D];
    int done = 0;
    for (long n = 1; !done; n++) {
        mem_fail_at(n);
        quorum_status status = directions_find(&w->parts, &w->theta, w->constant, 1, E, change);
        mem_fail_at(0);
        done = status >= 0;
        assert_true(done || status == QUORUM_E_MEMORY);
        assert_true(n < 100);
    }
}

static void a_matrix_that_is_not_positive_definite_is_refused(void **state)
{
    world *w = *state;
    double E[D * D], change[D];
    for (size_t i = 0; i < (size_t)N * D; i++)
        w->X[i] = 1.0;
    find_parts(w);
    w->theta.noise = 0.0;
    assert_int_equal(directions_find(&w->parts, &w->theta, w->constant, 1, E, change),
                     QUORUM_E_NUMERIC);
    assert_says("not positive definite");
}

/* ---- Turned inputs ---- */

static quorum_model *fit_model(const world *w)
{
    quorum_model *m = NULL;
    assert_ok(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m));
    return m;
}

static void inputs_are_standardised_then_turned(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    double *Z = mem_alloc((size_t)Q * D, sizeof *Z), far[D] = {1e308, -1e308, 1e308, 0.0}, out[D];
    assert_non_null(m->units.rotation);
    model_standardise(m, Q, w->queries, Z);
    for (size_t q = 0; q < Q; q++)
        for (size_t k = 0; k < D; k++) {
            double sum = 0.0;
            for (size_t d = 0; d < D; d++)
                sum += m->units.rotation[k * D + d] * (w->queries[q * D + d] - m->units.x_mean[d]) /
                       m->units.x_scale[d];
            assert_close(Z[q * D + k], sum, 1e-13);
        }
    model_standardise(m, Q, w->queries, w->queries); /* in place */
    assert_memory_equal(Z, w->queries, Q * D * sizeof *Z);
    model_standardise(m, 1, far, out);
    for (size_t k = 0; k < D; k++)
        assert_true(isfinite(out[k]));
    mem_free(Z);
    quorum_model_free(m);
}

/* Distances along the inputs alone: 1 / l_d^2 = sum_k E_kd^2 / l_k^2. */
static void a_model_tells_its_rotation(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    quorum_info info;
    assert_ok(quorum_inspect(m, &info));
    assert_ptr_equal(info.rotation, m->units.rotation);
    assert_orthonormal(info.rotation);
    for (size_t d = 0; d < D; d++) {
        double sum = 0.0;
        for (size_t k = 0; k < D; k++)
            sum += pow(info.rotation[k * D + d] / info.lengthscale[k], 2.0);
        assert_close(info.input_lengthscale[d], 1.0 / sqrt(sum), 1e-12);
    }
    quorum_model_free(m);
    assert_ok(quorum_options_set(w->o, "metric", "ard"));
    m = fit_model(w);
    assert_ok(quorum_inspect(m, &info));
    assert_null(info.rotation);
    assert_memory_equal(info.input_lengthscale, info.lengthscale, D * sizeof(double));
    quorum_model_free(m);
}

static void a_constant_input_keeps_its_place_in_a_fit(void **state)
{
    world *w = *state;
    quorum_info info;
    for (size_t i = 0; i < N; i++)
        w->X[i * D + 2] = 7.0;
    quorum_model *m = fit_model(w);
    assert_ok(quorum_inspect(m, &info));
    for (size_t d = 0; d < D; d++) {
        assert_true(info.rotation[2 * D + d] == (d == 2 ? 1.0 : 0.0));
        assert_true(info.rotation[d * D + 2] == (d == 2 ? 1.0 : 0.0));
    }
    for (size_t i = 0; i < N; i++)
        assert_true(m->rows.X[i * D + 2] == 0.0);
    quorum_model_free(m);
}

/* ---- Model files ---- */

typedef struct {
    double mean[Q], std[Q], lower[Q], upper[Q];
} answers;

static void predict(const quorum_model *m, const world *w, answers *a)
{
    quorum_prediction out = {.mean = a->mean, .std = a->std, .lower = a->lower, .upper = a->upper};
    assert_ok(quorum_predict(m, w->queries, Q, w->o, &out, NULL));
}

/* With and without extra rows of experts, which format version 3 may have too. */
static void a_saved_model_predicts_the_same_bits(void **state)
{
    world *w = *state;
    static const char *const overlap[] = {"0", "0.5"};
    static const char *const methods[] = {"nearest", "npae", "grbcm", "rbcm", "cells"};
    for (int k = 0; k < 2; k++) {
        assert_ok(quorum_options_set(w->o, "overlap", overlap[k]));
        quorum_model *m = fit_model(w), *again = NULL;
        quorum_info x, y;
        answers a, b;
        assert_ok(quorum_save(m, w->path));
        assert_ok(quorum_load(w->path, &again));
        assert_ok(quorum_inspect(m, &x));
        assert_ok(quorum_inspect(again, &y));
        assert_memory_equal(x.rotation, y.rotation, sizeof(double[D][D]));
        assert_memory_equal(x.input_lengthscale, y.input_lengthscale, D * sizeof(double));
        assert_true((m->extra.offset != NULL) == (k == 1));
        assert_true((again->extra.offset != NULL) == (k == 1));
        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
            assert_ok(quorum_options_set(w->o, "method", methods[i]));
            predict(m, w, &a);
            predict(again, w, &b);
            assert_memory_equal(&a, &b, sizeof a);
        }
        quorum_model_free(m);
        quorum_model_free(again);
    }
}

static void assert_refused(const quorum_model *m, const char *path, const char *sentence)
{
    assert_int_equal(quorum_save(m, path), QUORUM_E_FILE); /* it is read back */
    assert_says(sentence);
    assert_int_equal(access(path, F_OK), -1);
}

static void a_damaged_rotation_is_refused(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    double *E = m->units.rotation, first = E[0];
    E[0] += 1e-5;
    assert_refused(m, w->path, "rotation is none");
    E[0] = NAN;
    assert_refused(m, w->path, "rotation");
    E[0] = first;
    for (size_t d = 0; d < D; d++) /* every row has unit length, but two are the same */
        E[D + d] = E[d];
    assert_refused(m, w->path, "rotation is none");
    memset(E, 0, sizeof(double[D][D]));
    assert_refused(m, w->path, "rotation is none");
    quorum_model_free(m);
}

/* The name of a member wherever it is written in the file; CRCs are of contents. */
static void rename_member(const char *path, const char *from, const char *to)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f), length = strlen(from), found = 0;
    char *bytes = malloc(size);
    rewind(f);
    assert_int_equal(fread(bytes, 1, size, f), size);
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(bytes + i, from, length) == 0) {
            memcpy(bytes + i, to, length);
            found++;
        }
    assert_int_equal(found, 2); /* before the member and in the directory */
    rewind(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
    free(bytes);
}

static void version_3_has_a_rotation(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w), *again = NULL;
    assert_ok(quorum_save(m, w->path));
    rename_member(w->path, "rotation.npy", "rotatiom.npy");
    assert_int_equal(quorum_load(w->path, &again), QUORUM_E_FORMAT);
    assert_says("rotation");
    assert_null(again);
    quorum_model_free(m);
}

static void every_allocation_may_fail_in_load(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    assert_ok(quorum_save(m, w->path));
    int done = 0;
    for (long n = 1; !done; n++) {
        quorum_model *again = NULL;
        mem_fail_at(n);
        quorum_status status = quorum_load(w->path, &again);
        mem_fail_at(0);
        done = status >= 0;
        assert_true(done || (status == QUORUM_E_MEMORY && again == NULL));
        assert_true(n < 1000);
        quorum_model_free(again);
    }
    quorum_model_free(m);
}

/* In a fit that turns its rows; every seventh, since each is a fit. */
static void allocations_may_fail_in_fit(void **state)
{
    world *w = *state;
    enum { rows = 100 };
    assert_ok(quorum_options_set(w->o, "max-evaluations", "1"));
    assert_ok(quorum_options_set(w->o, "threads", "1"));
    int done = 0;
    for (long n = 1; !done; n += 7) {
        quorum_model *m = NULL;
        mem_fail_at(n);
        quorum_status status = quorum_fit(w->X, w->y, rows, D, NULL, w->o, &m);
        mem_fail_at(0);
        done = status >= 0;
        assert_true(done || (status == QUORUM_E_MEMORY && m == NULL));
        assert_true(!done || m->units.rotation);
        assert_true(n < 100000);
        quorum_model_free(m);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(directions_are_those_of_finite_differences),
        TEST(the_first_direction_is_where_the_target_changes),
        TEST(constants_stay_in_their_places),
        TEST(directions_do_not_depend_on_threads),
        TEST(every_allocation_may_fail_in_directions),
        TEST(a_matrix_that_is_not_positive_definite_is_refused),
        TEST(inputs_are_standardised_then_turned),
        TEST(a_model_tells_its_rotation),
        TEST(a_constant_input_keeps_its_place_in_a_fit),
        TEST(a_saved_model_predicts_the_same_bits),
        TEST(a_damaged_rotation_is_refused),
        TEST(version_3_has_a_rotation),
        TEST(every_allocation_may_fail_in_load),
        TEST(allocations_may_fail_in_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
