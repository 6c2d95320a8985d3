#include "gp/conditional.h"
#include "train/train.h"
#include "train/vecchia.h"
#include "train/contender.h"
#include "model/model.h"
#include "support.h"

enum { N = 200, D = 3, MOST = D + 2 + MOST_SHAPES };

typedef struct {
    double *X, *y, lengthscale[D];
    hyper theta;
    scattered_rows rows;
    vecchia_problem problem;
} world;

static int set_up(void **state)
{
    world *w = calloc(1, sizeof *w);
    w->X = random_normals((size_t)N * D, 3);
    w->y = smooth_targets(w->X, N, D, 0.3);
    w->lengthscale[0] = 0.7;
    w->lengthscale[1] = 1.3;
    w->lengthscale[2] = 4.0;
    w->theta = (hyper){.kernel = &kernel_matern32,
                       .D = D,
                       .lengthscale = w->lengthscale,
                       .signal = 1.4,
                       .noise = 0.08,
                       .share = 0.3,
                       .reach = 4.0};
    row_set all = rows_view_of(N, D, w->X, w->y);
    w->rows = rows_whole(&all);
    w->problem = (vecchia_problem){.rows = &w->rows,
                                   .lengthscale = w->lengthscale,
                                   .block = 13,
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

static double exact_likelihood(const world *w, size_t m, const double *X, const double *y,
                               double *gradient)
{
    likelihood_space ws;
    row_set data = rows_view_of(m, D, X, y);
    double value;
    assert_ok(likelihood_space_new(m, D, w->theta.kernel, &ws));
    assert_ok(negative_log_likelihood(&w->theta, &data, &ws, 1, &value, gradient));
    likelihood_space_free(&ws);
    return value;
}

static double conditional(const hyper *theta, const world *w, size_t m, size_t given, double nu,
                          double *gradient)
{
    likelihood_space ws;
    row_set data = rows_view_of(m, D, w->X, w->y);
    double value;
    assert_ok(likelihood_space_new(m, D, theta->kernel, &ws));
    assert_ok(negative_log_conditional(theta, &data, given, nu, &ws, &value, gradient));
    likelihood_space_free(&ws);
    return value;
}

static training_options options_for(const vecchia_parts *v, int threads)
{
    return (training_options){.max_evaluations = 60,
                              .tolerance = 1e-6,
                              .threads = threads,
                              .memory = 1e9,
                              .given = v->given};
}

/* ---- The conditional likelihood ---- */

/* -log p(B | N) = NLML(N u B) - NLML(N), gradient and all, for every kernel. */
static void conditional_is_a_difference(void **state)
{
    world *w = *state;
    static const size_t sizes[][2] = {{1, 0}, {50, 0}, {50, 49}, {80, 30}, {130, 1}};
    for (int k = 0; k < kernel_count(); k++)
        for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
            size_t m = sizes[c][0], given = sizes[c][1];
            double whole[MOST], part[MOST] = {0}, found[MOST];
            w->theta.kernel = kernel_at(k);
            double expected = exact_likelihood(w, m, w->X, w->y, whole);
            if (given)
                expected -= exact_likelihood(w, given, w->X, w->y, part);
            assert_close(conditional(&w->theta, w, m, given, 0.0, found), expected, 1e-10);
            assert_close(conditional(&w->theta, w, m, given, 0.0, NULL), expected, 1e-10);
            for (size_t i = 0; i < theta_length(kernel_at(k), D); i++)
                assert_close(found[i], whole[i] - part[i], 1e-9);
        }
}

/* With a scale of their own the rows are a Student t's with nu + given degrees of freedom, of
 * scale (nu + y_N' C_N^-1 y_N) / (nu + given) C_B|N: the density from its definition. */
static void own_scale_makes_a_student_t(void **state)
{
    world *w = *state;
    enum { m = 31, given = 30 };
    static const double nus[] = {0.5, 4.0, 100.0};
    double whole = exact_likelihood(w, m, w->X, w->y, NULL);
    double before = exact_likelihood(w, given, w->X, w->y, NULL);
    /* With y = 0 only the determinants are left: their difference is log L_mm + 1/2 log 2pi. */
    double *zero = calloc(m, sizeof *zero);
    double log_sd = exact_likelihood(w, m, w->X, zero, NULL) -
                    exact_likelihood(w, given, w->X, zero, NULL) - 0.5 * log(2.0 * M_PI);
    double q_N = 2.0 * (before - exact_likelihood(w, given, w->X, zero, NULL));
    double q_B = 2.0 * (whole - before - log_sd - 0.5 * log(2.0 * M_PI));
    free(zero);
    for (size_t c = 0; c < sizeof nus / sizeof *nus; c++) {
        double nu = nus[c], k = nu + given, scale = sqrt((nu + q_N) / k);
        double t2 = q_B / (scale * scale);
        double expected = lgamma(0.5 * k) - lgamma(0.5 * (k + 1.0)) + 0.5 * log(k * M_PI) + log_sd +
                          log(scale) + 0.5 * (k + 1.0) * log1p(t2 / k);
        assert_close(conditional(&w->theta, w, m, given, nu, NULL), expected, 1e-9);
    }
    assert_close(conditional(&w->theta, w, m, given, 1e9, NULL), whole - before, 1e-6);
}

static void gradient_agrees_with_differences(void **state)
{
    world *w = *state;
    static const double nus[] = {0.0, 3.0, 100.0};
    enum { m = 60, given = 40 };
    for (size_t i = 0; i < (D + 2) * sizeof nus / sizeof *nus; i++) {
        double side[2], h = 1e-5, nu = nus[i / (D + 2)], gradient[D + 2];
        size_t at = i % (D + 2);
        conditional(&w->theta, w, m, given, nu, gradient);
        for (int k = 0; k < 2; k++) {
            hyper moved = w->theta;
            double l[D], factor = exp(k ? h : -h);
            memcpy(l, w->lengthscale, sizeof l);
            moved.lengthscale = l;
            if (at < D)
                l[at] *= factor;
            moved.signal *= at == D ? factor : 1.0;
            moved.noise *= at == D + 1 ? factor : 1.0;
            side[k] = conditional(&moved, w, m, given, nu, NULL);
        }
        assert_close(gradient[at], (side[1] - side[0]) / (2.0 * h), 1e-6);
    }
}

/* Length-scales keep their bits, the likelihood does not get worse, and it is a minimum: the
 * gradient along the variances is gone. */
static void variances_can_be_searched_alone(void **state)
{
    world *w = *state;
    vecchia_parts v;
    training_result result;
    double before, after, gradient[D + 2], l[D];
    assert_ok(vecchia_parts_new(&w->problem, &v));
    training_options o = options_for(&v, 2);
    hyper theta = w->theta;
    theta.lengthscale = l;
    o.start = &w->theta;
    o.variances_only = 1;
    o.tolerance = 1e-12;
    assert_ok(total_likelihood(&v.parts, v.all, v.parts.M, &o, &w->theta, &before, NULL));
    assert_ok(train(&v.parts, v.all, v.parts.M, &o, &theta, &result));
    assert_ok(total_likelihood(&v.parts, v.all, v.parts.M, &o, &theta, &after, gradient));
    for (size_t d = 0; d < D; d++)
        assert_close(l[d], w->lengthscale[d], 1e-14);
    assert_true(after < before);
    assert_true(fabs(gradient[D]) < 1e-3 && fabs(gradient[D + 1]) < 1e-3);
    vecchia_parts_free(&v);
}

/* ---- The parts ---- */

/* p(y) = prod_b p(y_b | all earlier): with room for all of them it is exact. */
static void all_earlier_rows_make_it_exact(void **state)
{
    world *w = *state;
    for (size_t block = 1; block <= N; block = block * 7 + 6) {
        vecchia_parts v;
        double value, gradient[D + 2], exact[D + 2];
        w->problem.block = block;
        w->problem.given = N;
        assert_ok(vecchia_parts_new(&w->problem, &v));
        training_options o = options_for(&v, 2);
        assert_ok(total_likelihood(&v.parts, v.all, v.parts.M, &o, &w->theta, &value, gradient));
        assert_close(value, exact_likelihood(w, N, w->X, w->y, exact), 1e-9);
        for (size_t i = 0; i < D + 2; i++)
            assert_close(gradient[i], exact[i], 1e-8);
        vecchia_parts_free(&v);
    }
}

static double distance(const world *w, const double *center, size_t row)
{
    double s = 0.0;
    for (size_t d = 0; d < D; d++) {
        double z = w->X[row * D + d] / w->lengthscale[d] - center[d];
        s += z * z;
    }
    return s;
}

static void center_of(const world *w, const size_t *row, size_t count, double *center)
{
    for (size_t d = 0; d < D; d++) {
        center[d] = 0.0;
        for (size_t i = 0; i < count; i++)
            center[d] += w->X[row[i] * D + d] / w->lengthscale[d] / (double)count;
    }
}

/* Every block's conditioning rows are rows of blocks before it, and no earlier row
 * that was left out is nearer. */
static void rows_given_are_earlier_and_nearest(void **state)
{
    world *w = *state;
    vecchia_parts v;
    assert_ok(vecchia_parts_new(&w->problem, &v));
    char seen[N] = {0};
    size_t seen_count = 0;
    for (size_t e = 0; e < v.parts.M; e++) {
        const size_t *row = v.row + v.parts.offset[e];
        size_t given = v.given[e], own = part_size(&v.parts, e) - given;
        double center[D], farthest = 0.0;
        char taken[N] = {0};
        center_of(w, row + given, own, center);
        assert_int_equal(given, seen_count < 20 ? seen_count : 20);
        for (size_t i = 0; i < given; i++) {
            assert_true(seen[row[i]] && !taken[row[i]]);
            taken[row[i]] = 1;
            farthest = fmax(farthest, distance(w, center, row[i]));
        }
        for (size_t i = 0; i < N; i++)
            if (seen[i] && !taken[i])
                assert_true(distance(w, center, i) >= farthest - 1e-12);
        for (size_t i = given; i < given + own; i++) {
            assert_false(seen[row[i]]);
            assert_memory_equal(v.parts.rows.X + (v.parts.offset[e] + i) * D, w->X + row[i] * D,
                                D * 8);
            assert_true(v.parts.rows.y[v.parts.offset[e] + i] == w->y[row[i]]);
        }
        for (size_t i = given; i < given + own; i++)
            seen[row[i]] = 1;
        seen_count += own;
    }
    assert_int_equal(seen_count, N);
    vecchia_parts_free(&v);
}

/* Few targets are searched for by an index, many by products: the rows are the same. */
static void targets_are_the_last_blocks(void **state)
{
    world *w = *state;
    static const size_t targets[] = {50, 20};
    vecchia_parts all, some;
    assert_ok(vecchia_parts_new(&w->problem, &all));
    for (size_t c = 0; c < 2; c++) {
        w->problem.targets = targets[c];
        assert_ok(vecchia_parts_new(&w->problem, &some));
        size_t skipped = all.parts.M - some.parts.M, rows = 0;
        for (size_t e = 0; e < some.parts.M; e++) {
            size_t m = part_size(&some.parts, e);
            assert_int_equal(m, part_size(&all.parts, skipped + e));
            assert_memory_equal(some.row + some.parts.offset[e],
                                all.row + all.parts.offset[skipped + e], m * sizeof *some.row);
            rows += m - some.given[e];
        }
        assert_true(rows >= targets[c] && rows < targets[c] + 13);
        vecchia_parts_free(&some);
    }
    vecchia_parts_free(&all);
}

/* skip: the rows that come after the nearest ones, in the same order. */
static void nearest_rows_can_be_passed_over(void **state)
{
    world *w = *state;
    enum { SKIP = 7 };
    vecchia_parts all, far;
    w->problem.block = 1;
    w->problem.others = 1;
    w->problem.given = 20 + SKIP;
    for (size_t few = 0; few < 2; few++) {
        w->problem.targets = few ? 30 : 0;
        w->problem.given = 20 + SKIP;
        w->problem.skip = 0;
        assert_ok(vecchia_parts_new(&w->problem, &all));
        w->problem.given = 20;
        w->problem.skip = SKIP;
        assert_ok(vecchia_parts_new(&w->problem, &far));
        assert_int_equal(far.parts.M, all.parts.M);
        for (size_t e = 0; e < far.parts.M; e++) {
            const size_t *a = all.row + all.parts.offset[e], *b = far.row + far.parts.offset[e];
            assert_int_equal(far.given[e], 20);
            assert_memory_equal(b, a, 20 * sizeof *a); /* farthest first */
            assert_int_equal(b[20], a[20 + SKIP]);     /* the row itself */
        }
        vecchia_parts_free(&all);
        vecchia_parts_free(&far);
    }
}

/* others=1: each row is given its nearest others, later ones too. */
static void rows_can_be_left_out_one_by_one(void **state)
{
    world *w = *state;
    vecchia_parts v;
    w->problem.block = 1;
    w->problem.others = 1;
    for (size_t few = 0; few < 2; few++) {
        w->problem.targets = few ? 30 : 0;
        assert_ok(vecchia_parts_new(&w->problem, &v));
        assert_int_equal(v.parts.M, few ? 30 : N);
        for (size_t e = 0; e < v.parts.M; e++) {
            const size_t *row = v.row + v.parts.offset[e];
            double center[D], farthest = 0.0;
            size_t nearer = 0;
            assert_int_equal(v.given[e], 20);
            center_of(w, row + 20, 1, center);
            for (size_t i = 0; i < 20; i++)
                farthest = fmax(farthest, distance(w, center, row[i]));
            for (size_t i = 0; i < N; i++)
                nearer += i != row[20] && distance(w, center, i) < farthest - 1e-12;
            assert_int_equal(nearer, 19);
        }
        vecchia_parts_free(&v);
    }
}

static void parts_and_theta_do_not_depend_on_threads(void **state)
{
    world *w = *state;
    double found[3][D + 2];
    vecchia_parts first;
    w->problem.threads = 1;
    assert_ok(vecchia_parts_new(&w->problem, &first));
    for (int k = 0; k < 3; k++) {
        vecchia_parts v;
        training_result result;
        hyper theta = w->theta;
        theta.lengthscale = found[k];
        w->problem.threads = 1 << k;
        assert_ok(vecchia_parts_new(&w->problem, &v));
        assert_int_equal(v.parts.rows.n, first.parts.rows.n);
        assert_memory_equal(v.row, first.row, v.parts.rows.n * sizeof *v.row);
        training_options o = options_for(&v, 1 << k);
        o.start = &w->theta;
        assert_ok(train(&v.parts, v.all, v.parts.M, &o, &theta, &result));
        assert_true(result.rows == N);
        found[k][D] = theta.signal;
        found[k][D + 1] = theta.noise;
        vecchia_parts_free(&v);
    }
    assert_memory_equal(found[0], found[1], sizeof found[0]);
    assert_memory_equal(found[0], found[2], sizeof found[0]);
    vecchia_parts_free(&first);
}

static void identical_rows_are_fine(void **state)
{
    world *w = *state;
    vecchia_parts v;
    memset(w->X, 0, (size_t)N * D * sizeof *w->X);
    assert_ok(vecchia_parts_new(&w->problem, &v));
    training_options o = options_for(&v, 2);
    double value;
    assert_ok(total_likelihood(&v.parts, v.all, v.parts.M, &o, &w->theta, &value, NULL));
    assert_true(isfinite(value));
    vecchia_parts_free(&v);
}

static void every_allocation_may_fail(void **state)
{
    world *w = *state;
    int done = 0;
    w->problem.threads = 1;
    for (long n = 1; !done; n++) {
        vecchia_parts v;
        mem_fail_at(n);
        quorum_status status = vecchia_parts_new(&w->problem, &v);
        mem_fail_at(0);
        done = status >= 0;
        assert_true(done || status == QUORUM_E_MEMORY);
        assert_true(n < 100);
        if (done)
            vecchia_parts_free(&v);
    }
}

/* ---- Fit ---- */

static quorum_options *fit_options(const char *how, const char *covariance, const char *threads)
{
    quorum_options *o = quorum_options_new();
    assert_ok(quorum_options_set(o, "train", how));
    assert_ok(quorum_options_set(o, "kernel", covariance));
    assert_ok(quorum_options_set(o, "threads", threads));
    assert_ok(quorum_options_set(o, "experts", "4"));
    assert_ok(quorum_options_set(o, "graph-rows", "20"));
    assert_ok(quorum_options_set(o, "max-evaluations", "30"));
    return o;
}

static void every_way_to_train_is_reproducible(void **state)
{
    (void)state;
    enum { rows = 700 };
    static const char *const ways[] = {"neighbours", "parts", "random", "subset"};
    double *X = random_normals((size_t)rows * D, 8), *y = smooth_targets(X, rows, D, 0.2);
    for (int k = 0; k < 4; k++) {
        quorum_model *m[2];
        for (int t = 0; t < 2; t++) {
            quorum_options *o = fit_options(ways[k], "se", t ? "3" : "1");
            assert_ok(quorum_fit(X, y, rows, D, NULL, o, &m[t]));
            quorum_options_free(o);
        }
        quorum_info info;
        assert_memory_equal(m[0]->log_theta, m[1]->log_theta, (D + 2) * sizeof(double));
        assert_memory_equal(m[0]->row, m[1]->row, rows * sizeof *m[0]->row);
        assert_ok(quorum_inspect(m[0], &info));
        assert_string_equal(info.train, ways[k]);
        assert_int_equal(info.kernels, 0);
        assert_int_equal(info.train_experts, k == 1 ? 4 : 0);
        assert_true(info.train_rows > 0 && info.train_rows <= rows);
        double noise = info.noise_variance * info.y_scale * info.y_scale;
        assert_true(noise > 0.02 && noise < 0.08); /* 0.2 squared is 0.04 */
        quorum_model_free(m[0]);
        quorum_model_free(m[1]);
    }
    mem_free(X);
    mem_free(y);
}

static const char *chosen_kernel(const double *X, const double *y, size_t n, size_t inputs)
{
    quorum_options *o = fit_options("neighbours", "auto", "2");
    quorum_model *m = NULL;
    quorum_info info;
    assert_ok(quorum_fit(X, y, n, inputs, NULL, o, &m));
    assert_ok(quorum_inspect(m, &info));
    assert_true((int)info.kernels >=
                kernel_candidates() - 1); /* three scales where two may be best */
    const char *name = kernel_by_name(info.kernel)->name;
    double best = -HUGE_VAL, own = 0.0;
    for (size_t k = 0; k < info.kernels; k++) {
        best = fmax(best, info.kernel_scores[k]);
        if (strcmp(info.kernel_names[k], name) == 0)
            own = info.kernel_scores[k];
    }
    assert_true(own == best);
    quorum_model_free(m);
    quorum_options_free(o);
    return name;
}

static void auto_kernel_knows_rough_from_smooth(void **state)
{
    (void)state;
    enum { rows = 900 };
    double *x = random_normals(rows, 12), *y = mem_alloc(rows, sizeof *y);
    rng r = rng_seed(4, 4);
    double walk = 0.0;
    for (size_t i = 0; i < rows; i++) { /* a random walk along the input */
        x[i] = (double)i / rows;
        y[i] = walk += 0.1 * rng_normal(&r);
    }
    assert_string_equal(chosen_kernel(x, y, rows, 1), "matern12");
    for (size_t i = 0; i < rows; i++)
        y[i] = sin(12.0 * x[i]) + 0.01 * rng_normal(&r);
    assert_string_equal(chosen_kernel(x, y, rows, 1), "se");
    mem_free(x);
    mem_free(y);
}

/* partition-metric=learned: an input that does not matter does not split the experts. */
static void parts_follow_the_learned_metric(void **state)
{
    (void)state;
    enum { rows = 600 };
    double *X = random_normals((size_t)rows * 2, 8), *y = mem_alloc(rows, sizeof *y);
    rng r = rng_seed(4, 4);
    for (size_t i = 0; i < rows; i++)
        y[i] = sin(3.0 * X[2 * i]) + 0.1 * rng_normal(&r);
    double spread[2];
    for (int k = 0; k < 2; k++) {
        quorum_options *o = fit_options("neighbours", "se", "2");
        quorum_model *m;
        assert_ok(quorum_options_set(o, "partition-metric", k ? "input" : "learned"));
        assert_ok(quorum_options_set(o, "metric", "ard"));
        assert_ok(quorum_fit(X, y, rows, 2, NULL, o, &m));
        spread[k] = 0.0; /* of the input that matters, within experts */
        for (size_t e = 0; e < m->M; e++) {
            double mean = 0.0, count = (double)(m->offset[e + 1] - m->offset[e]);
            for (size_t i = m->offset[e]; i < m->offset[e + 1]; i++)
                mean += m->rows.X[2 * i] / count;
            for (size_t i = m->offset[e]; i < m->offset[e + 1]; i++)
                spread[k] += (m->rows.X[2 * i] - mean) * (m->rows.X[2 * i] - mean) / rows;
        }
        quorum_model_free(m);
        quorum_options_free(o);
    }
    assert_true(spread[0] < 0.5 * spread[1]);
    mem_free(X);
    mem_free(y);
}

/* A fit that trains, with every allocation failing in turn. */
static void every_allocation_may_fail_in_training(void **state)
{
    (void)state;
    enum { rows = 60 };
    double *X = random_normals((size_t)rows * D, 8), *y = smooth_targets(X, rows, D, 0.2);
    quorum_options *o = fit_options("neighbours", "auto", "1");
    assert_ok(quorum_options_set(o, "max-evaluations", "2"));
    int done = 0;
    for (long n = 1; !done; n++) {
        quorum_model *m = NULL;
        mem_fail_at(n);
        quorum_status status = quorum_fit(X, y, rows, D, NULL, o, &m);
        mem_fail_at(0);
        done = status >= 0;
        assert_true(done || (status == QUORUM_E_MEMORY && m == NULL));
        assert_true(n < 3000);
        quorum_model_free(m);
    }
    quorum_options_free(o);
    mem_free(X);
    mem_free(y);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- Which kernel is best ---- */

/* Errors are given; the variance is what differs between contenders of equal errors. */
static void make_contender(contender *c, left_out_row *rows, size_t count, const double *error,
                           double variance)
{
    *c = (contender){.at = {{.count = count, .rows = rows}}, .prior = INFINITY};
    for (size_t i = 0; i < count; i++) {
        rows[i] = (left_out_row){.error = error[i], .variance = variance, .weight = 1.0};
        c->density += left_out_density(&rows[i], INFINITY) / (double)count;
        c->error += error[i] * error[i] / (double)count;
    }
}

/* A kernel that is a little better among rows and wrong away from them does not win. */
static void a_contender_must_hold_in_gaps(void **state)
{
    (void)state;
    enum { ROWS = 8 };
    left_out_row near[2][ROWS], far[2][ROWS];
    contender c[2] = {{0}}, *list[2] = {&c[0], &c[1]};
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < ROWS; i++) {
            double sign = i % 2 ? 1.0 : -1.0, jitter = 1e-3 * (double)i;
            near[k][i] = (left_out_row){
                .error = sign * (k ? 0.11 : 0.10) + jitter, .variance = 0.01, .weight = 1.0};
            far[k][i] = (left_out_row){
                .error = sign * (k ? 0.5 : 2.0) + jitter, .variance = 0.3, .weight = 1.0};
        }
        c[k].at[0] = (left_out_set){.count = ROWS, .rows = near[k]};
        contender_score(&c[k], INFINITY);
    }
    contender_best_first(list, 2);
    assert_ptr_equal(list[0], &c[0]); /* among rows alone */
    assert_true(contender_beats(&c[0], &c[1]) && !contender_beats(&c[1], &c[0]));
    for (int k = 0; k < 2; k++) {
        c[k].at[2] = (left_out_set){.count = ROWS, .rows = far[k]};
        contender_score(&c[k], INFINITY);
    }
    assert_true(contender_beats(&c[1], &c[0]));
    contender_best_first(list, 2);
    assert_ptr_equal(list[0], &c[1]);
}

