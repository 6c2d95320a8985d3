/* Rows with weights and known errors: row i is w_i rows of noise s^2 + e_i^2 each (gp/noise.h). */
#include "gp/conditional.h"
#include "gp/neighbourhood.h"
#include "model/model.h"
#include "support.h"

#include <unistd.h>

enum { N = 240, D = 2, Q = 40, MOST = 3 * N };

static const char *const methods[] = {"nearest", "npae", "grbcm", "gpoe"};
enum { METHODS = 4 };

typedef struct {
    double *X, *y, *weight, *error, *queries;
    double lengthscale[D];
    hyper theta;
    quorum_options *o;
} world;

static int set_up(void **state)
{
    world *w = calloc(1, sizeof *w);
    w->X = random_normals((size_t)N * D, 1);
    w->y = smooth_targets(w->X, N, D, 0.2);
    w->error = random_normals(N, 3);
    w->weight = mem_alloc(N, 8);
    w->queries = random_normals((size_t)Q * D, 2);
    for (size_t i = 0; i < N; i++) {
        w->error[i] = 0.5 * fabs(w->error[i]);
        w->weight[i] = (double)(1 + i % 3);
    }
    w->lengthscale[0] = 0.8;
    w->lengthscale[1] = 1.3;
    w->theta = (hyper){.kernel = &kernel_se,
                       .D = D,
                       .lengthscale = w->lengthscale,
                       .signal = 1.4,
                       .noise = 0.15,
                       .reach = 1.0};
    w->o = quorum_options_new();
    assert_ok(quorum_options_set(w->o, "experts", "4"));
    assert_ok(quorum_options_set(w->o, "theta", "0.8,1.3,1.4,0.15"));
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    quorum_options_free(w->o);
    mem_free(w->X);
    mem_free(w->y);
    mem_free(w->weight);
    mem_free(w->error);
    mem_free(w->queries);
    free(w);
    return 0;
}

static row_set first_rows(const world *w, size_t m)
{
    row_set r = rows_view_of(m, D, w->X, w->y);
    r.weight = w->weight;
    r.error = w->error;
    return r;
}

static void make_fractions(world *w)
{
    for (size_t i = 0; i < N; i++)
        w->weight[i] = 0.3 + 0.4 * (double)(i % 7);
}

/* Every row as often as its weight says. */
typedef struct {
    double X[MOST * D], y[MOST], error[MOST];
    row_set rows;
} repeated;

static void repeat(const row_set *from, repeated *to)
{
    to->rows = (row_set){.D = D, .X = to->X, .y = to->y, .error = to->error};
    for (size_t i = 0; i < from->n; i++)
        for (double k = 0; k < from->weight[i]; k++) {
            size_t at = to->rows.n++;
            memcpy(to->X + at * D, from->X + i * D, D * sizeof *to->X);
            to->y[at] = from->y[i];
            to->error[at] = from->error ? from->error[i] : 0.0;
        }
}

/* ---- Likelihoods ---- */

/* 1/2 y' C^-1 y + 1/2 log|C| + m/2 log 2pi by elimination of C = K + diag(s^2 + e^2). */
static double by_definition(const world *w, size_t m)
{
    long double C[64][65], value = (long double)m * logl(2.0L * M_PIl) / 2;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < m; j++) {
            long double s = 0;
            for (size_t d = 0; d < D; d++)
                s += powl((w->X[i * D + d] - w->X[j * D + d]) / w->lengthscale[d], 2);
            C[i][j] = w->theta.signal * expl(-s / 2);
        }
        C[i][i] += w->theta.noise + w->error[i] * w->error[i];
        C[i][m] = w->y[i];
    }
    for (size_t k = 0; k < m; k++) {
        value += logl(C[k][k]) / 2 + C[k][m] * C[k][m] / C[k][k] / 2;
        for (size_t i = k + 1; i < m; i++)
            for (size_t j = m + 1; j-- > k + 1;)
                C[i][j] -= C[i][k] * C[k][j] / C[k][k];
    }
    return (double)value;
}

/* given SIZE_MAX: of all rows together. */
static double likelihood(const hyper *theta, const row_set *data, size_t given, double nu,
                         double *gradient)
{
    likelihood_space ws;
    double value;
    assert_ok(likelihood_space_new(data->n, D, theta->kernel, &ws));
    if (given == SIZE_MAX)
        assert_ok(negative_log_likelihood(theta, data, &ws, 1, &value, gradient));
    else
        assert_ok(negative_log_conditional(theta, data, given, nu, &ws, &value, gradient));
    likelihood_space_free(&ws);
    return value;
}

