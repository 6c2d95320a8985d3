#include "experts/base.h"
#include "experts/committee.h"
#include "partition/partition.h"
#include "near/select_nth.h"
#include "train/train.h"
#include "support.h"

/* ---- Partitions ---- */

static void check_division(const division *d, size_t n)
{
    char *seen = mem_alloc_zero(n, 1);
    assert_int_equal(d->offset[0], 0);
    assert_int_equal(d->offset[d->M], n);
    for (size_t e = 0; e < d->M; e++) {
        assert_true(d->offset[e] < d->offset[e + 1]);
        for (size_t i = d->offset[e]; i < d->offset[e + 1]; i++) {
            assert_true(d->order[i] < n && !seen[d->order[i]]);
            assert_true(i == d->offset[e] || d->order[i - 1] < d->order[i]);
            seen[d->order[i]] = 1;
        }
    }
    mem_free(seen);
}

static scattered_rows lumpy_rows(size_t n, size_t inputs)
{
    double *X = random_normals(n * inputs, 11);
    for (size_t i = 0; i < n * 3 / 4; i++) /* three quarters in one small lump */
        for (size_t d = 0; d < inputs; d++)
            X[i * inputs + d] = 5.0 + 0.01 * X[i * inputs + d];
    row_set all = rows_view_of(n, inputs, X, NULL);
    return rows_scattered(n, &all);
}

static partition_problem lumpy_problem(const scattered_rows *rows, size_t count)
{
    return (partition_problem){.rows = rows, .parts = count, .seed = 3, .threads = 2};
}

static void every_partition_divides_all_rows(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 7, 50, 400};
    for (int k = 0; k < partition_count(); k++)
        for (size_t c = 0; c < 5; c++) {
            scattered_rows rows = lumpy_rows(400, 3);
            partition_problem p = lumpy_problem(&rows, counts[c]);
            size_t mean = (400 + counts[c] - 1) / counts[c];
            division d, again;
            assert_ok(divide(partition_at(k), &p, (mean + 9) / 10, 2 * mean, &d));
            check_division(&d, 400);
            p.threads = 4;
            assert_ok(divide(partition_at(k), &p, (mean + 9) / 10, 2 * mean, &again));
            assert_int_equal(d.M, again.M);
            assert_memory_equal(d.order, again.order, 400 * sizeof *d.order);
            division_free(&d);
            division_free(&again);
            rows_free(&rows.held);
        }
}

static void equal_partitions_are_equal(void **state)
{
    (void)state;
    const partition *equal[] = {&partition_kdtree, &partition_random};
    for (int k = 0; k < 2; k++) {
        scattered_rows rows = lumpy_rows(1003, 2);
        partition_problem p = lumpy_problem(&rows, 13);
        division d;
        assert_ok(divide(equal[k], &p, 1, 1003, &d));
        assert_int_equal(d.M, 13);
        for (size_t e = 0; e < d.M; e++) {
            size_t size = d.offset[e + 1] - d.offset[e];
            assert_true(size == 1003 / 13 || size == 1003 / 13 + 1);
        }
        division_free(&d);
        rows_free(&rows.held);
    }
}

static void sizes_stay_within_floor_and_cap(void **state)
{
    (void)state;
    scattered_rows rows = lumpy_rows(2000, 2);
    partition_problem p = lumpy_problem(&rows, 20);
    division raw, kept;
    assert_ok(divide(&partition_kmeans, &p, 1, 2000, &raw));
    assert_ok(divide(&partition_kmeans, &p, 40, 150, &kept));
    size_t largest = 0;
    for (size_t e = 0; e < raw.M; e++)
        largest = raw.offset[e + 1] - raw.offset[e] > largest ? raw.offset[e + 1] - raw.offset[e]
                                                              : largest;
    assert_true(largest > 150); /* the cap has something to do */
    assert_int_equal(kept.M, 20);
    for (size_t e = 0; e < kept.M; e++) {
        size_t size = kept.offset[e + 1] - kept.offset[e];
        assert_true(size >= 40 && size <= 150);
    }
    division_free(&raw);
    division_free(&kept);
    rows_free(&rows.held);
}

