/* quorum_update: a model that takes rows in is the model that a fit to all rows has with its theta and units; what
 * it forgets is as if it had never been there; calibration learns, drift is seen, and what fails changes nothing. */
#include "fit/fitting.h"
#include "model/model.h"
#include "support.h"

enum { OLD = 300, NEW = 60, ALL = OLD + NEW, COLUMNS = 4, QUERIES = 40, LEVELS = 3 };

/* ---- A table with everything ---- */

typedef struct {
    double X[ALL * COLUMNS]; /* two numbers, a category and a date        */
    double y[ALL], other[ALL], weight[ALL], error[ALL], offset[ALL];
} table;

static size_t levels[COLUMNS] = {0, 0, LEVELS, 0};
static char *level_names[LEVELS] = {"ash", "fir", "oak"};
static char **level[COLUMNS] = {NULL, NULL, level_names, NULL};
static char *dates[COLUMNS] = {NULL, NULL, NULL, "yyyy-mm-dd"};

static table *make_table(int holes)
{
    table *t = mem_alloc(1, sizeof *t);
    rng r = rng_seed(5, 77);
    for (size_t i = 0; i < ALL; i++) {
        double *x = t->X + i * COLUMNS;
        x[0] = 3.0 + 2.0 * rng_normal(&r);
        x[1] = rng_normal(&r);
        x[2] = i < OLD ? (double)(i % LEVELS) : (double)rng_below(&r, LEVELS);
        x[3] = 86400.0 * floor(1000.0 * rng_uniform(&r));
        t->y[i] = 4.0 + sin(x[0]) + 0.5 * x[1] * x[1] + 0.4 * x[2] + 0.1 * rng_normal(&r);
        t->other[i] = cos(x[0]) - x[1] + 0.1 * rng_normal(&r);
        t->weight[i] = 0.5 + rng_uniform(&r);
        t->error[i] = i % 4 ? 0.2 * rng_uniform(&r) : 0.0;
        t->offset[i] = rng_normal(&r);
        if (holes && i % 7 == 0)
            x[1] = NAN;
    }
    return t;
}

/* What a model is fitted with. */
typedef struct {
    const char *name;
    int columns; /* the first so many                            */
    int weights, errors, offset, holes;
    const char *options[10][2];
} setup;

static const setup setups[] = {
    {"numbers", 2, 0, 0, 0, 0, {{"theta", "0.3,1.5,1,0.02"}}},
    {"category", 3, 0, 0, 0, 0, {{"theta", "0.5,1,0.02"}, {"partition", "kdtree"}}},
    {"weights", 3, 1, 1, 0, 0, {{"theta", "0.5,1,0.02"}, {"partition", "random"}}},
    {"offset", 2, 0, 0, 1, 0, {{"theta", "0.5,1,0.02"}, {"partition-metric", "input"}}},
    {"dates", 4, 1, 0, 0, 0, {{"theta", "0.7,1,0.02"}, {"periodic", "4:week"}}},
    {"holes", 4, 0, 1, 0, 1, {{"theta", "0.7,1,0.02"}, {"missing", "impute"}}},
    {"line", 2, 0, 1, 0, 0, {{"theta", "0.5,1,0.02"}, {"trend", "linear"}}},
    {"logarithm", 3, 1, 0, 0, 0, {{"theta", "0.5,1,0.02"}, {"warp", "log"}}},
    {"local noise", 2, 0, 0, 0, 0, {{"theta", "0.5,1,0.02"}, {"local-noise", "yes"}}},
    {"directions",
     2,
     0,
     0,
     0,
     0,
     {{"metric", "linear"}, {"kernel", "matern32x2"}, {"max-evaluations", "6"}, {"spread", "8"}}},
    {"calibrated", 2, 0, 0, 0, 0, {{"theta", "0.5,1,0.02"}, {"calibrate", "true"}}},
    {"overlap", 2, 0, 0, 0, 0, {{"theta", "0.5,1,0.02"}, {"overlap", "0.5"}}},
    {"place", 3, 1, 0, 0, 0, {{"theta", "0.5,1,0.02"}, {"lonlat", "1,2"}}},
    {"distances", 3, 0, 0, 0, 0, {{"theta", "0.5,1,0.02"}, {"encoding", "distance"}}},
};
enum { SETUPS = sizeof setups / sizeof *setups };
enum { PARTITIONS = 4 };
static const char *const partitions[PARTITIONS] = {"kmeans", "kdtree", "random", "communication"};

