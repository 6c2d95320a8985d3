#include "base/parallel.h"
#include "near/distances.h"
#include "near/neighbour_methods.h"
#include "near/ranked.h"
#include "support.h"

static const size_t INPUTS[] = {1, 2, 3, 8, 21, 40, 100};
enum { INPUT_COUNT = sizeof INPUTS / sizeof *INPUTS };

/* ---- Data ---- */

typedef enum { RANDOM, CLUSTERED, DUPLICATE, LATTICE, CONSTANT, IDENTICAL, SORTED, KINDS } kind;

static double coordinate(kind k, size_t i, size_t d, rng *r)
{
    switch (k) {
    case CLUSTERED: return 1e4 * (double)(i % 7 * (d + 1) % 5) + 1e-3 * rng_normal(r);
    case DUPLICATE: return i % 3 == 0 ? 0.5 : (double)rng_below(r, 2);
    case LATTICE: return (double)rng_below(r, 4) - 1.5;
    case CONSTANT: return d % 2 == 1 ? 3e-200 * rng_normal(r) : d % 3 == 1 ? 7.0 : rng_normal(r);
    case IDENTICAL: return 0.25;
    case SORTED: return 0.01 * (double)i + 1e-6 * rng_uniform(r);
    default: return rng_normal(r);
    }
}

static points make_points(kind k, size_t n, size_t D, uint64_t seed)
{
    points p;
    double *X = mem_alloc(n * D, sizeof *X), *one = mem_alloc(D, sizeof *one);
    rng r = rng_seed(seed, k);
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < D; d++)
            X[i * D + d] = coordinate(k, i, d, &r);
    for (size_t d = 0; d < D; d++)
        one[d] = 1.0;
    assert_ok(points_new(n, D, &p));
    points_scale(&p, n, X, NULL, one);
    mem_free(X);
    mem_free(one);
    return p;
}

/* ---- What is right ---- */

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return ranked_before(*x, *y) ? -1 : ranked_before(*y, *x);
}

typedef struct {
    const points *Z;
    const double *q;
    ranked *items;
} brute_job;

/* The distance again, in the arithmetic of this file. */
static quorum_status brute_item(void *context, size_t i, int worker)
{
    (void)worker;
    brute_job *job = context;
    double s = 0.0;
    for (size_t d = 0; d < job->Z->D; d++) {
        volatile double x = job->Z->Z[i * job->Z->D + d] - job->q[d], square = x * x;
        s += square;
    }
    job->items[i] = (ranked){s, i};
    return QUORUM_OK;
}

/* All points by distance; in parallel_for, where subnormal numbers are zero. */
static ranked *brute_force(const points *Z, const double *q)
{
    brute_job job = {Z, q, mem_alloc(Z->n, sizeof(ranked))};
    assert_ok(parallel_for(1, Z->n, brute_item, &job));
    qsort(job.items, Z->n, sizeof *job.items, compare_ranked);
    return job.items;
}

static void check_search(const neighbour_index *index, const points *Z, const points *Q, size_t m,
                         int threads)
{
    size_t *rows = mem_alloc(Q->n * m, sizeof *rows);
    double *distances = mem_alloc(Q->n * m, sizeof *distances);
    assert_ok(neighbour_search(index, Q, m, threads, rows, distances));
    for (size_t q = 0; q < Q->n; q++) {
        ranked *right = brute_force(Z, Q->Z + q * Q->D);
        for (size_t i = 0; i < m; i++) {
            assert_int_equal(rows[q * m + i], right[i].row);
            assert_true(distances[q * m + i] == right[i].key);
        }
        mem_free(right);
    }
    mem_free(rows);
    mem_free(distances);
}

static neighbour_index *index_by(neighbour_method method, const points *Z, int threads)
{
    neighbour_index *index;
    assert_ok(neighbour_index_new_by(method, Z, threads, &index));
    return index;
}

/* ---- Tests ---- */

