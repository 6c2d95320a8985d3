/* z = (x - centre) / l by coordinate: Z (D x n) a column a point, T the same (n x D) a column a
 * coordinate, and norm = |z|^2, for distances by differences and by products. */
#include "gp/points.h"

#include "base/memory.h"
#include "linalg/clones.h"

static quorum_status make_points(size_t n, size_t D, void *(*alloc)(size_t count, size_t size),
                                 points *out)
{
    points p = {.n = n, .D = D, .stride = n};
    p.Z = alloc(n * D, sizeof *p.Z);
    p.T = alloc(n * D, sizeof *p.T);
    p.norm = alloc(n, sizeof *p.norm);
    *out = p;
    if (p.Z && p.T && p.norm)
        return QUORUM_OK;
    points_free(out);
    return failure(QUORUM_E_MEMORY, "out of memory for %zu points of %zu inputs", n, D);
}

quorum_status points_new(size_t n, size_t D, points *out)
{
    return make_points(n, D, mem_alloc, out);
}

quorum_status points_new_sparse(size_t n, size_t D, points *out)
{
    return make_points(n, D, mem_alloc_sparse, out);
}

void points_free(points *p)
{
    mem_free(p->Z);
    mem_free(p->T);
    mem_free(p->norm);
    *p = (points){0};
}

/* With the bits of sum_squares. */
CLONED
static double sum_of_squares(size_t D, const double *z)
{
    double sum = 0.0;
    for (size_t d = 0; d < D; d++)
        sum += z[d] * z[d];
    return sum;
}

static double scaled(double x, double lengthscale)
{
    return bring_in(x / lengthscale);
}

void scale_inputs(size_t n, size_t D, const double *X, const double *lengthscale, double *Z)
{
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < D; d++)
            Z[i * D + d] = scaled(X[i * D + d], lengthscale[d]);
}

/* Z (D x n) = (X - center) / lengthscale, not brought in; whether some would have to be. */
CLONED
static int divide(size_t n, size_t D, const double *restrict X, const double *restrict center,
                  const double *restrict lengthscale, double *restrict Z)
{
    int far = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < D; d++) {
            double z = (X[i * D + d] - (center ? center[d] : 0.0)) / lengthscale[d];
            Z[i * D + d] = z;
            far |= fabs(z) > FARTHEST;
        }
    return far;
}

/* norm_i = sum_d T_id^2. */
CLONED
static void sum_squares(size_t n, size_t D, size_t stride, const double *restrict T,
                        double *restrict norm)
{
    for (size_t i = 0; i < n; i++)
        norm[i] = T[i] * T[i];
    for (size_t d = 1; d < D; d++)
        for (size_t i = 0; i < n; i++)
            norm[i] += T[d * stride + i] * T[d * stride + i];
}

int has_opposite(size_t D, const double *x, const double *near, const double *places, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double *p = places + i * D;
        double product = 0.0, there = 0.0, here = 0.0;
        for (size_t d = 0; d < D; d++) {
            double a = p[d] - x[d], b = near[d] - x[d];
            product += a * b;
            there += a * a;
            here += b * b;
        }
        if (product < -0.5 * sqrt(there) * sqrt(here))
            return 1;
    }
    return 0;
}

void points_turn(points *p)
{
    for (size_t i = 0; i < p->n; i++)
        for (size_t d = 0; d < p->D; d++)
            p->T[d * p->stride + i] = p->Z[i * p->D + d];
}

void points_scale(points *p, size_t n, const double *X, const double *center,
                  const double *lengthscale)
{
    size_t D = p->D;
    p->n = n;
    if (divide(n, D, X, center, lengthscale, p->Z))
        for (size_t i = 0; i < n * D; i++)
            p->Z[i] = bring_in(p->Z[i]);
    if (p->T) {
        points_turn(p);
        sum_squares(n, D, p->stride, p->T, p->norm);
        return;
    }
    for (size_t i = 0; i < n; i++)
        p->norm[i] = sum_of_squares(D, p->Z + i * D);
}

void points_gather(const points *p, const size_t *which, size_t n, points *out)
{
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        const double *z = p->Z + which[i] * p->D;
        for (size_t d = 0; d < p->D; d++) {
            out->Z[i * p->D + d] = z[d];
            out->T[d * out->stride + i] = z[d];
        }
        out->norm[i] = p->norm[which[i]];
    }
}

points points_view(const points *p, size_t first, size_t n)
{
    points v = *p;
    v.n = n;
    v.Z += first * p->D;
    v.T = p->T ? p->T + first : NULL;
    v.norm += first;
    return v;
}