static quorum_options *options_of(const setup *s)
{
    quorum_options *o = quorum_options_new();
    assert_ok(quorum_options_set(o, "experts", "5"));
    assert_ok(quorum_options_set(o, "kernel", "matern32"));
    assert_ok(quorum_options_set(o, "calibrate", "false"));
    for (size_t i = 0; s->options[i][0]; i++)
        assert_ok(quorum_options_set(o, s->options[i][0], s->options[i][1]));
    return o;
}

static double *some_columns(const table *t, size_t first, size_t rows, size_t columns)
{
    double *X = mem_alloc(rows * columns, sizeof *X);
    for (size_t i = 0; i < rows; i++)
        for (size_t d = 0; d < columns; d++)
            X[i * columns + d] = t->X[(first + i) * COLUMNS + d];
    return X;
}

static quorum_model *fit_old(const setup *s, const table *t, const quorum_options *o)
{
    size_t columns = (size_t)s->columns;
    double *X = some_columns(t, 0, OLD, columns);
    quorum_data data = {.rows = OLD,
                        .inputs = columns,
                        .X = X,
                        .y = (double *)t->y,
                        .target = columns,
                        .offset_place = columns,
                        .offset = s->offset ? (double *)t->offset : NULL,
                        .levels = columns > 2 ? levels : NULL,
                        .level = columns > 2 ? level : NULL,
                        .date = columns > 3 ? dates : NULL,
                        .weight = s->weights ? (double *)t->weight : NULL,
                        .noise_std = s->errors ? (double *)t->error : NULL};
    quorum_model *m = NULL;
    assert_ok(quorum_fit_data(&data, o, &m));
    mem_free(X);
    return m;
}

/* Rows first .. as the model's inputs; holes stay. */
static double *inputs_of(const setup *s, const table *t, const quorum_model *m, size_t first,
                         size_t rows)
{
    double *columns = some_columns(t, first, rows, (size_t)s->columns);
    double *X = mem_alloc(rows * m->rows.D, sizeof *X);
    assert_ok(quorum_make_inputs(m, columns, rows, X));
    mem_free(columns);
    return X;
}

static quorum_new_rows rows_of(const setup *s, const table *t, const double *X, size_t first,
                               size_t rows)
{
    return (quorum_new_rows){.rows = rows,
                             .X = X,
                             .y = t->y + first,
                             .offset = s->offset ? t->offset + first : NULL,
                             .weight = s->weights ? t->weight + first : NULL,
                             .noise_std = s->errors ? t->error + first : NULL};
}

static void add_rows(const setup *s, const table *t, quorum_model *m, size_t first, size_t rows,
                     const quorum_options *o, quorum_update_report *report)
{
    double *X = inputs_of(s, t, m, first, rows);
    quorum_new_rows given = rows_of(s, t, X, first, rows);
    assert_ok(quorum_update(m, &given, NULL, o, report));
    mem_free(X);
}

/* ---- The same by a fit to all rows ---- */

/* A fit to rows first .. ALL - 1 that has learned what m has, divided in another way. */
static quorum_model *fit_again(const setup *s, const table *t, const quorum_model *m, size_t first,
                               const char *division_by)
{
    size_t D = m->rows.D, rows = ALL - first;
    double *X = inputs_of(s, t, m, first, rows), *error = mem_alloc(rows, sizeof *error);
    int some = s->errors;
    for (size_t i = 0; i < rows; i++) {
        double hole = m->holes.of ? holes_fill(&m->holes, &m->made, X + i * D, NULL) : 0.0;
        error[i] = hypot(s->errors ? t->error[first + i] : 0.0, sqrt(hole));
        some |= hole > 0.0;
    }
    quorum_options *o = options_of(s);
    assert_ok(quorum_options_set(o, "partition", division_by));
    assert_ok(quorum_options_set(o, "experts", "4"));
    assert_ok(quorum_options_set(o, "calibrate", "false"));
    row_set own = rows_view_of(rows, D, X, t->y + first);
    own.offset = s->offset ? (double *)t->offset + first : NULL;
    own.weight = s->weights ? (double *)t->weight + first : NULL;
    own.error = some ? error : NULL;
    scattered_rows all = rows_scattered(rows, &own);
    quorum_data about = {.offset = own.offset, .weight = own.weight, .noise_std = own.error};
    fitting f = {.given = &all,
                 .about = &about,
                 .categories = {m->shown.levels, (char *const *const *)m->shown.level},
                 .options = o,
                 .s = options_values(o),
                 .p = options_progress(o),
                 .learned = m};
    quorum_model *again = NULL;
    f.holes = m->holes.of != NULL;
    assert_ok(fit_rows(&f, &again));
    quorum_options_free(o);
    mem_free(X);
    mem_free(error);
    return again;
}

