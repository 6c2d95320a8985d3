/* Missing cells: told, filled and counted by their formulas, refused in damaged model files, and memory
 * that runs out anywhere between a file with holes and a prediction. */
#include "encode/holes.h"
#include "quorum.h"
#include "support.h"

#include <unistd.h>

/* Columns: a number with holes in training and a period, a category with a level for them, a number without. */
static made_input inputs_made[] = {{.column = 0, .kind = MADE_SIN, .period = 24.0},
                                   {.column = 0, .kind = MADE_HOLE}};
static const made_inputs made = {.columns = 3, .count = 2, .of = inputs_made};

static hole_rule rule(column_holes of[3])
{
    static const size_t levels[] = {0, 4, 0};
    hole_rule h = {.columns = 3, .of = of};
    for (size_t d = 0; d < 3; d++)
        holes_settle(&h, &made, d, levels[d]);
    return h;
}

static void holes_by_their_formulas(void **state)
{
    (void)state;
    column_holes of[] = {
        {7.5, 0.25, NO_TELLER, 0}, {2.0, 0.5, NO_TELLER, 0}, {-1.5, 2.0, NO_TELLER, 0}};
    hole_rule h = rule(of);
    const double T[] = {6, 1, 3, NAN, 2, 3, 6, 0, NAN};
    double X[15];
    int anew;
    made_apply(&made, 3, T, X);
    assert_true(X[3] == 1.0 && X[4] == 0.0 && isnan(X[5]) && X[8] == 0.0 && X[9] == 1.0);
    assert_true(holes_fill(&h, &made, X, &anew) == 0.0 && !anew);
    assert_true(holes_fill(&h, &made, X + 5, &anew) == 0.75 && !anew && X[5] == 7.5);
    assert_true(holes_has(&h, X + 5, 0) && holes_has(&h, X + 5, 1) && !holes_has(&h, X + 5, 2));
    assert_true(holes_fill(&h, &made, X + 10, &anew) == 2.0 && anew && X[12] == -1.5);
    assert_true(holes_variance(&h, X + 5) == 0.75 && holes_variance(&h, X + 10) == 0.0);
}

static void damaged_rules_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"[]",
                                      "{}",
                                      "[{\"fill\":1}]",
                                      "[{\"fill\":1,\"variance\":-1}]",
                                      "[{\"fill\":\"x\",\"variance\":1}]",
                                      "[{\"fill\":1,\"variance\":1},{\"fill\":1,\"variance\":1}]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_tree tree;
        hole_rule h = {0};
        const char *what;
        assert_ok(json_parse(bad[i], strlen(bad[i]), &tree));
        assert_int_equal(holes_read(tree.root, 1, &h, &what), QUORUM_E_FORMAT);
        assert_non_null(what);
        holes_free(&h);
        json_free(&tree);
    }
}

/* ---- Memory ---- */

static void write_table(void)
{
    FILE *f = fopen("t.csv", "w");
    assert_non_null(f);
    fputs("a,b,y\n,p,1\n", f);
    for (int i = 0; i < 40; i++) {
        const char *b = i % 5 == 0 ? "" : i % 2 ? "p" : "q";
        if (i % 4)
            fprintf(f, "%d", i * i % 7);
        fprintf(f, ",%s,%g\n", b, sin(i / 7.0));
    }
    assert_int_equal(fclose(f), 0);
}

static quorum_status predict_saved(const quorum_options *o, double mean[2])
{
    quorum_model *model = NULL;
    quorum_stream *stream = NULL;
    double X[2 * 3];
    size_t rows = 0;
    quorum_prediction out = {.mean = mean};
    quorum_status status = quorum_load("m.npz", &model);
    if (status >= 0)
        status = quorum_stream_open("t.csv", model, 0, o, &stream);
    if (status >= 0)
        status = quorum_stream_next(stream, 2, X, NULL, &rows);
    if (status >= 0)
        status = quorum_predict(model, X, rows, o, &out, NULL);
    quorum_stream_close(stream);
    quorum_model_free(model);
    return status;
}

static quorum_status go_all_the_way(const quorum_options *o, double mean[2])
{
    quorum_data *data = NULL;
    quorum_model *model = NULL;
    quorum_status status = quorum_data_read("t.csv", o, &data);
    if (status >= 0)
        status = quorum_fit_data(data, o, &model);
    if (status >= 0)
        status = quorum_save(model, "m.npz");
    quorum_data_free(data);
    quorum_model_free(model);
    return status < 0 ? status : predict_saved(o, mean);
}

static void memory_that_runs_out(void **state)
{
    (void)state;
    double mean[2], wanted[2];
    quorum_options *o = quorum_options_new();
    assert_ok(quorum_options_set(o, "theta", "1,1,1,1,0.1"));
    assert_ok(quorum_options_set(o, "kernel", "se"));
    assert_ok(quorum_options_set(o, "experts", "1"));
    assert_ok(quorum_options_set(o, "threads", "1"));
    assert_ok(quorum_options_set(o, "missing", "impute"));
    write_table();
    assert_ok(go_all_the_way(o, wanted));
    assert_true(isfinite(wanted[0]) && isfinite(wanted[1]));
    for (long n = 1;; n++) {
        mem_fail_at(n);
        quorum_status status = go_all_the_way(o, mean);
        long asked = mem_allocations();
        mem_fail_at(0);
        if (status >= 0)
            assert_memory_equal(mean, wanted, sizeof mean);
        else
            assert_int_equal(status, QUORUM_E_MEMORY);
        if (asked < n) {
            assert_true(status >= 0 && n > 100);
            break;
        }
    }
    quorum_options_free(o);
}

static int enter_directory(void **state)
{
    static char name[] = "/tmp/quorum-holes-XXXXXX";
    (void)state;
    return mkdtemp(name) && chdir(name) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
    char here[256];
    (void)state;
    (void)remove("t.csv");
    (void)remove("m.npz");
    return getcwd(here, sizeof here) && chdir("/") == 0 && rmdir(here) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holes_by_their_formulas),
        cmocka_unit_test(damaged_rules_are_refused),
        cmocka_unit_test(memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
