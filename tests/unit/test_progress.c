/* Progress inside what the library does at once: item by item, never back, the same results, and how
 * far it is in words. */
#include "base/parallel.h"
#include "base/progress.h"
#include "support.h"

enum { N = 600, D = 2, Q = 64, MANY = 5 };

/* What is heard of one stage. */
typedef struct {
    const char *stage;
    double last, latest;      /* fraction; the last one below 1 */
    int calls, between, back; /* fractions that are new and within (0, 1); smaller than the last */
    unsigned long long done;  /* of "12 of 64 queries", the last                              */
    int wrong;                /* words that do not say the fraction                          */
} heard;

static int listen(void *user, const char *stage, double fraction, const char *detail)
{
    heard *h = user;
    unsigned long long all;
    if (strcmp(stage, h->stage) != 0)
        return 0;
    h->calls++;
    h->back += fraction < h->last;
    h->between += fraction > h->last && fraction > 0.0 && fraction < 1.0;
    if (sscanf(detail, "%llu of %llu", &h->done, &all) == 2)
        h->wrong += fabs((double)h->done - fraction * (double)all) > 1.0;
    h->latest = fraction < 1.0 ? fraction : h->latest;
    h->last = fraction;
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    progress_interval = 0.0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    progress_interval = 0.1;
    return 0;
}

/* ---- parallel_for ---- */

static quorum_status nothing(void *context, size_t item, int worker)
{
    (void)context, (void)item, (void)worker;
    return QUORUM_OK;
}

/* An item that has items of its own. */
static quorum_status inner(void *context, size_t item, int worker)
{
    (void)item, (void)worker;
    return parallel_for(1, 10, nothing, context);
}

/* Of 40 things, 10 to 29 are a stretch: half of it by five items, which have others inside, the rest
 * by ten. */
static void items_are_counted(void **state)
{
    (void)state;
    heard h = {.stage = "count", .last = -1.0};
    progress p = {listen, &h};
    progress_watch watch;
    progress_watch_begin(&watch, &p, "begin");
    assert_ok(progress_stretch(&p, "count", 10, 20, 40, "things"));
    assert_true(h.last == 0.25);
    assert_ok(parallel_for(1, 3, nothing, NULL)); /* nobody expects it */
    assert_true(h.last == 0.25);
    progress_expect(0.5);
    assert_ok(parallel_for(1, 5, inner, NULL));
    assert_ok(progress_go_on());
    assert_true(h.last == 0.5 && h.done == 20);
    progress_range whole = progress_narrow(0.75);
    progress_expect(1.0);
    assert_ok(parallel_for(1, 10, nothing, NULL));
    assert_ok(progress_go_on());
    assert_true(h.last == 0.625 && h.done == 25);
    progress_widen(whole);
    progress_expect(0.1); /* less than is there */
    assert_ok(parallel_for(3, 10, nothing, NULL));
    assert_ok(progress_go_on());
    assert_true(h.last == 0.625);
    assert_int_equal(h.back, 0);
    assert_int_equal(h.wrong, 0);
    assert_int_equal(h.between, 1 + 5 + 10);
    assert_ok(progress_report(&p, "count", 0.9, "-"));
    assert_ok(progress_go_on());
    assert_true(h.last == 0.9); /* a report ends the stretch */
    progress_watch_end(&watch);
}

/* ---- Calls ---- */

typedef struct {
    quorum_options *o;
    double *X, *y, *queries;
    quorum_model *m;
} fitted;

static fitted fit(void)
{
    fitted f = {.o = quorum_options_new(), .X = random_normals((size_t)N * D, 1)};
    f.y = smooth_targets(f.X, N, D, 0.2);
    f.queries = random_normals((size_t)Q * D, 2);
    assert_ok(quorum_options_set(f.o, "experts", "8"));
    assert_ok(quorum_options_set(f.o, "theta", "1.5,1,0.1"));
    assert_ok(quorum_options_set(f.o, "graph", "glasso"));
    assert_ok(quorum_options_set(f.o, "graph-rows", "50"));
    assert_ok(quorum_fit(f.X, f.y, N, D, NULL, f.o, &f.m));
    assert_ok(quorum_options_set(f.o, "neighbours", "20"));
    return f;
}

static void fitted_free(fitted *f)
{
    quorum_model_free(f->m);
    quorum_options_free(f->o);
    mem_free(f->X);
    mem_free(f->y);
    mem_free(f->queries);
}

static heard ask(fitted *f, const char *stage, double *mean, double *gradient)
{
    heard h = {.stage = stage, .last = -1.0};
    quorum_prediction out = {.mean = mean, .mean_gradient = gradient};
    quorum_options_set_progress(f->o, listen, &h);
    assert_ok(quorum_predict(f->m, f->queries, Q, f->o, &out, NULL));
    quorum_options_set_progress(f->o, NULL, NULL);
    return h;
}

static void assert_moves(heard h)
{
    if (h.between < MANY || h.latest < 0.5 || h.back > 0 || h.wrong > 0)
        fail_msg("%s: %d calls, %d moves up to %g, %d back, %d wrong", h.stage, h.calls, h.between,
                 h.latest, h.back, h.wrong);
}

