/* The benchmark suite: every stage of the library against what limits it on this
 * machine, both measured in the same run, in turn, the best of several rounds each.
 *
 * A stage makes timings and hands them to suite_measure; what it wants to say about
 * them (one is as fast as another) are claims.  Slopes over sizes are fitted at the end. */
#ifndef QRM_BENCH_SUITE_H
#define QRM_BENCH_SUITE_H

#include "base/parallel.h"
#include "experts/committee.h"

#include <quorum.h>
#include <stddef.h>
#include <stdio.h>

/* ---- What limits a stage (limits.c) ---- */

typedef struct {
    const char *name; /* "DGEMM"                                              */
    const char *unit; /* "GFLOP/s"                                            */
    double scale;     /* of the unit: 1e9                                     */
    double (*rate)(const void *context, int threads); /* one measurement, per second */
    const void *context;
} limit;

extern const limit limit_gemm;      /* floating-point operations */
extern const limit limit_exp;       /* exponentials              */
extern const limit limit_bandwidth; /* bytes read                */

/* Small products in quick runs.  Free at the end of the program. */
void limits_start(int threads, int quick);
void limits_stop(void);

/* ---- A run ---- */

typedef struct suite suite;

/* Does the work once and returns the seconds that it took. */
typedef double (*timed)(void *context);

typedef struct {
    char name[56];      /* with stage, D and threads it names a series over sizes */
    size_t size, D;     /* what grows; inputs                                  */
    int threads;        /* 0: the run's                                        */
    const limit *limit; /* NULL: none                                          */
    double work;        /* of one repetition, in the limit's unit              */
    double items;       /* of one repetition: seconds are given for one        */
    double slope;       /* that theory expects of the seconds over sizes; 0: not fitted */
    timed run;          /* NULL: the limit itself                              */
    void *context;
    double seconds, limit_rate; /* out: of one item; best                      */
} timing;

int suite_threads(const suite *s);
int suite_quick(const suite *s);
size_t suite_pick(const suite *s, size_t full, size_t quick);

/* Times all cases in turn, with their limits, `rounds` times, and prints them. */
void suite_measure(suite *s, timing *cases, size_t count, int rounds);

/* A ratio that should be at most (or, at_least, at least) `target`; NAN: no target. */
void suite_claim(suite *s, int at_least, double value, double target, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- Stages: one function each, listed in main.c ---- */

void stage_roofline(suite *s);
void stage_kernel(suite *s);
void stage_train(suite *s);
void stage_posterior(suite *s);
void stage_pairs(suite *s);
void stage_solve(suite *s);
void stage_kmeans(suite *s);
void stage_neighbours(suite *s);
void stage_glasso(suite *s);
void stage_reading(suite *s);
void stage_latency(suite *s);
void stage_whole(suite *s);

/* ---- Made-up problems (problem.c) ---- */

/* Ends the program with the library's message. */
void check(quorum_status status);
void *must(void *pointer);

/* M experts of m rows, D inputs. */
typedef struct {
    parts p;
    hyper theta;
    double *X, *y;
    size_t *offset, *experts;
} problem;

problem problem_new(const kernel *k, size_t M, size_t m, size_t D);
void problem_free(problem *b);

/* Points with new random coordinates, length-scales 1. */
points random_points(size_t n, size_t D, unsigned seed);

/* The problem's first rows as queries. */
points problem_queries(const problem *b, size_t count);

/* X (rows x 8) uniform, y a smooth function of some of it with noise. */
void made_data(size_t rows, unsigned seed, double **X, double **y);
enum { MADE_INPUTS = 8 };

/* What the option neighbours is by default, for counting flops. */
enum { DEFAULT_NEIGHBOURS = 512 };

#endif
