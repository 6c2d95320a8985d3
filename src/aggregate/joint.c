/* Covariance of NPAE's prediction errors between queries.
 *
 * The prediction is linear in the data, mean(x) = a(x)' y with a_i = w_i Gamma_i
 * over the rows of expert i, so with A = [a(x_1) .. a(x_b)] (n x b)
 *   Cov(f - mean) = k(Q, Q) - A' k(X, Q) - k(Q, X) A + A' Cov(y) A
 *                 = k(Q, Q) + (P + P') / 2,   P = A' (Cov(y) A - 2 k(X, Q)),
 * positive semi-definite, with NPAE's own variances on the diagonal. */
#include "aggregate/npae.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "gp/covariance.h"
#include "linalg/blas.h"

#include <string.h>

enum { ROW_PANEL = 256 };

typedef struct {
    const npae_block *block;
    const points *Q;
    size_t *first; /* p + 1: where expert i's rows start in A and V     */
    double *A, *V; /* rows x b, expert i's m_i x b block at first[i] * b */
    size_t room;
    double *scratch; /* a worker: ROW_PANEL x largest part                 */
} joint_job;

static points member_points(const npae_block *k, size_t i)
{
    size_t e = k->experts[i];
    return points_view(&k->c->Z, k->c->parts.offset[e], part_size(&k->c->parts, e));
}

static void weigh_gammas(joint_job *job, const double *weights)
{
    const npae_block *k = job->block;
    for (size_t i = 0; i < k->p; i++) {
        size_t m = job->first[i + 1] - job->first[i];
        double *A = job->A + job->first[i] * k->b;
        for (size_t q = 0; q < k->b; q++)
            for (size_t r = 0; r < m; r++)
                A[q * m + r] = weights[i * k->b + q] * k->gamma[i][q * m + r];
    }
}

/* V_i += s^2 A_j on the rows that experts i and j share (all of them when i = j). */
static void add_row_noise(joint_job *job, size_t i, size_t j)
{
    const npae_block *k = job->block;
    const parts *p = &k->c->parts;
    size_t m = job->first[i + 1] - job->first[i], n = job->first[j + 1] - job->first[j];
    double *V = job->V + job->first[i] * k->b, noise = k->c->theta.noise;
    const double *A = job->A + job->first[j] * k->b;
    if (i != j && !p->row)
        return;
    for (size_t r = 0, s = 0; r < m && s < n;) {
        size_t x = i == j ? r : p->row[p->offset[k->experts[i]] + r];
        size_t y = i == j ? s : p->row[p->offset[k->experts[j]] + s];
        if (x == y)
            for (size_t q = 0; q < k->b; q++)
                V[q * m + r] += noise * A[q * n + s];
        r += x <= y;
        s += y <= x;
    }
}

/* V_i = sum_j Cov(y_i, y_j) A_j - 2 k(X_i, Q). */
static quorum_status one_expert(void *context, size_t i, int worker)
{
    joint_job *job = context;
    const npae_block *k = job->block;
    const hyper *theta = &k->c->theta;
    points X = member_points(k, i);
    double *K = job->scratch + (size_t)worker * job->room, *V = job->V + job->first[i] * k->b;
    covariance_cross(theta->kernel, theta->signal, &X, job->Q, V, X.n);
    for (size_t a = 0; a < X.n * k->b; a++)
        V[a] *= -2.0;
    for (size_t j = 0; j < k->p; j++) {
        points Y = member_points(k, j);
        for (size_t r = 0; r < X.n; r += ROW_PANEL) {
            size_t rows = X.n - r < ROW_PANEL ? X.n - r : ROW_PANEL;
            points panel = points_view(&X, r, rows);
            covariance_cross(theta->kernel, theta->signal, &panel, &Y, K, rows);
            blas_gemm('N', 'N', rows, k->b, Y.n, 1.0, K, rows, job->A + job->first[j] * k->b, Y.n,
                      1.0, V + r, X.n);
        }
        add_row_noise(job, i, j);
    }
    return QUORUM_OK;
}

/* covariance = k(Q, Q) + (P + P') / 2, P = sum_i A_i' V_i. */
static void finish(const joint_job *job, double *P, double *covariance)
{
    const npae_block *k = job->block;
    size_t b = k->b;
    covariance_cross(k->c->theta.kernel, k->c->theta.signal, job->Q, job->Q, covariance, b);
    memset(P, 0, b * b * sizeof *P);
    for (size_t i = 0; i < k->p; i++) {
        size_t m = job->first[i + 1] - job->first[i], at = job->first[i] * b;
        blas_gemm('T', 'N', b, b, m, 1.0, job->A + at, m, job->V + at, m, 1.0, P, b);
    }
    for (size_t q = 0; q < b; q++)
        for (size_t r = 0; r < b; r++)
            covariance[q * b + r] += 0.5 * (P[q * b + r] + P[r * b + q]);
}

quorum_status npae_joint_covariance(const npae_block *block, const double *weights, const points *Q,
                                    int threads, double *covariance)
{
    size_t p = block->p, b = block->b, largest = 0;
    joint_job job = {.block = block, .Q = Q};
    double *P = NULL;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(job.first, p + 1))
        goto no_memory;
    job.first[0] = 0;
    for (size_t i = 0; i < p; i++) {
        size_t m = part_size(&block->c->parts, block->experts[i]);
        job.first[i + 1] = job.first[i] + m;
        largest = m > largest ? m : largest;
    }
    job.room = ROW_PANEL * largest;
    if (!NEW_ARRAY(job.A, job.first[p] * b) || !NEW_ARRAY(job.V, job.first[p] * b) ||
        !NEW_ARRAY(P, b * b) ||
        !NEW_ARRAY(job.scratch, (size_t)parallel_workers(threads, p) * job.room))
        goto no_memory;
    weigh_gammas(&job, weights);
    TRY_OR_DONE(parallel_for(threads, p, one_expert, &job));
    finish(&job, P, covariance);
    goto done;
no_memory:
    status = failure(QUORUM_E_MEMORY, "out of memory for the joint covariance of %zu queries", b);
done:
    mem_free(job.first);
    mem_free(job.A);
    mem_free(job.V);
    mem_free(job.scratch);
    mem_free(P);
    return status;
}
