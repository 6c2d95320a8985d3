/* An index over points: a box tree where trials show that it looks at few of them, otherwise a
 * blocked scan.  For few queries the tree is made of the order in which the points lie.  All give the same rows
 * in the same order. */
#include "near/neighbours.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "near/block_scan.h"
#include "near/box_tree.h"
#include "near/neighbour_methods.h"
#include "team/team.h"

#include <math.h>

enum {
    TREE_QUERIES = 16,   /* queries of one item of work                        */
    SCAN_QUERIES = 64,   /* at most: columns of one product                    */
    SCAN_KEPT = 1 << 21, /* at most: neighbours kept by one worker of the scan */
    TRIALS = 24,         /* rows searched to see whether the tree helps        */
    TRIAL_NEIGHBOURS = 64,
    TOGETHER = 512 /* points in a row that are taken to be near each other: about an expert's */
};

/* A scan costs as much as looking at this many points in the tree: products are
 * ten times faster for a point, but the first points all have to be ranked
 * (bench_neighbours: equal at shares of 0.5, 0.15, 0.1 for n = 10^4, 10^5, 4 10^5). */
static double scan_cost(size_t n)
{
    return 0.1 * (double)n + 3000.0;
}

struct neighbour_index {
    points Z;
    box_tree tree; /* empty for the scan */
    int has_tree;
    double share;
};

/* Distances must not be "not a number": there would be no m nearest. */
static quorum_status check_finite(const points *p, const char *what)
{
    for (size_t i = 0; i < p->n * p->D; i++)
        if (!isfinite(p->Z[i]))
            return failure(QUORUM_E_DATA, "input %zu of %s %zu is not finite", i % p->D + 1, what,
                           i / p->D + 1);
    return QUORUM_OK;
}

/* ---- Choosing ---- */

typedef struct {
    neighbour_index *index;
    size_t m;
    ranked *items; /* nearest_room(m) */
} trial_job;

/* index->share, from rows spread over all of them; no more of them than it takes
 * to see that the tree does not help. */
static quorum_status trial_item(void *context, size_t item, int worker)
{
    (void)item, (void)worker;
    trial_job *job = context;
    const points *Z = &job->index->Z;
    double looked_at = 0.0, allowed = TRIALS * scan_cost(Z->n);
    size_t t = 0;
    for (; t < TRIALS && looked_at <= allowed; t++) {
        nearest best = nearest_start(job->m, job->items);
        size_t row = (size_t)((double)Z->n * ((double)t + 0.5) / TRIALS);
        looked_at += (double)box_tree_search(&job->index->tree, Z->Z + row * Z->D, &best);
    }
    job->index->share = looked_at / ((double)t * (double)Z->n);
    return QUORUM_OK;
}

/* A count and no clock, so that the choice is the same every time. */
static quorum_status measure_share(neighbour_index *index)
{
    size_t n = index->Z.n;
    trial_job job = {.index = index, .m = n < TRIAL_NEIGHBOURS ? n : TRIAL_NEIGHBOURS};
    if (!NEW_ARRAY(job.items, nearest_room(job.m)))
        return failure(QUORUM_E_MEMORY, "out of memory for a neighbour search");
    quorum_status status = parallel_for(1, 1, trial_item, &job);
    mem_free(job.items);
    return status;
}

static quorum_status grow_tree(neighbour_index *index, neighbour_method method, int threads)
{
    const points *Z = &index->Z;
    index->has_tree = 1;
    TRY(box_tree_build(Z->n, Z->D, Z->Z, method == NEIGHBOURS_FEW ? TOGETHER : 0, threads,
                       &index->tree));
    TRY(measure_share(index));
    if (method != NEIGHBOURS_TREE && index->share * (double)Z->n > scan_cost(Z->n)) {
        box_tree_free(&index->tree);
        index->has_tree = 0;
    }
    return QUORUM_OK;
}

quorum_status neighbour_index_new_by(neighbour_method method, const points *Z, int threads,
                                     neighbour_index **out)
{
    neighbour_index *index;
    *out = NULL;
    if (Z->n == 0 || Z->D == 0)
        return failure(QUORUM_E_ARGUMENT, "no points to find neighbours among");
    TRY(check_finite(Z, "point"));
    if (!NEW_ZEROED(index, 1))
        return failure(QUORUM_E_MEMORY, "out of memory for a neighbour index");
    index->Z = *Z;
    index->share = 1.0;
    quorum_status status =
        method == NEIGHBOURS_SCAN ? QUORUM_OK : grow_tree(index, method, threads);
    if (status < 0) {
        neighbour_index_free(index);
        return status;
    }
    *out = index;
    return QUORUM_OK;
}

quorum_status neighbour_index_new(const points *Z, int threads, neighbour_index **out)
{
    return neighbour_index_new_by(NEIGHBOURS_CHOOSE, Z, threads, out);
}

quorum_status neighbour_index_for_few(const points *Z, int threads, neighbour_index **out)
{
    return neighbour_index_new_by(NEIGHBOURS_FEW, Z, threads, out);
}

void neighbour_index_free(neighbour_index *index)
{
    if (!index)
        return;
    box_tree_free(&index->tree);
    mem_free(index);
}

const char *neighbour_index_method(const neighbour_index *index)
{
    return index->has_tree ? "tree" : "scan";
}

double neighbour_index_share(const neighbour_index *index)
{
    return index->share;
}

/* ---- Searching ---- */

