#include "archive/npz.h"
#include "theta/theta.h"
#include "model/file_sizes.h"
#include "model/meta.h"
#include "support.h"

#include <pthread.h>
#include <unistd.h>

enum { N = 300, D = 3, Q = 70 };

typedef struct {
    double *X, *y, *queries;
    quorum_options *o;
    char folder[64], path[96];
} world;

static int set_up(void **state)
{
    world *w = calloc(1, sizeof *w);
    w->X = random_normals((size_t)N * D, 1);
    w->y = smooth_targets(w->X, N, D, 0.2);
    w->queries = random_normals((size_t)Q * D, 2);
    w->o = quorum_options_new();
    for (size_t i = 0; i < N; i++)
        w->y[i] = 50.0 + 10.0 * w->y[i];
    quorum_options_set(w->o, "experts", "4");
    quorum_options_set(w->o, "theta", "1.5,1,0.1");
    quorum_options_set(w->o, "graph-rows", "50");
    quorum_options_set(w->o, "graph", "glasso");
    strcpy(w->folder, "/tmp/quorum-test-XXXXXX");
    if (!mkdtemp(w->folder))
        return -1;
    snprintf(w->path, sizeof w->path, "%s/model.npz", w->folder);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    mem_fail_at(0);
    unlink(w->path);
    rmdir(w->folder);
    quorum_options_free(w->o);
    mem_free(w->X);
    mem_free(w->y);
    mem_free(w->queries);
    free(w);
    return 0;
}

static quorum_model *fit_model(world *w)
{
    quorum_model *m = NULL;
    assert_ok(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m));
    return m;
}

typedef struct {
    double mean[Q], std[Q], lower[Q], upper[Q];
} answers;

static quorum_status predict(const quorum_model *m, const world *w, answers *a)
{
    quorum_prediction out = {.mean = a->mean, .std = a->std, .lower = a->lower, .upper = a->upper};
    return quorum_predict(m, w->queries, Q, w->o, &out, NULL);
}

static void a_saved_model_predicts_the_same_bits(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w), *again = NULL;
    answers a, b;
    assert_ok(quorum_save(m, w->path));
    assert_ok(quorum_load(w->path, &again));
    for (int k = 0; k < quorum_method_count(); k++) {
        assert_ok(quorum_options_set(w->o, "method", quorum_method_name(k)));
        assert_ok(predict(m, w, &a));
        assert_ok(predict(again, w, &b));
        assert_memory_equal(&a, &b, sizeof a);
    }
    quorum_info x, y;
    assert_ok(quorum_inspect(m, &x));
    assert_ok(quorum_inspect(again, &y));
    assert_true(x.rows == y.rows && x.experts == y.experts && x.nlml == y.nlml && x.seed == y.seed);
    assert_memory_equal(x.precision, y.precision, x.experts * x.experts * 8);
    assert_memory_equal(x.ranking, y.ranking, x.experts * sizeof *x.ranking);
    assert_memory_equal(x.row, y.row, x.rows * sizeof *x.row);
    assert_string_equal(x.options, y.options);
    assert_int_equal(x.named, y.named);
    quorum_model_free(m);
    quorum_model_free(again);
}

static void inspect_says_where_rows_and_names_come_from(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    quorum_info info;
    char seen[N] = {0};
    assert_ok(quorum_inspect(m, &info));
    size_t total = 0;
    for (size_t e = 0; e < info.experts; e++)
        total += info.sizes[e];
    assert_true(total == info.rows);
    for (size_t i = 0; i < info.rows; i++) {
        assert_true(info.row[i] < info.rows && !seen[info.row[i]]);
        seen[info.row[i]] = 1;
    }
    assert_int_equal(info.named, 0);
    assert_non_null(strstr(info.options, "\"partition\":\"kmeans\""));
    quorum_model_free(m);
}

static void intervals_are_those_of_a_gaussian(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    answers a, latent;
    assert_ok(quorum_options_set(w->o, "interval", "0.9"));
    assert_ok(predict(m, w, &a));
    quorum_info info;
    assert_ok(quorum_inspect(m, &info));
    double noise = sqrt(info.noise_variance) * info.y_scale;
    assert_ok(quorum_options_set(w->o, "latent", "true"));
    assert_ok(predict(m, w, &latent));
    for (size_t q = 0; q < Q; q++) {
        assert_close(a.upper[q] - a.mean[q], 1.6448536269514722 * a.std[q], 1e-12);
        assert_close(a.mean[q] - a.lower[q], 1.6448536269514722 * a.std[q], 1e-12);
        assert_close(a.std[q], hypot(latent.std[q], noise), 1e-12);
        assert_true(a.mean[q] == latent.mean[q]);
    }
    quorum_model_free(m);
}

static void rows_do_not_depend_on_their_batch(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    answers whole;
    for (int k = 0; k < quorum_method_count(); k++) {
        assert_ok(quorum_options_set(w->o, "method", quorum_method_name(k)));
        assert_ok(predict(m, w, &whole));
        for (size_t q = 0; q < Q; q += 7) {
            double mean, std;
            quorum_prediction out = {.mean = &mean, .std = &std};
            assert_ok(quorum_predict(m, w->queries + q * D, 1, w->o, &out, NULL));
            assert_true(mean == whole.mean[q] && std == whole.std[q]);
        }
    }
    quorum_model_free(m);
}

/* ---- Many threads on one model ---- */

typedef struct {
    const quorum_model *m;
    const world *w;
    const char *method;
    answers a;
    quorum_status status;
} caller;

static void *call_predict(void *argument)
{
    caller *c = argument;
    quorum_options *o = quorum_options_new();
    quorum_prediction out = {
        .mean = c->a.mean, .std = c->a.std, .lower = c->a.lower, .upper = c->a.upper};
    c->status = quorum_options_set(o, "method", c->method);
    if (c->status == QUORUM_OK)
        c->status = quorum_options_set(o, "threads", "2");
    if (c->status == QUORUM_OK)
        c->status = quorum_predict(c->m, c->w->queries, Q, o, &out, NULL);
    quorum_options_free(o);
    return NULL;
}