static void predict(const quorum_model *m, const double *X, const double *offset,
                    const char *method, const char *select, double *mean, double *std)
{
    quorum_options *o = quorum_options_new();
    assert_ok(quorum_options_set(o, "method", method));
    assert_ok(quorum_options_set(o, "select", select));
    assert_ok(quorum_options_set(o, "calibration", "off"));
    assert_ok(quorum_options_set(o, "missing", "impute"));
    quorum_prediction out = {.mean = mean, .std = std, .offset = offset};
    assert_ok(quorum_predict(m, X, QUERIES, o, &out, NULL));
    quorum_options_free(o);
}

/* Queries without holes: the first rows, moved a little. */
static double *queries_of(const setup *s, const quorum_model *m)
{
    table *t = make_table(0);
    for (size_t i = 0; i < QUERIES; i++)
        t->X[i * COLUMNS] += 0.01;
    double *X = inputs_of(s, t, m, 0, QUERIES);
    mem_free(t);
    return X;
}

static void assert_same_predictions(const setup *s, const quorum_model *a, const quorum_model *b,
                                    const char *method, const char *select)
{
    double mean[2][QUERIES], std[2][QUERIES], offset[QUERIES] = {0};
    double *X = queries_of(s, a);
    predict(a, X, s->offset ? offset : NULL, method, select, mean[0], std[0]);
    predict(b, X, s->offset ? offset : NULL, method, select, mean[1], std[1]);
    if (memcmp(mean[0], mean[1], sizeof mean[0]) != 0 || memcmp(std[0], std[1], sizeof std[0]) != 0)
        fail_msg("%s: predictions by %s differ", s->name, method);
    mem_free(X);
}

/* A model of the old rows, divided by p of the partitions, that has taken the new ones. */
static quorum_model *updated(const setup *s, const table *t, int p)
{
    quorum_options *o = options_of(s);
    assert_ok(quorum_options_set(o, "partition", partitions[p]));
    quorum_model *m = fit_old(s, t, o);
    quorum_update_report report;
    add_rows(s, t, m, OLD, NEW, o, &report);
    assert_int_equal(report.added, NEW);
    assert_int_equal(m->rows.n, ALL);
    quorum_options_free(o);
    return m;
}

/* Whatever divided the model; the fit is divided by the partition after that. */
static void nearest_rows_predict_as_those_of_a_fit(void **state)
{
    (void)state;
    for (int k = 0; k < SETUPS * PARTITIONS; k++) {
        const setup *s = &setups[k / PARTITIONS];
        table *t = make_table(s->holes);
        quorum_model *m = updated(s, t, k % PARTITIONS);
        quorum_model *again = fit_again(s, t, m, 0, partitions[(k + 1) % PARTITIONS]);
        assert_same_predictions(s, m, again, "nearest", "auto");
        quorum_model_free(again);
        quorum_model_free(m);
        mem_free(t);
    }
}

/* ---- The same division ---- */

/* b's rows in a's division, found by their numbers. */
static void divide_like(const quorum_model *a, quorum_model *b)
{
    size_t n = a->rows.n, *place = mem_alloc(n, sizeof *place), *list = mem_alloc(n, sizeof *list);
    row_set rows;
    assert_int_equal(n, b->rows.n);
    for (size_t i = 0; i < n; i++)
        place[b->row[i]] = i;
    for (size_t i = 0; i < n; i++)
        list[i] = place[a->row[i]];
    assert_ok(rows_new(&b->rows, n, &rows));
    rows_take(&b->rows, list, n, &rows);
    extra_rows extra = {0};
    quorum_model next = *b;
    model_forget_rows(&next);
    next.rows = rows;
    next.M = a->M;
    next.row = mem_alloc(n, sizeof *next.row);
    next.offset = mem_alloc(a->M + 1, sizeof *next.offset);
    memcpy(next.row, a->row, n * sizeof *next.row);
    memcpy(next.offset, a->offset, (a->M + 1) * sizeof *next.offset);
    parts own = model_parts(&next);
    if (a->extra.offset)
        assert_ok(extra_rows_choose(&own, next.theta.lengthscale, 0.5, 1, &extra));
    next.extra = extra;
    next.cache = model_cache_new(b);
    assert_ok(model_complete(&next));
    model_free_rows(b);
    *b = next;
    mem_free(place);
    mem_free(list);
}

