#include "gp/covariance.h"
#include "gp/expert.h"
#include "gp/neighbourhood.h"
#include "support.h"

static points scaled(const double *X, size_t n, size_t D, const double *lengthscale)
{
    points p;
    assert_ok(points_new(n, D, &p));
    points_scale(&p, n, X, NULL, lengthscale);
    return p;
}

/* g of a kernel with one scale. */
static long double component(const char *name, long double s)
{
    long double r = sqrtl(s);
    if (strcmp(name, "se") == 0)
        return expl(-s / 2);
    if (strcmp(name, "matern12") == 0)
        return expl(-r);
    if (strcmp(name, "matern32") == 0)
        return (1 + sqrtl(3) * r) * expl(-sqrtl(3) * r);
    assert_string_equal(name, "matern52");
    return (1 + sqrtl(5) * r + 5 * s / 3) * expl(-sqrtl(5) * r);
}

static const double SHARE = 0.3, REACH = 4.0;

/* k of variance 1 at a squared distance. */
static double kernel_at_distance(const char *name, long double s)
{
    long double w = SHARE, rho = REACH, t = s / (rho * rho);
    if (strcmp(name, "matern32x2") == 0)
        return (double)((1 - w) * component("matern32", s) + w * component("matern32", t));
    if (strcmp(name, "matern52x2") == 0)
        return (double)((1 - w) * component("matern52", s) + w * component("matern52", t));
    if (strcmp(name, "matern32x3") == 0)
        return (double)((1 - w) * component("matern32", s) +
                        w * ((1 - w) * component("matern32", t) +
                             w * component("matern32", t / (rho * rho))));
    return (double)component(name, s);
}

/* From the definition, one pair at a time. */
static double kernel_by_definition(const char *name, const double *x, const double *y, size_t D,
                                   const double *l)
{
    long double s = 0.0L;
    for (size_t d = 0; d < D; d++)
        s += ((long double)x[d] - y[d]) * ((long double)x[d] - y[d]) / ((long double)l[d] * l[d]);
    return kernel_at_distance(name, s);
}

static void check_covariances(const kernel *k, size_t n, size_t D, const double *X, const double *l)
{
    points p = scaled(X, n, D, l);
    hyper theta = {.kernel = k, .D = D, .signal = 2.5, .share = SHARE, .reach = REACH};
    double *cross = mem_alloc(n * n, 8), *self = mem_alloc(n * n, 8);
    covariance_cross(&theta, &p, &p, cross, n);
    assert_ok(covariance_self(&theta, &p, self, NULL, 2));
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            double expected = 2.5 * kernel_by_definition(k->name, X + i * D, X + j * D, D, l);
            assert_close(cross[j * n + i], expected, 1e-11);
            if (i >= j)
                assert_close(self[j * n + i], expected, 1e-11);
        }
    mem_free(cross);
    mem_free(self);
    points_free(&p);
}

/* D on both sides of the change from differences to products; 150 points make a
 * second panel; duplicates and near duplicates far from the origin, where products
 * cancel. */
static void covariances_follow_the_definition(void **state)
{
    (void)state;
    static const size_t dims[] = {1, 3, 16, 17, 40};
    enum { n = 150 };
    for (size_t c = 0; c < 5; c++) {
        size_t D = dims[c];
        double *X = random_normals(n * D, c), l[40];
        for (size_t d = 0; d < D; d++)
            l[d] = 0.5 + 0.3 * (double)d;
        memcpy(X + D, X, D * 8);
        for (size_t d = 0; d < D; d++) {
            X[2 * D + d] = 1000.0 + 0.5 * (double)d;
            X[3 * D + d] = X[2 * D + d] + 1e-6;
            X[4 * D + d] = 0.0;
        }
        for (int k = 0; k < kernel_count(); k++)
            check_covariances(kernel_at(k), n, D, X, l);
        mem_free(X);
    }
}