static void many_threads_may_predict_at_once(void **state)
{
    world *w = *state;
    quorum_model *m, *fresh = NULL;
    static const char *const methods[] = {"nearest", "grbcm", "rbcm", "grbcm*",
                                          "npae*",   "grbcm", "npae", "cells"};
    enum { CALLERS = 8 };
    static caller c[CALLERS];
    pthread_t thread[CALLERS];
    assert_ok(quorum_options_set(w->o, "experts", "6"));
    assert_ok(quorum_options_set(w->o, "graph", "auto"));
    m = fit_model(w);
    assert_ok(quorum_save(m, w->path));
    assert_ok(quorum_load(w->path, &fresh)); /* nothing is ready yet: all race for it */
    for (int i = 0; i < CALLERS; i++) {
        c[i] = (caller){.m = fresh, .w = w, .method = methods[i]};
        assert_int_equal(pthread_create(&thread[i], NULL, call_predict, &c[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        answers a;
        pthread_join(thread[i], NULL);
        assert_int_equal(c[i].status, QUORUM_OK);
        assert_ok(quorum_options_set(w->o, "method", methods[i]));
        assert_ok(predict(m, w, &a));
        assert_memory_equal(&a, &c[i].a, sizeof a);
    }
    quorum_model_free(m);
    quorum_model_free(fresh);
}

/* ---- Failures ---- */

/* ---- A row at a time ---- */

/* How a service asks, beginning with the default. */
static const struct {
    const char *method, *select, *neighbours;
} ways[] = {{"auto", NULL, NULL},
            {"npae", "local:2", "20"},
            {"npae", "local:2", "0"},
            {"npae", "knn:2", "0"},
            {"npae", "local:auto", "20"},
            {"npae", "all", "0"},
            {"rbcm", "local:2", "0"},
            {"grbcm", "all", "0"},
            {"npae*", NULL, "0"},
            {"groups", NULL, "0"},
            {"ggm", NULL, "0"}};
enum { WAYS = sizeof ways / sizeof *ways };

static quorum_options *options_of_way(int k)
{
    quorum_options *o = quorum_options_new();
    assert_ok(quorum_options_set(o, "threads", "1"));
    assert_ok(quorum_options_set(o, "method", ways[k].method));
    if (ways[k].select)
        assert_ok(quorum_options_set(o, "select", ways[k].select));
    if (ways[k].neighbours)
        assert_ok(quorum_options_set(o, "neighbours", ways[k].neighbours));
    return o;
}

/* Asks for row q; the allocations of the call. */
static long ask_one(const quorum_model *m, const world *w, const quorum_options *o, size_t q,
                    double *mean, double *std)
{
    quorum_prediction out = {.mean = mean, .std = std};
    mem_fail_at(0); /* counts from here */
    assert_ok(quorum_predict(m, w->queries + q * D, 1, o, &out, NULL));
    return mem_allocations();
}

static void a_row_asked_again_allocates_nothing(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    for (int k = 0; k < WAYS; k++) {
        quorum_options *o = options_of_way(k);
        double mean[2], std[2];
        long first = ask_one(m, w, o, 0, &mean[0], &std[0]);
        assert_true(k > 0 || first > 0); /* later ways find what others left */
        assert_int_equal(ask_one(m, w, o, 0, &mean[1], &std[1]), 0);
        assert_true(mean[0] == mean[1] && std[0] == std[1]);
        quorum_options_free(o);
    }
    quorum_model_free(m);
}

typedef struct {
    const quorum_model *m;
    const world *w;
    int way;
    double mean[Q], std[Q];
} row_caller;

static void *ask_rows(void *argument)
{
    row_caller *c = argument;
    quorum_options *o = options_of_way(c->way);
    for (size_t q = 0; q < Q; q++)
        ask_one(c->m, c->w, o, q, &c->mean[q], &c->std[q]);
    quorum_options_free(o);
    return NULL;
}

/* Each call works in memory that another one, of another shape, left behind. */
static void rows_asked_by_many_threads_keep_their_bits(void **state)
{
    world *w = *state;
    static row_caller c[WAYS], alone;
    pthread_t thread[WAYS];
    quorum_model *m = fit_model(w);
    for (int k = 0; k < WAYS; k++) {
        c[k] = (row_caller){.m = m, .w = w, .way = k};
        assert_int_equal(pthread_create(&thread[k], NULL, ask_rows, &c[k]), 0);
    }
    for (int k = 0; k < WAYS; k++)
        pthread_join(thread[k], NULL);
    for (int k = 0; k < WAYS; k++) {
        alone = (row_caller){.m = m, .w = w, .way = k};
        ask_rows(&alone);
        assert_memory_equal(alone.mean, c[k].mean, sizeof alone.mean);
        assert_memory_equal(alone.std, c[k].std, sizeof alone.std);
    }
    quorum_model_free(m);
}

static void bad_data_are_refused(void **state)
{
    world *w = *state;
    quorum_model *m = NULL;
    assert_int_equal(quorum_fit(w->X, w->y, 0, D, NULL, w->o, &m), QUORUM_E_ARGUMENT);
    assert_int_equal(quorum_fit(NULL, w->y, N, D, NULL, w->o, &m), QUORUM_E_ARGUMENT);
    assert_int_equal(quorum_fit(w->X, w->y, 3, D, NULL, w->o, &m), QUORUM_E_DATA);
    assert_says("4 experts for 3 rows");
    double kept = w->X[7 * D + 1];
    w->X[7 * D + 1] = NAN;
    assert_int_equal(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m), QUORUM_E_DATA);
    assert_says("row 8, input 2");
    w->X[7 * D + 1] = kept;
    w->y[3] = INFINITY;
    assert_int_equal(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m), QUORUM_E_DATA);
    for (size_t i = 0; i < N; i++)
        w->y[i] = 4.5;
    assert_int_equal(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m), QUORUM_E_DATA);
    assert_says("constant (4.5");
    assert_null(m);
}

static void bad_names_are_refused(void **state)
{
    world *w = *state;
    quorum_model *m = NULL;
    static const struct {
        const char *first, *target, *message;
    } bad[] = {
        {"Gr\xF6", "y", "the name of input 1 is not UTF-8 text"},
        {"\xED\xA0\x80", "y", "the name of input 1 is not UTF-8 text"},
        {"\xC0\xAF", "y", "the name of input 1 is not UTF-8 text"},
        {"a", "\xE2\x82", "the name of the target is not UTF-8 text"},
        {"a\033[2J", "y",
         "the name of input 1 has a control character (byte 0x1B, place 2): take it out"},
        {NULL, "y", "the name of input 1 is NULL"},
        {"x2", "y", "input 1 and input 2 are both named \"x2\": rename one"},
        {"a", "x3", "input 3 and the target are both named \"x3\": rename one"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *names[D + 1] = {bad[i].first};
        char made[D][16];
        for (size_t d = 1; d < D; d++) {
            snprintf(made[d], sizeof made[d], "x%zu", d + 1);
            names[d] = made[d];
        }
        names[D] = bad[i].target;
        assert_int_equal(quorum_fit(w->X, w->y, N, D, names, w->o, &m), QUORUM_E_ARGUMENT);
        assert_string_equal(quorum_message(), bad[i].message);
        assert_null(m);
    }
}

static void constant_and_duplicate_inputs_are_fine(void **state)
{
    world *w = *state;
    quorum_model *m = NULL;
    answers a;
    for (size_t i = 0; i < N; i++) {
        w->X[i * D + 2] = 3.0;
        if (i % 3 == 0)
            memcpy(w->X + i * D, w->X, D * sizeof *w->X);
    }
    assert_ok(quorum_options_set(w->o, "theta", ""));
    assert_ok(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m));
    quorum_info info;
    assert_ok(quorum_inspect(m, &info));
    assert_true(info.x_scale[2] == 1.0);
    assert_ok(predict(m, w, &a));
    for (size_t q = 0; q < Q; q++)
        assert_true(isfinite(a.mean[q]) && a.std[q] > 0.0);
    quorum_model_free(m);
}

/* Neither the search, nor distances, nor queries know of an input that does not vary, be it by
 * rounding: all is as it would be without it. */
