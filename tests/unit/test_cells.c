/* Cells: every row in the cell of the nearest centre; an expert that has all rows is the exact GP in
 * every cell; a query's numbers do not depend on its batch; what is kept stays within its room. */
#include "cells/cell_seats.h"
#include "cells/cell_store.h"
#include "experts/committee.h"
#include "support.h"

enum { N = 300, D = 3, B = 90 };

typedef struct {
    double *X, *y, *Q, lengthscale[D];
    hyper theta;
    row_set rows;
    points Z, queries;
    neighbour_index *index;
    cell_source source;
} setting;

static int set_up(void **state)
{
    setting *s = mem_alloc_zero(1, sizeof *s);
    s->X = random_normals((size_t)N * D, 1);
    s->y = smooth_targets(s->X, N, D, 0.1);
    s->Q = random_normals((size_t)B * D, 2);
    for (size_t d = 0; d < D; d++)
        s->lengthscale[d] = 0.5 + (double)d;
    s->theta = (hyper){.kernel = kernel_at(1),
                       .D = D,
                       .lengthscale = s->lengthscale,
                       .signal = 1.3,
                       .noise = 0.02};
    s->rows = rows_view_of(N, D, s->X, s->y);
    assert_ok(points_new(N, D, &s->Z));
    assert_ok(points_new(B, D, &s->queries));
    points_scale(&s->Z, N, s->X, NULL, s->lengthscale);
    points_scale(&s->queries, B, s->Q, NULL, s->lengthscale);
    assert_ok(neighbour_index_new(&s->Z, 1, &s->index));
    s->source = (cell_source){.theta = &s->theta, .Z = &s->Z, .rows = &s->rows, .index = s->index};
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    setting *s = *state;
    neighbour_index_free(s->index);
    points_free(&s->Z);
    points_free(&s->queries);
    mem_free(s->X);
    mem_free(s->y);
    mem_free(s->Q);
    mem_free(s);
    return 0;
}

/* ---- The map ---- */

static double distance(const double *a, const double *b)
{
    double s = 0.0;
    for (size_t d = 0; d < D; d++)
        s += (a[d] - b[d]) * (a[d] - b[d]);
    return s;
}

static void test_rows_are_with_the_nearest_centre(void **state)
{
    const setting *s = *state;
    cell_map map;
    char seen[N] = {0};
    assert_ok(cell_map_new(&s->Z, 20, 1, &map));
    assert_int_equal(map.cells, 15);
    for (size_t k = 0; k < map.cells; k++)
        for (size_t i = map.start[k]; i < map.start[k + 1]; i++) {
            const double *z = s->Z.Z + map.row[i] * D;
            seen[map.row[i]]++;
            for (size_t other = 0; other < map.cells; other++)
                assert_true(distance(z, map.centre.Z + k * D) <=
                            distance(z, map.centre.Z + other * D));
        }
    for (size_t i = 0; i < N; i++)
        assert_int_equal(seen[i], 1);
    cell_map_free(&map);
}

static void test_map_is_the_same_on_any_threads(void **state)
{
    const setting *s = *state;
    cell_map one, three;
    assert_ok(cell_map_new(&s->Z, 9, 1, &one));
    assert_ok(cell_map_new(&s->Z, 9, 3, &three));
    assert_int_equal(one.cells, three.cells);
    assert_memory_equal(one.row, three.row, N * sizeof *one.row);
    assert_memory_equal(one.centre.Z, three.centre.Z, one.cells * D * sizeof *one.centre.Z);
    cell_map_free(&one);
    cell_map_free(&three);
}

