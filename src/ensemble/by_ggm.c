/* Method ggm: a Gaussian graphical model of the experts' means and the target, which is latent.  Per query x, with
 * u and g of the experts' means and variances there (graph/latent_target.h),
 *
 *   P = 1/s_f^2 + g' Omega g,   mean = g' Omega u / P,   var = 1/P
 *
 * Omega is learned once, at rows whose targets are known (known_rows.h).  Experts that do not take part are
 * integrated out: Omega becomes the inverse of what Omega^-1 has of the others. */
#include "predict/predictor.h"

#include "base/memory.h"
#include "ensemble/known_rows.h"
#include "graph/latent_target.h"
#include "linalg/blas.h"
#include "linalg/tiles.h"

static int is_ggm(const rule *r)
{
    return r->kind == TAKES_GRAPH;
}

/* ---- The plan ---- */

/* Rows are asked of those who do not hold them. */
static quorum_status plan_ggm(plan *p, const double *X, size_t n)
{
    if (p->with_slopes)
        return failure(QUORUM_E_ARGUMENT, "method ggm has no gradients: use nearest, or npae");
    TRY(model_hold_all(p->m));
    TRY(plan_experts(p, X, n));
    return p->m->M > 1 && n > 0 ? model_omega(p->m, p->s, p->progress, &p->omega) : QUORUM_OK;
}

static double query_bytes(const plan *p)
{
    return plan_seat_bytes(p, 0.0);
}

static size_t block_most(const plan *p)
{
    (void)p;
    return BLOCK_MOST;
}

/* ---- Omega of those who take part ---- */

/* A (n x n, symmetric) becomes its inverse. */
static quorum_status invert(size_t n, double *A)
{
    size_t minor = 0;
    TRY(tiles_cholesky(n, A, 1, &minor));
    if (minor)
        return failure(QUORUM_E_NUMERIC, "the graph of the experts given the target is singular");
    blas_inverse_lower(n, A, n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++)
            A[i * n + j] = A[j * n + i];
    return QUORUM_OK;
}

/* part (count x count) from all (M x M), which becomes its inverse. */
static quorum_status marginalise(const plan *p, double *all, double *part)
{
    size_t M = p->m->M;
    TRY(invert(M, all));
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->count; j++)
            part[i * p->count + j] = all[p->experts[i] * M + p->experts[j]];
    return invert(p->count, part);
}

/* *out (count x count, to be freed): a model of one expert believes it. */
static quorum_status omega_of_plan(const plan *p, double **out)
{
    size_t M = p->m->M, n = p->count;
    double *all, *part;
    NEW_ARRAY(all, M * M);
    NEW_ARRAY(part, n * n);
    quorum_status status = QUORUM_OK;
    if (!all || !part)
        status = failure(QUORUM_E_MEMORY, "out of memory for the graph of %zu experts", M);
    for (size_t k = 0; status >= 0 && k < M * M; k++)
        all[k] = p->omega ? p->omega[k] : 1.0;
    if (status >= 0 && n < M)
        status = marginalise(p, all, part);
    *out = n < M ? part : all;
    mem_free(n < M ? all : part);
    return status;
}

/* ---- The answer ---- */

/* room: 2 count */
static void join(const plan *p, const assembly *a, const double *omega, size_t n, block_space *w,
                 double *room)
{
    double *u = room, *g = room + p->count, signal = p->m->theta.signal;
    for (size_t q = 0; q < n; q++) {
        for (size_t s = 0; s < p->count; s++)
            stand_expert(a->mean[s * a->b + q], a->explained[s * a->b + q], signal, &u[s], &g[s]);
        latent_target_predict(p->count, omega, u, g, signal, &w->mean[q], &w->var[q]);
    }
}

static quorum_status answer_ggm(const plan *p, size_t n, block_space *w, tally *t)
{
    assembly a;
    double *omega = NULL, *room;
    NEW_ARRAY(room, 2 * p->count);
    quorum_status status = omega_of_plan(p, &omega);
    if (status >= 0 && !room)
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu experts", p->count);
    quorum_status seated = assembly_new(p->c, &w->Q, p->count, &a);
    if (status >= 0)
        status = seated;
    if (status >= 0)
        assembly_seat_all(&a, p->experts, p->count);
    TRY_OR_DONE(assembly_ask(status, &a, 1, 0, plan_factor_bytes(p), p->threads));
    join(p, &a, omega, n, w, room);
    t->seats += (double)p->count * (double)n;
    if (plan_line_width(p) > 0)
        plan_doubt_by_share(p, 0.0, n, w);
done:
    assembly_free(&a);
    mem_free(omega);
    mem_free(room);
    return status;
}

const predictor by_ggm = {.name = "ggm",
                          .applies = is_ggm,
                          .plan = plan_ggm,
                          .query_bytes = query_bytes,
                          .block_most = block_most,
                          .answer = answer_ggm};
