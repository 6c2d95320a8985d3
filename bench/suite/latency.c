/* A service asks for one row at a time, on one thread: the time of single calls, of the first one, and
 * the allocations in them once the model has warmed up. */
#include "suite.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { WARM_UP = 5 };

typedef struct {
    const char *name, *method, *select, *neighbours;
    size_t places; /* different queries, asked again and again; 0: as many as there are */
} way;

/* Cells are asked where their experts are kept. */
static const way WAYS[] = {{"default", NULL, NULL, NULL, 0},
                           {"cells that are there", "cells", NULL, NULL, WARM_UP},
                           {"cells of 80 rows that are there", "cells", NULL, "80", WARM_UP},
                           {"local:4, 64 neighbours", NULL, "local:4", "64", 0},
                           {"local:4 alone", NULL, "local:4", "0", 0}};

typedef struct {
    const quorum_model *model;
    quorum_options *options;
    const double *X; /* queries */
    size_t queries, places;
    double first;    /* seconds of the model's first call of this way */
    double *seconds; /* queries: sorted by the run */
    double p99;      /* of the best round          */
    double allocations;
} service;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double one_call(const service *v, size_t q)
{
    double mean, std, start = wall_seconds();
    quorum_prediction out = {.mean = &mean, .std = &std};
    check(quorum_predict(v->model, v->X + q % v->places * MADE_INPUTS, 1, v->options, &out, NULL));
    return wall_seconds() - start;
}

/* The median; p99 and allocations a call are kept on the side. */
static double median_seconds(void *context)
{
    service *v = context;
    double first = one_call(v, 0);
    v->first = v->first > 0.0 ? v->first : first;
    for (size_t q = 1; q < WARM_UP; q++)
        one_call(v, q);
    mem_fail_at(0); /* counts from here */
    for (size_t q = 0; q < v->queries; q++)
        v->seconds[q] = one_call(v, q);
    v->allocations = (double)mem_allocations() / (double)v->queries;
    qsort(v->seconds, v->queries, sizeof *v->seconds, by_size);
    v->p99 = fmin(v->p99, v->seconds[v->queries * 99 / 100]);
    return v->seconds[v->queries / 2];
}

static quorum_model *fit_model(size_t rows)
{
    double *X, *y;
    quorum_model *model = NULL;
    quorum_options *o = must(quorum_options_new());
    check(quorum_options_set(o, "theta", "1.5,1,0.05"));
    check(quorum_options_set(o, "partition", "kdtree"));
    check(quorum_options_set(o, "graph", "none"));
    made_data(rows, 1, &X, &y);
    check(quorum_fit(X, y, rows, MADE_INPUTS, NULL, o, &model));
    mem_free(X);
    mem_free(y);
    quorum_options_free(o);
    return model;
}

static quorum_options *way_options(const way *w)
{
    quorum_options *o = must(quorum_options_new());
    check(quorum_options_set(o, "threads", "1"));
    if (w->method)
        check(quorum_options_set(o, "method", w->method));
    if (w->select)
        check(quorum_options_set(o, "select", w->select));
    if (w->neighbours)
        check(quorum_options_set(o, "neighbours", w->neighbours));
    return o;
}

static void measure_way(suite *s, const quorum_model *model, size_t rows, const way *w,
                        const double *X)
{
    service v = {.model = model, .options = way_options(w), .X = X, .p99 = INFINITY};
    v.queries = suite_pick(s, 400, 20);
    v.places = w->places > 0 ? w->places : v.queries;
    must(NEW_ARRAY(v.seconds, v.queries));
    timing t = {.size = rows,
                .D = MADE_INPUTS,
                .threads = 1,
                .items = 1.0,
                .slope = 0.2,
                .run = median_seconds,
                .context = &v};
    double m = DEFAULT_NEIGHBOURS;
    if (!w->select && !w->method) { /* a factor of m rows */
        t.limit = &limit_gemm;
        t.work = m * m * m / 3.0 + m * m * MADE_INPUTS;
    }
    snprintf(t.name, sizeof t.name, "one query, median: %s", w->name);
    suite_measure(s, &t, 1, suite_quick(s) ? 1 : 2);
    suite_claim(s, 0, v.p99 * 1e3, NAN, "one query of %s, n = %zu: p99 in milliseconds (p50 %.3g)",
                w->name, rows, t.seconds * 1e3);
    suite_claim(s, 0, v.first * 1e3, NAN, "one query of %s, n = %zu: first call in milliseconds",
                w->name, rows);
    suite_claim(s, 0, v.allocations, 0.0,
                "one query of %s, n = %zu: allocations a call after the first", w->name, rows);
    quorum_options_free(v.options);
    mem_free(v.seconds);
}

void stage_latency(suite *s)
{
    double *X, *y;
    made_data(400, 2, &X, &y);
    for (size_t n = suite_pick(s, 10000, 1500); n <= suite_pick(s, 100000, 1500); n *= 10) {
        quorum_model *model = fit_model(n);
        for (size_t w = 0; w < sizeof WAYS / sizeof *WAYS; w++)
            measure_way(s, model, n, &WAYS[w], X);
        quorum_model_free(model);
    }
    mem_free(X);
    mem_free(y);
}
