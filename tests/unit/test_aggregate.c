#include "predict/joint.h"
#include "predict/local.h"
#include "predict/nearest_seat.h"
#include "aggregate/npae.h"
#include "aggregate/rule.h"
#include "aggregate/select.h"
#include "support.h"

/* Two experts, two queries, worked out by hand. */
static const double MEAN[] = {1.0, 0.0, 3.0, 0.0}, VAR[] = {0.5, 1.0, 0.25, 1.0};
static const opinions TWO = {.p = 2, .b = 2, .mean = MEAN, .var = VAR, .prior = 1.0};

static consensus ask(const rule *r, const opinions *o, double *mean, double *var)
{
    consensus out = {.mean = mean, .var = var, .real = o->b};
    r->combine(o, &out);
    return out;
}

static void rules_follow_their_formulas(void **state)
{
    (void)state;
    double mean[2], var[2], b1 = -0.5 * log(0.5), b2 = -0.5 * log(0.25);
    ask(&rule_poe, &TWO, mean, var); /* P = 2 + 4, sum = 2 + 12 */
    assert_close(mean[0], 14.0 / 6.0, 1e-15);
    assert_close(var[0], 1.0 / 6.0, 1e-15);
    ask(&rule_gpoe, &TWO, mean, var);
    assert_close(mean[0], 14.0 / 6.0, 1e-15);
    assert_close(var[0], 2.0 / 6.0, 1e-15);
    ask(&rule_bcm, &TWO, mean, var); /* P = 6 - 1 */
    assert_close(mean[0], 14.0 / 5.0, 1e-15);
    assert_close(var[0], 1.0 / 5.0, 1e-15);
    ask(&rule_rbcm, &TWO, mean, var);
    double P = b1 * 2.0 + b2 * 4.0 + 1.0 - b1 - b2;
    assert_close(mean[0], (b1 * 2.0 + b2 * 12.0) / P, 1e-14);
    assert_close(var[0], 1.0 / P, 1e-14);
    ask(&rule_gpoe_entropy, &TWO, mean, var);
    assert_close(mean[0], (b1 * 2.0 + b2 * 12.0) / (b1 * 2.0 + b2 * 4.0), 1e-14);
    ask(&rule_single, &TWO, mean, var);
    assert_true(mean[0] == 3.0 && var[0] == 0.25);
}

/* Where no expert knows anything the prior comes back. */
static void the_prior_comes_back(void **state)
{
    (void)state;
    double mean[2], var[2];
    const rule *rules[] = {&rule_bcm, &rule_rbcm};
    for (int k = 0; k < 2; k++) {
        ask(rules[k], &TWO, mean, var);
        assert_close(mean[1], 0.0, 1e-15);
        assert_close(var[1], 1.0, 1e-15);
    }
    consensus out = ask(&rule_gpoe_entropy, &TWO, mean, var); /* all weights are 0 */
    assert_int_equal(out.fallbacks, 1);
    assert_true(mean[1] == 0.0 && var[1] == 1.0);
}

static void a_negative_precision_falls_back(void **state)
{
    (void)state;
    double m[] = {1.0, 1.0, 1.0}, v[] = {1.6, 1.6, 1.6}, mean[1], var[1];
    opinions o = {.p = 3, .b = 1, .mean = m, .var = v, .prior = 1.0};
    consensus out = ask(&rule_bcm, &o, mean, var); /* 3/1.6 - 2 < 0 */
    assert_int_equal(out.fallbacks, 1);
    assert_true(mean[0] == 0.0 && var[0] == 1.0);
}

static void grbcm_corrects_the_base(void **state)
{
    (void)state;
    double m[] = {1.0, 2.0, 3.0}, v[] = {0.5, 0.25, 0.125}, mean[1], var[1];
    opinions o = {.p = 3, .b = 1, .mean = m, .var = v, .prior = 1.0};
    ask(&rule_grbcm, &o, mean, var);
    double beta = 0.5 * log(4.0), P = 4.0 + beta * 8.0 - beta / 0.5;
    assert_close(var[0], 1.0 / P, 1e-15);
    assert_close(mean[0], (8.0 + beta * 24.0 - beta * 2.0) / P, 1e-15);
    o.p = 1; /* the base alone */
    ask(&rule_grbcm, &o, mean, var);
    assert_true(mean[0] == 1.0 && var[0] == 0.5);
}