static void known_errors_follow_the_definition(void **state)
{
    const world *w = *state;
    enum { m = 60, given = 40 };
    row_set data = first_rows(w, m), plain = data;
    data.weight = plain.weight = plain.error = NULL;
    double whole = by_definition(w, m), before = by_definition(w, given);
    assert_close(likelihood(&w->theta, &data, SIZE_MAX, 0.0, NULL), whole, 1e-11);
    assert_close(likelihood(&w->theta, &data, given, 0.0, NULL), whole - before, 1e-10);
    assert_true(fabs(likelihood(&w->theta, &plain, SIZE_MAX, 0.0, NULL) - whole) > 0.1);
}

/* The rows that a block is given, and of a Student t the degrees of freedom. */
static const size_t given_rows[] = {SIZE_MAX, 0, 40, 40};
static const double own_scales[] = {0.0, 0.0, 0.0, 3.0};
enum { CASES = 4 };

static void a_weight_is_a_row_repeated(void **state)
{
    const world *w = *state;
    repeated *r = calloc(1, sizeof *r);
    row_set data = first_rows(w, 60), first = first_rows(w, 40);
    for (int with_errors = 0; with_errors < 2; with_errors++)
        for (size_t c = 0; c < CASES; c++) {
            double gradient[D + 2], expected[D + 2];
            data.error = first.error = with_errors ? w->error : NULL;
            r->rows.n = 0;
            repeat(&first, r);
            size_t given = given_rows[c] == 40 ? r->rows.n : given_rows[c];
            repeat(&data, r);
            double a = likelihood(&w->theta, &data, given_rows[c], own_scales[c], gradient);
            double b = likelihood(&w->theta, &r->rows, given, own_scales[c], expected);
            assert_close(a, b, 1e-11);
            for (size_t i = 0; i < D + 2; i++)
                assert_close(gradient[i], expected[i], 1e-9);
        }
    free(r);
}

static double moved_likelihood(const world *w, const row_set *data, size_t c, size_t at,
                               double step)
{
    hyper moved = w->theta;
    double l[D], factor = exp(step);
    memcpy(l, w->lengthscale, sizeof l);
    moved.lengthscale = l;
    if (at < D)
        l[at] *= factor;
    moved.signal *= at == D ? factor : 1.0;
    moved.noise *= at == D + 1 ? factor : 1.0;
    return likelihood(&moved, data, given_rows[c], own_scales[c], NULL);
}

static void gradients_equal_finite_differences(void **state)
{
    world *w = *state;
    const double h = 1e-4;
    make_fractions(w);
    row_set data = first_rows(w, 60);
    for (size_t c = 0; c < CASES; c++) {
        double gradient[D + 2];
        likelihood(&w->theta, &data, given_rows[c], own_scales[c], gradient);
        for (size_t i = 0; i < D + 2; i++) {
            double slope =
                (moved_likelihood(w, &data, c, i, h) - moved_likelihood(w, &data, c, i, -h)) /
                (2.0 * h);
            assert_close(gradient[i], slope, 1e-6);
        }
    }
}

/* ---- Neighbourhoods ---- */

/* The posterior at x from all of the rows but one (SIZE_MAX: from all). */
static neighbourhood ask(const world *w, const row_set *all, size_t without, const double *x)
{
    row_set rows;
    neighbourhood_space ws;
    neighbourhood out;
    points X = {0}, query = {0};
    size_t m = 0;
    assert_ok(rows_new(all, all->n, &rows));
    for (size_t i = 0; i < all->n; i++)
        if (i != without)
            rows_copy(all, i, 1, &rows, m++);
    assert_ok(points_new(m, D, &X));
    assert_ok(points_new(1, D, &query));
    points_scale(&X, m, rows.X, NULL, w->lengthscale);
    points_scale(&query, 1, x, NULL, w->lengthscale);
    assert_ok(neighbourhood_space_new(m, 0, &ws));
    assert_ok(neighbourhood_posterior(&w->theta, &X, &rows, &query, &ws, NULL, &out));
    neighbourhood_space_free(&ws);
    points_free(&X);
    points_free(&query);
    rows_free(&rows);
    return out;
}