static void the_best_contender_comes_first(void **state)
{
    (void)state;
    enum { ROWS = 4 };
    const double calm[ROWS] = {0.1, -0.1, 0.1, -0.1}, wild[ROWS] = {0.9, -0.7, 0.8, -1.1};
    const double mixed[ROWS] = {0.1, -0.5, 0.0, 0.02};
    left_out_row rows[4][ROWS];
    contender c[4], *list[4] = {&c[0], &c[1], &c[2], &c[3]};
    make_contender(&c[0], rows[0], ROWS, wild, 0.02);  /* wrong and sure of it         */
    make_contender(&c[1], rows[1], ROWS, wild, 0.8);   /* wrong, and knows it          */
    make_contender(&c[2], rows[2], ROWS, mixed, 0.02); /* as dense as the next by luck */
    make_contender(&c[3], rows[3], ROWS, calm, 0.02);
    assert_true(c[3].density > c[1].density && c[1].density > c[0].density);

    contender_best_first(list, 4);
    assert_ptr_equal(list[0], &c[3]);
    assert_ptr_equal(list[1], &c[0]); /* the others in order */
    assert_ptr_equal(list[2], &c[1]);
    assert_ptr_equal(list[3], &c[2]);

    contender_best_first(list + 1, 2);
    assert_ptr_equal(list[1], &c[1]); /* density decides between equal errors */
    assert_ptr_equal(list[2], &c[0]);
}

