#include "experts/base.h"
#include "near/distances.h"
#include "experts/overlap.h"
#include "near/ranked.h"
#include "model/model.h"
#include "support.h"

#include <unistd.h>

enum { N = 240, D = 2, M = 4 };

typedef struct {
    double *X, *y;
    parts own;
} world;

static size_t OFFSET[M + 1] = {0, 30, 110, 150, N};
static const double LENGTHSCALE[D] = {0.8, 1.5};

static int set_up(void **state)
{
    world *w = calloc(1, sizeof *w);
    w->X = random_normals((size_t)N * D, 21);
    w->y = smooth_targets(w->X, N, D, 0.1);
    for (size_t d = 0; d < D; d++)
        w->X[200 * D + d] = w->X[10 * D + d]; /* equal inputs in two parts */
    w->own = (parts){.rows = rows_view_of(N, D, w->X, w->y), .M = M, .offset = OFFSET};
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

/* ---- The rule ---- */

static double *scaled(const world *w)
{
    double *Z = mem_alloc((size_t)N * D, 8);
    for (size_t i = 0; i < (size_t)N * D; i++)
        Z[i] = w->X[i] / LENGTHSCALE[i % D];
    return Z;
}

static int is_own(size_t e, size_t row)
{
    return row >= OFFSET[e] && row < OFFSET[e + 1];
}

/* taken[row] = 1 for the rows that part e should take, from the definition. */
static void take_by_definition(const double *Z, size_t e, size_t wanted, char *taken)
{
    double centre[D] = {0};
    ranked list[N];
    size_t outside = 0;
    for (size_t r = OFFSET[e]; r < OFFSET[e + 1]; r++)
        for (size_t d = 0; d < D; d++)
            centre[d] += Z[r * D + d] / (double)(OFFSET[e + 1] - OFFSET[e]);
    for (size_t r = 0; r < N; r++)
        if (!is_own(e, r))
            list[outside++] = (ranked){squared_distance(D, Z + r * D, centre), r};
    ranked_sort(list, outside);
    size_t pool = 4 * wanted < outside ? 4 * wanted : outside;
    for (size_t i = 0; i < pool; i++) {
        list[i].key = INFINITY;
        for (size_t r = OFFSET[e]; r < OFFSET[e + 1]; r++)
            list[i].key = fmin(list[i].key, squared_distance(D, Z + list[i].row * D, Z + r * D));
    }
    ranked_sort(list, pool);
    for (size_t i = 0; i < wanted; i++)
        taken[list[i].row] = 1;
}

static void near_rows_are_taken(void **state)
{
    const world *w = *state;
    static const double shares[] = {0.1, 0.5, 1.0, 1.7, 4.0};
    double *Z = scaled(w);
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        extra_rows x;
        assert_ok(extra_rows_choose(&w->own, LENGTHSCALE, shares[s], 1 + (int)s, &x));
        for (size_t e = 0; e < M; e++) {
            size_t m = OFFSET[e + 1] - OFFSET[e], count = x.offset[e + 1] - x.offset[e];
            assert_int_equal(count, fmin(round(shares[s] * (double)m), (double)(N - m)));
            char taken[N] = {0};
            take_by_definition(Z, e, count, taken);
            for (size_t k = x.offset[e]; k < x.offset[e + 1]; k++) {
                assert_true(taken[x.row[k]]);
                assert_true(k == x.offset[e] || x.row[k] > x.row[k - 1]);
            }
        }
        extra_rows_free(&x);
    }
    mem_free(Z);
}

static void there_may_be_fewer_or_none(void **state)
{
    const world *w = *state;
    extra_rows x;
    assert_ok(extra_rows_choose(&w->own, LENGTHSCALE, 1e6, 2, &x));
    assert_int_equal(x.offset[M], (M - 1) * N); /* everybody holds everything */
    extra_rows_free(&x);
    assert_ok(extra_rows_choose(&w->own, LENGTHSCALE, 1e-3, 2, &x));
    assert_null(x.offset);
    size_t whole[] = {0, N};
    parts one = w->own;
    one.M = 1;
    one.offset = whole;
    assert_ok(extra_rows_choose(&one, LENGTHSCALE, 1.0, 2, &x));
    assert_null(x.offset);
}

static void threads_do_not_matter(void **state)
{
    const world *w = *state;
    extra_rows one, many;
    assert_ok(extra_rows_choose(&w->own, LENGTHSCALE, 0.7, 1, &one));
    assert_ok(extra_rows_choose(&w->own, LENGTHSCALE, 0.7, 4, &many));
    assert_memory_equal(one.offset, many.offset, sizeof OFFSET);
    assert_memory_equal(one.row, many.row, one.offset[M] * sizeof *one.row);
    extra_rows_free(&one);
    extra_rows_free(&many);
}