static void constant_inputs_have_no_effect(void **state)
{
    world *w = *state;
    quorum_model *m = NULL, *loaded = NULL;
    answers a, b;
    quorum_report report;
    quorum_info info;
    quorum_prediction out = {.mean = b.mean, .std = b.std};
    for (size_t i = 0; i < N; i++)
        w->X[i * D + 2] = i % 7 == 3 ? nextafter(0.1, 1.0) : 0.1;
    assert_ok(quorum_options_set(w->o, "theta", ""));
    assert_ok(quorum_options_set(w->o, "calibrate", "true"));
    assert_ok(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m));
    assert_ok(quorum_inspect(m, &info));
    assert_true(!info.constant[0] && !info.constant[1] && info.constant[2]);
    assert_true(info.x_mean[2] == 0.1 && info.at_bound[2] == 0);
    assert_ok(quorum_save(m, w->path));
    assert_ok(quorum_load(w->path, &loaded));
    for (size_t q = 0; q < Q; q++)
        w->queries[q * D + 2] = 0.1;
    assert_ok(predict(m, w, &a));
    for (size_t q = 0; q < Q; q++)
        w->queries[q * D + 2] = q % 2 ? -1e300 : 0.1;
    assert_ok(quorum_predict(loaded, w->queries, Q, w->o, &out, &report));
    assert_int_equal(report.off_constants, Q / 2);
    assert_memory_equal(a.mean, b.mean, sizeof a.mean);
    assert_memory_equal(a.std, b.std, sizeof a.std);
    quorum_model_free(m);
    quorum_model_free(loaded);
}

typedef struct {
    double fraction; /* the last one of training */
    int reports, bad;
} train_watch;

static int watch_training(void *user, const char *stage, double fraction, const char *detail)
{
    train_watch *t = user;
    (void)detail;
    if (strcmp(stage, "train") != 0 || fraction < 0.0)
        return 0;
    t->bad += fraction < t->fraction || fraction >= 1.0;
    t->fraction = fraction;
    t->reports++;
    return 0;
}

/* It never goes back, and is never said to be over while it goes on. */
static void progress_of_training_is_honest(void **state)
{
    static const char *const choices[][2] = {{"train", "neighbours"},
                                             {"kernel", "se"},
                                             {"train", "random"},
                                             {"max-evaluations", "3"},
                                             {"restarts", "2"}};
    world *w = *state;
    quorum_model *m = NULL;
    assert_ok(quorum_options_set(w->o, "theta", ""));
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        train_watch t = {0};
        assert_ok(quorum_options_set(w->o, choices[i][0], choices[i][1]));
        quorum_options_set_progress(w->o, watch_training, &t);
        assert_true(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m) >= 0);
        assert_true(t.reports > 3 && t.bad == 0 && t.fraction > 0.5);
        quorum_model_free(m);
    }
    quorum_options_set_progress(w->o, NULL, NULL);
}

static void damaged_lists_of_constants_are_refused(void **state)
{
    static const char *const list[] = {"[3]", "[-1]", "[1, 1]", "[]", "[\"x1\"]", "7"};
    world *w = *state;
    quorum_model *m = fit_model(w);
    char *text = NULL, changed[16384];
    assert_ok(meta_make(m, &text));
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        snprintf(changed, sizeof changed, "{\"constant_inputs\": %s, %s", list[k],
                 strchr(text, '{') + 1);
        assert_int_equal(meta_check(changed, D, 4), QUORUM_E_FORMAT);
        assert_says("constant_inputs is not a list of inputs");
    }
    mem_free(text);
    quorum_model_free(m);
}

/* The options have members of the same name, before the model's own. */
static const char *find_last(const char *text, const char *words)
{
    const char *last = NULL;
    for (const char *at = text; (at = strstr(at, words)); at++)
        last = at;
    return last;
}

/* A warp that is not known, a shift that none can have, and versions that would overlook it. */
static void damaged_warps_are_refused(void **state)
{
    static const struct {
        const char *from, *to, *says;
    } cases[] = {
        {"\"warp\": \"log\"", "\"warp\": \"exp\"", "its warp is not known"},
        {"\"warp\": \"log\"", "\"warp\": 3", "its warp is not known"},
        {"\"warp_shift\": 0.0", "\"warp_shift\": -1.0", "warp_shift is out of range"},
    };
    world *w = *state;
    char *text = NULL, changed[16384];
    for (size_t i = 0; i < N; i++)
        w->y[i] = exp(w->y[i]);
    assert_ok(quorum_options_set(w->o, "warp", "log"));
    quorum_model *m = fit_model(w);
    assert_ok(meta_make(m, &text));
    assert_non_null(strstr(text, "\"format_version\": 5"));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *at = find_last(text, cases[k].from);
        assert_non_null(at);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, cases[k].to,
                 at + strlen(cases[k].from));
        assert_int_equal(meta_check(changed, D, 4), QUORUM_E_FORMAT);
        assert_says(cases[k].says);
    }
    mem_free(text);
    quorum_model_free(m);
}

static void inputs_that_are_all_constant_are_refused(void **state)
{
    world *w = *state;
    quorum_model *m = NULL;
    for (size_t i = 0; i < N * D; i++)
        w->X[i] = 2.5;
    assert_int_equal(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m), QUORUM_E_DATA);
    assert_says("no input varies (x1 is 2.5");
    assert_null(m);
}

static void failed_predictions_are_nan(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    answers a;
    w->queries[5 * D + 1] = INFINITY;
    assert_int_equal(predict(m, w, &a), QUORUM_E_DATA);
    assert_says("query 6, input x2");
    for (size_t q = 0; q < Q; q++)
        assert_true(isnan(a.mean[q]) && isnan(a.std[q]) && isnan(a.lower[q]) && isnan(a.upper[q]));
    quorum_model_free(m);
}

static int cancel(void *user, const char *stage, double fraction, const char *detail)
{
    (void)fraction;
    (void)detail;
    return strcmp(stage, user) == 0;
}

static void work_can_be_cancelled(void **state)
{
    world *w = *state;
    quorum_model *m = NULL;
    answers a;
    char *const stages[] = {"partition", "factorise", "graph"};
    for (int k = 0; k < 3; k++) {
        quorum_options_set_progress(w->o, cancel, stages[k]);
        assert_int_equal(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m), QUORUM_E_CANCELLED);
        assert_null(m);
    }
    quorum_options_set_progress(w->o, NULL, NULL);
    m = fit_model(w);
    quorum_options_set_progress(w->o, cancel, "predict");
    assert_int_equal(predict(m, w, &a), QUORUM_E_CANCELLED);
    quorum_model_free(m);
}

/* Every allocation fails in turn: an error, no leak, no crash, and the work can be
 * done again. */
static void every_allocation_may_fail_in_fit(void **state)
{
    world *w = *state;
    assert_ok(quorum_options_set(w->o, "threads", "1"));
    assert_ok(quorum_options_set(w->o, "calibrate", "true"));
    assert_ok(quorum_options_set(w->o, "neighbours", "20"));
    int done = 0;
    for (long n = 1; !done; n += n < 300 ? 1 : 29) { /* calibration repeats itself in rounds */
        quorum_model *m = NULL;
        mem_fail_at(n);
        quorum_status status = quorum_fit(w->X, w->y, N, D, NULL, w->o, &m);
        mem_fail_at(0);
        done = status >= 0;
        assert_true(done || (status == QUORUM_E_MEMORY && m == NULL));
        assert_true(n < 10000);
        quorum_model_free(m);
    }
}

