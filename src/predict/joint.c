/* The covariance of the errors of b queries, expert by expert (predict/joint.h):
 *
 *   V_i = sum_j Cov(y_i, y_j) A_j - 2 k(X_i, Q)    m_i x b
 *   covariance = k(Q, Q) + (P + P') / 2,   P = sum_i A_i' V_i    b x b */
#include "predict/joint.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "gp/covariance.h"
#include "linalg/blas.h"

#include <string.h>

enum { ROW_PANEL = 256, COLUMN_PANEL = 256 };
static const double LARGE_PRODUCT = 4e9; /* multiplications: above, a product is cut up */

typedef struct {
    const assembly *a;
    size_t involved;     /* experts whose rows have weight                          */
    size_t *expert;      /* involved                                                */
    size_t *first;       /* involved + 1: where their rows start in A and V          */
    size_t *where;       /* M: an expert's number among the involved, or NOBODY      */
    double *A, *V;       /* rows x b: expert i's m_i x b block at first[i] * b       */
    const double *noise; /* b: of an observation, by which each query weighs rows; NULL: theta's */
    double prior;        /* factor of k(X_i, Q) in V                                  */
    size_t room;
    double *scratch; /* a worker: ROW_PANEL x largest part                       */
} joint_job;

double joint_bytes(size_t b, double rows)
{
    return 8.0 * (double)b * (2.0 * rows + 2.0 * (double)b);
}

/* Who is involved: every expert at a table, and the owners of the neighbours. */
static void list_involved(joint_job *job, const neighbourhoods *n)
{
    const assembly *a = job->a;
    const parts *p = &a->c->parts;
    for (size_t e = 0; e < p->M; e++)
        job->where[e] = NOBODY;
    for (size_t k = 0; k < a->attending; k++)
        job->where[a->by_expert[k].expert] = 0;
    for (size_t i = 0; n && i < a->b * n->m; i++)
        job->where[part_of_row(p, n->row[i])] = 0;
    job->first[0] = 0;
    for (size_t e = 0; e < p->M; e++) {
        if (job->where[e] == NOBODY)
            continue;
        size_t i = job->involved++;
        job->where[e] = i;
        job->expert[i] = e;
        job->first[i + 1] = job->first[i] + part_size(p, e);
    }
}

/* A = sum over seats of weight x Gamma, in the rows that they belong to. */
static void weigh_rows(joint_job *job, const double *weights, const neighbourhoods *n)
{
    const assembly *a = job->a;
    const parts *p = &a->c->parts;
    for (size_t k = 0; k < a->attending; k++) {
        const attendance *t = &a->by_expert[k];
        size_t m = part_size(p, t->expert);
        double *A = job->A + job->first[job->where[t->expert]] * a->b;
        for (size_t i = 0; i < t->real; i++)
            for (size_t r = 0; r < m; r++)
                A[t->query[i] * m + r] +=
                    weights[t->seat[i] * a->b + t->query[i]] * t->gamma[i * m + r];
    }
    for (size_t q = 0; n && q < a->b; q++)
        for (size_t i = 0; i < n->m; i++) {
            size_t row = n->row[q * n->m + i], e = part_of_row(p, row), m = part_size(p, e);
            job->A[job->first[job->where[e]] * a->b + q * m + row - p->offset[e]] +=
                weights[(a->seats - 1) * a->b + q] * n->gamma[q * n->m + i];
        }
}

static points involved_points(const joint_job *job, size_t i)
{
    const committee *c = job->a->c;
    return points_view(&c->Z, c->parts.offset[job->expert[i]], job->first[i + 1] - job->first[i]);
}

/* s^2 of a row of the committee, as query q sees it.  That of two queries is the mean of both. */
static double row_noise(const joint_job *job, size_t q, size_t row)
{
    hyper theta = job->a->c->theta;
    if (job->noise)
        theta.noise = job->noise[q];
    return noise_of(&theta, &job->a->c->parts.rows, row);
}

/* V_i += s^2 A_j on the rows that experts i and j share (all of them when i = j). */
static void add_row_noise(joint_job *job, size_t i, size_t j)
{
    const parts *p = &job->a->c->parts;
    size_t m = job->first[i + 1] - job->first[i], n = job->first[j + 1] - job->first[j];
    size_t b = job->a->b, at = p->offset[job->expert[i]], other = p->offset[job->expert[j]];
    double *V = job->V + job->first[i] * b;
    const double *A = job->A + job->first[j] * b;
    if (i != j && !p->row)
        return;
    for (size_t r = 0, s = 0; r < m && s < n;) {
        size_t x = i == j ? r : p->row[at + r], y = i == j ? s : p->row[other + s];
        for (size_t q = 0; x == y && q < b; q++)
            V[q * m + r] += row_noise(job, q, at + r) * A[q * n + s];
        r += x <= y;
        s += y <= x;
    }
}