static void both_methods_equal_brute_force(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 5, 64, 300};
    for (kind k = 0; k < KINDS; k++)
        for (size_t t = 0; t < INPUT_COUNT; t++) {
            points Z = make_points(k, 1500, INPUTS[t], 1), Q = make_points(k, 6, INPUTS[t], 2);
            for (neighbour_method method = NEIGHBOURS_TREE; method <= NEIGHBOURS_SCAN; method++) {
                neighbour_index *index = index_by(method, &Z, 2);
                for (size_t c = 0; c < 4; c++)
                    check_search(index, &Z, &Q, counts[c], 1 + (int)c);
                neighbour_index_free(index);
            }
            points_free(&Z);
            points_free(&Q);
        }
}

/* Of the m nearest those that are not beyond a limit: ties at the limit count. */
static void limited_searches_are_the_front_of_the_others(void **state)
{
    (void)state;
    enum { n = 300, b = 20, m = 40 };
    for (int k = 0; k < KINDS; k++) {
        points Z = make_points((kind)k, n, 3, 5), Q = make_points((kind)k, b, 3, 6);
        for (int method = NEIGHBOURS_TREE; method <= NEIGHBOURS_SCAN; method++) {
            neighbour_index *index = index_by((neighbour_method)method, &Z, 1);
            size_t rows[b * m], some[b * m], found[b];
            double distances[b * m], near[b * m], limit[b];
            assert_ok(neighbour_search(index, &Q, m, 1, rows, distances));
            for (size_t q = 0; q < b; q++)
                limit[q] = q == 0 ? INFINITY : distances[q * m + q];
            assert_ok(neighbour_search_within(index, &Q, m, limit, 2, some, near, found));
            for (size_t q = 0; q < b; q++) {
                assert_true(found[q] >= q && found[q] <= m);
                assert_memory_equal(some + q * m, rows + q * m, found[q] * sizeof *rows);
                assert_memory_equal(near + q * m, distances + q * m, found[q] * sizeof *near);
                assert_true(found[q] == m || distances[q * m + found[q]] > limit[q]);
            }
            neighbour_index_free(index);
        }
        points_free(&Z);
        points_free(&Q);
    }
}

static void points_find_themselves(void **state)
{
    (void)state;
    points Z = make_points(RANDOM, 700, 3, 1);
    size_t *rows = mem_alloc(700, sizeof *rows);
    for (neighbour_method method = NEIGHBOURS_CHOOSE; method <= NEIGHBOURS_SCAN; method++) {
        neighbour_index *index = index_by(method, &Z, 1);
        assert_ok(neighbour_search(index, &Z, 1, 2, rows, NULL));
        for (size_t i = 0; i < 700; i++)
            assert_int_equal(rows[i], i);
        neighbour_index_free(index);
    }
    mem_free(rows);
    points_free(&Z);
}

/* Every shape of a small tree, and every m. */
static void every_size_and_count_works(void **state)
{
    (void)state;
    for (size_t n = 1; n < 700; n = n < 70 ? n + 1 : 2 * n + 1)
        for (neighbour_method method = NEIGHBOURS_CHOOSE; method <= NEIGHBOURS_SCAN; method++)
            for (kind k = LATTICE; k >= RANDOM && k <= LATTICE; k -= LATTICE - RANDOM) {
                points Z = make_points(k, n, 2, n), Q = make_points(k, 2, 2, n + 1);
                neighbour_index *index = index_by(method, &Z, 1);
                for (size_t m = 1; m <= n; m += 1 + n / 20)
                    check_search(index, &Z, &Q, m, 1);
                check_search(index, &Z, &Q, n, 1);
                neighbour_index_free(index);
                points_free(&Z);
                points_free(&Q);
                if (k == RANDOM)
                    break;
            }
}

static void shifted_and_huge_coordinates_work(void **state)
{
    (void)state;
    static const double factors[] = {1e-160, 1e-150, 1e150, 1e200}, shift[] = {1e6, 1e9};
    for (size_t t = 0; t < 6; t++)
        for (neighbour_method method = NEIGHBOURS_TREE; method <= NEIGHBOURS_SCAN; method++) {
            points Z = make_points(RANDOM, 900, 5, 1), Q = make_points(RANDOM, 4, 5, 2), A, B;
            double centre[5], length[5];
            for (size_t d = 0; d < 5; d++) {
                centre[d] = t < 4 ? 0.0 : shift[t - 4];
                length[d] = t < 4 ? 1.0 / factors[t] : 1.0;
            }
            assert_ok(points_new(900, 5, &A));
            assert_ok(points_new(4, 5, &B));
            points_scale(&A, 900, Z.Z, centre, length);
            points_scale(&B, 4, Q.Z, centre, length);
            neighbour_index *index = index_by(method, &A, 1);
            check_search(index, &A, &B, 40, 1);
            neighbour_index_free(index);
            points_free(&Z);
            points_free(&Q);
            points_free(&A);
            points_free(&B);
        }
}

