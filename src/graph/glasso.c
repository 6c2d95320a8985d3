/* The graphical lasso by components: screening cuts the problem into pieces (graph/screening.h),
 * each is solved by itself (graph/component.h), and their gaps add up to that of the whole. */
#include "graph/glasso.h"

#include "base/memory.h"
#include "graph/component.h"
#include "graph/graph_covariance.h"
#include "graph/screening.h"

#include <math.h>
#include <string.h>

/* One call's problem.  S and lambda are divided by `scale`, a power of two near
 * the largest variance, which changes no digit but keeps squares in range. */
typedef struct {
    size_t p;
    const double *S;
    const glasso_options *options;
    double *omega;
    double scale;
    size_t components;
    size_t *component; /* p: each expert's component       */
    size_t *members;   /* p: the component being solved    */
    component_solver solver;
} glasso_problem;

enum { MOST_SWEEPS = 500 }; /* of a component */

glasso_options glasso_defaults(double lambda)
{
    return (glasso_options){.lambda = lambda, .tolerance = 1e-6, .max_iterations = MOST_SWEEPS};
}

static quorum_status check_options(const glasso_options *o)
{
    if (!(isfinite(o->lambda) && o->lambda >= 0.0))
        return failure(QUORUM_E_ARGUMENT, "lambda must be 0 or more, and finite; got %g",
                       o->lambda);
    if (!(isfinite(o->tolerance) && o->tolerance > 0.0))
        return failure(QUORUM_E_ARGUMENT, "the graph's tolerance must be positive; got %g",
                       o->tolerance);
    if (o->max_iterations < 1)
        return failure(QUORUM_E_ARGUMENT, "the graph needs at least 1 iteration; got %d",
                       o->max_iterations);
    return QUORUM_OK;
}

static double power_of_two_near(double x)
{
    int exponent;
    frexp(x, &exponent);
    return x > 0.0 ? ldexp(1.0, exponent) : 1.0;
}

static size_t largest_component(const glasso_problem *g, size_t *count /* p, scratch */)
{
    size_t largest = 0;
    memset(count, 0, g->p * sizeof *count);
    for (size_t i = 0; i < g->p; i++) {
        size_t size = ++count[g->component[i]];
        largest = size > largest ? size : largest;
    }
    return largest;
}

static quorum_status prepare(glasso_problem *g)
{
    double largest = g->options->lambda;
    for (size_t i = 0; i < g->p; i++)
        largest = fmax(largest, g->S[i + i * g->p]);
    g->scale = power_of_two_near(largest);
    if (!NEW_ARRAY(g->component, g->p) || !NEW_ARRAY(g->members, g->p))
        return failure(QUORUM_E_MEMORY, "out of memory for the graph of %zu experts", g->p);
    g->components = screened_components(g->p, g->S, g->options->lambda, g->component);
    return component_solver_new(&g->solver, largest_component(g, g->members));
}

/* The members of component c into g->members; returns how many. */
static size_t list_members(glasso_problem *g, size_t c)
{
    size_t n = 0;
    for (size_t i = 0; i < g->p; i++)
        if (g->component[i] == c)
            g->members[n++] = i;
    return n;
}

/* Component c of S and of the start, scaled, into the solver. */
static void gather(glasso_problem *g, size_t c, const double *first)
{
    component_solver *s = &g->solver;
    size_t n = list_members(g, c), p = g->p;
    s->n = n;
    s->lambda = g->options->lambda / g->scale;
    s->diagonal_lambda = g->options->free_diagonal ? 0.0 : s->lambda;
    memset(s->omega, 0, n * n * sizeof *s->omega); /* not positive definite: no start */
    for (size_t b = 0; b < n; b++)
        for (size_t a = 0; a < n; a++) {
            size_t i = g->members[a], j = g->members[b];
            s->S[a + b * n] = (0.5 * g->S[i + j * p] + 0.5 * g->S[j + i * p]) / g->scale;
            if (first)
                s->omega[a + b * n] = 0.5 * (first[i + j * p] + first[j + i * p]) * g->scale;
        }
}

/* The solver's omega into the columns of its members; nothing else is touched,
 * so that a start in place stays readable for the components to come. */
static void scatter(const glasso_problem *g)
{
    const component_solver *s = &g->solver;
    for (size_t b = 0; b < s->n; b++) {
        double *column = g->omega + g->members[b] * g->p;
        memset(column, 0, g->p * sizeof *column);
        for (size_t a = 0; a < s->n; a++)
            column[g->members[a]] = s->omega[a + b * s->n] / g->scale;
    }
}

/* Solves every component from `first` (or NULL) to its share of the gap.  With
 * a scaled S, f is lower by offset = n log(scale). */
static quorum_status solve_components(glasso_problem *g, const double *first, double absolute,
                                      double relative, glasso_result *r)
{
    component_solver *s = &g->solver;
    *r = (glasso_result){.components = g->components};
    for (size_t c = 0; c < g->components; c++) {
        gather(g, c, first);
        double share = (double)s->n / (double)g->p, offset = (double)s->n * log(g->scale);
        TRY(component_solve(s, share * absolute, share * relative, offset,
                            g->options->max_iterations));
        scatter(g);
        r->objective -= s->primal + offset;
        r->gap += fmax(0.0, s->primal - s->dual);
        r->iterations = s->sweeps > r->iterations ? s->sweeps : r->iterations;
    }
    return QUORUM_OK;
}

static size_t count_edges(size_t p, const double *omega)
{
    size_t edges = 0;
    for (size_t j = 0; j < p; j++)
        for (size_t i = j + 1; i < p; i++)
            edges += omega[i + j * p] != 0.0;
    return edges;
}

/* Components of different signs can cancel in the objective, and then their
 * gaps are too large for it: they are solved again to what the sum asks for. */
static quorum_status solve(glasso_problem *g, glasso_result *r)
{
    double tolerance = g->options->tolerance;
    TRY(solve_components(g, g->options->start, tolerance, tolerance, r));
    double allowed = tolerance * fmax(1.0, fabs(r->objective));
    if (r->gap > allowed && g->components > 1)
        TRY(solve_components(g, g->omega, allowed, 0.0, r));
    r->edges = count_edges(g->p, g->omega);
    allowed = tolerance * fmax(1.0, fabs(r->objective));
    if (r->gap <= allowed)
        return QUORUM_OK;
    return failure(QUORUM_E_NUMERIC,
                   "the graphical lasso stopped at a duality gap of %.2g, above %.2g, after %d "
                   "iterations; use a larger lambda",
                   r->gap, allowed, r->iterations);
}

quorum_status glasso(size_t p, const double *S, const glasso_options *options, double *omega,
                     glasso_result *result)
{
    glasso_result ignored;
    glasso_problem g = {.p = p, .S = S, .options = options, .omega = omega};
    if (!options || !omega)
        return failure(QUORUM_E_ARGUMENT, "glasso needs options and room for its result");
    TRY(check_options(options));
    TRY(check_covariance(p, S));
    quorum_status status = prepare(&g);
    if (status == QUORUM_OK)
        status = solve(&g, result ? result : &ignored);
    component_solver_free(&g.solver);
    mem_free(g.component);
    mem_free(g.members);
    return status;
}