/* Four well separated lumps are found whatever the seed. */
static void kmeans_finds_separate_lumps(void **state)
{
    (void)state;
    enum { n = 400 };
    double *X = random_normals(n * 2, 1);
    for (size_t i = 0; i < n; i++) {
        X[2 * i] = 0.1 * X[2 * i] + (i % 4 < 2 ? 0.0 : 10.0);
        X[2 * i + 1] = 0.1 * X[2 * i + 1] + (i % 2 ? 0.0 : 10.0);
    }
    for (uint64_t seed = 1; seed <= 5; seed++) {
        row_set all = rows_view_of(n, 2, X, NULL);
        scattered_rows rows = rows_scattered(n, &all);
        partition_problem p = {.rows = &rows, .parts = 4, .seed = seed, .threads = 2};
        size_t label[n];
        assert_ok(partition_kmeans.split(QUORUM_OK, &p, label));
        for (size_t i = 4; i < n; i++)
            assert_int_equal(label[i], label[i % 4]);
    }
    mem_free(X);
}

/* Sum of squared distances from the mean of the own part. */
static double scatter(const partition_problem *p, const size_t *label)
{
    const double *X = p->rows->held.X;
    size_t n = p->rows->n, D = p->rows->held.D;
    double total = 0.0, *sum = mem_alloc_zero(p->parts * D, sizeof *sum);
    size_t *count = mem_alloc_zero(p->parts, sizeof *count);
    for (size_t i = 0; i < n; i++) {
        count[label[i]]++;
        for (size_t d = 0; d < D; d++)
            sum[label[i] * D + d] += X[i * D + d];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < D; d++)
            total += pow(X[i * D + d] - sum[label[i] * D + d] / (double)count[label[i]], 2.0);
    mem_free(sum);
    mem_free(count);
    return total;
}

/* So many parts go by groups: none is empty, threads do not matter, and they are more compact
 * than boxes of equal size. */
static void many_parts_go_by_groups(void **state)
{
    (void)state;
    enum { n = 12000, many = 300 };
    double *X = random_normals((size_t)n * 3, 4);
    size_t *one = mem_alloc(n, sizeof *one), *two = mem_alloc(n, sizeof *two);
    row_set all = rows_view_of(n, 3, X, NULL);
    scattered_rows rows = rows_scattered(n, &all);
    partition_problem p = {.rows = &rows, .parts = many, .seed = 1, .threads = 1};
    assert_ok(partition_kmeans.split(QUORUM_OK, &p, one));
    p.threads = 3;
    assert_ok(partition_kmeans.split(QUORUM_OK, &p, two));
    assert_memory_equal(one, two, n * sizeof *one);
    size_t used = 0;
    char seen[many] = {0};
    for (size_t i = 0; i < n; i++) {
        assert_true(one[i] < many);
        used += !seen[one[i]];
        seen[one[i]] = 1;
    }
    assert_int_equal(used, many);
    assert_ok(partition_kdtree.split(QUORUM_OK, &p, two));
    assert_true(scatter(&p, one) < 0.8 * scatter(&p, two));
    mem_free(one);
    mem_free(two);
    mem_free(X);
}

static void identical_rows_can_be_divided(void **state)
{
    (void)state;
    enum { n = 100 };
    double X[n] = {0};
    for (int k = 0; k < partition_count(); k++) {
        row_set all = rows_view_of(n, 1, X, NULL);
        scattered_rows rows = rows_scattered(n, &all);
        partition_problem p = {.rows = &rows, .parts = 5, .seed = 1, .threads = 1};
        division d;
        assert_ok(divide(partition_at(k), &p, 2, 40, &d));
        check_division(&d, n);
        assert_int_equal(d.M, 5);
        division_free(&d);
    }
}

