/* Fit and predict with default settings, end to end. */
#include "suite.h"

#include "base/memory.h"

#include <math.h>

typedef struct {
    size_t rows, queries;
    double *X, *y, *Xq, *yq, *mean, *std;
    quorum_options *options;
    quorum_model *model;
} whole_run;

static double fit_seconds(void *context)
{
    whole_run *r = context;
    quorum_model_free(r->model);
    double start = wall_seconds();
    check(quorum_fit(r->X, r->y, r->rows, MADE_INPUTS, NULL, r->options, &r->model));
    return wall_seconds() - start;
}

static double predict_seconds(void *context)
{
    whole_run *r = context;
    quorum_prediction out = {.mean = r->mean, .std = r->std};
    double start = wall_seconds();
    check(quorum_predict(r->model, r->Xq, r->queries, r->options, &out, NULL));
    return wall_seconds() - start;
}

static whole_run whole_new(suite *s, size_t rows)
{
    char threads[16];
    whole_run r = {.rows = rows, .queries = suite_pick(s, 2000, 50)};
    made_data(rows, 1, &r.X, &r.y);
    made_data(r.queries, 2, &r.Xq, &r.yq);
    must(NEW_ARRAY(r.mean, r.queries));
    must(NEW_ARRAY(r.std, r.queries));
    r.options = must(quorum_options_new());
    snprintf(threads, sizeof threads, "%d", suite_threads(s));
    check(quorum_options_set(r.options, "threads", threads));
    if (suite_quick(s))
        check(quorum_options_set(r.options, "max-evaluations", "5"));
    return r;
}

static void whole_free(whole_run *r)
{
    quorum_model_free(r->model);
    quorum_options_free(r->options);
    mem_free(r->X);
    mem_free(r->y);
    mem_free(r->Xq);
    mem_free(r->yq);
    mem_free(r->mean);
    mem_free(r->std);
}

static void measure_whole(suite *s, size_t rows)
{
    whole_run r = whole_new(s, rows);
    timing fit = {.name = "fit, default settings",
                  .size = rows,
                  .D = MADE_INPUTS,
                  .items = 1.0,
                  .slope = 1.1,
                  .run = fit_seconds,
                  .context = &r};
    suite_measure(s, &fit, 1, 1);
    quorum_info info;
    check(quorum_inspect(r.model, &info));
    suite_claim(s, 0, info.seconds_train / info.seconds_total, NAN,
                "training's share of fit, n = %zu", rows);
    suite_claim(s, 0, info.seconds_partition / info.seconds_total, NAN,
                "the partition's share of fit, n = %zu", rows);
    double m = DEFAULT_NEIGHBOURS;
    timing predict = {.name = "predict, a query, default settings",
                      .size = rows,
                      .D = MADE_INPUTS,
                      .limit = &limit_gemm,
                      .work = (double)r.queries * (m * m * m / 3.0 + m * m * MADE_INPUTS),
                      .items = (double)r.queries,
                      .slope = 0.2,
                      .run = predict_seconds,
                      .context = &r};
    suite_measure(s, &predict, 1, suite_quick(s) ? 1 : 3);
    whole_free(&r);
}

void stage_whole(suite *s)
{
    for (size_t n = suite_pick(s, 5000, 1200); n <= suite_pick(s, 20000, 1200); n *= 2)
        measure_whole(s, n);
}