/* Each row left out as a whole is w observations, of noise s^2 + e^2. */
static void surroundings_are_rows_left_out(void **state)
{
    world *w = *state;
    static const double x[D] = {0.3, -0.2};
    make_fractions(w);
    row_set data = first_rows(w, 30);
    surroundings want = {0}, got = ask(w, &data, SIZE_MAX, x).around;
    for (size_t i = 0; i < data.n; i++) {
        neighbourhood at = ask(w, &data, i, data.X + i * D);
        double s = 0.0, error = data.y[i] - at.mean;
        double v = w->theta.signal - at.explained + w->theta.noise + pow(data.error[i], 2);
        for (size_t d = 0; d < D; d++)
            s += pow((data.X[i * D + d] - x[d]) / w->lengthscale[d], 2);
        double weight = data.weight[i] * exp(-s); /* w rho^2 */
        want.weight += weight;
        want.surprise += weight * error * error / v;
        want.tested += weight * v;
    }
    assert_close(got.weight, want.weight, 1e-10);
    assert_close(got.surprise, want.surprise, 1e-9);
    assert_close(got.tested, want.tested, 1e-9);
}

/* ---- Models ---- */

typedef struct {
    double mean[Q], std[Q];
} answers;

static quorum_data data_of(const row_set *r)
{
    return (quorum_data){.rows = r->n,
                         .inputs = D,
                         .X = r->X,
                         .y = r->y,
                         .target = D,
                         .weight = r->weight,
                         .noise_std = r->error};
}

static quorum_model *fit_model(const world *w, const row_set *r)
{
    quorum_data data = data_of(r);
    quorum_model *m = NULL;
    assert_ok(quorum_fit_data(&data, w->o, &m));
    return m;
}

static answers predict(const quorum_model *m, const world *w)
{
    answers a;
    quorum_prediction out = {.mean = a.mean, .std = a.std};
    assert_ok(quorum_predict(m, w->queries, Q, w->o, &out, NULL));
    return a;
}

static answers fit_and_predict(const world *w, const row_set *r)
{
    quorum_model *m = fit_model(w, r);
    answers a = predict(m, w);
    quorum_model_free(m);
    return a;
}

static double largest_change(const answers *a, const answers *b)
{
    double most = 0.0;
    for (size_t q = 0; q < Q; q++)
        most = fmax(most, fmax(fabs(a->mean[q] - b->mean[q]), fabs(a->std[q] - b->std[q])));
    return most;
}

static void use_all_rows(const world *w)
{
    assert_ok(quorum_options_set(w->o, "experts", "1"));
    assert_ok(quorum_options_set(w->o, "neighbours", "1000"));
    assert_ok(quorum_options_set(w->o, "spread", "none"));
}

/* Where all rows take part the model of weights is that of repeated rows. */
static void models_of_weights_are_of_repeated_rows(void **state)
{
    const world *w = *state;
    static const char *const trends[] = {"constant", "none", "linear"};
    repeated *r = calloc(1, sizeof *r);
    row_set data = first_rows(w, N), plain = data;
    plain.weight = NULL;
    use_all_rows(w);
    repeat(&data, r);
    for (size_t t = 0; t < 3; t++)
        for (size_t k = 0; k < 2; k++) {
            assert_ok(quorum_options_set(w->o, "method", methods[k]));
            assert_ok(quorum_options_set(w->o, "trend", trends[t]));
            answers a = fit_and_predict(w, &data), b = fit_and_predict(w, &r->rows),
                    c = fit_and_predict(w, &plain);
            assert_true(largest_change(&a, &b) < 1e-9);
            assert_true(largest_change(&a, &c) > 1e-3);
        }
    free(r);
}

/* Also where theta is found, but for the path that the search takes. */
static void training_on_weights_is_that_on_repeated_rows(void **state)
{
    const world *w = *state;
    static const char *const ways[] = {"neighbours", "parts", "subset"};
    repeated *r = calloc(1, sizeof *r);
    row_set data = first_rows(w, 150);
    use_all_rows(w);
    repeat(&data, r);
    assert_ok(quorum_options_set(w->o, "theta", ""));
    assert_ok(quorum_options_set(w->o, "kernel", "se"));
    assert_ok(quorum_options_set(w->o, "tolerance", "1e-12"));
    assert_ok(quorum_options_set(w->o, "expert-size", "10000"));
    assert_ok(quorum_options_set(w->o, "warp", "none"));
    assert_ok(quorum_options_set(w->o, "metric", "ard"));
    for (size_t k = 0; k < 3; k++) {
        assert_ok(quorum_options_set(w->o, "train", ways[k]));
        quorum_model *a = fit_model(w, &data), *b = fit_model(w, &r->rows);
        for (size_t i = 0; i < D + 2; i++)
            assert_close(a->log_theta[i], b->log_theta[i], 1e-4);
        assert_close(a->history.nlml, b->history.nlml, 1e-9);
        assert_int_equal(a->history.train_rows, b->history.train_rows);
        quorum_model_free(a);
        quorum_model_free(b);
    }
    free(r);
}

