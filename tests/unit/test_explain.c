/* quorum_importance and quorum_effect: what fails gives a sentence and no leak, what is wrong is refused, a
 * callback can cancel, and of a function of one input the other has no share. */
#include "support.h"

enum { ROWS = 60, COLUMNS = 2, POINTS = 5 };

typedef struct {
    double X[ROWS * COLUMNS], y[ROWS];
    quorum_model *model;
    quorum_options *options;
    quorum_new_rows rows;
} problem;

/* y = sin(3 a), b being noise that the theta given does not look at. */
static problem *make_problem(void)
{
    problem *p = mem_alloc_zero(1, sizeof *p);
    rng r = rng_seed(3, 77);
    for (size_t i = 0; i < ROWS; i++) {
        p->X[i * COLUMNS] = rng_uniform(&r);
        p->X[i * COLUMNS + 1] = rng_uniform(&r);
        p->y[i] = sin(3.0 * p->X[i * COLUMNS]);
    }
    p->options = quorum_options_new();
    assert_ok(quorum_options_set(p->options, "theta", "0.5,1000,1,0.001"));
    assert_ok(quorum_options_set(p->options, "kernel", "se"));
    assert_ok(quorum_options_set(p->options, "threads", "1"));
    assert_ok(quorum_options_set(p->options, "calibrate", "false"));
    assert_ok(quorum_fit(p->X, p->y, ROWS, COLUMNS, NULL, p->options, &p->model));
    p->rows = (quorum_new_rows){.rows = ROWS, .X = p->X, .y = p->y};
    return p;
}

static void problem_free(problem *p)
{
    quorum_model_free(p->model);
    quorum_options_free(p->options);
    mem_free(p);
}

static quorum_status ask_importance(problem *p, quorum_input_importance out[COLUMNS])
{
    quorum_importance_summary about;
    return quorum_importance(p->model, &p->rows, 30, p->options, out, &about);
}

static quorum_status ask_effect(problem *p, double mean[POINTS])
{
    static const double values[POINTS] = {0.0, 0.25, 0.5, 0.75, 1.0};
    double lower[POINTS], upper[POINTS], support[POINTS], curves[2 * POINTS], at[2];
    quorum_effect_grid grid = {.axes = 1, .column = {0}, .count = {POINTS}, .value = {values}};
    quorum_effect_curves out = {.mean = mean,
                                .lower = lower,
                                .upper = upper,
                                .support = support,
                                .curves = curves,
                                .wanted = 2,
                                .at = at};
    return quorum_effect(p->model, &p->rows, 30, &grid, p->options, &out, NULL);
}

static void test_one_input_has_it_all(void **state)
{
    (void)state;
    problem *p = make_problem();
    quorum_input_importance out[COLUMNS];
    double mean[POINTS];
    assert_ok(ask_importance(p, out));
    assert_true(out[0].first.value > 0.8 && out[0].total.value > 0.8);
    assert_true(fabs(out[1].total.value) < 1e-3 && fabs(out[1].squared_error.value) < 1e-3);
    assert_true(out[0].squared_error.low > 0.05);
    assert_ok(ask_effect(p, mean));
    for (size_t k = 0; k < POINTS; k++)
        assert_true(fabs(mean[k] - sin(0.75 * (double)k)) < 0.05);
    problem_free(p);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    problem *p = make_problem();
    quorum_input_importance out[COLUMNS];
    double mean[POINTS];
    for (int which = 0; which < 2; which++) {
        quorum_status status = QUORUM_E_MEMORY;
        long n = 0;
        while (status < 0) {
            mem_fail_at(++n);
            status = which ? ask_effect(p, mean) : ask_importance(p, out);
            mem_fail_at(0);
            if (status < 0) {
                assert_int_equal(status, QUORUM_E_MEMORY);
                assert_true(quorum_message()[0] != '\0');
            }
        }
        assert_true(n > 20);
    }
    problem_free(p);
}

static void assert_refused(quorum_status status, quorum_status expected, const char *word)
{
    assert_int_equal(status, expected);
    assert_non_null(strstr(quorum_message(), word));
}

static void test_what_is_refused(void **state)
{
    (void)state;
    problem *p = make_problem();
    quorum_input_importance out[COLUMNS];
    quorum_importance_summary about;
    double mean[POINTS], offset[ROWS] = {0};
    assert_refused(quorum_importance(p->model, NULL, 0, NULL, out, &about), QUORUM_E_ARGUMENT,
                   "NULL");
    p->rows.rows = 19;
    assert_refused(ask_importance(p, out), QUORUM_E_DATA, "20 are needed");
    p->rows.rows = ROWS;
    p->rows.offset = offset;
    assert_refused(ask_importance(p, out), QUORUM_E_ARGUMENT, "offset");
    p->rows.offset = NULL;
    p->y[7] = NAN;
    assert_refused(ask_importance(p, out), QUORUM_E_DATA, "row 8");
    p->rows.y = NULL;
    assert_ok(ask_importance(p, out));
    assert_true(isnan(out[0].nlpd.value) && isfinite(out[0].total.value));
    p->X[5] = INFINITY;
    p->rows.rows = 30; /* all are looked at */
    assert_true(ask_effect(p, mean) < 0 && isnan(mean[0]));
    problem_free(p);
}

static int stop_at_once(void *user, const char *stage, double fraction, const char *detail)
{
    (void)stage;
    (void)fraction;
    (void)detail;
    ++*(int *)user;
    return 1;
}

static void test_a_callback_can_cancel(void **state)
{
    (void)state;
    problem *p = make_problem();
    quorum_input_importance out[COLUMNS];
    int asked = 0;
    quorum_options_set_progress(p->options, stop_at_once, &asked);
    assert_int_equal(ask_importance(p, out), QUORUM_E_CANCELLED);
    assert_true(asked > 0);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_input_has_it_all),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_a_callback_can_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