/* One part, few, and so many that they go by groups. */
static void who_is_not_ready_is_not_divided(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 5, 300};
    scattered_rows rows = lumpy_rows(1200, 2);
    for (int k = 0; k < partition_count(); k++)
        for (size_t c = 0; c < 3; c++) {
            partition_problem p = lumpy_problem(&rows, counts[c]);
            quorum_status without = failure(QUORUM_E_MEMORY, "no room for labels");
            assert_int_equal(partition_at(k)->split(without, &p, NULL), QUORUM_E_MEMORY);
            assert_int_equal(balance_sizes(without, &p, 1, 1200, NULL, NULL), QUORUM_E_MEMORY);
            assert_says("no room for labels");
        }
    rows_free(&rows.held);
}

static void dividing_without_memory_is_told(void **state)
{
    (void)state;
    scattered_rows rows = lumpy_rows(1200, 2);
    for (int k = 0; k < partition_count(); k++) {
        partition_problem p = lumpy_problem(&rows, 300);
        quorum_status status = QUORUM_E_MEMORY;
        p.threads = 1;
        for (long n = 1; status < 0; n++) {
            division d;
            mem_fail_at(n);
            status = divide(partition_at(k), &p, 2, 8, &d);
            mem_fail_at(0);
            assert_true(status == QUORUM_OK || (status == QUORUM_E_MEMORY && !d.order));
            assert_true(n < 2000);
            division_free(&d);
        }
    }
    rows_free(&rows.held);
}

static void nth_is_selected(void **state)
{
    (void)state;
    enum { n = 101 };
    double *X = random_normals(n, 4);
    for (size_t i = 0; i < n; i += 3)
        X[i] = 0.5; /* ties */
    for (size_t nth = 0; nth < n; nth += 10) {
        size_t rows[n];
        for (size_t i = 0; i < n; i++)
            rows[i] = i;
        select_nth(rows, n, nth, X, 1, 0);
        for (size_t i = 0; i < nth; i++)
            assert_true(X[rows[i]] <= X[rows[nth]]);
        for (size_t i = nth; i < n; i++)
            assert_true(X[rows[i]] >= X[rows[nth]]);
    }
    mem_free(X);
}

/* ---- A small committee ---- */

enum { N = 240, D = 2, M = 4 };

typedef struct {
    double *X, *y, lengthscale[D];
    size_t offset[M + 1], all[M];
    parts p;
    hyper theta;
} team;

static void make_team(team *t)
{
    t->X = random_normals((size_t)N * D, 21);
    t->y = smooth_targets(t->X, N, D, 0.1);
    t->lengthscale[0] = 0.8;
    t->lengthscale[1] = 1.5;
    static const size_t offset[M + 1] = {0, 30, 110, 150, N};
    memcpy(t->offset, offset, sizeof offset);
    for (size_t e = 0; e < M; e++)
        t->all[e] = e;
    t->p = (parts){.rows = rows_view_of(N, D, t->X, t->y), .M = M, .offset = t->offset};
    t->theta = (hyper){
        .kernel = &kernel_se, .D = D, .lengthscale = t->lengthscale, .signal = 1.2, .noise = 0.05};
}

static void free_team(team *t)
{
    mem_free(t->X);
    mem_free(t->y);
}

static points some_queries(const team *t, size_t count)
{
    points Q;
    assert_ok(points_new(count, D, &Q));
    points_scale(&Q, count, t->X, NULL, t->theta.lengthscale);
    return Q;
}

/* Asks the listed experts about all queries; answers are count x b. */
static void ask(const committee *c, const size_t *experts, size_t count, const points *Q,
                double budget, int threads, double *mean, double *explained)
{
    question questions[M];
    for (size_t i = 0; i < count; i++)
        questions[i] = (question){.expert = experts[i],
                                  .b = Q->n,
                                  .mean = mean + i * Q->n,
                                  .explained = explained ? explained + i * Q->n : NULL};
    assert_ok(committee_answer(QUORUM_OK, c, questions, count, Q, budget, threads));
}