/* Within two standard errors of the difference the smaller error wins, beyond them the
 * higher density; where the errors differ by chance, the likelihood. */
static void chance_leaves_the_choice_to_error_and_likelihood(void **state)
{
    (void)state;
    enum { ROWS = 6 };
    const double a[ROWS] = {0.10, -0.12, 0.30, -0.28, 0.1, 0.2};
    const double b[ROWS] = {0.30, -0.32, 0.12, -0.10, 0.1, 0.1};
    left_out_row rows[3][ROWS];
    contender c[3], *list[2] = {&c[0], &c[1]};
    make_contender(&c[0], rows[0], ROWS, a, 0.040);
    make_contender(&c[1], rows[1], ROWS, b, 0.200);
    assert_true(c[0].density > c[1].density && c[1].error < c[0].error);
    contender_best_first(list, 2);
    assert_ptr_equal(list[0], &c[1]);

    c[0].nlml = -3.0;
    c[1].nlml = -2.0;
    contender_best_first(list, 2);
    assert_ptr_equal(list[0], &c[0]);
    const double far[ROWS] = {0.45, -0.46, 0.47, -0.45, 0.44, 0.46};
    make_contender(&c[0], rows[0], ROWS, far, 0.2); /* as dense, larger errors on every row */
    make_contender(&c[1], rows[1], ROWS, b, 1.5);
    assert_true(fabs(c[0].density - c[1].density) < 0.01);
    c[0].nlml = -3.0;
    contender_best_first(list, 2);
    assert_ptr_equal(list[0], &c[1]);
    make_contender(&c[0], rows[0], ROWS, a, 0.040);

    make_contender(&c[2], rows[2], ROWS, b, 9.0); /* far less dense on every row */
    list[0] = &c[2];
    list[1] = &c[0];
    contender_best_first(list, 2);
    assert_ptr_equal(list[0], &c[0]);
}

