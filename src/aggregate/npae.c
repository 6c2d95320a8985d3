/* The second step of NPAE: each query's system of its p experts,
 *
 *   K_A w = k_A,   mean = w' mu,   var = s_f^2 - w' k_A,
 *
 * the covariances K_A being there already (npae_pairs.c).  Systems are scaled to a unit diagonal,
 * since experts far from the query explain next to nothing, and jitter is added where they are
 * singular. */
#include "aggregate/npae.h"

#include "aggregate/rule.h"
#include "base/memory.h"
#include "linalg/blas.h"
#include "team/work.h"

#include <math.h>
#include <string.h>

static const double NEGLIGIBLE = 1e-13;    /* of s_f^2: such an expert is left out        */
static const double SMALLEST_PIVOT = 1e-9; /* of the unit diagonal: below, add jitter    */
static const double FIRST_JITTER = 1e-9, LAST_JITTER = 1e-5;

typedef struct {
    size_t p;       /* experts in the system                                */
    size_t *member; /* their seats                                          */
    double *scale;  /* k_A^-1/2                                             */
    double *R;      /* p x p: K_A scaled to unit diagonal                   */
    double *factor; /* p x p                                                */
    double *rhs;    /* scaled k_A, then scaled weights                      */
    double *values; /* eigenvalues                                          */
    double jitter;  /* of the factor                                        */
} query_system;

typedef struct {
    const assembly *a;
    const double *pairs;
    npae_result *out;
    query_system *system; /* one a worker */
    char *event;          /* per query: bits below */
} solve_job;

enum { CLAMPED = 1, JITTERED = 2, PSEUDO = 4 };

/* R = D K_A D, rhs = D k_A with D = diag(k_A)^-1/2, over the experts that explain
 * anything at query q. */
static void gather_system(const solve_job *job, size_t q, query_system *s)
{
    const assembly *k = job->a;
    double least = NEGLIGIBLE * k->c->theta.signal;
    s->p = 0;
    for (size_t i = 0; i < k->seats; i++) {
        double k_A = k->explained[i * k->b + q];
        if (k_A <= least)
            continue;
        s->member[s->p] = i;
        s->scale[s->p] = 1.0 / sqrt(k_A);
        s->rhs[s->p] = sqrt(k_A);
        s->p++;
    }
    for (size_t c = 0; c < s->p; c++) {
        s->R[c * s->p + c] = 1.0;
        for (size_t r = c + 1; r < s->p; r++) {
            double cov = job->pairs[pair_index(s->member[c], s->member[r]) * k->b + q];
            s->R[c * s->p + r] = cov * s->scale[c] * s->scale[r];
        }
    }
}

/* Solves (R + jitter I) w = rhs; 0 when a pivot is too small to trust. */
static int solve_with_jitter(query_system *s, double jitter, double *w)
{
    size_t p = s->p;
    memcpy(s->factor, s->R, p * p * sizeof *s->R);
    for (size_t i = 0; i < p; i++)
        s->factor[i * p + i] += jitter;
    if (blas_cholesky(p, s->factor, p) != 0)
        return 0;
    for (size_t i = 0; i < p; i++)
        if (s->factor[i * p + i] * s->factor[i * p + i] < SMALLEST_PIVOT)
            return 0;
    s->jitter = jitter;
    memcpy(w, s->rhs, p * sizeof *w);
    blas_solve_lower(p, 1, s->factor, p, w, p);
    blas_solve_lower_transposed(p, 1, s->factor, p, w, p);
    return 1;
}

/* w = R^+ rhs, eigenvalues below LAST_JITTER of the largest left out. */
static quorum_status solve_by_eigenvalues(query_system *s, double *w)
{
    size_t p = s->p;
    memcpy(s->factor, s->R, p * p * sizeof *s->R);
    TRY(blas_eigen(p, s->factor, p, s->values));
    memset(w, 0, p * sizeof *w);
    for (size_t k = 0; k < p; k++) {
        const double *u = s->factor + k * p;
        if (s->values[k] <= LAST_JITTER * s->values[p - 1])
            continue;
        double along = vec_dot(p, u, s->rhs) / s->values[k];
        for (size_t i = 0; i < p; i++)
            w[i] += along * u[i];
    }
    return QUORUM_OK;
}

static quorum_status solve_system(query_system *s, double *w, char *event)
{
    if (solve_with_jitter(s, 0.0, w))
        return QUORUM_OK;
    *event |= JITTERED;
    for (double jitter = FIRST_JITTER; jitter <= LAST_JITTER * 1.001; jitter *= 10.0)
        if (solve_with_jitter(s, jitter, w))
            return QUORUM_OK;
    *event |= PSEUDO;
    return solve_by_eigenvalues(s, w);
}

/* var is brought back into [0, smallest single variance]: more experts cannot be
 * worse than the best of them. */
static double clamp_variance(double var, double signal, const query_system *s, char *event)
{
    double most = 0.0;
    for (size_t i = 0; i < s->p; i++)
        most = fmax(most, 1.0 / (s->scale[i] * s->scale[i]));
    double best = fmax(0.0, signal - most);
    /* rounding alone is not an event worth counting */
    if (var > best * (1.0 + 1e-12) + 1e-14 * signal || var < -1e-14 * signal)
        *event |= CLAMPED;
    return fmin(fmax(var, 0.0), best);
}

