/* Work that goes over all rows: splitting them among experts, and finding neighbours. */
#include "suite.h"

#include "base/memory.h"
#include "near/neighbour_methods.h"
#include "partition/partition.h"

#include <math.h>
#include <string.h>

enum { PART_ROWS = 500 };

/* ---- Partitions ---- */

typedef struct {
    const partition *how;
    partition_problem problem;
    size_t *label;
} split_run;

static double split_seconds(void *context)
{
    split_run *r = context;
    double start = wall_seconds();
    check(r->how->split(QUORUM_OK, &r->problem, r->label));
    return wall_seconds() - start;
}

static timing split_timing(split_run *r)
{
    const scattered_rows *rows = r->problem.rows;
    double n = (double)rows->n, D = (double)rows->held.D, M = (double)r->problem.parts;
    int trees = r->how == &partition_kdtree;
    timing t = {.size = rows->n,
                .D = rows->held.D,
                .limit = trees ? &limit_bandwidth : &limit_gemm,
                .work = trees ? 8.0 * n * D * log2(M) : 2.0 * n * D * M,
                .items = 1.0,
                .slope = 1.1,
                .run = split_seconds,
                .context = r};
    snprintf(t.name, sizeof t.name, "%s, parts of %d rows", r->how->name, PART_ROWS);
    return t;
}

void stage_kmeans(suite *s)
{
    size_t sizes[] = {suite_pick(s, 10000, 1500), 31623, 100000};
    for (size_t i = 0; i < (suite_quick(s) ? 1 : 3); i++) {
        double *X, *y;
        made_data(sizes[i], 1, &X, &y);
        const partition *how[2] = {&partition_kmeans, &partition_kdtree};
        row_set all = rows_view_of(sizes[i], MADE_INPUTS, X, NULL);
        scattered_rows rows = rows_scattered(all.n, &all);
        split_run r[2];
        timing t[2];
        for (int k = 0; k < 2; k++) {
            r[k] = (split_run){how[k],
                               {.rows = &rows,
                                .parts = sizes[i] / PART_ROWS,
                                .seed = 1,
                                .threads = suite_threads(s)},
                               NULL};
            must(NEW_ARRAY(r[k].label, sizes[i]));
            t[k] = split_timing(&r[k]);
        }
        suite_measure(s, t, 2, suite_quick(s) ? 1 : 2);
        for (int k = 0; k < 2; k++)
            mem_free(r[k].label);
        mem_free(X);
        mem_free(y);
    }
}

/* ---- Neighbours ---- */

typedef struct {
    const points *Z, *Q;
    neighbour_index *index;
    size_t m, *rows;
    int threads;
} search_run;

static double build_seconds(void *context)
{
    search_run *r = context;
    neighbour_index *index;
    double start = wall_seconds();
    check(neighbour_index_new(r->Z, r->threads, &index));
    double seconds = wall_seconds() - start;
    neighbour_index_free(index);
    return seconds;
}

static double search_seconds(void *context)
{
    search_run *r = context;
    double start = wall_seconds();
    check(neighbour_search(r->index, r->Q, r->m, r->threads, r->rows, NULL));
    return wall_seconds() - start;
}

/* A tree reads the coordinates of the points that it looks at, again for each query; a
 * scan multiplies all of them. */
static timing search_timing(search_run *r)
{
    int trees = strcmp(neighbour_index_method(r->index), "tree") == 0;
    double n = (double)r->Z->n, D = (double)r->Z->D, queries = (double)r->Q->n;
    timing t = {.size = r->Z->n,
                .D = r->Z->D,
                .limit = trees ? &limit_bandwidth : &limit_gemm,
                .work = trees ? 8.0 * D * n * neighbour_index_share(r->index) * queries
                              : 2.0 * n * D * queries,
                .items = queries,
                .slope = trees ? 0.2 : 1.0,
                .run = search_seconds,
                .context = r};
    snprintf(t.name, sizeof t.name, "%zu nearest by %s", r->m, trees ? "tree" : "scan");
    return t;
}

static timing build_timing(search_run *r)
{
    timing t = {.size = r->Z->n,
                .D = r->Z->D,
                .limit = &limit_bandwidth,
                .work = 8.0 * (double)(r->Z->n * r->Z->D) * log2((double)r->Z->n / 16.0),
                .items = 1.0,
                .slope = 1.1,
                .run = build_seconds,
                .context = r};
    snprintf(t.name, sizeof t.name, "making the index");
    return t;
}

static void measure_search(suite *s, size_t n, size_t D)
{
    points Z = random_points(n, D, 1), Q = random_points(suite_pick(s, 2048, 64), D, 2);
    size_t few = suite_pick(s, 64, 8), many = suite_pick(s, DEFAULT_NEIGHBOURS, 16), *rows;
    neighbour_index *index;
    check(neighbour_index_new(&Z, suite_threads(s), &index));
    must(NEW_ARRAY(rows, Q.n * many));
    search_run r[2] = {{&Z, &Q, index, few, rows, suite_threads(s)},
                       {&Z, &Q, index, many, rows, suite_threads(s)}};
    timing t[3] = {build_timing(&r[0]), search_timing(&r[0]), search_timing(&r[1])};
    suite_measure(s, t, 3, suite_quick(s) ? 1 : 3);
    neighbour_index_free(index);
    mem_free(rows);
    points_free(&Z);
    points_free(&Q);
}

void stage_neighbours(suite *s)
{
    if (suite_quick(s)) {
        measure_search(s, 2000, 8);
        return;
    }
    for (size_t n = 10000; n <= 1000000; n *= 10)
        measure_search(s, n, 8);
    for (size_t n = 10000; n <= 100000; n *= 10)
        measure_search(s, n, 32);
}
