/* Least squares for a line (regression.h).
 *
 *   beta = G^-1 g,   V = G^-1,   G = S_ff + ridge I,   g = S_fy
 *
 * Sums are taken of rows in their order, in steps that do not depend on who holds them. */
#include "train/regression.h"

#include "base/memory.h"
#include "gp/covariance.h"
#include "linalg/blas.h"
#include "team/work.h"

#include <math.h>
#include <string.h>

/* Of the mean of G's diagonal. */
static const double RIDGE = 1e-11;

/* (1, x, y) of one row, times the root of its weight. */
static void write_row(const row_set *rows, size_t i, double *out)
{
    out[0] = 1.0;
    memcpy(out + 1, rows->X + i * rows->D, rows->D * sizeof *out);
    out[rows->D + 1] = rows->y[i];
    for (size_t d = 0; rows->weight && d < rows->D + 2; d++)
        out[d] *= sqrt(rows->weight[i]);
}

/* ---- Ordinary ---- */

typedef struct {
    double *S;    /* (D + 2)^2         */
    double *side; /* (D + 2) x ROWS_STEP */
} products;

static void add_step(products *k, const row_set *rows, size_t first, size_t count)
{
    size_t w = rows->D + 2;
    for (size_t i = 0; i < count; i++)
        write_row(rows, first + i, k->side + i * w);
    blas_outer_lower(w, count, 1.0, k->side, w, 1.0, k->S, w);
}

static void add_range(void *context, const row_range *range)
{
    for (size_t i = 0; i < range->rows.n;) {
        size_t room = ROWS_STEP - (range->first + i) % ROWS_STEP, left = range->rows.n - i;
        size_t count = left < room ? left : room;
        add_step(context, &range->rows, i, count);
        i += count;
    }
}

quorum_status sum_products(quorum_status ready, const scattered_rows *rows, double *S)
{
    size_t w = rows->held.D + 2;
    products k = {.S = S};
    NEW_ARRAY(k.side, w * ROWS_STEP);
    if (ready >= 0 && !k.side)
        ready = failure(QUORUM_E_MEMORY, "out of memory for a line of %zu inputs", rows->held.D);
    if (ready >= 0)
        memset(S, 0, w * w * sizeof *S);
    quorum_status status = rows_fold(ready, rows, S, w * w * sizeof *S, add_range, &k);
    mem_free(k.side);
    return status;
}

/* ---- Generalised ---- */

/* A worker's room. */
typedef struct {
    points Z;
    double *C;    /* room^2                 */
    double *side; /* room x (D + 2): [F | y] */
} whitening_space;

typedef struct {
    const parts *p;
    const size_t *given;
    const hyper *theta;
    whitening_space *space; /* a worker                            */
    size_t *start;          /* M + 1: where each part's rows are in A */
    double *A;              /* (D + 2) x all: a row's together     */
} whitening;

static size_t given_of(const whitening *w, size_t e)
{
    return w->given ? w->given[e] : 0;
}

static quorum_status factorise_part(const whitening *w, const row_set *rows, whitening_space *s)
{
    size_t m = rows->n;
    points_scale(&s->Z, m, rows->X, rows->X + (m - 1) * rows->D, w->theta->lengthscale);
    TRY(covariance_self(w->theta, &s->Z, s->C, NULL, 1));
    for (size_t i = 0; i < m; i++)
        s->C[i * m + i] += noise_of(w->theta, rows, i);
    if (blas_cholesky(m, s->C, m) == 0)
        return QUORUM_OK;
    return failure(QUORUM_E_NUMERIC,
                   "the covariance matrix of %zu rows is not positive definite: raise the noise "
                   "variance (%g)",
                   m, w->theta->noise);
}

/* The rows of L^-1 [F | y] that are the part's own. */
static quorum_status whiten_part(void *context, size_t e, int worker)
{
    whitening *w = context;
    whitening_space *s = &w->space[worker];
    row_set rows = part_rows(w->p, e);
    size_t m = rows.n, D = rows.D, first = given_of(w, e);
    double *out = w->A + w->start[e] * (D + 2);
    TRY(factorise_part(w, &rows, s));
    for (size_t i = 0; i < m; i++) {
        s->side[i] = 1.0;
        for (size_t d = 0; d < D; d++)
            s->side[(d + 1) * m + i] = rows.X[i * D + d];
        s->side[(D + 1) * m + i] = rows.y[i];
    }
    blas_solve_lower(m, D + 2, s->C, m, s->side, m);
    for (size_t i = first; i < m; i++)
        for (size_t c = 0; c < D + 2; c++)
            *out++ = s->side[c * m + i];
    return QUORUM_OK;
}

