/* Categories: tables of levels, positions and nodes against their definition, and memory that runs out
 * anywhere between a file with text and a prediction of a new level. */
#include "data/levels.h"
#include "encode/encoding.h"
#include "encode/nodes.h"
#include "quorum.h"
#include "support.h"

#include <unistd.h>

/* ---- Tables of levels ---- */

static void levels_are_numbered_and_sorted(void **state)
{
    (void)state;
    enum { N = 3000 };
    static size_t place[N];
    level_table t = {0};
    char text[32];
    size_t number;
    for (size_t i = 0; i < N; i++) {
        snprintf(text, sizeof text, "%zu", i * 7919 % N);
        assert_ok(levels_add(&t, text, strlen(text), &number));
        assert_int_equal(number, i);
    }
    for (size_t i = 0; i < N; i++)
        assert_int_equal(levels_find(&t, levels_at(&t, i), strlen(levels_at(&t, i))), i);
    assert_int_equal(levels_find(&t, "12x", 3), N);
    assert_int_equal(levels_find(&t, "12x", 2), levels_find(&t, "12", 2)); /* length counts */
    assert_ok(levels_sort(&t, place));
    for (size_t i = 0; i < N; i++)
        for (size_t k = i % 97; k < N; k += 97)
            assert_true((place[i] < place[k]) == (strcmp(levels_at(&t, i), levels_at(&t, k)) < 0));
    levels_free(&t);
}

static void too_many_or_too_long(void **state)
{
    (void)state;
    level_table t = {0};
    char text[LONGEST_LEVEL + 2];
    size_t number;
    for (size_t i = 0; i <= MOST_LEVELS; i++) {
        snprintf(text, sizeof text, "%zu", i);
        assert_ok(levels_add(&t, text, strlen(text), &number));
        assert_int_equal(t.overflows, i == MOST_LEVELS);
    }
    assert_int_equal(t.count, MOST_LEVELS);
    levels_free(&t);
    memset(text, 'a', sizeof text);
    assert_ok(levels_add(&t, text, LONGEST_LEVEL, &number));
    assert_int_equal(t.overflows, 0);
    assert_ok(levels_add(&t, text, LONGEST_LEVEL + 1, &number));
    assert_int_equal(t.overflows, 1);
    levels_free(&t);
}

/* ---- Encoding ---- */

enum { LEVELS = 40 };

/* One number and one category, of levels 00 .. 39. */
static encoding make_encoding(void)
{
    static char text[LEVELS][4];
    static char *names[LEVELS];
    char **of[] = {NULL, names};
    const size_t levels[] = {0, LEVELS};
    encoding e;
    for (size_t l = 0; l < LEVELS; l++) {
        snprintf(text[l], sizeof text[l], "%02zu", l);
        names[l] = text[l];
    }
    assert_ok(encoding_new(2, levels, (char *const *const *)of, &e));
    return e;
}

/* The target is a slope and an effect of each level, without noise: PRIOR_ROWS rows shrink them a little. */
static void positions_are_effects(void **state)
{
    (void)state;
    enum { N = 5000 };
    double *X = random_normals(2 * (size_t)N, 1), *y = random_normals(N, 2), mean = 0, var = 0;
    encoding e = make_encoding();
    for (size_t i = 0; i < N; i++) {
        X[2 * i + 1] = (double)(i * 7919 % LEVELS);
        X[2 * i] += X[2 * i + 1] / LEVELS;
        y[i] = 1e6 + 3.0 * X[2 * i] - 0.1 * X[2 * i + 1];
        mean += y[i] / N;
    }
    for (size_t i = 0; i < N; i++)
        var += (y[i] - mean) * (y[i] - mean) / N;
    row_set own = rows_view_of(N, 2, X, y);
    scattered_rows all = rows_scattered(N, &own);
    assert_ok(encoding_learn(QUORUM_OK, &all, NULL, &e));
    for (size_t l = 1; l < LEVELS; l++)
        assert_close((e.of[1].position[l] - e.of[1].position[0]) * sqrt(var), -0.1 * (double)l,
                     0.1 * (double)l);
    double x[] = {0.25, 3, -4, -1}, z[4];
    encoding_apply(&e, 2, x, z);
    assert_true(z[0] == 0.25 && z[1] == e.of[1].position[3] && z[2] == -4);
    assert_true(z[3] == e.of[1].unknown);
    assert_true(!encoding_is_new(&e, x) && encoding_is_new(&e, x + 2));
    encoding_free(&e);
    mem_free(X);
    mem_free(y);
}

static void names_are_checked(void **state)
{
    (void)state;
    char *unsorted[] = {"b", "a"}, *alike[] = {"a", "a"}, *broken[] = {"a", "\xff"};
    char *empty[] = {"", "a"}, *control[] = {"a", "b\n"};
    char **const bad[] = {unsorted, alike, broken, empty, control, NULL};
    const size_t two = 2;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        encoding e;
        char **of[] = {bad[i]};
        assert_int_equal(encoding_new(1, &two, (char *const *const *)of, &e), QUORUM_E_ARGUMENT);
        encoding_free(&e);
    }
}

/* ---- Levels that stand apart ---- */

