/* The parts of a prediction by experts: posteriors, pairs, and each query's system. */
#include "suite.h"

#include "aggregate/npae.h"
#include "base/memory.h"

#include <math.h>

/* M experts asked about b queries. */
typedef struct {
    problem b;
    committee c;
    points Q;
    double *pairs;
    assembly a; /* asked with gammas, for pairs and systems */
    int threads;
} asking;

static asking *asking_new(suite *s, const kernel *k, size_t M, size_t m, size_t D, size_t b)
{
    asking *r = must(mem_alloc_zero(1, sizeof *r));
    r->threads = suite_threads(s);
    r->b = problem_new(k, M, m, D);
    check(committee_new(&r->b.p, &r->b.theta, 1e12, r->threads, NULL, &r->c));
    r->Q = problem_queries(&r->b, b);
    must(NEW_ARRAY(r->pairs, M * M / 2 * b + 1));
    check(assembly_new(&r->c, &r->Q, M, &r->a));
    assembly_seat_all(&r->a, r->b.experts, M);
    check(assembly_ask(QUORUM_OK, &r->a, 1, 1, 1e12, r->threads));
    return r;
}

static void asking_free(asking *r)
{
    assembly_free(&r->a);
    mem_free(r->pairs);
    points_free(&r->Q);
    committee_free(&r->c);
    problem_free(&r->b);
    mem_free(r);
}

/* ---- Posteriors: means and variances ---- */

static double posterior_seconds(void *context)
{
    asking *r = context;
    assembly a;
    check(assembly_new(&r->c, &r->Q, r->b.p.M, &a));
    assembly_seat_all(&a, r->b.experts, r->b.p.M);
    double start = wall_seconds();
    check(assembly_ask(QUORUM_OK, &a, 1, 0, 1e12, r->threads));
    double seconds = wall_seconds() - start;
    assembly_free(&a);
    return seconds;
}

static timing asking_timing(asking *r, const char *what, timed run)
{
    timing t = {.size = part_size(&r->b.p, 0),
                .D = r->b.p.rows.D,
                .limit = &limit_gemm,
                .run = run,
                .context = r};
    snprintf(t.name, sizeof t.name, "%s%s", what, r->b.theta.kernel->name);
    return t;
}

/* The triangular solve, m^2, and the distances, 2 m D, a query and expert. */
static timing posterior_timing(asking *r)
{
    timing t = asking_timing(r, "mean and variance, ", posterior_seconds);
    double m = (double)t.size;
    t.items = (double)r->b.p.M * (double)r->Q.n;
    t.work = t.items * (m * m + 2.0 * m * (double)t.D);
    t.slope = 2.0;
    return t;
}

/* ---- Pairs of experts: 2 m_i m_j a query ---- */

static double pair_seconds(void *context)
{
    asking *r = context;
    double start = wall_seconds();
    check(npae_pairs(&r->a, r->threads, r->pairs));
    return wall_seconds() - start;
}

static timing pair_timing(asking *r)
{
    timing t = asking_timing(r, "covariances, ", pair_seconds);
    double M = (double)r->b.p.M;
    t.items = 0.5 * M * (M - 1.0) * (double)r->Q.n;
    t.work = t.items * 2.0 * pow((double)t.size, 2.0);
    t.slope = 2.0;
    return t;
}

/* ---- Each query's system of p experts: p^3 / 3 ---- */

typedef struct {
    asking *r;
    double *mean, *var;
} solve_run;

static double solve_seconds(void *context)
{
    solve_run *v = context;
    npae_result out = {.mean = v->mean, .var = v->var, .real = v->r->Q.n};
    double start = wall_seconds();
    check(npae_solve(&v->r->a, v->r->pairs, v->r->threads, &out));
    return wall_seconds() - start;
}

/* ---- The stages ---- */

static const struct {
    size_t M, m;
} SIZES[] = {{16, 125}, {12, 250}, {8, 500}, {5, 1000}};

static void over_sizes(suite *s, timing (*make)(asking *r), double target, const char *what)
{
    size_t count = suite_quick(s) ? 1 : sizeof SIZES / sizeof *SIZES, b = suite_pick(s, 1024, 16);
    for (size_t i = 0; i < count; i++) {
        size_t M = suite_pick(s, SIZES[i].M, 3), m = suite_pick(s, SIZES[i].m, 20);
        asking *r[3] = {asking_new(s, &kernel_se, M, m, 9, b),
                        asking_new(s, &kernel_matern32, M, m, 9, b),
                        asking_new(s, &kernel_se, M, m, 90, b)};
        timing t[3];
        for (int k = 0; k < 3; k++)
            t[k] = make(r[k]);
        suite_measure(s, t, 3, suite_quick(s) ? 1 : 15);
        if (m >= 500)
            suite_claim(s, 1, t[0].work / t[0].items / t[0].seconds / t[0].limit_rate, target,
                        "%s share of DGEMM, m = %zu, D = 9", what, m);
        for (int k = 0; k < 3; k++)
            asking_free(r[k]);
    }
}

void stage_posterior(suite *s)
{
    over_sizes(s, posterior_timing, NAN, "posteriors'");
}

void stage_pairs(suite *s)
{
    over_sizes(s, pair_timing, 0.85, "pairs'");
}

void stage_solve(suite *s)
{
    size_t b = suite_pick(s, 1024, 16);
    for (size_t p = 5; p <= suite_pick(s, 80, 5); p *= 2) {
        solve_run v = {.r = asking_new(s, &kernel_se, p, 40, 9, b)};
        pair_seconds(v.r);
        must(NEW_ARRAY(v.mean, b));
        must(NEW_ARRAY(v.var, b));
        timing t = asking_timing(v.r, "a query's system, ", solve_seconds);
        t.size = p;
        t.items = (double)b;
        t.work = t.items * pow((double)p, 3.0) / 3.0;
        t.slope = 3.0;
        t.context = &v;
        suite_measure(s, &t, 1, suite_quick(s) ? 1 : 7);
        mem_free(v.mean);
        mem_free(v.var);
        asking_free(v.r);
    }
}