static void every_allocation_may_fail_in_predict(void **state)
{
    world *w = *state;
    assert_ok(quorum_options_set(w->o, "graph", "auto")); /* the last method learns it */
    assert_ok(quorum_options_set(w->o, "experts", "6"));
    quorum_model *m = fit_model(w), *fresh = NULL;
    static const char *const methods[] = {"nearest", "npae", "grbcm", "cells", "rbcm*"};
    assert_ok(quorum_save(m, w->path));
    for (int k = 0; k < 5; k++) {
        answers a;
        int done = 0;
        assert_ok(quorum_options_set(w->o, "threads", "1"));
        assert_ok(quorum_options_set(w->o, "method", methods[k]));
        for (long n = 1; !done; n++) {
            fresh = NULL;
            mem_fail_at(n);
            quorum_status status = quorum_load(w->path, &fresh);
            if (status >= 0)
                status = predict(fresh, w, &a);
            mem_fail_at(0);
            done = status >= 0;
            assert_true(done || status == QUORUM_E_MEMORY);
            assert_true(n < 2000);
            quorum_model_free(fresh);
        }
    }
    quorum_model_free(m);
}

/* ---- Model files ---- */

static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

static void write_file(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

/* Out of memory while saving leaves the old file; a save that succeeds writes all of it. */
static void every_allocation_may_fail_in_save(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w), *again = NULL;
    size_t size, now;
    assert_ok(quorum_save(m, w->path));
    unsigned char *bytes = read_file(w->path, &size);
    int done = 0;
    for (long n = 1; !done; n++) {
        mem_fail_at(n);
        quorum_status status = quorum_save(m, w->path);
        mem_fail_at(0);
        done = status >= 0;
        assert_true(done || status == QUORUM_E_MEMORY);
        assert_true(done || strstr(quorum_message(), "out of memory"));
        unsigned char *found = read_file(w->path, &now);
        assert_int_equal(now, size);
        assert_memory_equal(found, bytes, size);
        free(found);
        assert_true(n < 1000);
    }
    assert_ok(quorum_load(w->path, &again));
    quorum_model_free(again);
    quorum_model_free(m);
    free(bytes);
}

/* Out of memory is told from damage. */
static void every_allocation_may_fail_in_load(void **state)
{
    world *w = *state;
    assert_ok(quorum_options_set(w->o, "calibrate", "true"));
    quorum_model *m = fit_model(w);
    assert_ok(quorum_save(m, w->path));
    int done = 0;
    for (long n = 1; !done; n++) {
        quorum_model *again = NULL;
        mem_fail_at(n);
        quorum_status status = quorum_load(w->path, &again);
        mem_fail_at(0);
        done = status >= 0;
        assert_true(done || (status == QUORUM_E_MEMORY && again == NULL));
        assert_true(done || strstr(quorum_message(), "out of memory"));
        assert_true(n < 1000);
        quorum_model_free(again);
    }
    quorum_model_free(m);
}

/* What is not UTF-8 could not be saved: it is refused before the work. */
static void names_are_utf8_or_refused(void **state)
{
    world *w = *state;
    quorum_model *m = NULL, *again = NULL;
    const char *names[] = {("Gr\xC3\xB6\xC3\x9F"
                            "e"),
                           "a\"\\ b", "", "\xF0\x9F\x98\x80"};
    quorum_info info;
    assert_ok(quorum_fit(w->X, w->y, N, D, names, w->o, &m));
    assert_ok(quorum_save(m, w->path));
    assert_ok(quorum_load(w->path, &again));
    assert_ok(quorum_inspect(again, &info));
    for (int i = 0; i <= D; i++)
        assert_string_equal(info.names[i], names[i]);
    quorum_model_free(again);
    quorum_model_free(m);
    names[1] = "Gr\xF6\xDF"
               "e";
    assert_int_equal(quorum_fit(w->X, w->y, N, D, names, w->o, &m), QUORUM_E_ARGUMENT);
    assert_says("the name of input 2 is not UTF-8");
    assert_null(m);
}

/* What the loader would say of a meta.json, without a file. */
static void a_meta_can_be_checked_by_itself(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    char *text = NULL;
    assert_ok(meta_make(m, &text));
    assert_ok(meta_check(text, D, 4));
    assert_int_equal(meta_check(text, D + 1, 4), QUORUM_E_FORMAT);
    assert_int_equal(meta_check(text, D, 5), QUORUM_E_FORMAT);
    text[strlen(text) - 1] = '\0';
    assert_int_equal(meta_check(text, D, 4), QUORUM_E_FORMAT);
    assert_says("meta.json: not JSON at byte");
    mem_free(text);
    quorum_model_free(m);
}

static void assert_file_is(const char *path, const unsigned char *bytes, size_t size)
{
    size_t found;
    unsigned char *now = read_file(path, &found);
    assert_int_equal(found, size);
    assert_memory_equal(now, bytes, size);
    free(now);
}

/* What could not be loaded again does not replace what can. */
static void a_model_that_would_not_load_is_not_saved(void **state)
{
    world *w = *state;
    size_t size;
    quorum_model *m = fit_model(w);
    assert_ok(quorum_save(m, w->path));
    unsigned char *whole = read_file(w->path, &size);
    m->columns.names[0][0] = '\xf6'; /* no UTF-8 */
    assert_true(quorum_save(m, w->path) < 0);
    m->columns.names[0][0] = 'x';
    m->log_theta[0] = 1000.0;
    assert_int_equal(quorum_save(m, w->path), QUORUM_E_FILE);
    assert_says("model.npz: was not written: it does not read back as it should");
    m->log_theta[0] = 0.0;
    m->units.x_scale[1] = -1.0;
    assert_int_equal(quorum_save(m, w->path), QUORUM_E_FILE);
    assert_says("x_scale is not positive");
    assert_file_is(w->path, whole, size);
    free(whole);
    quorum_model_free(m);
}

/* A damaged file is refused with a sentence that names it, or (a byte that nothing
 * depends on) gives the very same model. */
static void damaged_files_are_refused(void **state)
{
    world *w = *state;
    quorum_model *m = NULL, *again = NULL;
    assert_ok(quorum_options_set(w->o, "graph-rows", "5"));
    assert_ok(quorum_fit(w->X, w->y, 20, D, NULL, w->o, &m));
    assert_ok(quorum_save(m, w->path));
    size_t size, refused = 0;
    unsigned char *bytes = read_file(w->path, &size);
    quorum_info x, y;
    assert_ok(quorum_inspect(m, &x));
    for (size_t i = 0; i < size; i += 3) {
        bytes[i] ^= 0x41;
        write_file(w->path, bytes, size);
        quorum_status status = quorum_load(w->path, &again);
        if (status < 0) {
            assert_says("model.npz");
            refused++;
        } else {
            assert_ok(quorum_inspect(again, &y));
            assert_true(x.rows == y.rows && x.nlml == y.nlml && x.y_mean == y.y_mean);
            quorum_model_free(again);
        }
        bytes[i] ^= 0x41;
    }
    assert_true(refused > size / 3 * 8 / 10); /* of those tried, most matter */
    for (size_t cut = 0; cut < size; cut += 37) {
        write_file(w->path, bytes, cut);
        assert_true(quorum_load(w->path, &again) < 0);
    }
    free(bytes);
    quorum_model_free(m);
}