/* ---- Holding ---- */

static int is_extra(const extra_rows *x, size_t e, size_t row)
{
    for (size_t k = x->offset[e]; k < x->offset[e + 1]; k++)
        if (x->row[k] == row)
            return 1;
    return 0;
}

static void rows_are_held_in_order(void **state)
{
    const world *w = *state;
    extra_rows x;
    parts h;
    assert_ok(extra_rows_choose(&w->own, LENGTHSCALE, 0.6, 2, &x));
    assert_ok(held_parts_new(&w->own, &x, &h));
    const parts *p = &h;
    assert_int_equal(p->rows.n, N + x.offset[M]);
    for (size_t e = 0; e < M; e++)
        for (size_t c = p->offset[e]; c < p->offset[e + 1]; c++) {
            size_t r = row_at(p, c);
            assert_true(c == p->offset[e] || r > row_at(p, c - 1));
            assert_true(is_own(e, r) != is_extra(&x, e, r));
            assert_int_equal(is_home(p, c), is_own(e, r));
            assert_memory_equal(p->rows.X + c * D, w->X + r * D, D * 8);
            assert_true(p->rows.y[c] == w->y[r]);
        }
    for (size_t r = 0; r < N; r++) {
        assert_int_equal(row_at(p, h.home[r]), r);
        for (size_t e = 0; e < M; e++) {
            size_t c = column_in_part(p, e, h.home[r]);
            if (is_own(e, r) || is_extra(&x, e, r))
                assert_true(part_of_row(p, c) == e && row_at(p, c) == r);
            else
                assert_true(c == SIZE_MAX);
        }
    }
    parts_free(&h);
    extra_rows_free(&x);
}

static void rows_that_are_gone_are_gone_everywhere(void **state)
{
    const world *w = *state;
    extra_rows x, left;
    char gone[N] = {0};
    size_t number[N], count = 0, at = 0;
    for (size_t r = 0; r < N; r++) {
        gone[r] = r % 3 == 1;
        number[r] = count;
        count += !gone[r];
    }
    assert_ok(extra_rows_choose(&w->own, LENGTHSCALE, 0.6, 2, &x));
    assert_ok(extra_rows_without(&w->own, &x, gone, &left));
    for (size_t e = 0; e < M; e++) {
        for (size_t k = x.offset[e]; k < x.offset[e + 1]; k++)
            if (!gone[x.row[k]])
                assert_int_equal(left.row[at++], number[x.row[k]]);
        assert_int_equal(left.offset[e + 1], at);
    }
    extra_rows_free(&left);
    extra_rows_free(&x);
    assert_ok(extra_rows_without(&w->own, &x, gone, &left)); /* nothing of nothing */
    assert_null(left.offset);
}

/* ---- GRBCM's base ---- */

static void a_base_has_every_row_once(void **state)
{
    const world *w = *state;
    static const size_t all[M] = {0, 1, 2, 3};
    extra_rows x;
    parts h, plain, a;
    assert_ok(extra_rows_choose(&w->own, LENGTHSCALE, 0.6, 2, &x));
    assert_ok(held_parts_new(&w->own, &x, &h));
    assert_ok(augment_parts(&w->own, all, M, SIZE_MAX, 1, &plain));
    assert_ok(augment_parts(&h, all, M, SIZE_MAX, 1, &a));
    size_t base = part_size(&a, 0);
    assert_int_equal(base, N / M);
    assert_int_equal(base, part_size(&plain, 0));
    assert_memory_equal(a.rows.X, plain.rows.X, base * D * 8); /* the same rows are drawn */
    for (size_t e = 0; e < M; e++)
        assert_true(part_size(&a, e + 1) <= base + part_size(&h, e));
    parts_free(&a);
    parts_free(&plain);
    /* an expert as the base: the others lose what they share with it */
    assert_ok(augment_parts(&h, all, M, 2, 1, &a));
    assert_int_equal(part_size(&a, 0), part_size(&h, 2));
    for (size_t e = 0, k = 1; e < M; e++) {
        size_t shared = 0;
        for (size_t c = h.offset[e]; c < h.offset[e + 1]; c++)
            shared += column_in_part(&h, 2, c) != SIZE_MAX;
        if (e != 2)
            assert_int_equal(part_size(&a, k++), part_size(&a, 0) + part_size(&h, e) - shared);
    }
    parts_free(&a);
    parts_free(&h);
    extra_rows_free(&x);
}

/* ---- Models ---- */

enum { QUERIES = 20, JOINTLY = 5 };