/* A column must not depend on the other points of its block. */
static void columns_do_not_depend_on_their_neighbours(void **state)
{
    (void)state;
    enum { m = 77, b = 96 };
    static const size_t dims[] = {2, 40};
    for (int c = 0; c < 2; c++) {
        size_t D = dims[c];
        double *X = random_normals(m * D, 1), *Q = random_normals(b * D, 2), l[40];
        for (size_t d = 0; d < D; d++)
            l[d] = 2.0;
        points p = scaled(X, m, D, l), q = scaled(Q, b, D, l);
        double *whole = mem_alloc(m * b, 8), *part = mem_alloc(m * b, 8);
        hyper theta = {.kernel = &kernel_se, .D = D, .signal = 1.0};
        covariance_cross(&theta, &p, &q, whole, m);
        for (size_t first = 0; first < b; first += 16) {
            points view = points_view(&q, first, 16);
            covariance_cross(&theta, &p, &view, part, m);
            assert_memory_equal(part, whole + first * m, 16 * m * 8);
        }
        mem_free(X);
        mem_free(Q);
        mem_free(whole);
        mem_free(part);
        points_free(&p);
        points_free(&q);
    }
}

static double value_at(const hyper *theta, const row_set *data, likelihood_space *ws)
{
    double value;
    assert_ok(negative_log_likelihood(theta, data, ws, 1, &value, NULL));
    return value;
}

/* Central differences in log theta, Richardson-extrapolated. */
static void check_gradient(const kernel *k, size_t D)
{
    enum { m = 60 };
    double *X = random_normals(m * D, 3), *y = smooth_targets(X, m, D, 0.1), gradient[64], value;
    hyper theta = {
        .kernel = k, .D = D, .signal = 1.7, .noise = 0.2, .share = SHARE, .reach = REACH};
    size_t P = theta_length(k, D);
    double x[64];
    theta.lengthscale = mem_alloc(D, 8);
    memcpy(X + 5 * D, X + 6 * D, D * 8); /* a duplicate: slope 1/r of Matern-1/2 */
    for (size_t d = 0; d < D; d++)
        theta.lengthscale[d] = 1.0 + 0.2 * (double)d;
    row_set data = {.n = m, .D = D, .X = X, .y = y};
    likelihood_space ws;
    assert_ok(likelihood_space_new(m, D, k, &ws));
    assert_ok(negative_log_likelihood(&theta, &data, &ws, 1, &value, gradient));
    assert_close(value_at(&theta, &data, &ws), value, 1e-13);
    for (size_t i = 0; i < P; i++)
        x[i] = theta_log(&theta, i);
    for (size_t i = 0; i < P; i++) {
        double old = x[i], slope[2];
        for (int h = 0; h < 2; h++) {
            double step = h == 0 ? 1e-3 : 5e-4;
            x[i] = old + step;
            theta_from_logs(x, &theta);
            double up = value_at(&theta, &data, &ws);
            x[i] = old - step;
            theta_from_logs(x, &theta);
            slope[h] = (up - value_at(&theta, &data, &ws)) / (2.0 * step);
        }
        x[i] = old;
        assert_close(gradient[i], (4.0 * slope[1] - slope[0]) / 3.0, 1e-8);
    }
    likelihood_space_free(&ws);
    mem_free(theta.lengthscale);
    mem_free(X);
    mem_free(y);
}

static void gradients_equal_finite_differences(void **state)
{
    (void)state;
    for (int k = 0; k < kernel_count(); k++) {
        check_gradient(kernel_at(k), 1);
        check_gradient(kernel_at(k), 3);
        check_gradient(kernel_at(k), 12);
    }
}

