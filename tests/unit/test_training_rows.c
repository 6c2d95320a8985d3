/* quorum_training_rows: what was given to fit comes back, whatever units, trend, warp and metric. */
#include "support.h"

#include "quorum.h"

enum { ROWS = 80, INPUTS = 3 };

/* Fits with the options, a list of names and values, and compares rows. */
static void check_back(const char *const *set, double add, double scale)
{
    double *X = random_normals(ROWS * INPUTS, 3), *y = smooth_targets(X, ROWS, INPUTS, 0.1);
    double table[ROWS * INPUTS], back[ROWS];
    quorum_options *o = quorum_options_new();
    quorum_model *m = NULL;
    quorum_info info;
    for (size_t i = 0; i < ROWS; i++) {
        X[i * INPUTS] = 1000.0 + 50.0 * X[i * INPUTS];
        y[i] = add + scale * y[i];
    }
    for (; *set; set += 2)
        assert_ok(quorum_options_set(o, set[0], set[1]));
    assert_ok(quorum_fit(X, y, ROWS, INPUTS, NULL, o, &m));
    assert_ok(quorum_inspect(m, &info));
    assert_ok(quorum_training_rows(m, table, back));
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t d = 0; d < INPUTS; d++)
            assert_close(table[i * INPUTS + d], X[info.row[i] * INPUTS + d], 1e-12);
        assert_close(back[i], y[info.row[i]], 1e-12);
    }
    assert_ok(quorum_training_rows(m, NULL, NULL));
    mem_fail_at(1);
    assert_int_equal(quorum_training_rows(m, table, NULL), QUORUM_E_MEMORY);
    mem_fail_at(0);
    quorum_model_free(m);
    quorum_options_free(o);
    mem_free(X);
    mem_free(y);
}

static void rows_come_back(void **state)
{
    (void)state;
    check_back((const char *const[]){"theta", "1,1,1,1,0.1", "experts", "4", NULL}, 5.0, 2.0);
    check_back((const char *const[]){"theta", "1,1,1,1,0.1", "trend", "linear", NULL}, 0.0, 1e6);
    check_back((const char *const[]){"theta", "1,1,1,1,0.1", "warp", "log", NULL}, 9.0, 1.0);
    check_back((const char *const[]){"metric", "linear", "train-rows", "80", "max-evaluations",
                                     "20", NULL},
               0.0, 1.0);
}

/* Levels by their numbers, and an offset taken off; whatever the encoding, theta having as many numbers as it
 * wants. */
static void check_levels(const char *encoding, const char *theta)
{
    static char red[] = "red", blue[] = "blue", green[] = "green";
    static char *names[] = {blue, green, red}, **level[] = {NULL, names};
    size_t levels[] = {0, 3}, n = 60;
    double *x = random_normals(n, 5), X[120], y[60], offset[60], table[120], back[60];
    for (size_t i = 0; i < n; i++) {
        X[2 * i] = x[i];
        X[2 * i + 1] = (double)(i % 3);
        offset[i] = 10.0 * (double)(i % 5);
        y[i] = offset[i] + sin(x[i]) + (i % 3 == 2 ? 3.0 : i % 3 == 1 ? 1.0 : 0.0);
    }
    quorum_data data = {.rows = n,
                        .inputs = 2,
                        .X = X,
                        .y = y,
                        .target = 2,
                        .offset = offset,
                        .offset_place = 3,
                        .levels = levels,
                        .level = level};
    quorum_options *o = quorum_options_new();
    quorum_model *m = NULL;
    quorum_info info;
    assert_ok(quorum_options_set(o, "theta", theta));
    assert_ok(quorum_options_set(o, "encoding", encoding));
    assert_ok(quorum_fit_data(&data, o, &m));
    assert_ok(quorum_inspect(m, &info));
    assert_ok(quorum_training_rows(m, table, back));
    for (size_t i = 0; i < n; i++) {
        size_t k = info.row[i];
        assert_close(table[2 * i], X[2 * k], 1e-12);
        assert_true(table[2 * i + 1] == X[2 * k + 1]);
        assert_close(back[i], y[k] - offset[k], 1e-11);
    }
    assert_int_equal(quorum_training_rows(NULL, table, back), QUORUM_E_ARGUMENT);
    quorum_model_free(m);
    quorum_options_free(o);
    mem_free(x);
}

static void levels_and_offsets(void **state)
{
    (void)state;
    check_levels("position", "1,1,1,0.1");
    check_levels("distance", "1,1,1,1,1,1,0.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_come_back),
                                       cmocka_unit_test(levels_and_offsets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