/* V_i = sum_j Cov(y_i, y_j) A_j + prior k(X_i, Q). */
static quorum_status one_expert(void *context, size_t i, int worker)
{
    joint_job *job = context;
    const hyper *theta = &job->a->c->theta;
    size_t b = job->a->b;
    points X = involved_points(job, i);
    double *K = job->scratch + (size_t)worker * job->room, *V = job->V + job->first[i] * b;
    covariance_cross(theta, &X, job->a->Q, V, X.n);
    for (size_t k = 0; k < X.n * b; k++)
        V[k] *= job->prior;
    for (size_t j = 0; j < job->involved; j++) {
        points Y = involved_points(job, j);
        for (size_t r = 0; r < X.n; r += ROW_PANEL) {
            size_t rows = X.n - r < ROW_PANEL ? X.n - r : ROW_PANEL;
            points panel = points_view(&X, r, rows);
            TRY(progress_go_on());
            covariance_cross(theta, &panel, &Y, K, rows);
            blas_gemm('N', 'N', rows, b, Y.n, 1.0, K, rows, job->A + job->first[j] * b, Y.n, 1.0,
                      V + r, X.n);
        }
        add_row_noise(job, i, j);
    }
    return QUORUM_OK;
}

/* P (b x b) += A' V, both m x b; a large one by panels of columns, so that it can be cancelled. */
static quorum_status add_product(size_t m, size_t b, const double *A, const double *V, double *P)
{
    size_t panel = (double)m * (double)b * (double)b > LARGE_PRODUCT ? COLUMN_PANEL : b;
    for (size_t q = 0; q < b; q += panel) {
        size_t columns = b - q < panel ? b - q : panel;
        TRY(progress_go_on());
        blas_gemm('T', 'N', b, columns, m, 1.0, A, m, V + q * m, m, 1.0, P + q * b, b);
    }
    return QUORUM_OK;
}

/* covariance = k(Q, Q) + (P + P') / 2, P = sum_i A_i' V_i. */
static quorum_status finish(const joint_job *job, double *P, double *covariance)
{
    const assembly *a = job->a;
    size_t b = a->b;
    covariance_cross(&a->c->theta, a->Q, a->Q, covariance, b);
    memset(P, 0, b * b * sizeof *P);
    for (size_t i = 0; i < job->involved; i++) {
        size_t m = job->first[i + 1] - job->first[i], at = job->first[i] * b;
        TRY(add_product(m, b, job->A + at, job->V + at, P));
    }
    for (size_t q = 0; q < b; q++)
        for (size_t r = 0; r < b; r++)
            covariance[q * b + r] += 0.5 * (P[q * b + r] + P[r * b + q]);
    return QUORUM_OK;
}

static void job_free(joint_job *job)
{
    mem_free(job->expert);
    mem_free(job->first);
    mem_free(job->where);
    mem_free(job->A);
    mem_free(job->V);
    mem_free(job->scratch);
}

static quorum_status out_of_memory(size_t b)
{
    return failure(QUORUM_E_MEMORY, "out of memory for the joint covariance of %zu queries", b);
}

/* A, and V of all who are involved; job_free in any case. */
static quorum_status find_V(joint_job *job, const double *weights, const neighbourhoods *n,
                            int threads)
{
    const assembly *a = job->a;
    size_t M = a->c->parts.M, b = a->b;
    if (!NEW_ARRAY(job->expert, M) || !NEW_ARRAY(job->first, M + 1) || !NEW_ARRAY(job->where, M))
        return out_of_memory(b);
    list_involved(job, n);
    size_t rows = job->first[job->involved],
           workers = (size_t)parallel_workers(threads, job->involved);
    job->room = ROW_PANEL * largest_part(&a->c->parts);
    if (!NEW_ZEROED(job->A, rows * b) || !NEW_ARRAY(job->V, rows * b) ||
        !NEW_ARRAY(job->scratch, workers * job->room))
        return out_of_memory(b);
    weigh_rows(job, weights, n);
    return parallel_for(threads, job->involved, one_expert, job);
}

quorum_status joint_covariance(const assembly *a, const double *weights, const neighbourhoods *n,
                               int threads, double *covariance)
{
    joint_job job = {.a = a, .prior = -2.0, .noise = n ? n->noise : NULL};
    double *P = NULL;
    quorum_status status = NEW_ARRAY(P, a->b * a->b) ? QUORUM_OK : out_of_memory(a->b);
    if (status >= 0)
        status = find_V(&job, weights, n, threads);
    if (status >= 0)
        status = finish(&job, P, covariance);
    job_free(&job);
    mem_free(P);
    return status;
}

void row_covariances_free(row_covariances *c)
{
    mem_free(c->first);
    mem_free(c->where);
    mem_free(c->U);
    *c = (row_covariances){0};
}

quorum_status row_covariances_find(const assembly *a, const double *weights,
                                   const neighbourhoods *n, int threads, row_covariances *out)
{
    joint_job job = {.a = a, .prior = 0.0};
    quorum_status status = find_V(&job, weights, n, threads);
    *out = (row_covariances){.b = a->b, .first = job.first, .where = job.where, .U = job.V};
    job.first = job.where = NULL;
    job.V = NULL;
    job_free(&job);
    return status;
}
