/* The errors of the predictions at n queries as one Gaussian (joint_errors.h), block by block: the
 * rows near each query, S of the query and its earlier ones, and then their weights, which need the
 * variances of all of the block. */
#include "sample/joint_errors.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "gp/covariance.h"
#include "linalg/blas.h"
#include "train/earlier_rows.h"

#include <math.h>
#include <string.h>

static const double BLOCK_BYTES = 32e6; /* of all S of a block */
enum { BLOCK_LEAST = 16, BLOCK_MOST_PLACES = 1024 };

static quorum_status out_of_memory(size_t n)
{
    return failure(QUORUM_E_MEMORY, "out of memory for the errors of %zu queries", n);
}

double joint_errors_bytes(size_t n, size_t D, size_t given)
{
    return 8.0 * (double)n * (2.0 * (double)given + 6.0 * (double)D + 12.0) + BLOCK_BYTES;
}

void joint_errors_free(joint_errors *e)
{
    mem_free(e->order);
    points_free(&e->Z);
    mem_free(e->earlier);
    mem_free(e->count);
    mem_free(e->weight);
    mem_free(e->own);
    mem_free(e->variance);
    mem_free(e->U);
    *e = (joint_errors){0};
}

static quorum_status errors_new(const plan *p, size_t n, size_t given, joint_errors *e)
{
    *e = (joint_errors){.n = n, .D = p->m->rows.D, .given = given};
    TRY(points_new(n, e->D, &e->Z));
    NEW_ARRAY(e->order, n);
    NEW_ARRAY(e->earlier, n * given);
    NEW_ARRAY(e->count, n);
    NEW_ZEROED(e->weight, n * given);
    NEW_ARRAY(e->own, n);
    NEW_ARRAY(e->variance, n);
    if (!e->order || !e->earlier || !e->count || !e->weight || !e->own || !e->variance)
        return out_of_memory(n);
    if (p->m->units.line && !NEW_ARRAY(e->U, n * (e->D + 1)))
        return out_of_memory(n);
    return QUORUM_OK;
}

/* Z: the queries in their order, scaled. */
static quorum_status place_queries(const quorum_model *m, const double *X, joint_errors *e)
{
    double *Z;
    if (!NEW_ARRAY(Z, e->n * e->D))
        return out_of_memory(e->n);
    query_order(X, e->n, e->D, e->order);
    for (size_t i = 0; i < e->n; i++)
        model_standardise(m, 1, X + e->order[i].row * e->D, Z + i * e->D);
    points_scale(&e->Z, e->n, Z, NULL, m->theta.lengthscale);
    mem_free(Z);
    return QUORUM_OK;
}

/* The nearest of the earlier queries: blocks of one place each. */
static quorum_status find_earlier(joint_errors *e, int threads)
{
    size_t *place;
    if (!NEW_ARRAY(place, e->n + 1))
        return out_of_memory(e->n);
    for (size_t i = 0; i <= e->n; i++)
        place[i] = i;
    const ordered_rows rows = {.n = e->n,
                               .D = e->D,
                               .count = e->n,
                               .place = place,
                               .row = place,
                               .Z = e->Z.Z,
                               .norm = e->Z.norm};
    const target_search s = {.rows = &rows,
                             .count = e->n,
                             .first = place,
                             .centre = e->Z.Z,
                             .block = 1,
                             .given = e->given,
                             .threads = threads,
                             .found = e->earlier,
                             .found_count = e->count};
    quorum_status status = earlier_rows_by_scan(QUORUM_OK, &s);
    mem_free(place);
    return status;
}

/* ---- A block of places ---- */

/* A worker's space; g = given. */
typedef struct {
    points X, P;             /* m rows; g + 1: the query and its earlier ones */
    row_set rows;            /* m: their fields             */
    double *C, *V;           /* m x m; m x (g + 1)          */
    double *A;               /* g x g                       */
    double *v;               /* g: variances of the earlier ones */
    size_t *members;         /* g + 1                       */
    local_noise_space local; /* where neighbourhoods have a noise of their own */
} error_space;

typedef struct {
    const quorum_model *m;
    const committee *c;
    joint_errors *e;
    neighbourhoods *near; /* of the block */
    size_t first;         /* the block's first place */
    double *S;            /* block x (g + 1)^2 */
    int workers;
    error_space *space; /* workers */
} error_job;