/* Two rows exchange their targets, so that the units stay: with huge errors nobody sees it. */
static void rows_of_huge_errors_have_no_influence(void **state)
{
    const world *w = *state;
    answers before[2], after[2];
    row_set data = first_rows(w, N), plain = rows_view_of(N, D, w->X, w->y);
    data.weight = NULL;
    w->y[7] = 5.0;
    w->y[11] = -5.0;
    w->error[7] = w->error[11] = 1e7;
    before[0] = fit_and_predict(w, &data);
    before[1] = fit_and_predict(w, &plain);
    w->y[7] = -5.0;
    w->y[11] = 5.0;
    after[0] = fit_and_predict(w, &data);
    after[1] = fit_and_predict(w, &plain);
    assert_true(largest_change(&before[0], &after[0]) < 1e-10);
    assert_true(largest_change(&before[1], &after[1]) > 0.1);
}

static void weights_of_one_and_errors_of_zero_change_no_bit(void **state)
{
    const world *w = *state;
    row_set data = first_rows(w, N), plain = rows_view_of(N, D, w->X, w->y);
    for (size_t i = 0; i < N; i++) {
        w->weight[i] = 1.0;
        w->error[i] = 0.0;
    }
    for (size_t k = 0; k < METHODS; k++) {
        assert_ok(quorum_options_set(w->o, "method", methods[k]));
        answers a = fit_and_predict(w, &data), b = fit_and_predict(w, &plain);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static void a_weight_of_zero_is_no_row(void **state)
{
    const world *w = *state;
    row_set data = first_rows(w, N), rest;
    size_t m = 0;
    assert_ok(rows_new(&data, N, &rest));
    for (size_t i = 0; i < N; i++) {
        w->weight[i] = (double)(i % 3);
        if (i % 3 > 0)
            rows_copy(&data, i, 1, &rest, m++);
    }
    rest.n = m;
    quorum_model *model = fit_model(w, &data);
    assert_int_equal(model->rows.n, m);
    answers a = predict(model, w), b = fit_and_predict(w, &rest);
    assert_memory_equal(&a, &b, sizeof a);
    quorum_model_free(model);
    rows_free(&rest);
}

/* With one expert npae and the GP of all rows are the same, whoever sits beside it. */
static void shared_rows_share_their_noise(void **state)
{
    const world *w = *state;
    row_set data = first_rows(w, N);
    use_all_rows(w);
    assert_ok(quorum_options_set(w->o, "method", "npae"));
    assert_ok(quorum_options_set(w->o, "select", "all"));
    assert_ok(quorum_options_set(w->o, "neighbours", "0"));
    answers exact = fit_and_predict(w, &data);
    assert_ok(quorum_options_set(w->o, "neighbours", "50"));
    answers beside = fit_and_predict(w, &data);
    assert_true(largest_change(&exact, &beside) < 1e-7);
}

static void a_saved_model_predicts_the_same_bits(void **state)
{
    const world *w = *state;
    char path[] = "/tmp/quorum-test-XXXXXX";
    row_set data = first_rows(w, N), plain = rows_view_of(N, D, w->X, w->y);
    quorum_model *m = fit_model(w, &data), *again = NULL;
    quorum_info info;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_ok(quorum_save(m, path));
    assert_ok(quorum_load(path, &again));
    unlink(path);
    assert_ok(quorum_inspect(again, &info));
    assert_string_equal(info.weights_name, "weight");
    assert_string_equal(info.noise_name, "noise_std");
    for (size_t k = 0; k < METHODS; k++) {
        assert_ok(quorum_options_set(w->o, "method", methods[k]));
        answers a = predict(m, w), b = predict(again, w), without = fit_and_predict(w, &plain);
        assert_memory_equal(&a, &b, sizeof a);
        assert_true(largest_change(&a, &without) > 1e-3);
    }
    quorum_model_free(m);
    quorum_model_free(again);
}

static void bad_weights_and_errors_are_refused(void **state)
{
    const world *w = *state;
    static const double bad[] = {-1.0, INFINITY, NAN};
    row_set data = first_rows(w, N);
    quorum_data given = data_of(&data);
    quorum_model *m = NULL;
    for (size_t k = 0; k < 3; k++) {
        double *const arrays[] = {w->weight, w->error};
        for (size_t a = 0; a < 2; a++) {
            double before = arrays[a][4];
            arrays[a][4] = bad[k];
            assert_int_equal(quorum_fit_data(&given, w->o, &m), QUORUM_E_DATA);
            assert_says(a ? "row 5: its noise-std is" : "row 5: its weight is");
            arrays[a][4] = before;
        }
    }
    for (size_t i = 0; i < N; i++)
        w->weight[i] = 0.0;
    assert_int_equal(quorum_fit_data(&given, w->o, &m), QUORUM_E_DATA);
    assert_says("have the weight 0");
    given.weight = NULL;
    for (size_t i = 0; i < N; i++)
        w->y[i] = exp(w->y[i]);
    assert_ok(quorum_options_set(w->o, "warp", "log"));
    assert_int_equal(quorum_fit_data(&given, w->o, &m), QUORUM_E_ARGUMENT);
    assert_says("warp log does not go with noise-std");
}

/* ---- Predictions ---- */

static void a_query_may_have_a_known_error(void **state)
{
    const world *w = *state;
    row_set data = first_rows(w, N);
    quorum_model *m = fit_model(w, &data);
    double mean[Q], std[Q], latent[2][Q], error[Q];
    for (size_t q = 0; q < Q; q++)
        error[q] = (double)(q % 4) * 0.3;
    for (size_t k = 0; k < METHODS; k++) {
        quorum_prediction out = {.mean = mean, .std = std, .noise_std = error};
        assert_ok(quorum_options_set(w->o, "method", methods[k]));
        assert_ok(quorum_options_set(w->o, "latent", "false"));
        answers plain = predict(m, w);
        assert_ok(quorum_predict(m, w->queries, Q, w->o, &out, NULL));
        assert_memory_equal(mean, plain.mean, sizeof mean);
        for (size_t q = 0; q < Q; q++)
            assert_close(std[q], hypot(plain.std[q], error[q]), 1e-13);
        assert_ok(quorum_options_set(w->o, "latent", "true"));
        for (int given = 0; given < 2; given++) {
            quorum_prediction quiet = {.std = latent[given], .noise_std = given ? error : NULL};
            assert_ok(quorum_predict(m, w->queries, Q, w->o, &quiet, NULL));
        }
        assert_memory_equal(latent[0], latent[1], sizeof *latent);
    }
    error[3] = -1.0;
    quorum_prediction out = {.std = std, .noise_std = error};
    assert_int_equal(quorum_predict(m, w->queries, Q, w->o, &out, NULL), QUORUM_E_DATA);
    assert_says("query 4: its noise-std is -1");
    quorum_model_free(m);
}

/* Of std, whose spread follows rows with weights, and with a known error of the query's own. */
static void gradients_of_predictions_know_of_weights(void **state)
{
    world *w = *state;
    const double h = 1e-5;
    make_fractions(w);
    row_set data = first_rows(w, N);
    assert_ok(quorum_options_set(w->o, "spread", "4"));
    assert_ok(quorum_options_set(w->o, "neighbours", "1000"));
    quorum_model *m = fit_model(w, &data);
    double error[Q], gradient[Q * D];
    for (size_t q = 0; q < Q; q++)
        error[q] = 0.2 + 0.01 * (double)q;
    quorum_prediction out = {.std_gradient = gradient, .noise_std = error};
    assert_ok(quorum_predict(m, w->queries, Q, w->o, &out, NULL));
    for (size_t d = 0; d < D; d++) {
        double std[2][Q];
        for (int side = 0; side < 2; side++) {
            quorum_prediction moved = {.std = std[side], .noise_std = error};
            for (size_t q = 0; q < Q; q++)
                w->queries[q * D + d] += side ? 2.0 * h : -h;
            assert_ok(quorum_predict(m, w->queries, Q, w->o, &moved, NULL));
        }
        for (size_t q = 0; q < Q; q++) {
            w->queries[q * D + d] -= h;
            double slope = (std[1][q] - std[0][q]) / (2.0 * h);
            if (fabs(gradient[q * D + d] - slope) > 1e-6) /* another row among the 32 nearest? */
                assert_close(gradient[q * D + d], slope, 1e-5);
        }
    }
    quorum_model_free(m);
}

/* Ratios of rows held out are those of observations with their known errors: with a huge one the
 * ratio is next to nothing. */
static void calibration_knows_of_errors_and_weights(void **state)
{
    const world *w = *state;
    row_set data = first_rows(w, N);
    size_t small = 0;
    assert_ok(quorum_options_set(w->o, "calibrate", "true"));
    for (size_t i = 0; i < N; i++) {
        w->error[i] = i % 2 ? 1e4 : 0.0;
        w->weight[i] = i % 2 ? 3.0 : 1.0;
    }
    quorum_model *m = fit_model(w, &data);
    for (size_t i = 0; i < m->calibration.count; i++)
        small += m->calibration.ratio[i] < 1e-2;
    double share = (double)small / (double)m->calibration.count;
    assert_true(share > 0.65 && share < 0.85); /* 3 in 4 by weight */
    assert_true(m->calibration.count < N / 2 && m->calibration.count > N / 4);
    quorum_model_free(m);
}

/* ---- Scores ---- */

static void weighted_scores_are_those_of_repeated_rows(void **state)
{
    const world *w = *state;
    static const char *const warps[] = {"none", "log"};
    for (int warp = 0; warp < 2; warp++) {
        quorum_info info = {
            .target_mean = 4.0, .target_scale = 1.2, .warp = warps[warp], .warp_shift = 0.5};
        quorum_scores a = {0}, b = {0};
        quorum_metrics of[2];
        double mean[N], std[N], y[N], weight[N];
        for (size_t i = 0; i < N; i++) {
            y[i] = exp(w->y[i]);
            mean[i] = y[i] + 0.3 * w->error[i];
            std[i] = 0.1 + w->error[i];
            weight[i] = (double)(i % 4);
            for (double k = 0; k < weight[i]; k++)
                quorum_scores_add_model(&b, &info, 1, y + i, mean + i, std + i, NULL);
        }
        quorum_scores_add_weighted(&a, &info, N, y, mean, std, NULL, weight);
        quorum_scores_finish(&a, &of[0]);
        quorum_scores_finish(&b, &of[1]);
        assert_int_equal(a.n, N);
        assert_true(a.weight == (double)b.n);
        for (size_t k = 0; k < sizeof *of / sizeof(double); k++)
            assert_close(((double *)&of[0])[k], ((double *)&of[1])[k], 1e-12);
    }
}

/* ---- Memory ---- */

static void every_allocation_may_fail(void **state)
{
    const world *w = *state;
    row_set data = first_rows(w, N);
    quorum_data given = data_of(&data);
    int done = 0;
    w->weight[3] = 0.0;
    assert_ok(quorum_options_set(w->o, "threads", "1"));
    for (long n = 1; !done; n++) {
        quorum_model *m = NULL;
        mem_fail_at(n);
        quorum_status status = quorum_fit_data(&given, w->o, &m);
        mem_fail_at(0);
        done = status >= 0;
        assert_true(done || (status == QUORUM_E_MEMORY && m == NULL));
        assert_true(n < 10000);
        quorum_model_free(m);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(known_errors_follow_the_definition),
        TEST(a_weight_is_a_row_repeated),
        TEST(gradients_equal_finite_differences),
        TEST(surroundings_are_rows_left_out),
        TEST(models_of_weights_are_of_repeated_rows),
        TEST(training_on_weights_is_that_on_repeated_rows),
        TEST(rows_of_huge_errors_have_no_influence),
        TEST(weights_of_one_and_errors_of_zero_change_no_bit),
        TEST(a_weight_of_zero_is_no_row),
        TEST(shared_rows_share_their_noise),
        TEST(a_saved_model_predicts_the_same_bits),
        TEST(bad_weights_and_errors_are_refused),
        TEST(a_query_may_have_a_known_error),
        TEST(gradients_of_predictions_know_of_weights),
        TEST(calibration_knows_of_errors_and_weights),
        TEST(weighted_scores_are_those_of_repeated_rows),
        TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