/* A file with the arrays of a model: n = 1000 rows of 4 inputs, 10 experts, but for one member. */
static npz_reader *write_arrays(const char *path, const char *other, int ndim, const size_t *shape)
{
    static double zeros[60000];
    static int64_t numbers[60000];
    static const struct {
        const char *name;
        int ndim, integers;
        size_t shape[2];
    } all[] = {
        {"X", 2, 0, {1000, 4}},           {"y", 1, 0, {1000, 0}},
        {"row", 1, 1, {1000, 0}},         {"offset", 1, 1, {11, 0}},
        {"x_mean", 1, 0, {4, 0}},         {"precision", 2, 0, {10, 10}},
        {"importance", 1, 0, {10, 0}},    {"reference", 2, 0, {50, 4}},
        {"calibration", 1, 0, {1000, 0}}, {"calibration_signed", 1, 0, {1000, 0}},
    };
    npz_writer *w = npz_writer_new();
    npz_reader *r;
    assert_ok(npz_add_text(w, "meta.json", "{}"));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int changed = strcmp(all[i].name, other) == 0, n = changed ? ndim : all[i].ndim;
        const size_t *s = changed ? shape : all[i].shape;
        if (all[i].integers)
            assert_ok(npz_add_int64(w, all[i].name, n, s, numbers));
        else
            assert_ok(npz_add_doubles(w, all[i].name, n, s, zeros));
    }
    assert_ok(npz_writer_save(w, path));
    npz_writer_free(w);
    assert_ok(npz_open(path, &r));
    return r;
}

static quorum_status check_sizes(const char *path, double memory, const char *other, int ndim,
                                 size_t rows, size_t columns)
{
    model_sizes sizes;
    double needed;
    npz_reader *r = write_arrays(path, other, ndim, (size_t[]){rows, columns});
    quorum_status status = check_model_sizes(r, memory, 1, &sizes, &needed);
    npz_close(r);
    return status;
}

static void sizes_that_do_not_fit_together_are_refused_from_headers(void **state)
{
    world *w = *state;
    static const struct {
        const char *name;
        int ndim;
        size_t rows, columns;
    } wrong[] = {{"X", 2, 1001, 4},
                 {"X", 2, 0, 4},
                 {"y", 1, 999, 0},
                 {"row", 1, 1001, 0},
                 {"offset", 1, 1, 0},
                 {"offset", 1, 1002, 0},
                 {"offset", 1, 12, 0},
                 {"x_mean", 1, 5, 0},
                 {"precision", 2, 10, 11},
                 {"precision", 1, 9, 0},
                 {"importance", 1, 9, 0},
                 {"reference", 2, 50, 5},
                 {"calibration", 1, 1001, 0},
                 {"calibration_signed", 1, 999, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(check_sizes(w->path, 1e9, wrong[i].name, wrong[i].ndim, wrong[i].rows,
                                     wrong[i].columns),
                         QUORUM_E_FORMAT);
    assert_ok(check_sizes(w->path, 1e9, "", 0, 0, 0));
    assert_int_equal(check_sizes(w->path, 1e9, "calibration", 1, 900, 0), QUORUM_E_FORMAT);
    assert_ok(check_sizes(w->path, 1e9, "reference", 2, 10000, 4));
}

/* 8 bytes for each of 4,000 + 1,000 + 2 x 1,000 + 2 x 11 + 4 + 100 + 10 + 200 + 2 x 1,000 numbers,
 * and less than 2 kB besides. */
static void a_model_is_held_to_memory_before_it_is_read(void **state)
{
    world *w = *state;
    assert_int_equal(check_sizes(w->path, 74600.0, "", 0, 0, 0), QUORUM_E_MEMORY);
    assert_says("raise memory");
    assert_ok(check_sizes(w->path, 76800.0, "", 0, 0, 0));
}

static void loading_can_be_cancelled(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w), *again = NULL;
    assert_ok(quorum_save(m, w->path));
    quorum_options_set_progress(w->o, cancel, "load");
    assert_int_equal(quorum_load_with(w->path, w->o, &again), QUORUM_E_CANCELLED);
    assert_null(again);
    quorum_options_set_progress(w->o, cancel, "train");
    assert_ok(quorum_load_with(w->path, w->o, &again));
    quorum_model_free(again);
    quorum_model_free(m);
}

static void other_files_are_not_models(void **state)
{
    world *w = *state;
    quorum_model *m = NULL;
    assert_int_equal(quorum_load("/nonexistent/model.npz", &m), QUORUM_E_FILE);
    write_file(w->path, (const unsigned char *)"x,y\n1,2\n", 8);
    assert_int_equal(quorum_load(w->path, &m), QUORUM_E_FORMAT);
    assert_says("model.npz");
    quorum_model *good = fit_model(w);
    assert_int_equal(quorum_save(good, "/nonexistent/model.npz"), QUORUM_E_FILE);
    quorum_model_free(good);
    assert_null(m);
}

/* ---- Joint covariance ---- */

static void joint_covariance_has_the_variances(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    answers a;
    double mean[Q], *covariance = mem_alloc((size_t)Q * Q, 8);
    assert_ok(predict(m, w, &a));
    assert_ok(quorum_predict_joint(m, w->queries, Q, w->o, mean, covariance));
    for (size_t q = 0; q < Q; q++) {
        assert_close(sqrt(covariance[q * Q + q]), a.std[q], 1e-9);
        assert_true(mean[q] == a.mean[q]);
    }
    assert_ok(quorum_options_set(w->o, "method", "rbcm"));
    assert_int_equal(quorum_predict_joint(m, w->queries, Q, w->o, mean, covariance),
                     QUORUM_E_ARGUMENT);
    assert_says("use nearest or npae");
    assert_true(isnan(covariance[0]) && isnan(mean[0]));
    mem_free(covariance);
    quorum_model_free(m);
}

/* ---- Spread ---- */

/* A line, ten times noisier on its right half than on its left when `uneven`; the mean std
 * at each half's queries. */
static double fit_line(world *w, int uneven, double *left, double *right)
{
    enum { ROWS = 500 };
    double *x = mem_alloc(ROWS, 8), *y = mem_alloc(ROWS, 8), query[100], std[100];
    rng r = rng_seed(5, 5);
    quorum_info info;
    quorum_model *m = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = (double)i / ROWS;
        y[i] = sin(9.0 * x[i]) + (uneven && i >= ROWS / 2 ? 0.5 : 0.05) * rng_normal(&r);
    }
    for (size_t q = 0; q < 100; q++)
        query[q] = 0.005 + 0.01 * (double)q;
    assert_ok(quorum_options_set(w->o, "theta", ""));
    assert_ok(quorum_options_set(w->o, "kernel", "se"));
    assert_ok(quorum_options_set(w->o, "max-evaluations", "30"));
    assert_ok(quorum_fit(x, y, ROWS, 1, NULL, w->o, &m));
    assert_ok(quorum_inspect(m, &info));
    quorum_prediction out = {.std = std};
    assert_ok(quorum_predict(m, query, 100, w->o, &out, NULL));
    *left = *right = 0.0;
    for (size_t q = 5; q < 45; q++) {
        *left += std[q] / 40.0;
        *right += std[q + 50] / 40.0;
    }
    double spread = info.spread;
    quorum_model_free(m);
    mem_free(x);
    mem_free(y);
    return spread;
}