static void space_free(error_space *w)
{
    points_free(&w->X);
    points_free(&w->P);
    rows_free(&w->rows);
    mem_free(w->C);
    mem_free(w->V);
    mem_free(w->A);
    mem_free(w->v);
    mem_free(w->members);
    local_noise_space_free(&w->local);
}

static quorum_status space_new(size_t m, size_t g, int local_noise, const row_set *like,
                               error_space *w)
{
    if (local_noise)
        TRY(local_noise_space_new(&w->local));
    TRY(points_new(m, like->D, &w->X));
    TRY(points_new(g + 1, like->D, &w->P));
    NEW_ARRAY(w->C, m * m);
    NEW_ARRAY(w->V, m * (g + 1));
    NEW_ARRAY(w->A, g * g);
    NEW_ARRAY(w->v, g);
    NEW_ARRAY(w->members, g + 1);
    if (!w->C || !w->V || !w->A || !w->v || !w->members)
        return failure(QUORUM_E_MEMORY, "out of memory for a neighbourhood of %zu rows", m);
    return rows_new(like, m, &w->rows);
}

/* L L' = k(N, N) + s^2 I in w->C, s^2 being the noise around them where the model has that. */
static quorum_status factor_rows(const error_job *j, const size_t *row, size_t m, error_space *w)
{
    hyper theta = j->c->theta;
    points_gather(&j->c->Z, row, m, &w->X);
    rows_take_fields(&j->c->parts.rows, row, m, &w->rows);
    TRY(covariance_self(&theta, &w->X, w->C, NULL, 1));
    if (j->m->local_noise)
        theta.noise = find_noise_around(&theta, &w->rows, m, w->C, &w->local).noise;
    for (size_t i = 0; i < m; i++)
        w->C[i * m + i] += noise_of(&theta, &w->rows, i);
    if (blas_cholesky(m, w->C, m) == 0)
        return QUORUM_OK;
    return failure(QUORUM_E_NUMERIC,
                   "the covariance matrix of a query's %zu nearest rows is not positive definite: "
                   "raise the noise variance (%g)",
                   m, theta.noise);
}

/* u = f(x) - sum_i gamma_i f(x_i), gamma = L^-T v, v (m) the query's column of V. */
static void find_u(const error_job *j, size_t m, size_t place, error_space *w)
{
    size_t D = j->e->D;
    const double *l = j->c->theta.lengthscale, *z = j->e->Z.Z + place * D;
    double *u = j->e->U + place * (D + 1), *gamma = w->V;
    blas_solve_lower_transposed_vector(m, w->C, m, gamma);
    u[0] = 1.0;
    memcpy(u + 1, z, D * sizeof *u);
    for (size_t i = 0; i < m; i++) {
        u[0] -= gamma[i];
        for (size_t d = 0; d < D; d++)
            u[d + 1] -= gamma[i] * w->X.Z[i * D + d];
    }
    for (size_t d = 0; d < D; d++)
        u[d + 1] *= l[d];
}

/* S = k(P, P) - V' V, V = L^-1 k(N, P). */
static quorum_status find_covariance(void *context, size_t item, int worker)
{
    error_job *j = context;
    joint_errors *e = j->e;
    error_space *w = &j->space[worker];
    size_t m = j->near->m, place = j->first + item, count = e->count[place], g = e->given;
    double *S = j->S + item * (g + 1) * (g + 1);
    TRY(factor_rows(j, j->near->row + item * m, m, w));
    w->members[0] = place;
    memcpy(w->members + 1, e->earlier + place * g, count * sizeof *w->members);
    points_gather(&e->Z, w->members, count + 1, &w->P);
    points P = points_view(&w->P, 0, count + 1);
    covariance_cross(&j->c->theta, &w->X, &P, w->V, m);
    blas_solve_lower(m, count + 1, w->C, m, w->V, m);
    covariance_cross(&j->c->theta, &P, &P, S, count + 1);
    blas_gemm('T', 'N', count + 1, count + 1, m, -1.0, w->V, m, w->V, m, 1.0, S, count + 1);
    e->variance[place] = S[0] = fmax(S[0], 0.0);
    if (e->U)
        find_u(j, m, place, w);
    return QUORUM_OK;
}