/* Who predicted fewer rows predicted the last of them, and is compared by these. */
static void a_glance_rules_out_what_is_far_behind(void **state)
{
    (void)state;
    enum { ROWS = 8, FEW = 4 };
    const double calm[ROWS] = {3.0, -3.1, 2.9, 3.0, 0.10, -0.11, 0.09, 0.10};
    const double near[ROWS] = {0.1, -0.1, 0.1, 0.1, 0.11, -0.10, 0.10, 0.08};
    const double wild[FEW] = {1.0, -1.1, 0.9, 1.0};
    left_out_row rows[3][ROWS];
    contender c[3], *list[3] = {&c[1], &c[0], &c[2]};
    make_contender(&c[0], rows[0], ROWS, calm,
                   0.01); /* the first rows are not asked of the others */
    make_contender(&c[1], rows[1], FEW, wild, 0.01);
    make_contender(&c[2], rows[2], FEW, near + FEW, 0.01);
    double lead = 0.0;
    for (size_t i = 0; i < FEW; i++)
        lead += (left_out_density(&rows[0][FEW + i], INFINITY) -
                 left_out_density(&rows[1][i], INFINITY)) /
                FEW;
    assert_true(c[0].density < c[2].density - 1.0);
    assert_float_equal(contender_lead(&c[0], &c[1]), lead, 1e-12);
    assert_float_equal(contender_lead(&c[1], &c[0]), -lead, 1e-12);
    assert_true(contender_is_behind(&c[1], &c[0]) && !contender_is_behind(&c[0], &c[1]));
    assert_true(!contender_is_behind(&c[0], &c[2]) && !contender_is_behind(&c[2], &c[0]));
    assert_int_equal(contender_rule_out(list, 3), 2);
    assert_ptr_equal(list[0], &c[0]);
    assert_ptr_equal(list[1], &c[2]);
    assert_ptr_equal(list[2], &c[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(conditional_is_a_difference),
        TEST(own_scale_makes_a_student_t),
        TEST(gradient_agrees_with_differences),
        TEST(variances_can_be_searched_alone),
        TEST(all_earlier_rows_make_it_exact),
        TEST(rows_given_are_earlier_and_nearest),
        TEST(targets_are_the_last_blocks),
        TEST(nearest_rows_can_be_passed_over),
        TEST(rows_can_be_left_out_one_by_one),
        TEST(a_contender_must_hold_in_gaps),
        TEST(the_best_contender_comes_first),
        TEST(a_glance_rules_out_what_is_far_behind),
        TEST(chance_leaves_the_choice_to_error_and_likelihood),
        TEST(parts_and_theta_do_not_depend_on_threads),
        TEST(identical_rows_are_fine),
        TEST(every_allocation_may_fail),
        TEST(every_way_to_train_is_reproducible),
        TEST(auto_kernel_knows_rough_from_smooth),
        TEST(parts_follow_the_learned_metric),
        TEST(every_allocation_may_fail_in_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