static void likelihood_does_not_depend_on_threads(void **state)
{
    (void)state;
    enum { m = 1100, D = 2 };
    double *X = random_normals(m * D, 3), *y = smooth_targets(X, m, D, 0.1);
    double l[D] = {1.0, 2.0}, one[D + 2], many[D + 2], value_one, value_many;
    hyper theta = {.kernel = &kernel_matern32, .D = D, .lengthscale = l, .signal = 1, .noise = 0.1};
    row_set data = {.n = m, .D = D, .X = X, .y = y};
    likelihood_space ws;
    assert_ok(likelihood_space_new(m, D, theta.kernel, &ws));
    assert_ok(negative_log_likelihood(&theta, &data, &ws, 1, &value_one, one));
    assert_ok(negative_log_likelihood(&theta, &data, &ws, 3, &value_many, many));
    assert_true(value_one == value_many);
    assert_memory_equal(one, many, sizeof one);
    likelihood_space_free(&ws);
    mem_free(X);
    mem_free(y);
}

/* With hardly any noise the posterior mean goes through the data, and far away
 * nothing is explained. */
static void posterior_interpolates_and_forgets(void **state)
{
    (void)state;
    enum { m = 30, D = 2 };
    double *X = random_normals(m * D, 8), *y = smooth_targets(X, m, D, 0.0), l[D] = {1.0, 1.0};
    hyper theta = {
        .kernel = &kernel_matern52, .D = D, .lengthscale = l, .signal = 2, .noise = 1e-8};
    double L[m * m], alpha[m], mean[m], explained[m], room[m * m], gamma[m * m];
    points p = scaled(X, m, D, l);
    row_set rows = rows_view_of(m, D, X, y);
    assert_ok(factorise(&theta, &p, &rows, 1, L, alpha));
    expert_output out = {.mean = mean, .explained = explained, .gamma = gamma};
    posterior(&theta, &p, L, alpha, &p, room, &out);
    for (size_t i = 0; i < m; i++) {
        assert_close(mean[i], y[i], 1e-5);
        assert_close(explained[i], 2.0, 1e-6);
        assert_close(gamma[i * m + i], 1.0, 1e-4); /* C^-1 k* picks the row itself */
    }
    for (size_t i = 0; i < m * D; i++)
        X[i] += 1e4;
    points far = scaled(X, m, D, l);
    posterior(&theta, &p, L, alpha, &far, room, &out);
    for (size_t i = 0; i < m; i++)
        assert_true(mean[i] == 0.0 && explained[i] == 0.0);
    points_free(&p);
    points_free(&far);
    mem_free(X);
    mem_free(y);
}

static void hopeless_covariances_are_reported(void **state)
{
    (void)state;
    enum { m = 5, D = 1 };
    double X[m] = {1, 1, 1, 1, 1}, y[m] = {1, 2, 3, 4, 5}, l[1] = {1.0}, value, L[m * m], alpha[m];
    hyper theta = {.kernel = &kernel_se, .D = D, .lengthscale = l, .signal = 1, .noise = 0.0};
    row_set data = {.n = m, .D = D, .X = X, .y = y};
    likelihood_space ws;
    assert_ok(likelihood_space_new(m, D, theta.kernel, &ws));
    assert_int_equal(negative_log_likelihood(&theta, &data, &ws, 1, &value, NULL),
                     QUORUM_E_NUMERIC);
    assert_says("not positive definite");
    points p = scaled(X, m, D, l);
    assert_int_equal(factorise(&theta, &p, &data, 1, L, alpha), QUORUM_E_NUMERIC);
    assert_says("raise the noise");
    points_free(&p);
    likelihood_space_free(&ws);
}

/* Row i predicted from all the others by their own posterior: z_i^2, and the variance v_i. */
static double left_out_square(const hyper *theta, const double *X, const double *y, size_t m,
                              size_t i, double *variance)
{
    enum { MOST = 160 };
    double others[MOST], target[MOST], L[MOST * MOST], alpha[MOST], room[MOST], mean, explained;
    size_t count = 0;
    for (size_t k = 0; k < m; k++)
        if (k != i) {
            others[count] = X[k];
            target[count++] = y[k];
        }
    points p = scaled(others, count, 1, theta->lengthscale);
    points q = scaled(X + i, 1, 1, theta->lengthscale);
    expert_output out = {.mean = &mean, .explained = &explained};
    row_set rows = rows_view_of(count, 1, others, target);
    assert_ok(factorise(theta, &p, &rows, 1, L, alpha));
    posterior(theta, &p, L, alpha, &q, room, &out);
    points_free(&p);
    points_free(&q);
    *variance = theta->signal - explained + theta->noise;
    return (y[i] - mean) * (y[i] - mean) / *variance;
}