/* Large enough for several items, blocks and levels. */
static void results_do_not_depend_on_batch_threads_or_method(void **state)
{
    (void)state;
    enum { N = 20000, B = 150, M = 70, INPUTS_HERE = 6 };
    points Z = make_points(RANDOM, N, INPUTS_HERE, 1), Q = make_points(RANDOM, B, INPUTS_HERE, 2);
    size_t *rows = mem_alloc(B * M, sizeof *rows), *again = mem_alloc(B * M, sizeof *again);
    double *s = mem_alloc(B * M, sizeof *s), *s_again = mem_alloc(B * M, sizeof *s_again);
    neighbour_index *first = index_by(NEIGHBOURS_TREE, &Z, 1);
    assert_ok(neighbour_search(first, &Q, M, 1, rows, s));
    for (neighbour_method method = NEIGHBOURS_TREE; method <= NEIGHBOURS_SCAN; method++)
        for (int threads = 1; threads <= 4; threads *= 2)
            for (size_t batch = 1; batch <= B; batch = 12 * batch + 1) {
                neighbour_index *index = index_by(method, &Z, threads);
                memset(again, 0, B * M * sizeof *again);
                for (size_t q = 0; q < B; q += batch) {
                    points some = points_view(&Q, q, B - q < batch ? B - q : batch);
                    assert_ok(
                        neighbour_search(index, &some, M, threads, again + q * M, s_again + q * M));
                }
                assert_memory_equal(rows, again, B * M * sizeof *rows);
                assert_memory_equal(s, s_again, B * M * sizeof *s);
                neighbour_index_free(index);
            }
    neighbour_index_free(first);
    points_free(&Z);
    points_free(&Q);
    mem_free(rows);
    mem_free(again);
    mem_free(s);
    mem_free(s_again);
}

/* The tree looks at few points where it can: also when all are equally far. */
static void the_tree_looks_at_few_points(void **state)
{
    (void)state;
    static const struct {
        kind k;
        size_t D;
        double share;
    } cases[] = {{RANDOM, 1, 0.02},    {RANDOM, 2, 0.03},    {CONSTANT, 3, 0.02},
                 {IDENTICAL, 5, 0.02}, {DUPLICATE, 2, 0.05}, {DUPLICATE, 5, 0.05},
                 {SORTED, 100, 0.02},  {CLUSTERED, 2, 0.03}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        points Z = make_points(cases[c].k, 20000, cases[c].D, 4);
        neighbour_index *index = index_by(NEIGHBOURS_CHOOSE, &Z, 2);
        if (neighbour_index_share(index) > cases[c].share)
            fail_msg("case %zu: share %g", c, neighbour_index_share(index));
        assert_string_equal(neighbour_index_method(index), "tree");
        neighbour_index_free(index);
        points_free(&Z);
    }
}

static void many_inputs_are_scanned(void **state)
{
    (void)state;
    points Z = make_points(RANDOM, 5000, 40, 4);
    neighbour_index *index = index_by(NEIGHBOURS_CHOOSE, &Z, 2);
    assert_string_equal(neighbour_index_method(index), "scan");
    neighbour_index_free(index);
    points_free(&Z);
}

static void distances_have_the_same_bits_in_groups(void **state)
{
    (void)state;
    for (size_t D = 1; D < 60; D++) {
        double *T = random_normals(2 * D * LANES, D), *q = random_normals(D, 99 + D);
        double *s = mem_alloc(2 * LANES, sizeof *s), *x = mem_alloc(D, sizeof *x);
        group_distances(2, D, T, q, INFINITY, s);
        for (size_t i = 0; i < 2 * LANES; i++) {
            for (size_t d = 0; d < D; d++)
                x[d] = T[(i / LANES * D + d) * LANES + i % LANES];
            assert_true(s[i] == squared_distance(D, x, q));
        }
        mem_free(T);
        mem_free(q);
        mem_free(s);
        mem_free(x);
    }
}