typedef struct {
    const neighbour_index *index;
    const points *Q;
    size_t m, queries;   /* queries in one item */
    ranked *items;       /* workers x (1 or queries) x nearest_room(m)            */
    nearest *best;       /* workers x queries, for the scan                       */
    double *S;           /* workers x SCAN_POINTS x queries, for the scan         */
    const double *limit; /* b: no farther, or NULL */
    size_t *rows;
    double *distances;
    size_t *found; /* b, where there is a limit */
} search_job;

static nearest start_query(const search_job *job, size_t q, ranked *items)
{
    nearest best = nearest_start(job->m, items);
    if (job->limit)
        best.limit.key = job->limit[q];
    return best;
}

static void finish_query(const search_job *job, size_t q, nearest *best)
{
    size_t found = nearest_finish(best, job->rows + q * job->m,
                                  job->distances ? job->distances + q * job->m : NULL);
    if (job->found)
        job->found[q] = found;
}

static quorum_status tree_item(void *context, size_t item, int worker)
{
    const search_job *job = context;
    size_t first = item * job->queries, b = job->Q->n;
    for (size_t q = first; q < b && q < first + job->queries; q++) {
        nearest best = start_query(job, q, job->items + (size_t)worker * nearest_room(job->m));
        box_tree_search(&job->index->tree, job->Q->Z + q * job->Q->D, &best);
        finish_query(job, q, &best);
    }
    return QUORUM_OK;
}

static quorum_status scan_item(void *context, size_t item, int worker)
{
    const search_job *job = context;
    size_t first = item * job->queries, left = job->Q->n - first;
    points Q = points_view(job->Q, first, left < job->queries ? left : job->queries);
    size_t place = (size_t)worker * job->queries;
    nearest *best = job->best + place;
    for (size_t j = 0; j < Q.n; j++)
        best[j] = start_query(job, first + j, job->items + (place + j) * nearest_room(job->m));
    block_scan(&job->index->Z, &Q, job->S + place * SCAN_POINTS, best);
    for (size_t j = 0; j < Q.n; j++)
        finish_query(job, first + j, &best[j]);
    return QUORUM_OK;
}

static quorum_status out_of_memory(size_t m)
{
    return failure(QUORUM_E_MEMORY, "out of memory for a search of %zu neighbours", m);
}

static quorum_status search_tree(search_job *job, int threads)
{
    job->queries = TREE_QUERIES;
    size_t count = (job->Q->n + job->queries - 1) / job->queries;
    size_t workers = (size_t)parallel_workers(threads, count);
    if (!NEW_ARRAY(job->items, workers * nearest_room(job->m)))
        return out_of_memory(job->m);
    quorum_status status = parallel_for(threads, count, tree_item, job);
    mem_free(job->items);
    return status;
}

/* Columns of a product: shared among the workers, and what they keep is bounded. */
static size_t scan_width(const search_job *job, int threads)
{
    size_t workers = (size_t)parallel_workers(threads, job->Q->n);
    size_t width = (job->Q->n + workers - 1) / workers, most = SCAN_KEPT / nearest_room(job->m);
    width = width < SCAN_QUERIES ? width : SCAN_QUERIES;
    width = width < most ? width : most;
    return width > 1 ? width : 1;
}

static quorum_status search_scan(search_job *job, int threads)
{
    quorum_status status;
    job->queries = scan_width(job, threads);
    size_t count = (job->Q->n + job->queries - 1) / job->queries;
    size_t places = (size_t)parallel_workers(threads, count) * job->queries;
    NEW_ARRAY(job->items, places * nearest_room(job->m));
    NEW_ARRAY(job->best, places);
    NEW_ARRAY(job->S, places * SCAN_POINTS);
    if (job->items && job->best && job->S)
        status = parallel_for(threads, count, scan_item, job);
    else
        status = out_of_memory(job->m);
    mem_free(job->items);
    mem_free(job->best);
    mem_free(job->S);
    return status;
}

static quorum_status search_all(search_job *job, int threads)
{
    if (job->Q->D != job->index->Z.D)
        return failure(QUORUM_E_ARGUMENT, "queries have %zu inputs, the points %zu", job->Q->D,
                       job->index->Z.D);
    if (job->Q->n == 0)
        return QUORUM_OK;
    TRY(check_finite(job->Q, "query"));
    return job->index->has_tree ? search_tree(job, threads) : search_scan(job, threads);
}

quorum_status neighbour_search(const neighbour_index *index, const points *Q, size_t m, int threads,
                               size_t *rows, double *distances)
{
    if (m == 0 || m > index->Z.n)
        return failure(QUORUM_E_ARGUMENT, "%zu neighbours asked for among %zu points", m,
                       index->Z.n);
    search_job job = {.index = index, .Q = Q, .m = m, .rows = rows, .distances = distances};
    return search_all(&job, threads);
}

quorum_status neighbour_search_mine(const neighbour_index *index, const points *Q, size_t m,
                                    int threads, size_t *rows, double *distances)
{
    team_slice mine = my_slice(Q->n, 1);
    points queries = points_view(Q, mine.first, mine.count);
    return neighbour_search(index, &queries, m, threads, rows + mine.first * m,
                            distances ? distances + mine.first * m : NULL);
}

quorum_status neighbour_search_within(const neighbour_index *index, const points *Q, size_t m,
                                      const double *limit, int threads, size_t *rows,
                                      double *distances, size_t *found)
{
    search_job job = {.index = index,
                      .Q = Q,
                      .m = m,
                      .limit = limit,
                      .rows = rows,
                      .distances = distances,
                      .found = found};
    return search_all(&job, threads);
}

void reverse_rows(size_t m, size_t *rows)
{
    for (size_t i = 0; i < m / 2; i++) {
        size_t other = rows[m - 1 - i];
        rows[m - 1 - i] = rows[i];
        rows[i] = other;
    }
}