static void factors_kept_or_not_give_the_same(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    enum { B = 48 };
    points Q = some_queries(&t, B);
    double mean[2][M * B], explained[2][M * B];
    for (int kept = 0; kept < 2; kept++) {
        committee c;
        assert_ok(committee_new(&t.p, &t.theta, kept ? 1e9 : 0.0, 2, NULL, &c));
        assert_true((c.factors != NULL) == (kept != 0));
        /* a budget of 1 byte: groups of one expert */
        ask(&c, t.all, M, &Q, 1.0, 1 + kept, mean[kept], explained[kept]);
        committee_free(&c);
    }
    assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
    assert_memory_equal(explained[0], explained[1], sizeof mean[0]);
    points_free(&Q);
    free_team(&t);
}

static void experts_are_listed_in_any_order(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    enum { B = 16 };
    points Q = some_queries(&t, B);
    committee c;
    assert_ok(committee_new(&t.p, &t.theta, 1e9, 2, NULL, &c));
    double mean[M * B], chosen[2 * B];
    size_t two[] = {3, 1};
    ask(&c, t.all, M, &Q, 1e9, 2, mean, NULL);
    ask(&c, two, 2, &Q, 1e9, 2, chosen, NULL);
    assert_memory_equal(chosen, mean + 3 * B, B * 8);
    assert_memory_equal(chosen + B, mean + 1 * B, B * 8);
    committee_free(&c);
    points_free(&Q);
    free_team(&t);
}

/* A question about some of the queries gets the same answers as one about all. */
static void questions_may_name_their_queries(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    enum { B = 48, FEW = 16 };
    points Q = some_queries(&t, B);
    committee c;
    assert_ok(committee_new(&t.p, &t.theta, 1e9, 2, NULL, &c));
    double mean[M * B], some[FEW];
    size_t which[FEW];
    for (size_t i = 0; i < FEW; i++)
        which[i] = (7 * i + 3) % B;
    ask(&c, t.all, M, &Q, 1e9, 2, mean, NULL);
    question one = {.expert = 2, .b = FEW, .query = which, .mean = some};
    assert_ok(committee_answer(QUORUM_OK, &c, &one, 1, &Q, 1e9, 2));
    for (size_t i = 0; i < FEW; i++)
        assert_true(some[i] == mean[2 * B + which[i]]);
    committee_free(&c);
    points_free(&Q);
    free_team(&t);
}

static void centres_and_radii_enclose_the_rows(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    committee c;
    assert_ok(committee_new(&t.p, &t.theta, 0.0, 2, NULL, &c));
    for (size_t e = 0; e < M; e++) {
        double most = 0.0, sum[D] = {0};
        for (size_t r = t.offset[e]; r < t.offset[e + 1]; r++) {
            double s = 0.0;
            for (size_t d = 0; d < D; d++) {
                sum[d] += c.Z.Z[r * D + d];
                s += pow(c.Z.Z[r * D + d] - c.centre[e * D + d], 2.0);
            }
            most = fmax(most, sqrt(s));
        }
        assert_close(c.radius[e], most, 1e-12);
        assert_close(c.centre[e * D], sum[0] / (double)part_size(&t.p, e), 1e-12);
    }
    committee_free(&c);
    free_team(&t);
}

/* Rows that are not scaled yet, as where processes have some each, give the same places. */
static void centres_do_not_need_scaled_rows(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    static char held[M] = {1, 1, 1, 1};
    committee c, other;
    parts scattered = t.p;
    scattered.held = held;
    assert_ok(committee_new(&t.p, &t.theta, 0.0, 2, NULL, &c));
    assert_ok(committee_new(&scattered, &t.theta, 0.0, 2, NULL, &other));
    assert_true(other.scaled && !other.scaled[0]);
    assert_memory_equal(c.centre, other.centre, sizeof(double) * M * D);
    assert_memory_equal(c.radius, other.radius, sizeof(double) * M);
    committee_scale_held(&other);
    assert_memory_equal(c.Z.Z, other.Z.Z, sizeof(double) * N * D);
    committee_free(&c);
    committee_free(&other);
    free_team(&t);
}