static void spread_follows_the_data(void **state)
{
    world *w = *state;
    double left, right;
    assert_true(fit_line(w, 1, &left, &right) < 16.0);
    assert_true(right > 3.0 * left); /* the truth is ten */
    assert_true(fit_line(w, 0, &left, &right) > 16.0);
    assert_close(left, 0.05, 0.01);
    assert_close(right, 0.05, 0.01);
    assert_ok(quorum_options_set(w->o, "spread", "none"));
    assert_true(isinf(fit_line(w, 1, &left, &right)));
    assert_close(right, left, 0.02);
}

/* ---- Calibration ---- */

static double covered(const quorum_model *m, const world *w, const double *truth)
{
    answers a;
    double inside = 0.0;
    assert_ok(predict(m, w, &a));
    for (size_t q = 0; q < Q; q++)
        inside += truth[q] >= a.lower[q] && truth[q] <= a.upper[q];
    return inside / Q;
}

/* With a noise a hundred times too small the intervals are far too short; calibration
 * makes them right. */
static void calibration_mends_wrong_intervals(void **state)
{
    world *w = *state;
    quorum_model *m = NULL, *again = NULL;
    double *truth = smooth_targets(w->queries, Q, D, 0.0);
    rng r = rng_seed(3, 3);
    for (size_t q = 0; q < Q; q++)
        truth[q] = 50.0 + 10.0 * (truth[q] + 0.2 * rng_normal(&r));
    assert_ok(quorum_options_set(w->o, "theta", "1.5,1,0.0006"));
    assert_ok(quorum_options_set(w->o, "calibrate", "true"));
    assert_ok(quorum_options_set(w->o, "neighbours", "20"));
    m = fit_model(w);
    quorum_info info;
    assert_ok(quorum_inspect(m, &info));
    assert_int_equal(info.calibration_rows, N / 2);
    assert_true(info.calibration_scale > 2.0);
    assert_true(covered(m, w, truth) >= 0.85);
    assert_ok(quorum_options_set(w->o, "calibration", "off"));
    assert_true(covered(m, w, truth) < 0.7);
    assert_ok(quorum_options_set(w->o, "calibration", "auto"));
    /* the reach is measured in calibrated std */
    assert_true(quorum_interval_factor(m, w->o, 0.95) > 1.0);
    answers a, b;
    assert_ok(quorum_save(m, w->path));
    assert_ok(quorum_load(w->path, &again));
    assert_ok(predict(m, w, &a));
    assert_ok(predict(again, w, &b));
    assert_memory_equal(&a, &b, sizeof a);
    for (size_t q = 0; q < Q; q++)
        assert_close(a.upper[q] - a.lower[q],
                     2.0 * quorum_interval_factor(m, w->o, 0.95) * a.std[q], 1e-12);
    for (size_t q = 0; q < Q; q++)
        assert_close(a.upper[q] - a.mean[q], quorum_quantile_factor(m, w->o, 0.975) * a.std[q],
                     1e-12);
    /* it holds for the settings that it was made with, and says so */
    quorum_report report;
    quorum_prediction out = {.mean = a.mean};
    assert_ok(quorum_predict(m, w->queries, Q, w->o, &out, &report));
    assert_int_equal(report.calibrated, 1);
    assert_int_equal(report.calibration_unused, 0);
    assert_ok(quorum_options_set(w->o, "method", "rbcm"));
    assert_ok(quorum_options_set(w->o, "neighbours", "0"));
    assert_ok(quorum_predict(m, w->queries, Q, w->o, &out, &report));
    assert_int_equal(report.calibrated, 0);
    assert_int_equal(report.calibration_unused, 1);
    assert_close(quorum_interval_factor(m, w->o, 0.95), 1.959963984540054, 1e-12);
    quorum_model_free(m);
    quorum_model_free(again);
    mem_free(truth);
}

/* What quorum_predict says of these words: 1 calibrated, -1 not although the model is, 0 neither. */
static int calibrated_with(const quorum_model *m, const char *method, const char *select,
                           const char *neighbours, const char *more, const char *value)
{
    quorum_options *o = quorum_options_new();
    quorum_report report;
    quorum_prediction out = {0};
    assert_ok(quorum_options_set(o, "method", method));
    assert_ok(quorum_options_set(o, "select", select));
    assert_ok(quorum_options_set(o, "neighbours", neighbours));
    assert_ok(quorum_options_set(o, more, value));
    assert_ok(quorum_predict(m, NULL, 0, o, &out, &report));
    quorum_options_free(o);
    assert_false(report.calibrated && report.calibration_unused);
    return report.calibrated - report.calibration_unused;
}

static quorum_model *fit_calibrated(world *w, const char *method, const char *select,
                                    const char *more, const char *value)
{
    assert_ok(quorum_options_set(w->o, "calibrate", "true"));
    assert_ok(quorum_options_set(w->o, "method", method));
    assert_ok(quorum_options_set(w->o, "select", select));
    assert_ok(quorum_options_set(w->o, more, value));
    return fit_model(w);
}

static void calibration_is_for_what_is_computed(void **state)
{
    world *w = *state;
    quorum_info info;
    quorum_model *m = fit_calibrated(w, "auto", "auto", "latent", "true"); /* that counts not */
    assert_ok(quorum_inspect(m, &info));
    assert_string_equal(info.calibration_for, "method nearest, neighbours 300");
    assert_int_equal(calibrated_with(m, "auto", "auto", "auto", "space", "observed"), 1);
    assert_int_equal(calibrated_with(m, "nearest", "auto", "512", "graph-on", "test"), 1);
    assert_int_equal(calibrated_with(m, "npae", "none", "10000", "seed", "2"), 1); /* all rows */
    assert_int_equal(calibrated_with(m, "nearest", "auto", "100", "seed", "2"), -1);
    assert_int_equal(calibrated_with(m, "npae", "auto", "auto", "seed", "2"), -1);
    assert_int_equal(calibrated_with(m, "auto", "auto", "auto", "latent", "true"), -1);
    assert_int_equal(calibrated_with(m, "rbcm", "auto", "auto", "mean-only", "true"), 0);
    assert_int_equal(calibrated_with(m, "rbcm", "auto", "auto", "calibration", "off"), 0);
    quorum_model_free(m);
    m = fit_calibrated(w, "rbcm*", "auto", "latent", "false");
    assert_ok(quorum_inspect(m, &info));
    assert_string_equal(info.calibration_for, "method rbcm, select graph:0.8, neighbours 0");
    assert_int_equal(calibrated_with(m, "rbcm", "best:0.8", "0", "seed", "2"), 1);
    assert_int_equal(calibrated_with(m, "rbcm", "graph:0.9", "0", "seed", "2"), 1); /* 4 of 4 */
    assert_int_equal(calibrated_with(m, "rbcm", "all", "0", "seed", "2"), 1);
    assert_int_equal(calibrated_with(m, "rbcm", "all", "0", "space", "observed"), -1);
    assert_int_equal(calibrated_with(m, "bcm", "all", "0", "seed", "2"), -1);
    quorum_model_free(m);
    m = fit_calibrated(w, "gpoe", "graph:0.5", "space", "observed");
    assert_int_equal(calibrated_with(m, "gpoe", "graph:0.5", "0", "space", "observed"), 1);
    assert_int_equal(calibrated_with(m, "gpoe", "graph:0.5", "0", "space", "latent"), -1);
    assert_int_equal(calibrated_with(m, "gpoe", "worst:0.5", "0", "space", "observed"), -1);
    quorum_model_free(m);
}