/* All queries are one block, and the callback changes nothing. */
static void every_method_moves_within_a_block(void **state)
{
    (void)state;
    fitted f = fit();
    double mean[Q], alone[Q];
    for (int k = 0; k < quorum_method_count(); k++)
        for (int threads = 1; threads <= 2; threads++) {
            const char *method = quorum_method_name(k);
            int by_rows = strcmp(method, "nearest") == 0 || strcmp(method, "cells") == 0;
            assert_ok(quorum_options_set(f.o, "method", method));
            assert_ok(quorum_options_set(f.o, "neighbours", by_rows ? "20" : "auto"));
            assert_ok(quorum_options_set(f.o, "threads", threads == 1 ? "1" : "2"));
            heard h = ask(&f, "predict", mean, NULL);
            quorum_prediction out = {.mean = alone};
            assert_ok(quorum_predict(f.m, f.queries, Q, f.o, &out, NULL));
            assert_memory_equal(mean, alone, sizeof mean);
            assert_true(h.last == 1.0 && h.back == 0 && h.wrong == 0);
            if (threads == 1)
                assert_moves(h);
        }
    fitted_free(&f);
}

static void ways_of_npae_move(void **state)
{
    (void)state;
    fitted f = fit();
    double mean[Q], gradient[Q * D];
    assert_ok(quorum_options_set(f.o, "threads", "1"));
    assert_ok(quorum_options_set(f.o, "method", "npae"));
    assert_ok(quorum_options_set(f.o, "select", "local:4"));
    heard h = ask(&f, "predict", mean, gradient);
    assert_moves(h);
    assert_true(h.latest > 0.75); /* the gradients too */
    assert_ok(quorum_options_set(f.o, "select", "local:auto"));
    assert_moves(ask(&f, "predict", mean, NULL));
    fitted_free(&f);
}

static void draws_move(void **state)
{
    (void)state;
    static const char *const stages[] = {"predict", "joint errors", "draw"};
    fitted f = fit();
    double *drawn = mem_alloc((size_t)Q * 128, sizeof *drawn);
    assert_ok(quorum_options_set(f.o, "threads", "1"));
    for (size_t k = 0; k < sizeof stages / sizeof *stages; k++) {
        heard h = {.stage = stages[k], .last = -1.0};
        quorum_options_set_progress(f.o, listen, &h);
        assert_ok(quorum_sample(f.m, f.queries, Q, f.o, 128, drawn));
        assert_moves(h);
    }
    mem_free(drawn);
    fitted_free(&f);
}

static void suggestions_move(void **state)
{
    (void)state;
    static const char *const stages[] = {"predict", "joint errors", "covariance", "suggest"};
    fitted f = fit();
    size_t row[8];
    double reduction[8];
    assert_ok(quorum_options_set(f.o, "threads", "1"));
    for (size_t k = 0; k < sizeof stages / sizeof *stages; k++) {
        heard h = {.stage = stages[k], .last = -1.0};
        quorum_options_set_progress(f.o, listen, &h);
        assert_ok(quorum_suggest(f.m, f.X, N, NULL, 0, f.o, 8, row, reduction, NULL));
        assert_moves(h);
    }
    fitted_free(&f);
}

static void updates_move(void **state)
{
    (void)state;
    fitted f = fit();
    heard h = {.stage = "predict", .last = -1.0};
    quorum_new_rows rows = {.rows = Q, .X = f.queries, .y = f.y};
    assert_ok(quorum_options_set(f.o, "threads", "1"));
    quorum_options_set_progress(f.o, listen, &h);
    assert_ok(quorum_update(f.m, &rows, NULL, f.o, NULL));
    assert_moves(h);
    fitted_free(&f);
}

/* More moves than predictions of all rows, each of which is one block. */
static void studies_move(void **state)
{
    (void)state;
    fitted f = fit();
    double values[] = {-1.0, 0.0, 1.0}, mean[3], lower[3], upper[3], support[3];
    heard h = {.stage = "effect", .last = -1.0};
    quorum_new_rows rows = {.rows = Q, .X = f.queries};
    quorum_effect_grid grid = {.axes = 1, .column = {0}, .count = {3}, .value = {values}};
    quorum_effect_curves out = {.mean = mean, .lower = lower, .upper = upper, .support = support};
    assert_ok(quorum_options_set(f.o, "threads", "1"));
    quorum_options_set_progress(f.o, listen, &h);
    assert_ok(quorum_effect(f.m, &rows, 0, &grid, f.o, &out, NULL));
    assert_moves(h);
    assert_true(h.between > 3 * MANY);
    fitted_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_counted), cmocka_unit_test(every_method_moves_within_a_block),
        cmocka_unit_test(ways_of_npae_move), cmocka_unit_test(draws_move),
        cmocka_unit_test(suggestions_move),  cmocka_unit_test(updates_move),
        cmocka_unit_test(studies_move),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