static void ranks_are_sorted_and_selected(void **state)
{
    (void)state;
    enum { N = 3000 };
    ranked *a = mem_alloc(N, sizeof *a), *b = mem_alloc(N, sizeof *b);
    rng r = rng_seed(1, 1);
    for (int t = 0; t < 5; t++) { /* random, ties, ascending, descending, up and down */
        for (size_t i = 0; i < N; i++) {
            double keys[] = {rng_uniform(&r), (double)rng_below(&r, 5), (double)i, -(double)i,
                             (double)(i < N / 2 ? i : N - i)};
            a[i] = b[i] = (ranked){keys[t], i};
        }
        qsort(b, N, sizeof *b, compare_ranked);
        for (size_t nth = 0; nth < N; nth += 613) {
            ranked_select(a, N, nth);
            assert_int_equal(a[nth].row, b[nth].row);
        }
        ranked_sort(a, N);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(a[i].row, b[i].row);
    }
    mem_free(a);
    mem_free(b);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    points Z = make_points(RANDOM, 30, 2, 1), other = make_points(RANDOM, 30, 3, 1), none = Z;
    neighbour_index *index = index_by(NEIGHBOURS_CHOOSE, &Z, 1), *empty;
    size_t rows[31];
    points one = points_view(&Z, 0, 1);
    assert_int_equal(neighbour_search(index, &one, 31, 1, rows, NULL), QUORUM_E_ARGUMENT);
    assert_says("31 neighbours asked for among 30 points");
    assert_int_equal(neighbour_search(index, &one, 0, 1, rows, NULL), QUORUM_E_ARGUMENT);
    assert_int_equal(neighbour_search(index, &other, 1, 1, rows, NULL), QUORUM_E_ARGUMENT);
    assert_says("3 inputs");
    none.n = 0;
    assert_ok(neighbour_search(index, &none, 1, 1, rows, NULL));
    assert_int_equal(neighbour_index_new(&none, 1, &empty), QUORUM_E_ARGUMENT);
    assert_null(empty);
    Z.Z[5] = NAN;
    assert_int_equal(neighbour_index_new(&Z, 1, &empty), QUORUM_E_DATA);
    assert_says("input 2 of point 3");
    assert_int_equal(neighbour_search(index, &Z, 1, 1, rows, NULL), QUORUM_E_DATA);
    assert_says("input 2 of query 3");
    neighbour_index_free(index);
    neighbour_index_free(NULL);
    points_free(&Z);
    points_free(&other);
}

static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    points Z = make_points(RANDOM, 2000, 3, 1), Q = make_points(RANDOM, 5, 3, 2);
    size_t rows[5 * 7];
    for (neighbour_method method = NEIGHBOURS_CHOOSE; method <= NEIGHBOURS_SCAN; method++) {
        quorum_status status = QUORUM_E_MEMORY;
        for (long n = 1; status != QUORUM_OK; n++) {
            neighbour_index *index;
            mem_fail_at(n);
            status = neighbour_index_new_by(method, &Z, 2, &index);
            if (status == QUORUM_OK)
                status = neighbour_search(index, &Q, 7, 2, rows, NULL);
            else
                assert_null(index);
            mem_fail_at(0);
            neighbour_index_free(index);
            assert_true(status == QUORUM_OK || status == QUORUM_E_MEMORY);
            assert_true(n < 40);
        }
    }
    points_free(&Z);
    points_free(&Q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_methods_equal_brute_force),
        cmocka_unit_test(limited_searches_are_the_front_of_the_others),
        cmocka_unit_test(points_find_themselves),
        cmocka_unit_test(every_size_and_count_works),
        cmocka_unit_test(shifted_and_huge_coordinates_work),
        cmocka_unit_test(results_do_not_depend_on_batch_threads_or_method),
        cmocka_unit_test(the_tree_looks_at_few_points),
        cmocka_unit_test(many_inputs_are_scanned),
        cmocka_unit_test(distances_have_the_same_bits_in_groups),
        cmocka_unit_test(ranks_are_sorted_and_selected),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