static void rules_are_found_by_name(void **state)
{
    (void)state;
    for (int i = 0; i < rule_count(); i++)
        assert_ptr_equal(rule_by_name(rule_at(i)->name, strlen(rule_at(i)->name)), rule_at(i));
    assert_null(rule_by_name("gpo", 3));
    assert_null(rule_at(-1));
    assert_null(rule_at(rule_count()));
}

/* ---- Selection ---- */

static void selections_are_parsed(void **state)
{
    (void)state;
    selection s;
    assert_ok(selection_parse("all", &s));
    assert_int_equal(s.kind, SELECT_ALL);
    assert_ok(selection_parse("graph:0.8", &s));
    assert_true(s.kind == SELECT_MOST && s.share == 0.8);
    assert_ok(selection_parse("best:1", &s));
    assert_ok(selection_parse("worst:0.25", &s));
    assert_int_equal(s.kind, SELECT_LEAST);
    assert_ok(selection_parse("expert:3", &s));
    assert_true(s.kind == SELECT_ONE && s.expert == 2);
    assert_ok(selection_parse("none", &s));
    assert_int_equal(s.kind, SELECT_NONE);
    assert_ok(selection_parse("local:4", &s));
    assert_true(s.kind == SELECT_ALL && s.local == 4 && !s.local_auto);
    assert_ok(selection_parse("graph:0.8+local:auto", &s));
    assert_true(s.kind == SELECT_MOST && s.share == 0.8 && s.local_auto);
    assert_ok(selection_parse("knn:4", &s));
    assert_true(s.kind == SELECT_ALL && s.local == 4 && s.by_centre && !s.local_auto);
    assert_ok(selection_parse("worst:0.5+knn:2", &s));
    assert_true(s.kind == SELECT_LEAST && s.local == 2 && s.by_centre);
    static const char *const bad[] = {"",
                                      "knn",
                                      "knn:",
                                      "knn:0",
                                      "knn:auto",
                                      "knn:2x",
                                      "graph:0.8knn:4",
                                      "knn:4+graph:0.8",
                                      "knn:4+local:2",
                                      "local:2+knn:4",
                                      "al",
                                      "graph",
                                      "graph:",
                                      "graph:0",
                                      "graph:1.1",
                                      "graph:x",
                                      "graph:-1",
                                      "graph:1x",
                                      "expert:0",
                                      "expert:-1",
                                      "expert:x",
                                      "worst:nan",
                                      "local:0",
                                      "local:x",
                                      "local:-1",
                                      "graph:0.8+",
                                      "graph:0.8local:4",
                                      "graph:2+local:4",
                                      "local:4+graph:0.8"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(selection_parse(bad[i], &s), QUORUM_E_ARGUMENT);
}

static void shares_are_rounded_up(void **state)
{
    (void)state;
    size_t ranking[15], experts[15], count;
    for (size_t i = 0; i < 15; i++)
        ranking[i] = 14 - i;
    selection s;
    assert_ok(selection_parse("graph:0.8", &s));
    assert_ok(selection_members(&s, 15, ranking, experts, &count));
    assert_int_equal(count, 12); /* although 0.8 x 15 is a little over 12 */
    for (size_t i = 0; i < count; i++)
        assert_int_equal(experts[i], i + 3); /* ascending */
    assert_ok(selection_parse("worst:0.2", &s));
    assert_ok(selection_members(&s, 15, ranking, experts, &count));
    assert_int_equal(count, 3);
    assert_int_equal(experts[2], 2);
    assert_ok(selection_parse("graph:0.81", &s));
    assert_ok(selection_members(&s, 15, ranking, experts, &count));
    assert_int_equal(count, 13);
    assert_ok(selection_parse("graph:0.0001", &s));
    assert_ok(selection_members(&s, 15, ranking, experts, &count));
    assert_int_equal(count, 1);
    assert_ok(selection_parse("expert:16", &s));
    assert_int_equal(selection_members(&s, 15, ranking, experts, &count), QUORUM_E_ARGUMENT);
    assert_says("15 experts");
}

/* ---- NPAE ---- */

enum { N = 90, D = 2, B = 32 };

typedef struct {
    double *X, *y, lengthscale[D];
    parts p;
    hyper theta;
    committee c;
    points Q;
    assembly a;
    double *pairs;
} ensemble;

/* Experts over consecutive rows of (X, y); `row` numbers when they share rows. */
static void make_committee(ensemble *t, double *X, double *y, size_t *offset, size_t M, size_t *row)
{
    memset(t, 0, sizeof *t);
    t->X = X;
    t->y = y;
    t->lengthscale[0] = t->lengthscale[1] = 1.0;
    t->p = (parts){.rows = rows_view_of(offset[M], D, X, y), .M = M, .offset = offset, .row = row};
    t->theta = (hyper){
        .kernel = &kernel_se, .D = D, .lengthscale = t->lengthscale, .signal = 1.5, .noise = 0.1};
    assert_ok(committee_new(&t->p, &t->theta, 1e9, 2, NULL, &t->c));
    double *queries = random_normals((size_t)B * D, 77);
    assert_ok(points_new(B, D, &t->Q));
    points_scale(&t->Q, B, queries, NULL, t->lengthscale);
    mem_free(queries);
}

/* All experts at every table, and `extra` empty seats. */
static void make_ensemble(ensemble *t, double *X, double *y, size_t *offset, size_t M, size_t *row,
                          size_t extra)
{
    size_t all[8] = {0, 1, 2, 3, 4, 5, 6, 7}, seats = M + extra;
    make_committee(t, X, y, offset, M, row);
    assert_ok(assembly_new(&t->c, &t->Q, seats, &t->a));
    assembly_seat_all(&t->a, all, M);
    assert_ok(assembly_ask(QUORUM_OK, &t->a, 1, 1, 1e9, 2));
    t->pairs = mem_alloc_zero(seats * (seats - 1) / 2 * B, 8);
    assert_ok(npae_pairs(&t->a, 2, t->pairs));
}

static void free_ensemble(ensemble *t)
{
    assembly_free(&t->a);
    committee_free(&t->c);
    points_free(&t->Q);
    mem_free(t->pairs);
    mem_free(t->X);
    mem_free(t->y);
}

static void npae_is_surer_than_its_best_expert(void **state)
{
    (void)state;
    static size_t offset[] = {0, 20, 45, N};
    double *X = random_normals((size_t)N * D, 1), mean[B], var[B];
    ensemble t;
    make_ensemble(&t, X, smooth_targets(X, N, D, 0.3), offset, 3, NULL, 0);
    npae_result out = {.mean = mean, .var = var, .real = B};
    assert_ok(npae_solve(&t.a, t.pairs, 2, &out));
    for (size_t q = 0; q < B; q++) {
        double best = 1.5;
        for (size_t i = 0; i < 3; i++)
            best = fmin(best, 1.5 - t.a.explained[i * B + q]);
        assert_true(var[q] >= 0.0 && var[q] <= best);
    }
    assert_int_equal(out.clamped + out.jittered + out.pseudo_inverses, 0);
    free_ensemble(&t);
}

static void npae_does_not_depend_on_threads(void **state)
{
    (void)state;
    static size_t offset[] = {0, 20, 45, N};
    double *X = random_normals((size_t)N * D, 1), mean[2][B], var[2][B], pairs[3 * B];
    ensemble t;
    make_ensemble(&t, X, smooth_targets(X, N, D, 0.3), offset, 3, NULL, 0);
    assert_ok(npae_pairs(&t.a, 4, pairs));
    assert_memory_equal(pairs, t.pairs, sizeof pairs);
    for (int k = 0; k < 2; k++)
        assert_ok(npae_solve(&t.a, pairs, 1 + 3 * k,
                             &(npae_result){.mean = mean[k], .var = var[k], .real = B}));
    assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
    assert_memory_equal(var[0], var[1], sizeof var[0]);
    free_ensemble(&t);
}

/* Three experts that all hold the whole data: K_A is singular, and the answer is
 * the exact GP's. */
static void repeated_experts_equal_the_exact_gp(void **state)
{
    (void)state;
    enum { m = 30 };
    static size_t offset[] = {0, m, 2 * m, 3 * m};
    double *X = random_normals((size_t)N * D, 1), *y, mean[B], var[B];
    size_t row[N];
    for (size_t i = 0; i < N; i++) {
        row[i] = i % m;
        memcpy(X + i * D, X + i % m * D, D * 8);
    }
    y = smooth_targets(X, N, D, 0.3);
    for (size_t i = m; i < N; i++)
        y[i] = y[i % m];
    ensemble t;
    make_ensemble(&t, X, y, offset, 3, row, 0);
    npae_result out = {.mean = mean, .var = var, .real = B};
    assert_ok(npae_solve(&t.a, t.pairs, 2, &out));
    assert_int_equal(out.jittered, B);
    for (size_t q = 0; q < B; q++) {
        assert_close(mean[q], t.a.mean[q], 1e-7);
        assert_close(var[q], 1.5 - t.a.explained[q], 1e-7);
    }
    free_ensemble(&t);
}

/* Overlapping experts: without the noise on shared rows the two covariances would
 * differ; here K_A of an expert with its own copy must be k_A. */
static void shared_rows_share_their_noise(void **state)
{
    (void)state;
    enum { m = 40 };
    static size_t offset[] = {0, m, 2 * m};
    double *X = random_normals((size_t)2 * m * D, 1), *y;
    size_t row[2 * m];
    for (size_t i = 0; i < 2 * m; i++) {
        row[i] = i % m;
        memcpy(X + i * D, X + i % m * D, D * 8);
    }
    y = smooth_targets(X, 2 * m, D, 0.3);
    ensemble t;
    make_ensemble(&t, X, y, offset, 2, row, 0);
    for (size_t q = 0; q < B; q++)
        assert_close(t.pairs[q], t.a.explained[q], 1e-11);
    free_ensemble(&t);
}

static void experts_that_know_nothing_give_the_prior(void **state)
{
    (void)state;
    static size_t offset[] = {0, 20, 45, N};
    double *X = random_normals((size_t)N * D, 1), mean[B], var[B], weights[3 * B];
    for (size_t i = 0; i < (size_t)N * D; i++)
        X[i] += 1000.0;
    ensemble t;
    make_ensemble(&t, X, smooth_targets(X, N, D, 0.3), offset, 3, NULL, 0);
    assert_ok(npae_solve(&t.a, t.pairs, 2,
                         &(npae_result){.mean = mean, .var = var, .weights = weights, .real = B}));
    for (size_t q = 0; q < B; q++)
        assert_true(mean[q] == 0.0 && var[q] == 1.5 && weights[q] == 0.0);
    free_ensemble(&t);
}

static void joint_covariance_agrees_with_the_variances(void **state)
{
    (void)state;
    static size_t offset[] = {0, 20, 45, N};
    double *X = random_normals((size_t)N * D, 1), mean[B], var[B], weights[3 * B];
    double *covariance = mem_alloc((size_t)B * B, 8);
    ensemble t;
    make_ensemble(&t, X, smooth_targets(X, N, D, 0.3), offset, 3, NULL, 0);
    npae_result out = {.mean = mean, .var = var, .weights = weights, .real = B};
    assert_ok(npae_solve(&t.a, t.pairs, 2, &out));
    assert_ok(joint_covariance(&t.a, weights, NULL, 2, covariance));
    for (size_t q = 0; q < B; q++) {
        assert_close(covariance[q * B + q], var[q], 1e-10);
        for (size_t r = 0; r < B; r++) {
            assert_true(covariance[q * B + r] == covariance[r * B + q]);
            assert_true(fabs(covariance[q * B + r]) <= sqrt(var[q] * var[r]) + 1e-10);
        }
    }
    mem_free(covariance);
    free_ensemble(&t);
}

/* ---- Experts of each query's own ---- */

/* Six experts on a line of lumps; each query's best two, found by asking all. */
static void local_seats_go_to_those_who_explain_most(void **state)
{
    (void)state;
    static size_t offset[] = {0, 15, 30, 45, 60, 75, N};
    enum { M = 6, K = 2 };
    size_t all[M] = {0, 1, 2, 3, 4, 5}, unsure = 0;
    double *X = random_normals((size_t)N * D, 1);
    for (size_t i = 0; i < N; i++)
        X[i * D] = 0.3 * X[i * D] + (double)(i / 15) - 2.5;
    ensemble t;
    make_ensemble(&t, X, smooth_targets(X, N, D, 0.3), offset, M, NULL, 0);
    assembly local;
    assert_ok(assembly_new(&t.c, &t.Q, K, &local));
    assert_ok(seat_local(QUORUM_OK, &local, all, M, K, B, NULL, 1e9, 2, &unsure));
    for (size_t q = 0; q < B; q++) {
        size_t first = local.member[q], second = local.member[B + q];
        for (size_t e = 0; e < M; e++) {
            assert_true(t.a.explained[e * B + q] <= t.a.explained[first * B + q]);
            assert_true(e == first || t.a.explained[e * B + q] <= t.a.explained[second * B + q]);
        }
    }
    assert_int_equal(unsure, 0); /* all were candidates */
    assembly_free(&local);
    free_ensemble(&t);
}

/* The systems of queries with their own experts equal those with the same experts
 * seated for all. */
static void local_pairs_equal_global_ones(void **state)
{
    (void)state;
    static size_t offset[] = {0, 15, 30, 45, 60, 75, N};
    enum { M = 6, K = 3 };
    size_t all[M] = {0, 1, 2, 3, 4, 5}, unsure = 0;
    double *X = random_normals((size_t)N * D, 1), pairs[3 * B] = {0};
    ensemble t;
    make_ensemble(&t, X, smooth_targets(X, N, D, 0.3), offset, M, NULL, 0);
    assembly local;
    assert_ok(assembly_new(&t.c, &t.Q, K, &local));
    assert_ok(seat_local(QUORUM_OK, &local, all, M, K, B, NULL, 1e9, 2, &unsure));
    assert_ok(assembly_ask(QUORUM_OK, &local, 1, 1, 1e9, 2));
    assert_ok(npae_pairs(&local, 2, pairs));
    for (size_t q = 0; q < B; q++)
        for (size_t v = 1; v < K; v++)
            for (size_t u = 0; u < v; u++) {
                size_t e = local.member[u * B + q], f = local.member[v * B + q];
                size_t pair = e < f ? pair_index(e, f) : pair_index(f, e);
                assert_close(pairs[pair_index(u, v) * B + q], t.pairs[pair * B + q], 1e-13);
                assert_true(local.mean[u * B + q] == t.a.mean[e * B + q]);
            }
    assembly_free(&local);
    free_ensemble(&t);
}

/* The query's own expert over ALL rows is the exact GP: joined with any experts the
 * answer is still the exact GP's, which needs the noise on shared rows. */
static void a_neighbourhood_of_everything_is_the_exact_gp(void **state)
{
    (void)state;
    static size_t offset[] = {0, 20, 45, N}, whole[] = {0, N};
    double *X = random_normals((size_t)N * D, 1), mean[B], var[B], weights[4 * B];
    double *covariance = mem_alloc((size_t)B * B, 8);
    ensemble t, exact;
    make_ensemble(&t, X, smooth_targets(X, N, D, 0.3), offset, 3, NULL, 1);
    double *X2 = random_normals((size_t)N * D, 1);
    make_ensemble(&exact, X2, smooth_targets(X2, N, D, 0.3), whole, 1, NULL, 0);
    neighbourhoods near;
    assert_ok(neighbourhoods_new(B, B, N, (spread_rule){.prior = INFINITY, .untested = 1.0}, 1, 0,
                                 &near));
    for (size_t i = 0; i < (size_t)B * N; i++)
        near.row[i] = (i * 7) % N; /* in any order: 7 and 90 share no factor */
    assert_ok(nearest_seat(&t.a, 3, &near, 2, t.pairs));
    npae_result out = {.mean = mean, .var = var, .weights = weights, .real = B};
    assert_ok(npae_solve(&t.a, t.pairs, 2, &out));
    for (size_t q = 0; q < B; q++) {
        assert_close(t.a.mean[3 * B + q], exact.a.mean[q], 1e-10);
        assert_close(t.a.explained[3 * B + q], exact.a.explained[q], 1e-10);
        /* an expert that knows all: its covariance with another is the other's k_A */
        for (size_t s = 0; s < 3; s++)
            assert_close(t.pairs[pair_index(s, 3) * B + q], t.a.explained[s * B + q], 1e-10);
        assert_close(mean[q], exact.a.mean[q], 1e-6);
        assert_close(var[q], 1.5 - exact.a.explained[q], 1e-6);
    }
    assert_ok(joint_covariance(&t.a, weights, &near, 2, covariance));
    for (size_t q = 0; q < B; q++)
        assert_close(covariance[q * B + q], var[q], 1e-6);
    mem_free(covariance);
    neighbourhoods_free(&near);
    free_ensemble(&t);
    free_ensemble(&exact);
}

static void queries_are_ordered_by_their_experts(void **state)
{
    (void)state;
    static size_t offset[] = {0, 30, 60, N};
    double *X = random_normals((size_t)N * D, 1);
    for (size_t i = 0; i < N; i++)
        X[i * D] += 10.0 * (double)(i / 30);
    ensemble t;
    make_committee(&t, X, smooth_targets(X, N, D, 0.3), offset, 3, NULL);
    size_t order[N], last = 0, seen[N] = {0};
    points Q = t.c.Z; /* the rows themselves, shuffled */
    assert_ok(order_by_experts(&t.c, &Q, order));
    for (size_t i = 0; i < N; i++) {
        assert_true(order[i] / 30 >= last);
        last = order[i] / 30;
        seen[order[i]]++;
    }
    for (size_t i = 0; i < N; i++)
        assert_int_equal(seen[i], 1);
    free_ensemble(&t);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static size_t offset[] = {0, 20, 45, N};
    size_t all[] = {0, 1, 2}, unsure = 0;
    double *X = random_normals((size_t)N * D, 1), mean[B], var[B], pairs[6 * B] = {0};
    ensemble t;
    make_committee(&t, X, smooth_targets(X, N, D, 0.3), offset, 3, NULL);
    int done = 0;
    for (long n = 1; !done; n++) {
        assembly a = {0};
        neighbourhoods near = {0};
        npae_result out = {.mean = mean, .var = var, .real = B};
        mem_fail_at(n);
        quorum_status status = assembly_new(&t.c, &t.Q, 3, &a);
        status = seat_local(status, &a, all, 3, 2, B, NULL, 1e9, 1, &unsure);
        status = assembly_ask(status, &a, 1, 1, 1e9, 1); /* who failed asks nobody */
        if (status == QUORUM_OK)
            status = npae_pairs(&a, 1, pairs);
        if (status == QUORUM_OK)
            status = neighbourhoods_new(B, B, 8, (spread_rule){.prior = INFINITY, .untested = 1.0},
                                        1, 0, &near);
        for (size_t i = 0; status == QUORUM_OK && i < (size_t)B * 8; i++)
            near.row[i] = i % 8;
        if (status == QUORUM_OK)
            status = nearest_seat(&a, 2, &near, 1, pairs);
        if (status == QUORUM_OK)
            status = npae_solve(&a, pairs, 1, &out);
        mem_fail_at(0);
        done = status == QUORUM_OK;
        assert_true(done || status == QUORUM_E_MEMORY);
        assert_true(n < 300);
        assembly_free(&a);
        neighbourhoods_free(&near);
    }
    free_ensemble(&t);
}

/* ---- the public function ---- */

static void public_rules_equal_the_tables(void **state)
{
    (void)state;
    for (int k = 0; k < rule_count(); k++) {
        const rule *r = rule_at(k);
        double mean[2], var[2], public_mean[2], public_var[2];
        if (rule_is_latent(r))
            continue;
        ask(r, &TWO, mean, var);
        assert_ok(quorum_aggregate(r->name, 2, 2, MEAN, VAR, 1.0, public_mean, public_var));
        assert_memory_equal(mean, public_mean, sizeof mean);
        assert_memory_equal(var, public_var, sizeof var);
    }
}

static void assert_refused(const char *method, size_t experts, const double *var, double prior,
                           quorum_status status, const char *sentence)
{
    double mean_out[2] = {0.0, 0.0}, var_out[2] = {0.0, 0.0};
    assert_int_equal(quorum_aggregate(method, experts, 2, MEAN, var, prior, mean_out, var_out),
                     status);
    assert_says(sentence);
    assert_true(isnan(mean_out[0]) && isnan(mean_out[1]) && isnan(var_out[0]) && isnan(var_out[1]));
}

static void bad_opinions_are_refused(void **state)
{
    (void)state;
    const double zero[] = {0.5, 1.0, 0.0, 1.0};
    assert_refused("mean", 2, VAR, 1.0, QUORUM_E_ARGUMENT, "\"mean\" is not known");
    assert_refused("npae", 2, VAR, 1.0, QUORUM_E_ARGUMENT, "covariances");
    assert_refused("groups", 2, VAR, 1.0, QUORUM_E_ARGUMENT, "covariances");
    assert_refused("ggm", 2, VAR, 1.0, QUORUM_E_ARGUMENT, "covariances");
    assert_refused("nearest", 2, VAR, 1.0, QUORUM_E_ARGUMENT, "asks no experts");
    assert_refused("grbcm", 1, VAR, 1.0, QUORUM_E_ARGUMENT, "a base and another expert");
    assert_refused("poe", 2, zero, 1.0, QUORUM_E_DATA, "expert 2, query 1");
    assert_refused("poe", 2, VAR, 0.0, QUORUM_E_DATA, "prior variance");
    assert_int_equal(quorum_aggregate("poe", 0, 2, MEAN, VAR, 1.0, NULL, NULL), QUORUM_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_follow_their_formulas),
        cmocka_unit_test(the_prior_comes_back),
        cmocka_unit_test(a_negative_precision_falls_back),
        cmocka_unit_test(grbcm_corrects_the_base),
        cmocka_unit_test(rules_are_found_by_name),
        cmocka_unit_test(selections_are_parsed),
        cmocka_unit_test(shares_are_rounded_up),
        cmocka_unit_test(npae_is_surer_than_its_best_expert),
        cmocka_unit_test(npae_does_not_depend_on_threads),
        cmocka_unit_test(repeated_experts_equal_the_exact_gp),
        cmocka_unit_test(shared_rows_share_their_noise),
        cmocka_unit_test(experts_that_know_nothing_give_the_prior),
        cmocka_unit_test(joint_covariance_agrees_with_the_variances),
        cmocka_unit_test(local_seats_go_to_those_who_explain_most),
        cmocka_unit_test(local_pairs_equal_global_ones),
        cmocka_unit_test(a_neighbourhood_of_everything_is_the_exact_gp),
        cmocka_unit_test(queries_are_ordered_by_their_experts),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(public_rules_equal_the_tables),
        cmocka_unit_test(bad_opinions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