/* Before the work, not after it. */
static void calibration_of_nothing_is_refused(void **state)
{
    world *w = *state;
    quorum_model *m = NULL;
    assert_ok(quorum_options_set(w->o, "calibrate", "true"));
    assert_ok(quorum_options_set(w->o, "method", "rbcm"));
    assert_ok(quorum_options_set(w->o, "neighbours", "10"));
    assert_int_equal(quorum_fit(w->X, w->y, N, D, NULL, w->o, &m), QUORUM_E_ARGUMENT);
    assert_says("use neighbours with nearest or npae");
    assert_null(m);
}

static void joint_covariance_is_calibrated(void **state)
{
    world *w = *state;
    double covariance[Q * Q];
    answers a, b;
    assert_ok(quorum_options_set(w->o, "theta", "1.5,1,0.0006"));
    quorum_model *m = fit_calibrated(w, "npae", "local:2", "neighbours", "20");
    for (int calibrated = 1; calibrated >= 0; calibrated--) {
        assert_ok(quorum_options_set(w->o, "calibration", calibrated ? "auto" : "off"));
        assert_ok(predict(m, w, &a));
        assert_ok(quorum_predict_joint(m, w->queries, Q, w->o, b.mean, covariance));
        for (size_t q = 0; q < Q; q++)
            assert_close(sqrt(covariance[q * Q + q]), a.std[q], 1e-9);
    }
    quorum_model_free(m);
}

static void calibration_needs_rows(void **state)
{
    world *w = *state;
    quorum_model *m = NULL;
    assert_ok(quorum_options_set(w->o, "calibrate", "true"));
    assert_int_equal(quorum_fit(w->X, w->y, 30, D, NULL, w->o, &m), QUORUM_E_DATA);
    assert_says("leave it off");
    assert_null(m);
}

static void selections_compose_with_methods(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    answers a, b;
    quorum_report report;
    quorum_prediction out = {.mean = a.mean};
    assert_ok(quorum_options_set(w->o, "method", "rbcm*"));
    assert_ok(quorum_predict(m, w->queries, Q, w->o, &out, &report));
    assert_true(report.experts_used == 4.0); /* ceil(0.8 x 4) */
    assert_ok(quorum_options_set(w->o, "method", "npae"));
    assert_ok(quorum_options_set(w->o, "select", "graph:1"));
    assert_ok(predict(m, w, &a));
    assert_ok(quorum_options_set(w->o, "select", "all"));
    assert_ok(predict(m, w, &b));
    assert_memory_equal(&a, &b, sizeof a);
    assert_ok(quorum_options_set(w->o, "select", "worst:0.5"));
    assert_ok(quorum_predict(m, w->queries, Q, w->o, &out, &report));
    assert_true(report.experts_used == 2.0);
    assert_ok(quorum_options_set(w->o, "select", "expert:9"));
    assert_int_equal(quorum_predict(m, w->queries, Q, w->o, &out, &report), QUORUM_E_ARGUMENT);
    quorum_model_free(m);
}

static void assert_same_graph(const quorum_model *a, const quorum_model *b)
{
    quorum_info x, y;
    assert_ok(quorum_inspect(a, &x));
    assert_ok(quorum_inspect(b, &y));
    assert_true(x.precision && y.precision && x.lambda == y.lambda && x.edges == y.edges);
    assert_memory_equal(x.precision, y.precision, x.experts * x.experts * sizeof *x.precision);
    assert_memory_equal(x.importance, y.importance, x.experts * sizeof *x.importance);
    assert_memory_equal(x.ranking, y.ranking, x.experts * sizeof *x.ranking);
}

static void assert_no_graph_yet(const quorum_model *m)
{
    quorum_info info;
    assert_ok(quorum_inspect(m, &info));
    assert_null(info.precision);
    assert_null(info.importance);
    assert_null(info.ranking);
    assert_null(info.graph_trouble);
    assert_true(info.seconds_graph < 1e-3);
}

/* A default fit does not learn it; who asks for it gets that of graph=glasso, bit for bit, from
 * the model and from its file, and then the file has it. */
static void the_graph_is_learned_when_first_asked_for(void **state)
{
    world *w = *state;
    quorum_model *now = fit_model(w), *loaded = NULL;
    answers a, b;
    assert_ok(quorum_options_set(w->o, "graph", "auto"));
    quorum_model *later = fit_model(w);
    assert_ok(predict(later, w, &a));
    assert_no_graph_yet(later);
    assert_ok(quorum_save(later, w->path));
    assert_ok(quorum_load(w->path, &loaded));
    assert_no_graph_yet(loaded);
    assert_ok(quorum_options_set(w->o, "method", "grbcm"));
    assert_ok(quorum_options_set(w->o, "select", "graph:1")); /* all: none is needed */
    assert_ok(predict(later, w, &a));
    assert_no_graph_yet(later);
    assert_ok(quorum_options_set(w->o, "select", "graph:0.5"));
    assert_ok(predict(now, w, &a));
    assert_ok(predict(loaded, w, &b));
    assert_memory_equal(&a, &b, sizeof a);
    assert_same_graph(now, loaded);
    assert_ok(quorum_learn_graph(later, NULL, 0, w->o));
    assert_same_graph(now, later);
    quorum_model_free(loaded);
    assert_ok(quorum_save(later, w->path));
    assert_ok(quorum_load(w->path, &loaded));
    assert_same_graph(now, loaded);
    assert_int_equal(now->learned.references, loaded->learned.references);
    assert_memory_equal(now->learned.reference, loaded->learned.reference,
                        now->learned.references * D * sizeof(double));
    assert_int_equal(quorum_learn_graph(later, NULL, Q, w->o), QUORUM_E_ARGUMENT);
    quorum_model_free(now);
    quorum_model_free(later);
    quorum_model_free(loaded);
}

/* Calibration for a selection by rank is that of a model with its graph. */
static void calibration_learns_the_graph_it_selects_by(void **state)
{
    world *w = *state;
    assert_ok(quorum_options_set(w->o, "calibrate", "true"));
    assert_ok(quorum_options_set(w->o, "method", "rbcm"));
    assert_ok(quorum_options_set(w->o, "select", "graph:0.5"));
    quorum_model *now = fit_model(w);
    assert_ok(quorum_options_set(w->o, "graph", "auto"));
    quorum_model *later = fit_model(w);
    assert_same_graph(now, later);
    assert_true(now->calibration.count == later->calibration.count);
    assert_memory_equal(now->calibration.ratio, later->calibration.ratio,
                        now->calibration.count * sizeof(double));
    quorum_model_free(now);
    quorum_model_free(later);
}