static void large_experts_are_shared_out_first(void **state)
{
    (void)state;
    team t;
    work_share s;
    make_team(&t);
    assert_ok(share_by_size(&t.p, &s));
    const size_t order[M] = {3, 1, 2, 0}; /* of 90, 80, 40 and 30 rows */
    assert_memory_equal(s.items, order, sizeof order);
    work_share_free(&s);
    free_team(&t);
}

static void who_is_not_ready_asks_nobody(void **state)
{
    (void)state;
    team t;
    committee c;
    make_team(&t);
    assert_ok(committee_new(&t.p, &t.theta, 0.0, 2, NULL, &c));
    quorum_status ready = failure(QUORUM_E_MEMORY, "no room");
    assert_int_equal(committee_answer(ready, &c, NULL, 0, NULL, 1e9, 2), QUORUM_E_MEMORY);
    assert_string_equal(quorum_message(), "no room");
    committee_free(&c);
    free_team(&t);
}

static void a_committee_may_have_no_memory(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    static char held[M] = {1, 1, 1, 1};
    for (int scattered = 0; scattered < 2; scattered++) {
        int done = 0;
        t.p.held = scattered ? held : NULL;
        for (long n = 1; !done; n++) {
            committee c;
            mem_fail_at(n);
            double budget = scattered ? 0.0 : 1e9; /* factors need scaled rows */
            quorum_status status = committee_new(&t.p, &t.theta, budget, 1, NULL, &c);
            mem_fail_at(0);
            done = status == QUORUM_OK;
            assert_true(done || (status == QUORUM_E_MEMORY && !c.start && !c.share.owner));
            committee_free(&c);
        }
    }
    free_team(&t);
}

/* ---- The base of GRBCM ---- */

static void a_random_base_takes_rows_away(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    parts a;
    assert_ok(augment_parts(&t.p, t.all, M, SIZE_MAX, 1, &a));
    size_t base = part_size(&a, 0);
    assert_int_equal(base, N / M);
    assert_int_equal(a.M, M + 1);
    size_t own = 0;
    for (size_t e = 1; e <= M; e++) {
        own += part_size(&a, e) - base;
        /* every joined expert starts with the base's rows */
        assert_memory_equal(a.rows.X + a.offset[e] * D, a.rows.X, base * D * 8);
        assert_memory_equal(a.rows.y + a.offset[e], a.rows.y, base * 8);
    }
    assert_int_equal(own + base, N); /* no row twice, none lost */
    parts_free(&a);
    free_team(&t);
}

static void an_expert_can_be_the_base(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    parts a;
    size_t listed[] = {0, 2, 3};
    assert_ok(augment_parts(&t.p, listed, 3, 2, 1, &a));
    assert_int_equal(a.M, 3);
    assert_int_equal(part_size(&a, 0), part_size(&t.p, 2));
    assert_memory_equal(a.rows.X, t.X + t.offset[2] * D, part_size(&t.p, 2) * D * 8);
    assert_int_equal(part_size(&a, 1), part_size(&t.p, 2) + part_size(&t.p, 0));
    assert_int_equal(part_size(&a, 2), part_size(&t.p, 2) + part_size(&t.p, 3));
    parts_free(&a);
    free_team(&t);
}

/* ---- Training ---- */

static training_options training(int threads)
{
    return (training_options){
        .max_evaluations = 200, .tolerance = 1e-7, .threads = threads, .memory = 1e10};
}

static void training_finds_the_optimum(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    training_options o = training(2);
    training_result result;
    hyper theta = t.theta;
    double gradient[D + 2], value, found[D];
    theta.lengthscale = found;
    assert_ok(train(&t.p, t.all, M, &o, &theta, &result));
    assert_ok(total_likelihood(&t.p, t.all, M, &o, &theta, &value, gradient));
    assert_close(value, result.nlml, 1e-9);
    for (size_t i = 0; i < D + 2; i++)
        assert_true(fabs(gradient[i]) < 1e-2 * N);          /* per row: flat */
    assert_true(theta.noise > 0.005 && theta.noise < 0.02); /* 0.1 squared is 0.01 */
    assert_int_equal(result.signal, SIGNAL_FOUND);
    free_team(&t);
}