/* v = K_A^-1 mu of query q by the system as it was solved: D (R + jitter I)^-1 D mu. */
static quorum_status solve_for_duals(const solve_job *job, size_t q, query_system *s, int is_pseudo,
                                     double *v)
{
    const assembly *k = job->a;
    npae_result *out = job->out;
    for (size_t i = 0; i < k->seats; i++)
        out->duals[i * k->b + q] = 0.0;
    out->jitter[q] = is_pseudo ? 0.0 : s->jitter;
    for (size_t c = 0; c < s->p; c++)
        s->rhs[c] = s->scale[c] * k->mean[s->member[c] * k->b + q];
    if (is_pseudo)
        TRY(solve_by_eigenvalues(s, v));
    else if (s->p > 0)
        solve_with_jitter(s, s->jitter, v);
    for (size_t c = 0; c < s->p; c++)
        out->duals[s->member[c] * k->b + q] = v[c] * s->scale[c];
    return QUORUM_OK;
}

static quorum_status one_query(void *context, size_t q, int worker)
{
    solve_job *job = context;
    const assembly *k = job->a;
    npae_result *out = job->out;
    query_system *s = &job->system[worker];
    double *w = s->values + k->seats, mean = 0.0, gained = 0.0;
    gather_system(job, q, s);
    for (size_t i = 0; out->weights && i < k->seats; i++)
        out->weights[i * k->b + q] = 0.0;
    if (s->p > 0)
        TRY(solve_system(s, w, &job->event[q]));
    for (size_t c = 0; c < s->p; c++) {
        size_t i = s->member[c];
        mean += w[c] * s->scale[c] * k->mean[i * k->b + q];
        gained += w[c] * s->rhs[c];
        if (out->weights)
            out->weights[i * k->b + q] = w[c] * s->scale[c];
    }
    out->mean[q] = mean;
    out->var[q] =
        clamp_variance(k->c->theta.signal - gained, k->c->theta.signal, s, &job->event[q]);
    if (out->duals)
        return solve_for_duals(job, q, s, job->event[q] & PSEUDO, w);
    return QUORUM_OK;
}

static void system_free(query_system *s)
{
    mem_free(s->member);
    mem_free(s->scale);
    mem_free(s->R);
    mem_free(s->factor);
    mem_free(s->rhs);
    mem_free(s->values);
}

static quorum_status system_new(size_t p, query_system *s)
{
    NEW_ARRAY(s->member, p);
    NEW_ARRAY(s->scale, p);
    NEW_ARRAY(s->R, p * p);
    NEW_ARRAY(s->factor, p * p);
    NEW_ARRAY(s->rhs, p);
    NEW_ARRAY(s->values, 2 * p);
    if (s->member && s->scale && s->R && s->factor && s->rhs && s->values)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for the joint system of %zu experts", p);
}

static void count_events(const char *event, size_t b, npae_result *out)
{
    for (size_t q = 0; q < b; q++) {
        out->clamped += (event[q] & CLAMPED) != 0;
        out->jittered += (event[q] & JITTERED) != 0;
        out->pseudo_inverses += (event[q] & PSEUDO) != 0;
    }
}

/* The padding repeats the last query. */
static void fill_padding(const assembly *a, npae_result *out)
{
    size_t last = out->real - 1;
    for (size_t q = out->real; q < a->b; q++) {
        out->mean[q] = out->mean[last];
        out->var[q] = out->var[last];
        if (out->duals)
            out->jitter[q] = out->jitter[last];
        for (size_t s = 0; out->duals && s < a->seats; s++)
            out->duals[s * a->b + q] = out->duals[s * a->b + last];
        for (size_t s = 0; out->weights && s < a->seats; s++)
            out->weights[s * a->b + q] = out->weights[s * a->b + last];
    }
}

static quorum_status job_new(solve_job *job, int workers)
{
    const assembly *a = job->a;
    if (!NEW_ZEROED(job->event, a->b) || !NEW_ZEROED(job->system, (size_t)workers))
        return failure(QUORUM_E_MEMORY, "out of memory for the systems of %zu queries", a->b);
    for (int w = 0; w < workers; w++)
        TRY(system_new(a->seats, &job->system[w]));
    return QUORUM_OK;
}

static void job_free(solve_job *job, int workers)
{
    for (int w = 0; job->system && w < workers; w++)
        system_free(&job->system[w]);
    mem_free(job->system);
    mem_free(job->event);
}

quorum_status npae_solve(const assembly *a, const double *pairs, int threads, npae_result *out)
{
    int workers = parallel_workers(threads, out->real);
    solve_job job = {.a = a, .pairs = pairs, .out = out};
    quorum_status status = job_new(&job, workers);
    const team_result results[] = {
        {.data = job.event, .width = sizeof *job.event},
        {.data = out->mean, .width = sizeof *out->mean},
        {.data = out->var, .width = sizeof *out->var},
        {.data = out->weights, .width = sizeof *out->weights, .rows = a->seats, .stride = a->b}};
    status = team_map(status, workers, out->real, one_query, &job, results, out->weights ? 4 : 3);
    if (status >= 0) {
        fill_padding(a, out);
        count_events(job.event, out->real, out);
    }
    job_free(&job, workers);
    return status;
}

const rule rule_npae = {
    "npae",
    "nested pointwise aggregation: dependence of the experts taken into account",
    TAKES_COVARIANCE,
    1,
    NULL,
    NULL};