static void experts_predict_as_those_of_the_same_division(void **state)
{
    static const char *const methods[] = {"npae", "rbcm", "grbcm", "gpoe", "cells", "nearest"};
    (void)state;
    for (int k = 0; k < SETUPS * PARTITIONS; k++) {
        const setup *s = &setups[k / PARTITIONS];
        table *t = make_table(s->holes);
        quorum_model *m = updated(s, t, k % PARTITIONS);
        quorum_model *again = fit_again(s, t, m, 0, "kmeans");
        divide_like(m, again);
        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
            assert_same_predictions(s, m, again, methods[i], "auto");
        quorum_model_free(again);
        quorum_model_free(m);
        mem_free(t);
    }
}

/* ---- Every partition, category, weight and target together ---- */

enum { KINDS = 3, WEIGHINGS = 4, TARGETS = 4 };

/* An option of a fit; a name that is NULL: nothing. */
typedef struct {
    const char *word[2];
} asked_for;

static const asked_for kinds[KINDS] = {{{NULL}}, {{NULL}}, {{"encoding", "distance"}}};
static const asked_for targets[TARGETS] = {
    {{NULL}}, {{NULL}}, {{"trend", "linear"}}, {{"warp", "log"}}};

/* Whether that fit is possible. */
static int make_setup(int kind, int weighing, int target, setup *s)
{
    const asked_for words[] = {{{"theta", "0.5,1,0.02"}}, kinds[kind], targets[target]};
    *s = (setup){.name = "all together",
                 .columns = kind == 0 ? 2 : 3,
                 .weights = weighing & 1,
                 .errors = weighing >> 1,
                 .offset = target == 1};
    int count = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].word[0])
            memcpy(s->options[count++], words[i].word, sizeof words[i].word);
    return !(target == 3 && s->errors);
}

static void assert_update_is_a_fit(const setup *s, int p)
{
    table *t = make_table(0);
    quorum_model *m = updated(s, t, p);
    quorum_model *again = fit_again(s, t, m, 0, partitions[(p + 1) % PARTITIONS]);
    assert_same_predictions(s, m, again, "nearest", "auto");
    divide_like(m, again);
    assert_same_predictions(s, m, again, "npae", "auto");
    quorum_model_free(again);
    quorum_model_free(m);
    mem_free(t);
}

/* No category, by position, by distance; no weights, weights, known noise, both; the target itself, about an
 * offset, about a line, by its logarithm: all of them with each partition. */
static void all_together_predict_as_a_fit(void **state)
{
    (void)state;
    setup s;
    for (int k = 0; k < KINDS * WEIGHINGS * TARGETS; k++)
        for (int p = 0; p < PARTITIONS; p++)
            if (make_setup(k / WEIGHINGS / TARGETS, k / TARGETS % WEIGHINGS, k % TARGETS, &s))
                assert_update_is_a_fit(&s, p);
}

/* A new row is with the expert whose centre, of the rows before, is nearest in the metric. */
static void rows_join_the_nearest_expert(void **state)
{
    (void)state;
    const setup *s = &setups[0];
    table *t = make_table(0);
    quorum_options *o = options_of(s);
    quorum_model *m = fit_old(s, t, o), *old = fit_old(s, t, o);
    add_rows(s, t, m, OLD, NEW, o, NULL);
    for (size_t e = 0; e < m->M; e++)
        for (size_t i = m->offset[e]; i < m->offset[e + 1]; i++) {
            double least = INFINITY;
            size_t best = 0;
            for (size_t f = 0; f < old->M && m->row[i] >= OLD; f++) {
                double distance = 0.0, rows = (double)(old->offset[f + 1] - old->offset[f]);
                for (size_t d = 0; d < 2; d++) {
                    double mean = 0.0;
                    for (size_t j = old->offset[f]; j < old->offset[f + 1]; j++)
                        mean += old->rows.X[2 * j + d] / rows;
                    double way = (m->rows.X[2 * i + d] - mean) / m->theta.lengthscale[d];
                    distance += way * way;
                }
                best = distance < least ? f : best;
                least = fmin(least, distance);
            }
            if (m->row[i] >= OLD)
                assert_int_equal(best, e);
            if (i > m->offset[e])
                assert_true(m->row[i] > m->row[i - 1]);
        }
    quorum_model_free(m);
    quorum_model_free(old);
    quorum_options_free(o);
    mem_free(t);
}

