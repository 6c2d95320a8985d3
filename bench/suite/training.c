/* Value and gradient of the likelihood: flops against DGEMM.
 *
 * Counted are the factor and the inverse, m^3, the distances, m^2 D, and the product for
 * the length-scales, 2 m^2 (D + 1); not the kernel's exponentials. */
#include "suite.h"

#include "base/memory.h"
#include "base/scratch.h"
#include "train/train.h"

#include <math.h>

typedef struct {
    problem b;
    training_options options;
    double *gradient;
    size_t *given;
    scratch_shelf shelf; /* workspaces: a search makes them once */
} training_run;

static const double ALL_OF_IT = 1e12; /* bytes */

static double training_seconds(void *context)
{
    training_run *r = context;
    double value, start = wall_seconds();
    scratch_visit visit = scratch_enter(&r->shelf, ALL_OF_IT);
    check(total_likelihood(&r->b.p, r->b.experts, r->b.p.M, &r->options, &r->b.theta, &value,
                           r->gradient));
    scratch_leave(visit);
    return wall_seconds() - start;
}

/* `given` of every part's m rows are only conditioned on. */
static training_run training_new(suite *s, const kernel *k, size_t M, size_t m, size_t D,
                                 size_t given)
{
    training_run r = {.b = problem_new(k, M, m, D)};
    r.options = (training_options){.threads = suite_threads(s), .memory = ALL_OF_IT};
    must(NEW_ARRAY(r.gradient, theta_length(k, D)));
    must(NEW_ARRAY(r.given, M));
    for (size_t e = 0; e < M; e++)
        r.given[e] = given;
    r.options.given = given ? r.given : NULL;
    return r;
}

static void training_free(training_run *r)
{
    problem_free(&r->b);
    mem_free(r->gradient);
    mem_free(r->given);
    scratch_shelf_free(&r->shelf);
}

static double training_flops(const training_run *r)
{
    double m = (double)part_size(&r->b.p, 0), D = (double)r->b.p.rows.D, M = (double)r->b.p.M;
    double own = m - (r->options.given ? (double)r->given[0] : 0.0);
    double factors = own < m ? m * m * m / 3.0 + 2.0 * m * m * own : m * m * m;
    return M * (factors + m * m * D + 2.0 * m * m * (D + 1.0));
}

static timing training_timing(training_run *r, const char *what)
{
    timing t = {.size = part_size(&r->b.p, 0),
                .D = r->b.p.rows.D,
                .limit = &limit_gemm,
                .work = training_flops(r),
                .items = (double)r->b.p.M,
                .slope = 3.0,
                .run = training_seconds,
                .context = r};
    snprintf(t.name, sizeof t.name, "value and gradient, %s%s", r->b.theta.kernel->name, what);
    return t;
}

/* Inputs 9 and 90, and a Matern kernel, side by side at one size. */
static void compare_inputs(suite *s, size_t M, size_t m)
{
    training_run r[3] = {training_new(s, &kernel_se, M, m, 9, 0),
                         training_new(s, &kernel_se, M, m, 90, 0),
                         training_new(s, &kernel_matern32, M, m, 9, 0)};
    timing t[3];
    for (int i = 0; i < 3; i++)
        t[i] = training_timing(&r[i], "");
    suite_measure(s, t, 3, suite_quick(s) ? 1 : 15);
    double per_flop[3], share[3];
    for (int i = 0; i < 3; i++) {
        per_flop[i] = t[i].seconds * t[i].items / t[i].work;
        share[i] = 1.0 / per_flop[i] / t[i].limit_rate;
    }
    if (m >= 500)
        for (int i = 0; i < 2; i++)
            suite_claim(s, 1, share[i], 0.6, "training's share of DGEMM, m = %zu, D = %zu", m,
                        t[i].D);
    suite_claim(s, 0, per_flop[1] / per_flop[0], 1.0,
                "training, seconds a flop, D = 90 over D = 9, m = %zu", m);
    suite_claim(s, 0, t[2].seconds / t[0].seconds, 1.5, "training, matern32 over se, m = %zu", m);
    for (int i = 0; i < 3; i++)
        training_free(&r[i]);
}

/* Entries near 1, entries whose products are subnormal, entries all 0. */
static void compare_scales(suite *s, size_t M, size_t m)
{
    static const double scales[] = {1.0, 0.052, 0.001};
    training_run r[3];
    timing t[3];
    for (int i = 0; i < 3; i++) {
        char what[40];
        snprintf(what, sizeof what, ", l = %g sqrt(D)", scales[i]);
        r[i] = training_new(s, &kernel_se, M, m, 9, 0);
        for (size_t d = 0; d < 9; d++)
            r[i].b.theta.lengthscale[d] *= scales[i];
        t[i] = training_timing(&r[i], what);
    }
    suite_measure(s, t, 3, suite_quick(s) ? 1 : 15);
    for (int i = 1; i < 3; i++)
        suite_claim(s, 0, t[i].seconds / t[0].seconds, 1.1,
                    "training, l = %g sqrt(D) over l = sqrt(D)", scales[i]);
    for (int i = 0; i < 3; i++)
        training_free(&r[i]);
}

/* The default way: blocks of 4 rows given their 60 nearest. */
static void measure_blocks(suite *s)
{
    training_run r = training_new(s, &kernel_se, suite_pick(s, 2000, 4), 64, 9, 60);
    timing t = training_timing(&r, ", 4 rows given 60");
    t.slope = 0.0;
    suite_measure(s, &t, 1, suite_quick(s) ? 1 : 5);
    training_free(&r);
}

void stage_train(suite *s)
{
    static const struct {
        size_t M, m;
    } sizes[] = {{16, 125}, {12, 250}, {8, 500}, {4, 1000}, {2, 2000}};
    if (suite_quick(s)) {
        compare_inputs(s, 2, 40);
        compare_scales(s, 2, 40);
    } else {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            compare_inputs(s, sizes[i].M, sizes[i].m);
        compare_scales(s, 8, 500);
    }
    measure_blocks(s);
}
