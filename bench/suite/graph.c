/* Graphical lasso on covariances of local experts' means: 2 p^3 flops a sweep, which is
 * what sweeping a dense matrix would take, against DGEMM. */
#include "suite.h"

#include "base/memory.h"
#include "base/random.h"
#include "graph/graph_covariance.h"
#include "graph/glasso.h"
#include "linalg/blas.h"

#include <math.h>

enum { REFERENCE = 1000 };

typedef struct {
    size_t p;
    double *S, *omega;
    glasso_result result;
} glasso_run;

/* S = F'F / REFERENCE, F_qi a bump round expert i's centre, and a little noise. */
static glasso_run glasso_new(size_t p)
{
    glasso_run g = {.p = p};
    rng r = rng_seed(p, 7);
    double *F, centre[2];
    must(NEW_ARRAY(F, REFERENCE * p));
    must(NEW_ARRAY(g.S, p * p));
    must(NEW_ARRAY(g.omega, p * p));
    for (size_t i = 0; i < p; i++) {
        centre[0] = rng_uniform(&r), centre[1] = rng_uniform(&r);
        for (size_t q = 0; q < REFERENCE; q++) {
            size_t row = q / 40, column = q % 40; /* of a grid over the unit square */
            double a = (double)column / 40.0 - centre[0], b = (double)row / 25.0 - centre[1];
            F[i * REFERENCE + q] = exp(-8.0 * (a * a + b * b)) + 0.05 * rng_normal(&r);
        }
    }
    blas_gram_lower(p, REFERENCE, 1.0 / REFERENCE, F, REFERENCE, 0.0, g.S, p);
    for (size_t j = 0; j < p; j++)
        for (size_t i = j; i < p; i++)
            g.S[j + i * p] = g.S[i + j * p];
    mem_free(F);
    return g;
}

static double glasso_seconds(void *context)
{
    glasso_run *g = context;
    glasso_options o = glasso_defaults(0.1 * largest_covariance(g->p, g->S));
    double start = wall_seconds();
    check(glasso(g->p, g->S, &o, g->omega, &g->result));
    return wall_seconds() - start;
}

void stage_glasso(suite *s)
{
    for (size_t p = suite_pick(s, 75, 12); p <= suite_pick(s, 300, 12); p *= 2) {
        glasso_run g = glasso_new(p);
        glasso_seconds(&g);
        timing t = {.size = p,
                    .threads = 1,
                    .limit = &limit_gemm,
                    .work = 2.0 * pow((double)p, 3.0) * g.result.iterations,
                    .items = 1.0,
                    .slope = 3.0,
                    .run = glasso_seconds,
                    .context = &g};
        snprintf(t.name, sizeof t.name, "graphical lasso, dense sweeps");
        suite_measure(s, &t, 1, suite_quick(s) ? 1 : 3);
        mem_free(g.S);
        mem_free(g.omega);
    }
}