/* ---- Forgetting ---- */

static void forgotten_rows_are_as_if_never_there(void **state)
{
    (void)state;
    for (int k = 0; k < SETUPS; k++) {
        const setup *s = &setups[k];
        table *t = make_table(s->holes);
        quorum_options *o = options_of(s);
        quorum_model *m = fit_old(s, t, o);
        double *X = inputs_of(s, t, m, OLD, NEW);
        quorum_new_rows given = rows_of(s, t, X, OLD, NEW);
        quorum_forgetting window = {.window = 200};
        quorum_update_report report;
        assert_ok(quorum_update(m, &given, &window, o, &report));
        assert_int_equal(report.removed, ALL - 200);
        assert_int_equal(m->rows.n, 200);
        quorum_model *again = fit_again(s, t, m, ALL - 200, "kdtree");
        assert_same_predictions(s, m, again, "nearest", "auto");
        divide_like(m, again);
        assert_same_predictions(s, m, again, "npae", "auto");
        quorum_model_free(again);
        quorum_model_free(m);
        quorum_options_free(o);
        mem_free(X);
        mem_free(t);
    }
}

/* Rows by number, experts that lose all of theirs, and a window that new rows alone fill. */
static void rows_are_forgotten_by_number(void **state)
{
    (void)state;
    const setup *s = &setups[0];
    table *t = make_table(0);
    quorum_options *o = options_of(s);
    quorum_model *m = fit_old(s, t, o);
    size_t gone[OLD], count = m->offset[1], experts = m->M;
    memcpy(gone, m->row, count * sizeof *gone);
    gone[count] = gone[0]; /* twice is once */
    quorum_forgetting forget = {.row = gone, .rows = count + 1};
    quorum_update_report report;
    assert_ok(quorum_update(m, NULL, &forget, o, &report));
    assert_int_equal(report.removed, count);
    assert_int_equal(m->M, experts - 1);
    char seen[OLD] = {0};
    for (size_t i = 0; i < m->rows.n; i++)
        seen[m->row[i]]++;
    for (size_t i = 0; i < m->rows.n; i++)
        assert_int_equal(seen[i], 1);
    quorum_forgetting few = {.window = 10};
    double *X = inputs_of(s, t, m, OLD, NEW);
    quorum_new_rows given = rows_of(s, t, X, OLD, NEW);
    assert_ok(quorum_update(m, &given, &few, o, &report));
    assert_int_equal(report.added, 10);
    assert_int_equal(m->rows.n, 10);
    quorum_model *again = fit_again(s, t, m, ALL - 10, "random");
    assert_same_predictions(s, m, again, "nearest", "auto");
    quorum_model_free(again);
    quorum_model_free(m);
    quorum_options_free(o);
    mem_free(X);
    mem_free(t);
}

/* ---- What is refused ---- */

static void assert_refused(quorum_model *m, const quorum_new_rows *rows,
                           const quorum_forgetting *forget, quorum_status status, const char *says)
{
    size_t n = m->rows.n;
    assert_int_equal(quorum_update(m, rows, forget, NULL, NULL), status);
    assert_says(says);
    assert_int_equal(m->rows.n, n);
}

