/* Spectral clustering of experts (Ng, Jordan and Weiss), p of them with edges:
 *
 *   W_ij = |Omega_ij| / sqrt(Omega_ii Omega_jj),   d_i = sum_j W_ij        p x p
 *   L = D^-1/2 W D^-1/2, its k = round(sqrt(p)) largest eigenvectors U     p x k
 *   rows of U, brought to length 1, by Lloyd's iterations into k groups
 *
 * The first centre is the row of the largest d_i, each further one the row that is farthest from those
 * there are (ties: lower number), so that nothing is drawn at random. */
#include "graph/spectral.h"

#include "base/memory.h"
#include "linalg/blas.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { MOST_ROUNDS = 100 };

typedef struct {
    size_t p, k;
    size_t *vertex; /* p: places among the listed experts                 */
    double *degree; /* p                                                  */
    double *L;      /* p x p: W, then L, then its eigenvectors in columns */
    double *value;  /* p: eigenvalues                                     */
    double *U;      /* p x k: rows of length 1                            */
    double *centre; /* k x k                                              */
    double *near;   /* p: squared distance to the nearest centre          */
    size_t *group;  /* p                                                  */
} spectrum;

static void spectrum_free(spectrum *s)
{
    mem_free(s->vertex);
    mem_free(s->degree);
    mem_free(s->L);
    mem_free(s->value);
    mem_free(s->U);
    mem_free(s->centre);
    mem_free(s->near);
    mem_free(s->group);
}

static double affinity(size_t M, const double *precision, size_t i, size_t j)
{
    return i == j ? 0.0
                  : fabs(precision[i * M + j]) / sqrt(precision[i * M + i] * precision[j * M + j]);
}

static double degree_of(size_t M, const double *precision, const size_t *experts, size_t count,
                        size_t i)
{
    double sum = 0.0;
    for (size_t j = 0; j < count; j++)
        sum += affinity(M, precision, experts[i], experts[j]);
    return sum;
}

/* Who has edges, and how many groups they make. */
static quorum_status find_vertices(size_t M, const double *precision, const size_t *experts,
                                   size_t count, spectrum *s)
{
    if (!NEW_ARRAY(s->vertex, count) || !NEW_ARRAY(s->degree, count))
        return failure(QUORUM_E_MEMORY, "out of memory for groups of %zu experts", count);
    for (size_t i = 0; i < count; i++) {
        double d = degree_of(M, precision, experts, count, i);
        if (d > 0.0) {
            s->degree[s->p] = d;
            s->vertex[s->p++] = i;
        }
    }
    s->k = (size_t)floor(sqrt((double)s->p) + 0.5);
    return QUORUM_OK;
}

static quorum_status room_for_vertices(spectrum *s)
{
    size_t p = s->p, k = s->k;
    if (NEW_ARRAY(s->L, p * p) && NEW_ARRAY(s->value, p) && NEW_ARRAY(s->U, p * k) &&
        NEW_ARRAY(s->centre, k * k) && NEW_ARRAY(s->near, p) && NEW_ZEROED(s->group, p))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for groups of %zu experts", p);
}

/* Rows of U: the k largest eigenvectors of L, at each vertex brought to length 1. */
static quorum_status embed(size_t M, const double *precision, const size_t *experts, spectrum *s)
{
    size_t p = s->p, k = s->k;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++)
            s->L[j * p + i] = affinity(M, precision, experts[s->vertex[i]], experts[s->vertex[j]]) /
                              sqrt(s->degree[i] * s->degree[j]);
    TRY(blas_eigen(p, s->L, p, s->value));
    for (size_t i = 0; i < p; i++) {
        double length = 0.0;
        for (size_t c = 0; c < k; c++) {
            double u = s->U[i * k + c] = s->L[(p - 1 - c) * p + i];
            length += u * u;
        }
        for (size_t c = 0; length > 0.0 && c < k; c++)
            s->U[i * k + c] /= sqrt(length);
    }
    return QUORUM_OK;
}

static double squared_distance(size_t k, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t c = 0; c < k; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

static size_t largest(size_t n, const double *x)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        best = x[i] > x[best] ? i : best;
    return best;
}

static void place_centres(spectrum *s)
{
    size_t k = s->k, at = largest(s->p, s->degree);
    for (size_t i = 0; i < s->p; i++)
        s->near[i] = INFINITY;
    for (size_t g = 0; g < k; g++) {
        memcpy(s->centre + g * k, s->U + at * k, k * sizeof *s->centre);
        for (size_t i = 0; i < s->p; i++)
            s->near[i] = fmin(s->near[i], squared_distance(k, s->U + i * k, s->centre + g * k));
        at = largest(s->p, s->near);
    }
}

/* Every vertex to its nearest centre (ties: lower number); how many move. */
static size_t assign(spectrum *s)
{
    size_t moved = 0, k = s->k;
    for (size_t i = 0; i < s->p; i++) {
        size_t best = 0;
        double least = INFINITY;
        for (size_t g = 0; g < k; g++) {
            double d = squared_distance(k, s->U + i * k, s->centre + g * k);
            if (d < least) {
                least = d;
                best = g;
            }
        }
        moved += s->group[i] != best;
        s->group[i] = best;
    }
    return moved;
}

/* Centres become the means of their groups; one without members stays. */
static void average(spectrum *s)
{
    size_t k = s->k;
    for (size_t g = 0; g < k; g++) {
        double *c = s->centre + g * k;
        size_t members = 0;
        for (size_t i = 0; i < s->p; i++) {
            if (s->group[i] != g)
                continue;
            if (members++ == 0)
                memset(c, 0, k * sizeof *c);
            for (size_t d = 0; d < k; d++)
                c[d] += s->U[i * k + d];
        }
        for (size_t d = 0; members > 0 && d < k; d++)
            c[d] /= (double)members;
    }
}

/* Numbers groups by their first members; who has no edge is one. */
static void number_groups(const spectrum *s, size_t count, size_t *label, size_t *groups)
{
    size_t made = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        label[i] = SIZE_MAX;
        if (at < s->p && s->vertex[at] == i) {
            for (size_t j = 0; j < at && label[i] == SIZE_MAX; j++)
                if (s->group[j] == s->group[at])
                    label[i] = label[s->vertex[j]];
            at++;
        }
        if (label[i] == SIZE_MAX)
            label[i] = made++;
    }
    *groups = made;
}

quorum_status spectral_groups(size_t M, const double *precision, const size_t *experts,
                              size_t count, size_t *label, size_t *groups)
{
    spectrum s = {0};
    quorum_status status = QUORUM_OK;
    TRY_OR_DONE(find_vertices(M, precision, experts, count, &s));
    if (s.p > 0) {
        TRY_OR_DONE(room_for_vertices(&s));
        TRY_OR_DONE(embed(M, precision, experts, &s));
        place_centres(&s);
        (void)assign(&s);
        for (int round = 0; round < MOST_ROUNDS; round++) {
            average(&s);
            if (assign(&s) == 0)
                break;
        }
    }
    number_groups(&s, count, label, groups);
done:
    spectrum_free(&s);
    return status;
}