static void training_does_not_depend_on_threads(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    double found[3][D + 2];
    for (int k = 0; k < 3; k++) {
        training_options o = training(1 << k);
        training_result result;
        hyper theta = t.theta;
        theta.lengthscale = found[k];
        assert_ok(train(&t.p, t.all, M, &o, &theta, &result));
        found[k][D] = theta.signal;
        found[k][D + 1] = theta.noise;
    }
    assert_memory_equal(found[0], found[1], sizeof found[0]);
    assert_memory_equal(found[0], found[2], sizeof found[0]);
    free_team(&t);
}

static void noise_is_called_noise(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    rng r = rng_seed(5, 5);
    for (size_t i = 0; i < N; i++)
        t.y[i] = rng_normal(&r);
    double sum = 0.0, square = 0.0;
    for (size_t i = 0; i < N; i++) {
        sum += t.y[i] / N;
        square += t.y[i] * t.y[i] / N;
    }
    for (size_t i = 0; i < N; i++) /* as fit does: mean 0, variance 1 */
        t.y[i] = (t.y[i] - sum) / sqrt(square - sum * sum);
    training_options o = training(2);
    training_result result;
    hyper theta = t.theta;
    double found[D];
    theta.lengthscale = found;
    assert_ok(train(&t.p, t.all, M, &o, &theta, &result));
    assert_int_equal(result.signal, SIGNAL_NONE);
    free_team(&t);
}

static void training_respects_memory(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    training_options o = training(2);
    o.memory = 1e4;
    training_result result;
    hyper theta = t.theta;
    double found[D];
    theta.lengthscale = found;
    assert_int_equal(train(&t.p, t.all, M, &o, &theta, &result), QUORUM_E_MEMORY);
    assert_says("use more experts");
    free_team(&t);
}

static int stop(void *user, const char *stage, double fraction, const char *detail)
{
    (void)stage;
    (void)fraction;
    (void)detail;
    return --*(int *)user < 0;
}

static void training_can_be_cancelled(void **state)
{
    (void)state;
    team t;
    make_team(&t);
    int patience = 3;
    progress p = {.callback = stop, .user = &patience};
    training_options o = training(2);
    o.progress = &p;
    training_result result;
    hyper theta = t.theta;
    double found[D];
    theta.lengthscale = found;
    assert_int_equal(train(&t.p, t.all, M, &o, &theta, &result), QUORUM_E_CANCELLED);
    free_team(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_partition_divides_all_rows),
        cmocka_unit_test(equal_partitions_are_equal),
        cmocka_unit_test(sizes_stay_within_floor_and_cap),
        cmocka_unit_test(kmeans_finds_separate_lumps),
        cmocka_unit_test(many_parts_go_by_groups),
        cmocka_unit_test(identical_rows_can_be_divided),
        cmocka_unit_test(who_is_not_ready_is_not_divided),
        cmocka_unit_test(dividing_without_memory_is_told),
        cmocka_unit_test(nth_is_selected),
        cmocka_unit_test(factors_kept_or_not_give_the_same),
        cmocka_unit_test(experts_are_listed_in_any_order),
        cmocka_unit_test(questions_may_name_their_queries),
        cmocka_unit_test(centres_and_radii_enclose_the_rows),
        cmocka_unit_test(centres_do_not_need_scaled_rows),
        cmocka_unit_test(large_experts_are_shared_out_first),
        cmocka_unit_test(who_is_not_ready_asks_nobody),
        cmocka_unit_test(a_committee_may_have_no_memory),
        cmocka_unit_test(a_random_base_takes_rows_away),
        cmocka_unit_test(an_expert_can_be_the_base),
        cmocka_unit_test(training_finds_the_optimum),
        cmocka_unit_test(training_does_not_depend_on_threads),
        cmocka_unit_test(noise_is_called_noise),
        cmocka_unit_test(training_respects_memory),
        cmocka_unit_test(training_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