/* ---- Seats ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* b_i (d_4 - d_j) = b_j (d_4 - d_i), which sum to 1, of the three nearest centres. */
static void test_shares_fade_with_the_distance(void **state)
{
    const setting *s = *state;
    cell_map map;
    size_t cell[B * CELL_SEATS];
    double share[B * CELL_SEATS];
    assert_ok(cell_map_new(&s->Z, 20, 1, &map));
    assert_int_equal(cell_seats(&map), CELL_SEATS);
    assert_ok(cell_seats_find(&map, &s->queries, 1, cell, share, NULL));
    for (size_t q = 0; q < B; q++) {
        const double *z = s->queries.Z + q * D, *b = share + q * CELL_SEATS;
        double d[N], sum = 0.0;
        for (size_t k = 0; k < map.cells; k++)
            d[k] = distance(z, map.centre.Z + k * D);
        qsort(d, map.cells, sizeof *d, by_value);
        for (size_t i = 0; i < CELL_SEATS; i++) {
            sum += b[i];
            assert_close(distance(z, map.centre.Z + cell[q * CELL_SEATS + i] * D), d[i], 1e-12);
            assert_close(b[i] * (d[CELL_SEATS] - d[0]), b[0] * (d[CELL_SEATS] - d[i]), 1e-9);
        }
        assert_close(sum, 1.0, 1e-12);
    }
    cell_map_free(&map);
}

/* One cell is asked alone, and two are one seat: there has to be a centre that is farther. */
static void test_few_cells_have_few_seats(void **state)
{
    const setting *s = *state;
    for (size_t cells = 1; cells <= 4; cells++) {
        cell_map map;
        size_t cell[B * CELL_SEATS];
        double share[B * CELL_SEATS];
        assert_ok(cell_map_new(&s->Z, (N + cells - 1) / cells, 1, &map));
        assert_int_equal(map.cells, cells);
        assert_int_equal(cell_seats(&map), cells > 1 ? cells - 1 : 1);
        assert_ok(cell_seats_find(&map, &s->queries, 1, cell, share, NULL));
        if (cells <= 2)
            for (size_t q = 0; q < B; q++)
                assert_true(share[q] == 1.0);
        cell_map_free(&map);
    }
}

/* The weighted mean of the variances is that of the product, 1 / sum b / o. */
static void test_weights_are_those_of_a_product(void **state)
{
    const double b[] = {0.6, 0.3, 0.1}, observed[] = {2.0, 0.5, 4.0};
    double weight[] = {b[0], b[1], b[2]}, precision = 0.0, var = 0.0, sum = 0.0;
    (void)state;
    cell_seats_weigh(3, observed, weight);
    for (size_t i = 0; i < 3; i++) {
        precision += b[i] / observed[i];
        var += weight[i] * observed[i];
        sum += weight[i];
    }
    assert_close(var, 1.0 / precision, 1e-14);
    assert_close(sum, 1.0, 1e-14);
}

/* ---- An expert's rows ---- */

/* Own rows last, and before them no row that is nearer to the cell than one left out. */
static void test_halo_is_nearest(void **state)
{
    const setting *s = *state;
    enum { M = 70 };
    cell_map map;
    size_t row[M];
    assert_ok(cell_map_new(&s->Z, 20, 1, &map));
    for (size_t k = 0; k < map.cells; k++) {
        size_t own = map.start[k + 1] - map.start[k];
        char inside[N] = {0};
        double last = INFINITY;
        assert_ok(halo_choose(&map, k, &s->Z, s->index, M, row));
        for (size_t i = 0; i < M; i++)
            inside[row[i]] = 1;
        for (size_t i = 0; i < own; i++)
            assert_true(inside[map.row[map.start[k] + i]]);
        for (size_t i = 0; i + own < M; i++) {
            double least = INFINITY;
            for (size_t c = map.start[k]; c < map.start[k + 1]; c++)
                least = fmin(least, distance(s->Z.Z + row[i] * D, s->Z.Z + map.row[c] * D));
            assert_true(least <= last);
            last = least;
        }
    }
    cell_map_free(&map);
}

/* ---- Experts ---- */