/* An earlier query with the same inputs, by its number among the earlier ones, or count. */
static size_t find_twin(const joint_errors *e, size_t place)
{
    size_t count = e->count[place], D = e->D;
    const size_t *earlier = e->earlier + place * e->given;
    for (size_t k = count; k-- > 0;)
        if (memcmp(e->Z.Z + earlier[k] * D, e->Z.Z + place * D, D * sizeof *e->Z.Z) == 0)
            return k;
    return count;
}

static quorum_status find_weights(void *context, size_t item, int worker)
{
    error_job *j = context;
    joint_errors *e = j->e;
    error_space *w = &j->space[worker];
    size_t g = e->given, place = j->first + item, count = e->count[place];
    size_t twin = find_twin(e, place);
    double *b = e->weight + place * g;
    if (twin < count) { /* the same error */
        b[twin] = 1.0;
        e->own[place] = 0.0;
        return QUORUM_OK;
    }
    for (size_t k = 0; k < count; k++)
        w->v[k] = e->variance[e->earlier[place * g + k]];
    return error_weights(count, j->S + item * (g + 1) * (g + 1), w->v, j->c->theta.signal, w->A, b,
                         &e->own[place]);
}

static quorum_status one_block(plan *p, error_job *j, size_t count, size_t rows)
{
    neighbourhoods near = {0};
    points Q = points_view(&j->e->Z, j->first, count);
    quorum_status status = neighbourhoods_new(
        count, count, rows, (spread_rule){.prior = INFINITY, .untested = 1.0}, 0, 0, &near);
    j->near = &near;
    TRY_OR_DONE(neighbourhoods_find(status, j->c, p->index, &Q, p->threads, &near));
    progress_expect(0.9); /* of the time, about */
    TRY_OR_DONE(parallel_for(j->workers, count, find_covariance, j));
    TRY_OR_DONE(parallel_for(j->workers, count, find_weights, j));
done:
    neighbourhoods_free(&near);
    j->near = NULL;
    return status;
}

/* ---- All of them ---- */

static size_t block_places(size_t n, size_t given)
{
    double fit = BLOCK_BYTES / (8.0 * (double)(given + 1) * (double)(given + 1));
    size_t b = fit > BLOCK_MOST_PLACES ? BLOCK_MOST_PLACES : (size_t)fit;
    b = b < BLOCK_LEAST ? BLOCK_LEAST : b;
    return b < n ? b : n;
}

static quorum_status all_blocks(plan *p, error_job *j, size_t block, size_t rows)
{
    joint_errors *e = j->e;
    size_t g = e->given, n = e->n;
    if (!NEW_ARRAY(j->S, block * (g + 1) * (g + 1)) || !NEW_ZEROED(j->space, (size_t)j->workers))
        return out_of_memory(n);
    for (int w = 0; w < j->workers; w++)
        TRY(space_new(rows, g, j->m->local_noise, &j->c->parts.rows, &j->space[w]));
    for (j->first = 0; j->first < n; j->first += block) {
        size_t count = n - j->first < block ? n - j->first : block;
        TRY(progress_stretch(p->progress, "joint errors", j->first, count, n, "queries"));
        TRY(one_block(p, j, count, rows));
    }
    return QUORUM_OK;
}

/* The nearest rows that covariances are given: as many as the prediction has, or as one by nearest
 * would. */
static size_t rows_given(const plan *p)
{
    size_t n = p->m->rows.n, m = p->neighbours > 0 ? p->neighbours : OWN_NEIGHBOURS;
    return m < n ? m : n;
}

quorum_status joint_errors_find(plan *p, const double *X, size_t n, size_t given, joint_errors *out)
{
    error_job j = {.m = p->m, .e = out};
    given = given < n - 1 ? given : n - 1;
    given = given > 0 ? given : 1;
    TRY(errors_new(p, n, given, out));
    TRY(model_rows(p->m, p->s, &j.c));
    if (!p->index)
        TRY(plan_neighbours(p, n));
    TRY(place_queries(p->m, X, out));
    TRY(progress_stretch(p->progress, "order", 0, n, n, "queries"));
    progress_expect(1.0);
    TRY(find_earlier(out, p->threads));
    size_t block = block_places(n, given);
    j.workers = parallel_workers(p->threads, block);
    quorum_status status = all_blocks(p, &j, block, rows_given(p));
    for (int w = 0; j.space && w < j.workers; w++)
        space_free(&j.space[w]);
    mem_free(j.space);
    mem_free(j.S);
    return status;
}