static void bad_calls_change_nothing(void **state)
{
    (void)state;
    const setup *s = &setups[0];
    table *t = make_table(0);
    quorum_options *o = options_of(s);
    quorum_model *m = fit_old(s, t, o);
    double *X = inputs_of(s, t, m, OLD, NEW);
    quorum_new_rows rows = rows_of(s, t, X, OLD, NEW), bad;
    size_t far = OLD;
    quorum_forgetting beyond = {.row = &far, .rows = 1}, all = {.window = 1};
    assert_refused(m, NULL, NULL, QUORUM_E_ARGUMENT, "rows to add or to forget");
    assert_refused(m, NULL, &beyond, QUORUM_E_ARGUMENT, "row 301 cannot be forgotten");
    assert_refused(m, NULL, &all, QUORUM_E_DATA, "1 row would stay");
    bad = rows;
    bad.offset = t->offset;
    assert_refused(m, &bad, NULL, QUORUM_E_ARGUMENT, "has no offset");
    X[3] = INFINITY;
    assert_refused(m, &rows, NULL, QUORUM_E_DATA, "inputs must be finite");
    X[3] = NAN;
    assert_refused(m, &rows, NULL, QUORUM_E_DATA, "inputs must be finite");
    X[3] = 0.5;
    t->y[OLD + 3] = INFINITY;
    assert_refused(m, &rows, NULL, QUORUM_E_DATA, "row 4: the target is inf");
    t->y[OLD + 3] = NAN; /* no target: it is left out */
    quorum_update_report report;
    assert_ok(quorum_update(m, &rows, NULL, o, &report));
    assert_int_equal(report.added, NEW - 1);
    quorum_model_free(m);
    quorum_options_free(o);
    mem_free(X);
    mem_free(t);
}

/* A level that the model does not know. */
static void new_levels_are_left_out(void **state)
{
    (void)state;
    const setup *s = &setups[1];
    table *t = make_table(0);
    quorum_options *o = options_of(s);
    quorum_model *m = fit_old(s, t, o);
    double *X = inputs_of(s, t, m, OLD, NEW);
    quorum_new_rows given = rows_of(s, t, X, OLD, NEW);
    quorum_update_report report;
    X[2] = X[5] = -1.0;
    assert_ok(quorum_options_set(o, "unseen", "error"));
    assert_int_equal(quorum_update(m, &given, NULL, o, &report), QUORUM_E_DATA);
    assert_ok(quorum_options_set(o, "unseen", "predict"));
    assert_ok(quorum_update(m, &given, NULL, o, &report));
    assert_int_equal(report.unseen, 2);
    assert_int_equal(report.added, NEW - 2);
    quorum_model_free(m);
    quorum_options_free(o);
    mem_free(X);
    mem_free(t);
}

/* ---- Calibration and drift ---- */

static void calibration_learns_and_drift_is_seen(void **state)
{
    (void)state;
    const setup *s = &setups[10];
    table *t = make_table(0);
    quorum_options *o = options_of(s);
    quorum_model *m = fit_old(s, t, o);
    size_t before = m->calibration.count;
    double scale = m->calibration.scale;
    quorum_update_report report;
    assert_true(before > 100);
    quorum_forgetting none = {0};
    assert_ok(quorum_update(m, NULL, &none, o, &report)); /* nothing new: nothing is learned */
    assert_int_equal(m->calibration.count, before);
    assert_true(m->calibration.scale == scale);
    add_rows(s, t, m, OLD, NEW / 2, o, &report);
    assert_int_equal(report.scored, NEW / 2);
    assert_int_equal(m->calibration.count, before + NEW / 2);
    assert_false(report.drift);
    assert_true(report.chance > 0.01);
    assert_true(fabs(log(m->calibration.scale / scale)) < 0.2);
    assert_true(model_is_calibrated(m, options_values(NULL)));
    scale = m->calibration.scale;
    for (size_t i = OLD + NEW / 2; i < ALL; i++)
        t->y[i] += 3.0;
    add_rows(s, t, m, OLD + NEW / 2, NEW / 2, o, &report);
    assert_true(report.drift);
    assert_true(report.density < report.expected);
    assert_true(m->calibration.scale > scale);
    for (size_t i = 1; i < m->calibration.count; i++)
        assert_true(m->calibration.z[i] >= m->calibration.z[i - 1]);
    quorum_model_free(m);
    quorum_options_free(o);
    mem_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_rows_predict_as_those_of_a_fit),
        cmocka_unit_test(experts_predict_as_those_of_the_same_division),
        cmocka_unit_test(all_together_predict_as_a_fit),
        cmocka_unit_test(rows_join_the_nearest_expert),
        cmocka_unit_test(forgotten_rows_are_as_if_never_there),
        cmocka_unit_test(rows_are_forgotten_by_number),
        cmocka_unit_test(bad_calls_change_nothing),
        cmocka_unit_test(new_levels_are_left_out),
        cmocka_unit_test(calibration_learns_and_drift_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