static quorum_options *overlapping_options(void)
{
    quorum_options *o = quorum_options_new();
    quorum_options_set(o, "experts", "4");
    quorum_options_set(o, "theta", "1.5,1,0.1");
    quorum_options_set(o, "graph-rows", "20");
    quorum_options_set(o, "threads", "1");
    quorum_options_set(o, "overlap", "0.8");
    return o;
}

static quorum_status predict(const quorum_model *m, const world *w, const quorum_options *o,
                             double *mean, double *std)
{
    quorum_prediction out = {.mean = mean, .std = std};
    return quorum_predict(m, w->X, QUERIES, o, &out, NULL);
}

/* NPAE's covariance between the first queries has its variances on the diagonal. */
static quorum_status predict_jointly(const quorum_model *m, const world *w, const quorum_options *o,
                                     const double *mean, const double *std)
{
    double together[JOINTLY], covariance[JOINTLY * JOINTLY];
    quorum_status status = quorum_predict_joint(m, w->X, JOINTLY, o, together, covariance);
    for (size_t q = 0; status >= 0 && q < JOINTLY; q++) {
        assert_true(together[q] == mean[q]);
        assert_close(covariance[q * JOINTLY + q], std[q] * std[q], 1e-9);
    }
    return status;
}

/* Fits, saves, loads and predicts with every method while the n-th allocation and all
 * later ones fail; 0: none does. */
static quorum_status whole_way(const world *w, quorum_options *o, const char *path, long n)
{
    static const char *const how[3][2] = {{"npae", "20"}, {"grbcm", "0"}, {"rbcm", "0"}};
    quorum_model *m = NULL, *again = NULL;
    double mean[2][QUERIES], std[2][QUERIES];
    assert_ok(quorum_options_set(o, "method", how[0][0]));
    assert_ok(quorum_options_set(o, "neighbours", how[0][1]));
    mem_fail_at(n);
    quorum_status status = quorum_fit(w->X, w->y, N, D, NULL, o, &m);
    if (status >= 0)
        status = quorum_save(m, path);
    if (status >= 0)
        status = quorum_load(path, &again);
    for (int k = 0; k < 3 && status >= 0; k++) {
        status = quorum_options_set(o, "method", how[k][0]);
        if (status >= 0)
            status = quorum_options_set(o, "neighbours", how[k][1]);
        if (status >= 0)
            status = predict(m, w, o, mean[0], std[0]);
        if (status >= 0)
            status = predict(again, w, o, mean[1], std[1]);
        if (status >= 0) {
            assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
            assert_memory_equal(std[0], std[1], sizeof std[0]);
        }
        if (status >= 0 && k == 0)
            status = predict_jointly(again, w, o, mean[1], std[1]);
    }
    mem_fail_at(0);
    quorum_model_free(m);
    quorum_model_free(again);
    return status;
}

static void a_saved_model_predicts_the_same(void **state)
{
    quorum_options *o = overlapping_options();
    char path[] = "/tmp/quorum-test-XXXXXX";
    close(mkstemp(path));
    assert_ok(whole_way(*state, o, path, 0));
    unlink(path);
    quorum_options_free(o);
}

static void every_allocation_may_fail(void **state)
{
    quorum_options *o = overlapping_options();
    char path[] = "/tmp/quorum-test-XXXXXX";
    close(mkstemp(path));
    quorum_options_set(o, "calibrate", "true");
    /* calibration repeats itself in rounds */
    for (long n = 1, done = 0; !done; n += n < 300 ? 1 : 29) {
        quorum_status status = whole_way(*state, o, path, n);
        done = status >= 0;
        assert_true(done || status == QUORUM_E_MEMORY);
        assert_true(n < 25000);
    }
    unlink(path);
    quorum_options_free(o);
}

static void overlap_stays_within_memory(void **state)
{
    (void)state;
    quorum_options *o = overlapping_options();
    double *X = random_normals(20000 * (size_t)D, 5), *y = smooth_targets(X, 20000, D, 0.1);
    quorum_model *m = NULL;
    quorum_options_set(o, "experts", "200");
    quorum_options_set(o, "overlap", "1000");
    quorum_options_set(o, "memory", "100M");
    assert_int_equal(quorum_fit(X, y, 20000, D, NULL, o, &m), QUORUM_E_MEMORY);
    assert_says("lower overlap");
    mem_free(X);
    mem_free(y);
    quorum_options_free(o);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(near_rows_are_taken),
        TEST(there_may_be_fewer_or_none),
        TEST(threads_do_not_matter),
        TEST(rows_are_held_in_order),
        TEST(rows_that_are_gone_are_gone_everywhere),
        TEST(a_base_has_every_row_once),
        TEST(a_saved_model_predicts_the_same),
        TEST(every_allocation_may_fail),
        TEST(overlap_stays_within_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
