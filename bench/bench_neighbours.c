/* Neighbour search, tree against scan, on one thread:
 *
 *     bench_neighbours [--csv FILE] [--largest N] [--threads T] [--data KIND]
 *
 * KIND is uniform (the default), normal, or curved: 3-dimensional sheets bent
 * into all inputs, as real data often are.  Queries are new points of the same
 * kind.  "share" is the part of the points that the tree looks at for m = 64. */
#include "base/parallel.h"
#include "base/random.h"
#include "near/neighbour_methods.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUERIES = 4096 };
static const size_t SIZES[] = {10000, 100000, 1000000};
static const size_t INPUTS[] = {1, 2, 4, 8, 16, 32};
static const size_t COUNTS[] = {64, 256};
static const double BUDGET = 0.5; /* seconds for one figure, about */

static void must(quorum_status status)
{
    if (status < 0) {
        fprintf(stderr, "%s\n", quorum_message());
        exit(1);
    }
}

static void draw_point(const char *kind, size_t D, rng *r, double *x)
{
    double hidden[3] = {rng_uniform(r), rng_uniform(r), rng_uniform(r)};
    for (size_t d = 0; d < D; d++)
        if (strcmp(kind, "normal") == 0)
            x[d] = rng_normal(r);
        else if (strcmp(kind, "curved") == 0)
            x[d] = sin(hidden[d % 3] * (double)(1 + d % 5) + hidden[(d + 1) % 3] + (double)d) +
                   0.02 * rng_normal(r);
        else
            x[d] = rng_uniform(r);
}

static points draw_points(const char *kind, size_t n, size_t D, uint64_t seed)
{
    points p;
    rng r = rng_seed(seed, 5);
    double *X = malloc(n * D * sizeof *X), *one = malloc(D * sizeof *one);
    if (!X || !one) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    for (size_t i = 0; i < n; i++)
        draw_point(kind, D, &r, X + i * D);
    for (size_t d = 0; d < D; d++)
        one[d] = 1.0;
    must(points_new(n, D, &p));
    points_scale(&p, n, X, NULL, one);
    free(X);
    free(one);
    return p;
}

/* Queries a second, the best of three batches that fit the budget together. */
static double speed(const neighbour_index *index, const points *Q, size_t m, int threads)
{
    size_t *rows = malloc(Q->n * m * sizeof *rows);
    double best = 0.0;
    points some = points_view(Q, 0, 32);
    for (int round = 0; round < 4; round++) {
        double start = wall_seconds();
        must(neighbour_search(index, &some, m, threads, rows, NULL));
        double rate = (double)some.n / (wall_seconds() - start);
        best = rate > best ? rate : best;
        if (round == 0) { /* the first one only shows how many fit */
            double fit = rate * BUDGET / 3.0;
            best = 0.0;
            some.n = fit < 32.0 ? 32 : fit < (double)Q->n ? (size_t)fit : Q->n;
        }
    }
    free(rows);
    return best;
}

static void run(const char *kind, size_t n, size_t D, int threads, FILE *csv)
{
    points Z = draw_points(kind, n, D, 1), Q = draw_points(kind, QUERIES, D, 2);
    neighbour_index *tree, *scan, *chosen;
    double start = wall_seconds();
    must(neighbour_index_new_by(NEIGHBOURS_TREE, &Z, threads, &tree));
    double build = wall_seconds() - start;
    must(neighbour_index_new_by(NEIGHBOURS_SCAN, &Z, threads, &scan));
    must(neighbour_index_new(&Z, threads, &chosen));
    for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; c++) {
        double by_tree = speed(tree, &Q, COUNTS[c], threads);
        double by_scan = speed(scan, &Q, COUNTS[c], threads);
        printf("%8zu %3zu %4zu %8.2f %7.4f %12.0f %12.0f  %s%s\n", n, D, COUNTS[c], build,
               neighbour_index_share(tree), by_tree, by_scan, neighbour_index_method(chosen),
               strcmp(neighbour_index_method(chosen), by_tree > by_scan ? "tree" : "scan") == 0
                   ? ""
                   : " (slower)");
        fflush(stdout);
        if (csv)
            fprintf(csv, "%s,%zu,%zu,%zu,%.3f,%.5f,%.1f,%.1f,%s\n", kind, n, D, COUNTS[c], build,
                    neighbour_index_share(tree), by_tree, by_scan, neighbour_index_method(chosen));
    }
    neighbour_index_free(tree);
    neighbour_index_free(scan);
    neighbour_index_free(chosen);
    points_free(&Z);
    points_free(&Q);
}

/* The word after `name`, or NULL. */
static const char *option(int count, char **words, const char *name)
{
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(words[i], name) == 0)
            return words[i + 1];
    return NULL;
}

int main(int count, char **words)
{
    const char *path = option(count, words, "--csv"), *most = option(count, words, "--largest");
    const char *kind = option(count, words, "--data"), *threads = option(count, words, "--threads");
    FILE *csv = path ? fopen(path, "w") : NULL;
    if (path && !csv) {
        perror(path);
        return 1;
    }
    if (csv)
        fprintf(csv, "data,n,D,m,build_seconds,share,tree_per_second,scan_per_second,chosen\n");
    printf("       n   D    m  build s   share   tree q/s     scan q/s  chosen\n");
    for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++)
        for (size_t t = 0; t < sizeof INPUTS / sizeof *INPUTS; t++)
            if (!most || SIZES[s] <= strtoul(most, NULL, 10))
                run(kind ? kind : "uniform", SIZES[s], INPUTS[t],
                    threads ? (int)strtol(threads, NULL, 10) : 1, csv);
    if (csv && fclose(csv) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}