/* A cancelled graph is learned by the next one who asks. */
static void learning_the_graph_can_be_cancelled(void **state)
{
    world *w = *state;
    answers a;
    assert_ok(quorum_options_set(w->o, "graph", "auto"));
    quorum_model *m = fit_model(w);
    assert_ok(quorum_options_set(w->o, "select", "graph:0.5"));
    quorum_options_set_progress(w->o, cancel, "graph");
    assert_int_equal(predict(m, w, &a), QUORUM_E_CANCELLED);
    assert_no_graph_yet(m);
    quorum_options_set_progress(w->o, NULL, NULL);
    assert_ok(predict(m, w, &a));
    quorum_model_free(m);
}

/* The graph learned on the queries selects as graph-on=test does, and stays. */
static void a_graph_can_be_learned_on_other_inputs(void **state)
{
    world *w = *state;
    quorum_model *m = fit_model(w);
    answers paper, kept;
    assert_ok(quorum_options_set(w->o, "select", "graph:0.5"));
    assert_ok(quorum_options_set(w->o, "graph-on", "test"));
    assert_ok(predict(m, w, &paper));
    assert_ok(quorum_options_set(w->o, "graph-on", "train"));
    assert_ok(quorum_learn_graph(m, w->queries, Q, w->o));
    assert_ok(predict(m, w, &kept));
    assert_memory_equal(paper.mean, kept.mean, sizeof paper.mean);
    assert_memory_equal(paper.std, kept.std, sizeof paper.std);
    assert_int_equal(quorum_learn_graph(m, w->queries, 1, w->o), QUORUM_E_ARGUMENT);
    w->queries[4] = NAN;
    assert_int_equal(quorum_learn_graph(m, w->queries, Q, w->o), QUORUM_E_DATA);
    quorum_model_free(m);
}

/* Every hyperparameter on a bound is named, as far as there is room. */
static void bounds_are_named(void **state)
{
    (void)state;
    enum { INPUTS = 60 };
    char *names[INPUTS + 1], text[INPUTS + 1][32];
    int at_bound[INPUTS + 4] = {[1] = -1, [INPUTS] = 1, [INPUTS + 1] = -1};
    quorum_model m = {.rows.D = INPUTS, .columns.names = names, .shown.at_bound = at_bound};
    for (size_t i = 0; i <= INPUTS; i++) {
        snprintf(text[i], sizeof text[i], "a long name of input %zu", i);
        names[i] = text[i];
    }
    assert_int_equal(model_say_bounds(&m, 1.0), QUORUM_AT_BOUND);
    assert_string_equal(quorum_message(), "on a bound of the range: a long name of input 1 "
                                          "(length-scale, lower), signal variance (upper), noise "
                                          "variance (lower)");
    for (size_t i = 2; i < INPUTS; i++)
        at_bound[i] = 1;
    assert_int_equal(model_say_bounds(&m, 1.0), QUORUM_AT_BOUND);
    assert_says("length-scales on their upper bound (the target hardly changes with these inputs): "
                "a long name of input 2, a long name of input 3, ");
    assert_says(", ...; on a bound of the range: a long name of input 1 (length-scale, lower)");
    memset(at_bound, 0, sizeof at_bound);
    assert_ok(model_say_bounds(&m, 1.0));
}

/* Rows of many rows each that agree exactly are why there is no noise: that is said, but not of weights about 1,
 * nor of a noise that was found, or where all of it may be known. */
static void a_noise_lost_to_weights_is_explained(void **state)
{
    (void)state;
    char *names[] = {"a", "y"};
    int at_bound[5] = {[2] = -1};
    quorum_model m = {.rows.D = 1, .columns.names = names, .shown.at_bound = at_bound};
    assert_int_equal(model_say_bounds(&m, 497.26), QUORUM_AT_BOUND);
    assert_says("noise variance (lower); weights are 497 on average");
    assert_says("divide them by their mean");
    assert_says("give these by noise-std instead");
    assert_int_equal(model_say_bounds(&m, 1.05), QUORUM_AT_BOUND);
    assert_string_equal(quorum_message(), "on a bound of the range: noise variance (lower)");
    m.columns.has_errors = 1;
    assert_int_equal(model_say_bounds(&m, 497.26), QUORUM_AT_BOUND);
    assert_string_equal(quorum_message(), "on a bound of the range: noise variance (lower)");
    m.columns.has_errors = 0;
    at_bound[2] = 1;
    assert_int_equal(model_say_bounds(&m, 497.26), QUORUM_AT_BOUND);
    assert_string_equal(quorum_message(), "on a bound of the range: noise variance (upper)");
    at_bound[2] = 0;
    assert_ok(model_say_bounds(&m, 497.26));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bounds_are_named),
        TEST(a_noise_lost_to_weights_is_explained),
        TEST(a_saved_model_predicts_the_same_bits),
        TEST(inspect_says_where_rows_and_names_come_from),
        TEST(intervals_are_those_of_a_gaussian),
        TEST(rows_do_not_depend_on_their_batch),
        TEST(many_threads_may_predict_at_once),
        TEST(a_row_asked_again_allocates_nothing),
        TEST(rows_asked_by_many_threads_keep_their_bits),
        TEST(bad_data_are_refused),
        TEST(bad_names_are_refused),
        TEST(constant_and_duplicate_inputs_are_fine),
        TEST(constant_inputs_have_no_effect),
        TEST(damaged_lists_of_constants_are_refused),
        TEST(damaged_warps_are_refused),
        TEST(progress_of_training_is_honest),
        TEST(inputs_that_are_all_constant_are_refused),
        TEST(failed_predictions_are_nan),
        TEST(work_can_be_cancelled),
        TEST(every_allocation_may_fail_in_fit),
        TEST(every_allocation_may_fail_in_predict),
        TEST(every_allocation_may_fail_in_save),
        TEST(every_allocation_may_fail_in_load),
        TEST(names_are_utf8_or_refused),
        TEST(a_meta_can_be_checked_by_itself),
        TEST(a_model_that_would_not_load_is_not_saved),
        TEST(damaged_files_are_refused),
        TEST(other_files_are_not_models),
        TEST(sizes_that_do_not_fit_together_are_refused_from_headers),
        TEST(a_model_is_held_to_memory_before_it_is_read),
        TEST(loading_can_be_cancelled),
        TEST(joint_covariance_has_the_variances),
        TEST(spread_follows_the_data),
        TEST(calibration_mends_wrong_intervals),
        TEST(calibration_is_for_what_is_computed),
        TEST(calibration_of_nothing_is_refused),
        TEST(joint_covariance_is_calibrated),
        TEST(calibration_needs_rows),
        TEST(selections_compose_with_methods),
        TEST(the_graph_is_learned_when_first_asked_for),
        TEST(calibration_learns_the_graph_it_selects_by),
        TEST(learning_the_graph_can_be_cancelled),
        TEST(a_graph_can_be_learned_on_other_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