/* Any two levels, and a new one, have the squared distance 2; inputs of one category share a length-scale. */
static void levels_stand_apart(void **state)
{
    (void)state;
    enum { K = 5 };
    made_input of[K + 1] = {{.column = 0, .kind = MADE_HOLE}};
    made_inputs m = {.columns = 2, .count = K + 1, .of = of};
    double code[K + 1][K];
    size_t same[K + 3];
    for (size_t l = 0; l < K; l++)
        of[l + 1] = (made_input){.column = 1, .kind = MADE_LEVEL, .level = l, .levels = K};
    for (size_t l = 0; l <= K; l++)
        for (size_t k = 0; k < K; k++)
            code[l][k] = made_of(&of[k + 1], l < K ? (double)l : -1.0);
    for (size_t a = 0; a <= K; a++)
        for (size_t b = 0; b < a; b++) {
            double s = 0.0;
            for (size_t k = 0; k < K; k++)
                s += (code[a][k] - code[b][k]) * (code[a][k] - code[b][k]);
            assert_close(s, 2.0, 1e-14);
        }
    assert_int_equal(made_first_level(&m, 1), 3);
    assert_int_equal(made_first_level(&m, 0), 0);
    assert_int_equal(made_share_scales(&m, K + 3, same), 4);
    for (size_t d = 0; d < K + 3; d++)
        assert_int_equal(same[d], d < 3 ? d : 3);
}

/* ---- Nodes ---- */

/* Means that follow the positions: the nodes' variance is that of all levels, times 1 + 1/L. */
static void nodes_stand_for_all_levels(void **state)
{
    (void)state;
    encoding e = make_encoding();
    category *c = &e.of[1];
    level_nodes nodes[2] = {{0}};
    double mean = 0, var = 0, a[MOST_NODES], z[2], m, v, x[] = {0.5, -1};
    for (size_t l = 0; l < LEVELS; l++) {
        c->position[l] = sin((double)(l * l));
        mean += c->position[l] / LEVELS;
    }
    for (size_t l = 0; l < LEVELS; l++)
        var += (c->position[l] - mean) * (c->position[l] - mean) / (LEVELS - 1);
    encoding_settle(&e);
    assert_ok(level_nodes_choose(c, &nodes[1]));
    node_set s = node_set_of(&e, nodes, x);
    assert_int_equal(s.count, MOST_NODES);
    for (size_t j = 0; j < s.count; j++) {
        node_set_fill(&e, nodes, &s, j, x, z);
        assert_true(z[0] == 0.5 && category_has(c, z[1]));
        a[j] = c->position[(size_t)z[1]];
        assert_true(j == 0 || a[j] >= a[j - 1]);
    }
    node_set_join(&s, a, &m, &v);
    assert_close(m, mean, 0.1);
    assert_true(v >= var * (1.0 - 1e-9) && v < 1.3 * var);
    encoding_free(&e);
}

/* ---- Memory that runs out ---- */

static void write_table(void)
{
    FILE *f = fopen("t.csv", "w");
    assert_non_null(f);
    fprintf(f, "town,k,x,y\n");
    for (int i = 0; i < 60; i++)
        fprintf(f, "%s,%s,%d,%g\n", i % 3 ? i % 2 ? "Graz" : "Linz" : "Wien",
                i % 5    ? "1"
                : i > 30 ? "1b"
                         : "2",
                i * 37 % 60, sin(i) + i % 3);
    fclose(f);
    f = fopen("q.csv", "w");
    assert_non_null(f);
    fprintf(f, "town,k,x\nGraz,1,3\nNowhere,9,4\n");
    fclose(f);
}

/* From file to predictions. */
static quorum_status go_all_the_way(const quorum_options *o, double mean[2], double std[2])
{
    quorum_data *d = NULL;
    quorum_model *m = NULL;
    quorum_stream *s = NULL;
    double X[6];
    size_t rows = 0;
    quorum_prediction out = {.mean = mean, .std = std};
    quorum_status status = quorum_data_read("t.csv", o, &d);
    if (status >= 0)
        status = quorum_fit_data(d, o, &m);
    if (status >= 0)
        status = quorum_save(m, "m.npz");
    if (status >= 0)
        status = quorum_stream_open("q.csv", m, 0, o, &s);
    if (status >= 0)
        status = quorum_stream_next(s, 2, X, NULL, &rows);
    if (status >= 0)
        status = quorum_predict(m, X, rows, o, &out, NULL);
    quorum_stream_close(s);
    quorum_model_free(m);
    quorum_data_free(d);
    return status;
}

static void memory_that_runs_out(void **state)
{
    (void)state;
    double mean[2], std[2], wanted[2], spread[2];
    quorum_options *o = quorum_options_new();
    assert_ok(quorum_options_set(o, "theta", "1,1,1,1,0.1"));
    assert_ok(quorum_options_set(o, "kernel", "se"));
    assert_ok(quorum_options_set(o, "experts", "1"));
    assert_ok(quorum_options_set(o, "threads", "1"));
    write_table();
    assert_ok(go_all_the_way(o, wanted, spread));
    assert_true(spread[1] > spread[0]);
    for (long n = 1;; n++) {
        mem_fail_at(n);
        quorum_status status = go_all_the_way(o, mean, std);
        long asked = mem_allocations();
        mem_fail_at(0);
        if (asked < n) {
            assert_true(status >= 0 && n > 100);
            assert_memory_equal(mean, wanted, sizeof mean);
            break;
        }
        if (status >= 0) /* what is only a convenience may be missing */
            assert_memory_equal(mean, wanted, sizeof mean);
        else
            assert_int_equal(status, QUORUM_E_MEMORY);
    }
    quorum_options_free(o);
}

static int enter_directory(void **state)
{
    static char name[] = "/tmp/quorum-encode-XXXXXX";
    (void)state;
    return mkdtemp(name) && chdir(name) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
    char here[256];
    (void)state;
    (void)remove("t.csv");
    (void)remove("q.csv");
    (void)remove("m.npz");
    return getcwd(here, sizeof here) && chdir("/") == 0 && rmdir(here) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_numbered_and_sorted),
        cmocka_unit_test(too_many_or_too_long),
        cmocka_unit_test(positions_are_effects),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(nodes_stand_for_all_levels),
        cmocka_unit_test(memory_that_runs_out),
        cmocka_unit_test(levels_stand_apart),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