/* The nearest rows are the last ones; fewer rows than are asked, and more. */
static void neighbourhoods_know_their_spread(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 7, 32, 60, 150};
    for (size_t c = 0; c < 5; c++) {
        size_t m = sizes[c], first = m < WIDE_ROWS ? 0 : m - WIDE_ROWS;
        double *X = random_normals(m, c), *y = random_normals(m, c + 10), l[1] = {0.7},
               at[1] = {0.2};
        hyper theta = {
            .kernel = &kernel_matern32, .D = 1, .lengthscale = l, .signal = 1.4, .noise = 0.1};
        points p = scaled(X, m, 1, l), query = scaled(at, 1, 1, l);
        row_set rows = rows_view_of(m, 1, X, y);
        neighbourhood_space ws;
        neighbourhood got;
        double *gamma = mem_alloc(m, 8), mean = 0.0;
        surroundings want = {0};
        assert_ok(neighbourhood_space_new(m, 0, &ws));
        assert_ok(neighbourhood_posterior(&theta, &p, &rows, &query, &ws, gamma, &got));
        for (size_t i = 0; i < m; i++)
            mean += gamma[i] * y[i];
        for (size_t i = first; i < m; i++) {
            double rho = kernel_by_definition("matern32", X + i, at, 1, l);
            double v, z2 = left_out_square(&theta, X, y, m, i, &v);
            want.wide.weight += rho * rho;
            want.wide.surprise += rho * rho * z2;
            want.close.weight += i + CLOSE_ROWS >= m ? rho * rho : 0.0;
            want.close.surprise += i + CLOSE_ROWS >= m ? rho * rho * z2 : 0.0;
            want.weight += i + SPREAD_ROWS >= m ? rho * rho : 0.0;
            want.surprise += i + SPREAD_ROWS >= m ? rho * rho * z2 : 0.0;
            want.tested += i + SPREAD_ROWS >= m ? rho * rho * v : 0.0;
        }
        assert_close(got.around.wide.weight, want.wide.weight, 1e-10);
        assert_close(got.around.wide.surprise, want.wide.surprise, 1e-9);
        assert_close(got.around.close.weight, want.close.weight, 1e-10);
        assert_close(got.around.close.surprise, want.close.surprise, 1e-9);
        assert_close(got.mean, mean, 1e-10);
        assert_close(got.around.weight, want.weight, 1e-10);
        assert_close(got.around.surprise, want.surprise, 1e-9);
        assert_close(got.around.tested, want.tested, 1e-9);
        at[0] = 1e4; /* nobody near: theta's own word counts */
        points_scale(&query, 1, at, NULL, l);
        assert_ok(neighbourhood_posterior(&theta, &p, &rows, &query, &ws, NULL, &got));
        assert_true(spread_factor((spread_rule){.prior = 1.0, .untested = 1.0}, got.around,
                                  theta.signal + theta.noise) == 1.0);
        neighbourhood_space_free(&ws);
        points_free(&p);
        points_free(&query);
        mem_free(gamma);
        mem_free(X);
        mem_free(y);
    }
}

/* More rows are what fewer ones are weighed against. */
static void nested_rows_are_weighed_in_turn(void **state)
{
    (void)state;
    spread_rule rule = {.prior = 2.0, .untested = 1.0, .nested = 1};
    surroundings at = {
        .weight = 3.0, .surprise = 13.0, .tested = 9.0, .wide = {7.0, 31.0}, .close = {1.0, 0.5}};
    double s1 = (1.0 + 31.0) / 8.0, s2 = (2.0 * s1 + 13.0) / 5.0;
    assert_close(spread_factor(rule, at, 1.0), (2.0 * s2 + 0.5) / 3.0, 1e-15);
}