static void test_expert_of_all_rows_is_exact(void **state)
{
    const setting *s = *state;
    cell_map map;
    cell_space w;
    double mean[B], explained[B], spread[B], noise[B], exact_mean[B], exact[B], alpha[N];
    double *L = mem_alloc((size_t)N * N, sizeof *L), *room = mem_alloc((size_t)N * B, sizeof *room);
    size_t query[B];
    cell_answers out = {.mean = mean, .explained = explained, .spread = spread, .noise = noise};
    expert_output expected = {.mean = exact_mean, .explained = exact};
    assert_ok(factorise(&s->theta, &s->Z, &s->rows, 1, L, alpha));
    posterior(&s->theta, &s->Z, L, alpha, &s->queries, room, &expected);
    for (size_t q = 0; q < B; q++)
        query[q] = q;
    assert_ok(cell_map_new(&s->Z, 40, 1, &map));
    assert_ok(cell_space_new(N, D, &w));
    for (size_t k = 0; k < map.cells; k++) {
        cell_expert e;
        assert_ok(cell_expert_new(&s->source, &map, k, N, &e));
        cell_expert_ask(&s->source, &e, &s->queries, query, B,
                        (spread_rule){.prior = INFINITY, .untested = 1.0}, &w, &out);
        for (size_t q = 0; q < B; q++) {
            assert_close(mean[q], exact_mean[q], 1e-10);
            assert_close(explained[q], exact[q], 1e-10);
            assert_true(spread[q] == 1.0 && noise[q] == s->theta.noise);
        }
        cell_expert_free(&e);
    }
    cell_space_free(&w);
    cell_map_free(&map);
    mem_free(L);
    mem_free(room);
}

static void test_answers_do_not_depend_on_the_batch(void **state)
{
    const setting *s = *state;
    cell_map map;
    cell_space w;
    cell_expert e;
    double all[4][B], one[4];
    size_t query[B];
    cell_answers many = {.mean = all[0], .explained = all[1], .spread = all[2], .noise = all[3]};
    cell_answers alone = {
        .mean = &one[0], .explained = &one[1], .spread = &one[2], .noise = &one[3]};
    for (size_t q = 0; q < B; q++)
        query[q] = B - 1 - q;
    assert_ok(cell_map_new(&s->Z, 20, 1, &map));
    assert_ok(cell_space_new(130, D, &w));
    assert_ok(cell_expert_new(&s->source, &map, 3, 130, &e));
    cell_expert_ask(&s->source, &e, &s->queries, query, B,
                    (spread_rule){.prior = 2.0, .untested = 1.0, .nested = 1}, &w, &many);
    for (size_t q = 0; q < B; q++) {
        cell_expert_ask(&s->source, &e, &s->queries, query + q, 1,
                        (spread_rule){.prior = 2.0, .untested = 1.0, .nested = 1}, &w, &alone);
        for (int k = 0; k < 4; k++)
            assert_memory_equal(&one[k], &all[k][q], sizeof one[k]);
    }
    cell_expert_free(&e);
    cell_space_free(&w);
    cell_map_free(&map);
}

/* ---- What is kept ---- */

static quorum_status store_of(const setting *s, size_t m, cell_store **store)
{
    cell_map map;
    quorum_status status = cell_store_divide(&s->Z, m, 1, &map);
    if (status == QUORUM_OK)
        return cell_store_new(&s->source, m, &map, store);
    cell_map_free(&map);
    return status;
}

static void test_kept_experts_stay_within_their_room(void **state)
{
    const setting *s = *state;
    cell_store *store;
    double each = cell_expert_bytes(100, D, 0), room = 2.5 * each;
    const cell_expert *first, *again, *others[3];
    assert_ok(store_of(s, 100, &store));
    assert_true(cell_store_map(store)->cells >= 8);
    assert_ok(cell_store_take(store, 0, room, &first));
    assert_ok(cell_store_take(store, 0, room, &again));
    assert_ptr_equal(first, again);
    cell_store_release(store, 0, again);
    for (size_t k = 1; k <= 3; k++) { /* the second of them makes way for the third */
        assert_ok(cell_store_take(store, k, room, &others[k - 1]));
        cell_store_release(store, k, others[k - 1]);
        assert_true(cell_store_kept(store) <= room);
    }
    assert_ok(cell_store_take(store, 0, room, &again)); /* in use all the time */
    assert_ptr_equal(first, again);
    cell_store_release(store, 0, again);
    cell_store_release(store, 0, first);
    assert_ok(cell_store_take(store, 5, 0.0, &again)); /* no room: not kept */
    cell_store_release(store, 5, again);
    assert_true(cell_store_kept(store) == 0.0);
    cell_store_free(store);
}

