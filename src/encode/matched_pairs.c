/* Effects of levels from pairs of near rows (matched_pairs.h), by conjugate gradients: a product with
 * the normal matrix is a pass over the pairs, and no matrix of all levels is kept. */
#include "encode/matched_pairs.h"

#include "base/memory.h"
#include "gp/noise.h"
#include "near/neighbours.h"

#include <math.h>
#include <string.h>

enum { NEAR = 8, MOST_STEPS = 500 };
static const double SETTLED = 1e-11; /* of the residual, against that of b = 0 */
static const double JITTER = 1e-3;   /* rows that differ by less are alike    */

/* ---- Pairs ---- */

static size_t count_numbers(const encoding *e)
{
    size_t numbers = 0;
    for (size_t d = 0; d < e->inputs; d++)
        numbers += e->of[d].levels == 0;
    return numbers;
}

/* A row's numbers, and one more coordinate, as good as random and small. */
static void place_row(const matched_pairs *p, size_t i, double *z)
{
    static const double golden = 0.6180339887498949;
    double whole;
    for (size_t d = 0; d < p->e->inputs; d++)
        if (p->e->of[d].levels == 0)
            *z++ = p->rows->X[i * p->e->inputs + d];
    *z = JITTER * modf((double)(i + 1) * golden, &whole);
}

static quorum_status place_rows(const matched_pairs *p, points *Z)
{
    size_t D = count_numbers(p->e) + 1;
    double *x = NULL, *ones = NULL;
    quorum_status status = points_new(p->rows->n, D, Z);
    if (status >= 0 && !(NEW_ARRAY(x, p->rows->n * D) && NEW_ARRAY(ones, D)))
        status = failure(QUORUM_E_MEMORY, "out of memory for pairs of %zu rows", p->rows->n);
    for (size_t d = 0; status >= 0 && d < D; d++)
        ones[d] = 1.0;
    for (size_t i = 0; status >= 0 && i < p->rows->n; i++)
        place_row(p, i, x + i * D);
    if (status >= 0)
        points_scale(Z, p->rows->n, x, NULL, ones);
    mem_free(x);
    mem_free(ones);
    return status;
}

/* The first `near` of near + 1 found rows that are not row i itself. */
static void keep_others(size_t i, size_t near, const size_t *found, size_t *other)
{
    size_t kept = 0;
    for (size_t k = 0; k <= near && kept < near; k++)
        if (found[k] != i)
            other[kept++] = found[k];
}

static quorum_status find_others(matched_pairs *p, const points *Z, neighbour_index *index)
{
    size_t *found, m = p->near + 1;
    if (!NEW_ARRAY(found, p->rows->n * m))
        return failure(QUORUM_E_MEMORY, "out of memory for pairs of %zu rows", p->rows->n);
    quorum_status status = neighbour_search(index, Z, m, 1, found, NULL);
    for (size_t i = 0; status >= 0 && i < p->rows->n; i++)
        keep_others(i, p->near, found + i * m, p->other + i * p->near);
    mem_free(found);
    return status;
}

static quorum_status pair_rows(matched_pairs *p)
{
    points Z;
    neighbour_index *index = NULL;
    quorum_status status = place_rows(p, &Z);
    if (status >= 0)
        status = neighbour_index_new(&Z, 1, &index);
    if (status >= 0)
        status = find_others(p, &Z, index);
    neighbour_index_free(index);
    points_free(&Z);
    return status;
}