/* What the rows show holds for variances like theirs, and less and less for larger ones. */
static void spread_fades_where_nobody_has_tested(void **state)
{
    (void)state;
    surroundings wild = {.weight = 3.0, .surprise = 13.0, .tested = 1.5};
    surroundings calm = {.weight = 31.0, .surprise = 0.0, .tested = 31e-4};
    assert_true(spread_factor((spread_rule){.prior = INFINITY, .untested = 1.0}, wild, 0.5) == 1.0);
    assert_close(spread_factor((spread_rule){.prior = 2.0, .untested = 1.0}, wild, 0.5), 3.0,
                 1e-15);
    assert_close(spread_factor((spread_rule){.prior = 2.0, .untested = 1.0}, wild, 1.0), 3.0,
                 1e-15);
    assert_close(spread_factor((spread_rule){.prior = 2.0, .untested = 1.0}, wild, 2.0),
                 pow(3.0, 0.25), 1e-15);
    assert_close(spread_factor((spread_rule){.prior = 1.0, .untested = 1.0}, calm, 2e-4),
                 1.0 / 32.0, 1e-15);
    assert_close(spread_factor((spread_rule){.prior = 1.0, .untested = 1.0}, calm, 2e-3),
                 pow(1.0 / 32.0, 0.01), 1e-14);
    assert_close(spread_factor((spread_rule){.prior = 1.0, .untested = 1.0}, calm, 1.0), 1.0, 1e-6);
    assert_true(
        spread_factor((spread_rule){.prior = 1.0, .untested = 1.0}, (surroundings){0}, 1.0) == 1.0);
    /* and what nobody has tested has a factor of its own, also where rows say nothing */
    assert_close(spread_factor((spread_rule){.prior = 2.0, .untested = 5.0}, wild, 1.0), 3.0,
                 1e-15);
    assert_close(spread_factor((spread_rule){.prior = 2.0, .untested = 5.0}, wild, 2.0),
                 pow(3.0, 0.25) * pow(5.0, 0.75), 1e-14);
    assert_close(spread_factor((spread_rule){.prior = INFINITY, .untested = 5.0}, wild, 2.0),
                 pow(5.0, 0.75), 1e-14);
    assert_close(spread_factor((spread_rule){.prior = 1.0, .untested = 5.0}, calm, 100.0), 5.0,
                 1e-6);
    assert_close(
        spread_factor((spread_rule){.prior = 1.0, .untested = 5.0}, (surroundings){0}, 1.0), 5.0,
        1e-15);
}

/* A query with rows on both sides lies in a gap, where what was learned beyond all rows does not hold. */
static void gaps_are_not_beyond_the_rows(void **state)
{
    (void)state;
    surroundings wild = {.weight = 3.0, .surprise = 13.0, .tested = 1.5};
    spread_rule rule = {.prior = 2.0, .untested = 5.0, .surrounded = 1.25};
    double outside = spread_factor(rule, wild, 2.0), tested = spread_factor(rule, wild, 1.0);
    wild.is_surrounded = 1;
    assert_close(outside, pow(3.0, 0.25) * pow(5.0, 0.75), 1e-14);
    assert_close(spread_factor(rule, wild, 2.0), pow(3.0, 0.25) * pow(1.25 * sqrt(3.0), 0.75),
                 1e-14);
    assert_true(spread_factor(rule, wild, 1.0) == tested && spread_is_tested(wild, 1.0));
    assert_false(spread_is_tested(wild, 2.0));
    wild.log_level = log(0.5); /* with a noise of its own, half of which theta expects: s is 2.8 */
    assert_close(spread_factor(rule, wild, 2.0), pow(2.8, 0.25) * pow(1.25 * sqrt(2.0 * 2.8), 0.75),
                 1e-14);
    wild.log_level = 0.0;
    rule.surrounded = 0.0; /* nobody said what holds there */
    assert_true(spread_factor(rule, wild, 2.0) == outside);
}