static void whitening_free(int workers, whitening *w)
{
    for (int k = 0; w->space && k < workers; k++) {
        points_free(&w->space[k].Z);
        mem_free(w->space[k].C);
        mem_free(w->space[k].side);
    }
    mem_free(w->space);
    mem_free(w->start);
    mem_free(w->A);
}

static quorum_status space_new(size_t room, size_t D, whitening_space *s)
{
    TRY(points_new(room, D, &s->Z));
    NEW_ARRAY(s->C, room * room);
    NEW_ARRAY(s->side, room * (D + 2));
    if (s->C && s->side)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for a line through %zu rows", room);
}

static quorum_status whitening_new(int workers, whitening *w)
{
    const parts *p = w->p;
    size_t D = p->rows.D, total = 0;
    NEW_ZEROED(w->space, (size_t)workers);
    NEW_ARRAY(w->start, p->M + 1);
    if (!w->space || !w->start)
        return failure(QUORUM_E_MEMORY, "out of memory for a line through %zu parts", p->M);
    for (size_t e = 0; e < p->M; e++) {
        w->start[e] = total;
        total += part_size(p, e) - given_of(w, e);
    }
    w->start[p->M] = total;
    if (!NEW_ARRAY(w->A, total * (D + 2)))
        return failure(QUORUM_E_MEMORY, "out of memory for a line through %zu rows", total);
    for (int k = 0; k < workers; k++)
        TRY(space_new(largest_part(p), D, &w->space[k]));
    return QUORUM_OK;
}

quorum_status sum_whitened(quorum_status ready, const parts *p, const size_t *given,
                           const hyper *theta, int threads, double *S)
{
    size_t width = p->rows.D + 2;
    int workers = parallel_workers(threads, p->M);
    whitening w = {.p = p, .given = given, .theta = theta};
    if (ready >= 0)
        ready = whitening_new(workers, &w);
    team_result result = {.data = w.A, .width = width * sizeof *w.A, .start = w.start};
    quorum_status status = team_map(ready, workers, p->M, whiten_part, &w, &result, 1);
    if (status >= 0)
        blas_outer_lower(width, w.start[p->M], 1.0, w.A, width, 0.0, S, width);
    whitening_free(workers, &w);
    return status;
}

/* ---- The equations ---- */

static int is_without(const char *constant, size_t i)
{
    return i > 0 && constant[i - 1];
}

/* G (p x p, lower) and its right side from S; an input that does not vary has an equation of its
 * own. */
static void take_equations(size_t p, const char *constant, const double *S, double *G, double *beta)
{
    double trace = 0.0;
    for (size_t c = 0; c < p; c++)
        trace += S[c * (p + 1) + c];
    for (size_t c = 0; c < p; c++) {
        memcpy(G + c * p, S + c * (p + 1), p * sizeof *G);
        beta[c] = is_without(constant, c) ? 0.0 : S[c * (p + 1) + p];
        G[c * p + c] += RIDGE * trace / (double)p;
    }
}

static void clear_constants(size_t p, const char *constant, double *V)
{
    for (size_t c = 0; c < p; c++)
        for (size_t r = 0; r < p; r++)
            if (is_without(constant, c) || is_without(constant, r))
                V[c * p + r] = 0.0;
}

static void mirror(size_t p, double *V)
{
    for (size_t c = 0; c < p; c++)
        for (size_t r = c + 1; r < p; r++)
            V[r * p + c] = V[c * p + r];
}

static quorum_status solve_equations(size_t p, double *G, double *beta)
{
    if (blas_cholesky(p, G, p) != 0)
        return failure(QUORUM_E_NUMERIC,
                       "the equations of a line of %zu inputs cannot be solved: "
                       "fit with trend constant",
                       p - 1);
    blas_solve_lower_vector(p, G, p, beta);
    blas_solve_lower_transposed_vector(p, G, p, beta);
    return QUORUM_OK;
}

quorum_status solve_line(size_t D, const char *constant, const double *S, double *beta, double *V)
{
    size_t p = D + 1;
    take_equations(p, constant, S, V, beta);
    TRY(solve_equations(p, V, beta));
    blas_inverse_lower(p, V, p);
    mirror(p, V);
    clear_constants(p, constant, V);
    return QUORUM_OK;
}
