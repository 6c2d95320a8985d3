#include "aggregate/npae.h"

#include "aggregate/rule.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "gp/covariance.h"
#include "linalg/blas.h"

#include <math.h>
#include <string.h>

enum { ROW_PANEL = 256 }; /* rows of k(X_i, X_j) that exist at a time */

double npae_query_bytes(size_t p, size_t rows)
{
    return 8.0 * ((double)rows + 0.5 * (double)p * (double)p + 4.0 * (double)p);
}

/* ---- Pairs of experts ---- */

typedef struct {
    const npae_block *block;
    size_t (*pair)[2]; /* (i, j), i < j, most work first                 */
    double *out;       /* pairs x b                                      */
    size_t room;       /* numbers of scratch a worker                    */
    double *scratch;
} pair_job;

static size_t pair_index(size_t i, size_t j)
{
    return j * (j - 1) / 2 + i;
}

static points expert_points(const committee *c, size_t e)
{
    return points_view(&c->Z, c->parts.offset[e], part_size(&c->parts, e));
}

/* result[q] += s^2 sum over rows that both experts hold of Gamma_i Gamma_j. */
static void add_shared_noise(const npae_block *k, size_t i, size_t j, double *result)
{
    const parts *p = &k->c->parts;
    size_t e = k->experts[i], f = k->experts[j];
    size_t m = part_size(p, e), n = part_size(p, f);
    const size_t *r = p->row + p->offset[e], *s = p->row + p->offset[f];
    for (size_t a = 0, c = 0; a < m && c < n;) {
        if (r[a] == s[c]) {
            for (size_t q = 0; q < k->b; q++)
                result[q] += k->c->theta.noise * k->gamma[i][q * m + a] * k->gamma[j][q * n + c];
            a++;
            c++;
        } else if (r[a] < s[c]) {
            a++;
        } else {
            c++;
        }
    }
}

/* result[q] = sum_r Gamma_i[r,q] T[r,q],  T = k(X_i, X_j) Gamma_j, by panels of
 * rows of X_i: one product of (panel x m_j)(m_j x b) each. */
static quorum_status one_pair(void *context, size_t item, int worker)
{
    pair_job *job = context;
    const npae_block *k = job->block;
    const committee *c = k->c;
    size_t i = job->pair[item][0], j = job->pair[item][1];
    points X = expert_points(c, k->experts[i]), Y = expert_points(c, k->experts[j]);
    double *K = job->scratch + (size_t)worker * job->room, *T = K + ROW_PANEL * Y.n;
    double *result = job->out + pair_index(i, j) * k->b;
    memset(result, 0, k->b * sizeof *result);
    for (size_t r = 0; r < X.n; r += ROW_PANEL) {
        size_t rows = X.n - r < ROW_PANEL ? X.n - r : ROW_PANEL;
        points panel = points_view(&X, r, rows);
        covariance_cross(c->theta.kernel, c->theta.signal, &panel, &Y, K, rows);
        blas_gemm('N', 'N', rows, k->b, Y.n, 1.0, K, rows, k->gamma[j], Y.n, 0.0, T, rows);
        for (size_t q = 0; q < k->b; q++)
            result[q] += vec_dot(rows, k->gamma[i] + q * X.n + r, T + q * rows);
    }
    if (c->parts.row)
        add_shared_noise(k, i, j, result);
    return QUORUM_OK;
}

quorum_status npae_cross_covariances(const npae_block *block, int threads, double *pairs)
{
    size_t p = block->p, count = p * (p - 1) / 2, largest = 0;
    pair_job job = {.block = block, .out = pairs};
    quorum_status status = QUORUM_OK;
    if (count == 0)
        return QUORUM_OK;
    for (size_t i = 0; i < p; i++) {
        size_t m = part_size(&block->c->parts, block->experts[i]);
        largest = m > largest ? m : largest;
    }
    job.room = ROW_PANEL * (largest + block->b);
    size_t workers = (size_t)parallel_workers(threads, count);
    if (!NEW_ARRAY(job.pair, count) || !NEW_ARRAY(job.scratch, workers * job.room)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for the covariances of %zu experts", p);
        goto done;
    }
    size_t next = 0; /* pairs of later experts first: any order gives the same numbers */
    for (size_t j = p; j-- > 1;)
        for (size_t i = 0; i < j; i++, next++) {
            job.pair[next][0] = i;
            job.pair[next][1] = j;
        }
    status = parallel_for(threads, count, one_pair, &job);
done:
    mem_free(job.pair);
    mem_free(job.scratch);
    return status;
}

/* ---- One query's system ---- */

static const double NEGLIGIBLE = 1e-13;    /* of s_f^2: such an expert is left out        */
static const double SMALLEST_PIVOT = 1e-9; /* of the unit diagonal: below, add jitter    */
static const double FIRST_JITTER = 1e-9, LAST_JITTER = 1e-5;

typedef struct {
    size_t p;       /* experts in the system                                */
    size_t *member; /* their places in the block                            */
    double *scale;  /* k_A^-1/2                                             */
    double *R;      /* p x p: K_A scaled to unit diagonal                   */
    double *factor; /* p x p                                                */
    double *rhs;    /* scaled k_A, then scaled weights                      */
    double *values; /* eigenvalues                                          */
} query_system;

typedef struct {
    const npae_block *block;
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
    const npae_block *k = job->block;
    double least = NEGLIGIBLE * k->c->theta.signal;
    s->p = 0;
    for (size_t i = 0; i < k->p; i++) {
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

static quorum_status one_query(void *context, size_t q, int worker)
{
    solve_job *job = context;
    const npae_block *k = job->block;
    npae_result *out = job->out;
    query_system *s = &job->system[worker];
    double *w = s->values + k->p, mean = 0.0, gained = 0.0;
    gather_system(job, q, s);
    for (size_t i = 0; out->weights && i < k->p; i++)
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

quorum_status npae_aggregate(const npae_block *block, int threads, npae_result *out)
{
    size_t p = block->p, b = block->b;
    int workers = parallel_workers(threads, b);
    double *pairs = NULL;
    solve_job job = {.block = block, .out = out};
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(pairs, p * (p - 1) / 2 * b) || !NEW_ZEROED(job.event, b) ||
        !NEW_ZEROED(job.system, (size_t)workers)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for the covariances of %zu experts", p);
        goto done;
    }
    for (int w = 0; w < workers; w++)
        TRY_OR_DONE(system_new(p, &job.system[w]));
    TRY_OR_DONE(npae_cross_covariances(block, threads, pairs));
    job.pairs = pairs;
    TRY_OR_DONE(parallel_for(workers, b, one_query, &job));
    count_events(job.event, b, out);
done:
    for (int w = 0; job.system && w < workers; w++)
        system_free(&job.system[w]);
    mem_free(job.system);
    mem_free(job.event);
    mem_free(pairs);
    return status;
}

const rule rule_npae = {
    "npae", "nested pointwise aggregation: dependence of the experts taken into account",
    TAKES_COVARIANCE, 1, NULL};