/* Within 60 degrees of the opposite direction, and no farther. */
static void rows_may_lie_opposite(void **state)
{
    (void)state;
    const double x[] = {1.0, 2.0}, near[] = {1.5, 2.0};
    const double behind[] = {-9.0, 2.0}, slanting[] = {0.0, 3.7}, beside[] = {0.0, 3.8};
    const double with[] = {3.0, 2.0, 0.5, 9.0, -9.0, 2.1};
    assert_true(has_opposite(2, x, near, behind, 1));
    assert_true(has_opposite(2, x, near, slanting, 1)); /* tan 60 = 1.732 */
    assert_false(has_opposite(2, x, near, beside, 1));
    assert_false(has_opposite(2, x, near, with, 2));
    assert_true(has_opposite(2, x, near, with, 3));
    assert_false(has_opposite(2, x, x, with, 3)); /* there is a row at the query: no direction */
    assert_false(has_opposite(2, x, near, x, 1));
}

/* The slope against differences, along a line in all that the factor depends on. */
static void spread_slopes_equal_differences(void **state)
{
    (void)state;
    static const spread_rule rules[] = {{2.0, 1.0, 0.0, 0, 0},
                                        {2.0, 5.0, 1.0, 0, 0},
                                        {2.0, 5.0, 1.0, 0, 1},
                                        {INFINITY, 5.0, 0.0, 0, 0},
                                        {INFINITY, 1.0, 0.0, 0, 1}};
    enum { RULES = sizeof rules / sizeof *rules };
    surroundings at = {
        .weight = 3.0, .surprise = 13.0, .tested = 1.5, .wide = {9.0, 11.0}, .close = {1.2, 4.0}};
    surroundings to = {
        .weight = 0.7, .surprise = -1.1, .tested = 0.4, .wide = {1.3, 0.6}, .close = {-0.3, 0.9}};
    for (int k = 0; k < 6 * RULES; k++) {
        spread_rule rule = rules[k / 2 % RULES];
        if (k == 2 * RULES) { /* a noise of the neighbourhood's own ... */
            at.log_level = -0.7;
            at.excess = 0.4;
        }
        if (k == 4 * RULES) /* ... of rows that are far */
            at.weight = 0.9;
        at.is_surrounded = k % 3 == 0;
        double h = 1e-5, v = k % 2 ? 2.7 : 0.6, dv = 0.8, value[2];
        for (int side = 0; side < 2; side++) {
            double x = side ? h : -h;
            surroundings there = at;
            there.weight += x * to.weight;
            there.surprise += x * to.surprise;
            there.tested += x * to.tested;
            there.wide.weight += x * to.wide.weight;
            there.wide.surprise += x * to.wide.surprise;
            there.close.weight += x * to.close.weight;
            there.close.surprise += x * to.close.surprise;
            value[side] = spread_factor(rule, there, v + x * dv);
        }
        double slope = spread_factor_slope(rule, at, v, to, dv);
        assert_true(fabs(slope - (value[1] - value[0]) / (2.0 * h)) < 1e-8);
    }
    surroundings none = {0};
    assert_true(spread_factor_slope(rules[1], none, 1.0, none, 0.0) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covariances_follow_the_definition),
        cmocka_unit_test(columns_do_not_depend_on_their_neighbours),
        cmocka_unit_test(gradients_equal_finite_differences),
        cmocka_unit_test(likelihood_does_not_depend_on_threads),
        cmocka_unit_test(posterior_interpolates_and_forgets),
        cmocka_unit_test(hopeless_covariances_are_reported),
        cmocka_unit_test(neighbourhoods_know_their_spread),
        cmocka_unit_test(nested_rows_are_weighed_in_turn),
        cmocka_unit_test(spread_fades_where_nobody_has_tested),
        cmocka_unit_test(gaps_are_not_beyond_the_rows),
        cmocka_unit_test(rows_may_lie_opposite),
        cmocka_unit_test(spread_slopes_equal_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