static quorum_status make_and_ask(const setting *s)
{
    cell_store *store = NULL;
    const cell_expert *e = NULL;
    cell_space w = {0};
    double mean;
    size_t query = 0;
    cell_answers out = {.mean = &mean};
    quorum_status status = QUORUM_OK;
    TRY_OR_DONE(store_of(s, 60, &store));
    TRY_OR_DONE(cell_space_new(60, D, &w));
    TRY_OR_DONE(cell_store_take(store, 1, 1e9, &e));
    cell_expert_ask(&s->source, e, &s->queries, &query, 1,
                    (spread_rule){.prior = 2.0, .untested = 1.0}, &w, &out);
    cell_store_release(store, 1, e);
done:
    cell_space_free(&w);
    cell_store_free(store);
    return status;
}

static void test_out_of_memory(void **state)
{
    mem_fail_at(0);
    assert_ok(make_and_ask(*state));
    long needed = mem_allocations();
    assert_true(needed > 10);
    for (long n = 1; n <= needed; n++) {
        mem_fail_at(n);
        assert_int_equal(make_and_ask(*state), QUORUM_E_MEMORY);
    }
    mem_fail_at(0);
}

/* A map told to a file and made of it again finds the same cells, for the same rows. */
static void test_known_cells_are_the_same(void **state)
{
    const setting *s = *state;
    cell_map made, known;
    size_t label[N], of_made[B], of_known[B];
    assert_ok(cell_map_new(&s->Z, 20, 1, &made));
    double *centre = mem_alloc(made.cells * D, sizeof *centre);
    cell_map_tell(&made, centre, label);
    assert_ok(cell_map_known(&s->Z, made.cells, centre, label, 1, &known));
    assert_memory_equal(made.start, known.start, (made.cells + 1) * sizeof *made.start);
    assert_memory_equal(made.row, known.row, N * sizeof *made.row);
    assert_memory_equal(made.centre.norm, known.centre.norm, made.cells * sizeof(double));
    assert_ok(cell_map_find(&made, &s->queries, 1, of_made, NULL));
    assert_ok(cell_map_find(&known, &s->queries, 1, of_known, NULL));
    assert_memory_equal(of_made, of_known, sizeof of_made);
    mem_free(centre);
    cell_map_free(&made);
    cell_map_free(&known);
}

/* Experts that are not kept are made once for all queries of a call: so calls should be large. */
static void test_cells_want_many_queries_at_once(void **state)
{
    (void)state;
    enum { FEW = 40 };
    double X[FEW], y[FEW];
    for (int i = 0; i < FEW; i++)
        y[i] = sin(X[i] = 0.1 * i);
    quorum_model *m = NULL;
    quorum_options *o = quorum_options_new();
    assert_int_equal(quorum_options_set(o, "theta", "1,1,0.1"), QUORUM_OK);
    assert_int_equal(quorum_fit(X, y, FEW, 1, NULL, o, &m), QUORUM_OK);
    assert_int_equal(quorum_options_set(o, "memory", "2G"), QUORUM_OK);
    assert_int_equal(quorum_options_set(o, "method", "nearest"), QUORUM_OK);
    assert_int_equal(quorum_block_rows(m, o), 65536);
    assert_int_equal(quorum_options_set(o, "method", "cells"), QUORUM_OK);
    assert_int_equal(quorum_block_rows(m, o), 1 << 20);
    assert_int_equal(quorum_options_set(o, "memory", "100M"), QUORUM_OK);
    assert_true(quorum_block_rows(m, o) < 200000); /* a tenth of the memory */
    quorum_options_free(o);
    quorum_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_with_the_nearest_centre),
        cmocka_unit_test(test_map_is_the_same_on_any_threads),
        cmocka_unit_test(test_shares_fade_with_the_distance),
        cmocka_unit_test(test_few_cells_have_few_seats),
        cmocka_unit_test(test_weights_are_those_of_a_product),
        cmocka_unit_test(test_halo_is_nearest),
        cmocka_unit_test(test_expert_of_all_rows_is_exact),
        cmocka_unit_test(test_answers_do_not_depend_on_the_batch),
        cmocka_unit_test(test_known_cells_are_the_same),
        cmocka_unit_test(test_cells_want_many_queries_at_once),
        cmocka_unit_test(test_kept_experts_stay_within_their_room),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