quorum_status matched_pairs_new(const encoding *e, const row_set *rows, matched_pairs *out)
{
    size_t n = rows->n;
    *out = (matched_pairs){.e = e, .rows = rows};
    out->near = n > NEAR ? NEAR : n - 1;
    if (!NEW_ARRAY(out->first, e->inputs + 1) || !NEW_ARRAY(out->other, n * out->near + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for pairs of %zu rows", n);
    out->first[0] = 0;
    for (size_t d = 0; d < e->inputs; d++)
        out->first[d + 1] = out->first[d] + (e->of[d].levels ? e->of[d].levels : 1);
    return out->near > 0 ? pair_rows(out) : QUORUM_OK;
}

void matched_pairs_free(matched_pairs *p)
{
    mem_free(p->first);
    mem_free(p->other);
    *p = (matched_pairs){0};
}

/* ---- The regression ---- */

/* How many times each of row i's pairs counts. */
static double pair_share(const matched_pairs *p, size_t i)
{
    return row_weight(p->rows, i) / (double)p->near;
}

/* (A b) of rows i and j. */
static double difference(const matched_pairs *p, size_t i, size_t j, const double *b)
{
    size_t D = p->e->inputs;
    const double *x = p->rows->X + i * D, *z = p->rows->X + j * D;
    double sum = 0.0;
    for (size_t d = 0; d < D; d++, b += p->first[d] - p->first[d - 1])
        if (p->e->of[d].levels == 0)
            sum += b[0] * (x[d] - z[d]);
        else if (x[d] != z[d])
            sum += b[(size_t)x[d]] - b[(size_t)z[d]];
    return sum;
}

/* out += A' t for the same rows. */
static void add_transposed(const matched_pairs *p, size_t i, size_t j, double t, double *out)
{
    size_t D = p->e->inputs;
    const double *x = p->rows->X + i * D, *z = p->rows->X + j * D;
    for (size_t d = 0; d < D; d++, out += p->first[d] - p->first[d - 1])
        if (p->e->of[d].levels == 0) {
            out[0] += t * (x[d] - z[d]);
        } else if (x[d] != z[d]) {
            out[(size_t)x[d]] += t;
            out[(size_t)z[d]] -= t;
        }
}

/* out = (A'WA + PRIOR_ROWS I) b */
static void normal_product(const matched_pairs *p, const double *b, double *out)
{
    for (size_t k = 0; k < p->first[p->e->inputs]; k++)
        out[k] = PRIOR_ROWS * b[k];
    for (size_t i = 0; i < p->rows->n; i++)
        for (size_t k = 0; k < p->near; k++) {
            size_t j = p->other[i * p->near + k];
            add_transposed(p, i, j, pair_share(p, i) * difference(p, i, j, b), out);
        }
}

/* out = A'Wd */
static void right_side(const matched_pairs *p, double *out)
{
    memset(out, 0, p->first[p->e->inputs] * sizeof *out);
    for (size_t i = 0; i < p->rows->n; i++)
        for (size_t k = 0; k < p->near; k++) {
            size_t j = p->other[i * p->near + k];
            add_transposed(p, i, j, pair_share(p, i) * (p->rows->y[i] - p->rows->y[j]), out);
        }
}

/* The diagonal of the normal matrix. */
static void normal_diagonal(const matched_pairs *p, double *out)
{
    size_t D = p->e->inputs;
    for (size_t k = 0; k < p->first[D]; k++)
        out[k] = PRIOR_ROWS;
    for (size_t i = 0; i < p->rows->n; i++)
        for (size_t k = 0; k < p->near; k++) {
            const double *x = p->rows->X + i * D, *z = p->rows->X + p->other[i * p->near + k] * D;
            double share = pair_share(p, i);
            for (size_t d = 0; d < D; d++)
                if (p->e->of[d].levels == 0) {
                    out[p->first[d]] += share * (x[d] - z[d]) * (x[d] - z[d]);
                } else if (x[d] != z[d]) {
                    out[p->first[d] + (size_t)x[d]] += share;
                    out[p->first[d] + (size_t)z[d]] += share;
                }
        }
}

static double inner(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Conjugate gradients from b = 0, each unknown in units of its diagonal entry g.  r is the residual on
 * entry and leaves as what is left of it; q and s are room. */
static void conjugate_gradients(const matched_pairs *p, const double *g, double *r, double *s,
                                double *q, double *b)
{
    size_t n = p->first[p->e->inputs];
    double rho = 0.0, before, begin;
    memset(b, 0, n * sizeof *b);
    for (size_t k = 0; k < n; k++) {
        s[k] = r[k] / g[k];
        rho += r[k] * s[k];
    }
    begin = rho;
    for (int step = 0; step < MOST_STEPS && rho > SETTLED * SETTLED * begin; step++) {
        normal_product(p, s, q);
        double length = rho / inner(n, s, q);
        before = rho;
        rho = 0.0;
        for (size_t k = 0; k < n; k++) {
            b[k] += length * s[k];
            r[k] -= length * q[k];
            rho += r[k] * r[k] / g[k];
        }
        for (size_t k = 0; k < n; k++)
            s[k] = r[k] / g[k] + rho / before * s[k];
    }
}

quorum_status matched_pairs_solve(const matched_pairs *p, double *b)
{
    size_t n = p->first[p->e->inputs];
    double *room;
    if (p->near == 0) {
        memset(b, 0, n * sizeof *b);
        return QUORUM_OK;
    }
    if (!NEW_ARRAY(room, 4 * n))
        return failure(QUORUM_E_MEMORY, "out of memory for the effects of %zu levels", n);
    right_side(p, room);
    normal_diagonal(p, room + n);
    conjugate_gradients(p, room + n, room, room + 2 * n, room + 3 * n, b);
    mem_free(room);
    return QUORUM_OK;
}

void matched_pairs_gain(const matched_pairs *p, const double *b, double *gain)
{
    size_t D = p->e->inputs;
    for (size_t i = 0; i < p->rows->n; i++)
        for (size_t k = 0; k < p->near; k++) {
            size_t j = p->other[i * p->near + k];
            const double *x = p->rows->X + i * D, *z = p->rows->X + j * D;
            double left = p->rows->y[i] - p->rows->y[j] - difference(p, i, j, b);
            for (size_t d = 0; d < D; d++)
                if (p->e->of[d].levels > 0 && x[d] != z[d]) {
                    const double *of = b + p->first[d];
                    double effect = of[(size_t)x[d]] - of[(size_t)z[d]];
                    gain[d] += pair_share(p, i) * effect * (2.0 * left + effect);
                }
        }
}
