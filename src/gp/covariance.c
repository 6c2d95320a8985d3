/* Squared distances are made column by column, then the kernel is applied to
 * the column while it is in the cache.
 *
 * With few inputs, distances are sums of squared differences.  With many they
 * come from one matrix product, s = |a|^2 + |b|^2 - 2 a.b, whose rounding error
 * is a few eps (|a|^2 + |b|^2): harmless unless s itself is much smaller than
 * that.  Pairs with s < NEAR (|a|^2 + |b|^2) are therefore done again by
 * differences, which keeps the relative error of every s below about 1e-12. */
#include "gp/covariance.h"

#include "base/parallel.h"
#include "linalg/blas.h"
#include "linalg/clones.h"
#include "linalg/lanes.h"

enum {
    FEW_INPUTS = 16, /* up to here differences are as fast as the product */
    PANEL = 64       /* columns of one product                            */
};
static const double NEAR = 1e-3;

int covariance_by_products(size_t inputs)
{
    return inputs > FEW_INPUTS;
}

static double distance_by_difference(const points *a, size_t i, const points *b, size_t j)
{
    const double *x = a->Z + i * a->D, *y = b->Z + j * b->D;
    double s = 0.0;
    for (size_t d = 0; d < a->D; d++)
        s += (x[d] - y[d]) * (x[d] - y[d]);
    return s;
}

/* s_i = sum_d (T_id - z_d)^2 of eight points. */
LANES_INLINED void eight_distances(size_t D, size_t stride, const double *restrict T,
                                   const double *restrict z, double *restrict s)
{
    lanes8 sum = {0};
    for (size_t d = 0; d < D; d++)
        sum = lanes_add_distance(sum, lanes_load(T + d * stride), z[d]);
    lanes_store(sum, s);
}

/* The same of n points; of n that is no multiple of eight the last eight are done twice in part, since numbers one by
 * one take as long each. */
CLONED
static void distances_by_difference(size_t n, size_t D, size_t stride, const double *restrict T,
                                    const double *restrict z, double *restrict s)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        eight_distances(D, stride, T + i, z, s + i);
    if (i < n && n >= LANES)
        eight_distances(D, stride, T + n - LANES, z, s + n - LANES);
    for (; n < LANES && i < n; i++) {
        s[i] = 0.0;
        for (size_t d = 0; d < D; d++)
            s[i] += (T[d * stride + i] - z[d]) * (T[d * stride + i] - z[d]);
    }
}

/* s_i = norm_i + norm_b + s_i, where s_i holds -2 a_i.b; returns how many came
 * out too near to be trusted. */
CLONED
static size_t distances_from_products(size_t n, const double *restrict norm, double norm_b,
                                      double *restrict s)
{
    size_t near = 0;
    for (size_t i = 0; i < n; i++) {
        double scale = norm[i] + norm_b;
        s[i] += scale;
        near += s[i] <= NEAR * scale;
    }
    return near;
}

static void mend_near_pairs(const points *a, const points *b, size_t j, double *s)
{
    for (size_t i = 0; i < a->n; i++)
        if (s[i] <= NEAR * (a->norm[i] + b->norm[j]))
            s[i] = distance_by_difference(a, i, b, j);
}

/* Columns of the lower triangle begin here above row j, so that they are whole lanes where the matrix is. */
static size_t whole_lanes(size_t j)
{
    return j / LANES * LANES;
}

/* Columns j0 .. j0+w-1 of the squared distances into S(m x w, ld).  `selves` is
 * how many points of a each point of b is itself: 1 within one set, of which the lower triangle is enough, else 0. */
static void distance_panel(const points *a, const points *b, size_t j0, size_t w, size_t selves,
                           double *S, size_t ld)
{
    if (a->D <= FEW_INPUTS) {
        for (size_t j = 0; j < w; j++) {
            size_t above = selves * whole_lanes(j);
            distances_by_difference(a->n - above, a->D, a->stride, a->T + above,
                                    b->Z + (j0 + j) * b->D, S + j * ld + above);
        }
        return;
    }
    blas_gemm('T', 'N', a->n, w, a->D, -2.0, a->Z, a->D, b->Z + j0 * b->D, b->D, 0.0, S, ld);
    for (size_t j = 0; j < w; j++)
        if (distances_from_products(a->n, a->norm, b->norm[j0 + j], S + j * ld) > selves)
            mend_near_pairs(a, b, j0 + j, S + j * ld);
}

void covariance_cross(const hyper *theta, const points *a, const points *b, double *K, size_t ld)
{
    for (size_t j = 0; j < b->n; j += PANEL) {
        size_t w = b->n - j < PANEL ? b->n - j : PANEL;
        distance_panel(a, b, j, w, 0, K + j * ld, ld);
        for (size_t c = 0; c < w; c++)
            kernel_values(theta, a->n, K + (j + c) * ld);
    }
}

typedef struct {
    const hyper *theta;
    const points *a;
    double *K;
    const pair_slopes *slopes; /* or NULL */
} self_job;

/* The slopes from entry `at` of their matrices on. */
static pair_slopes slopes_from(const pair_slopes *s, size_t at)
{
    return (pair_slopes){.slope = s->slope + at,
                         .share = s->share ? s->share + at : NULL,
                         .reach = s->reach ? s->reach + at : NULL};
}

/* n distances of a column to covariances, and from entry `at` of their matrices on to slopes where they are wanted. */
static void apply_to_column(const self_job *s, size_t at, size_t n, double *column)
{
    if (!s->slopes) {
        kernel_values(s->theta, n, column);
        return;
    }
    pair_slopes here = slopes_from(s->slopes, at);
    kernel_slopes(s->theta, n, column, &here);
}

/* Columns of panel `item`, rows from the panel's first to the last. */
static quorum_status self_panel(void *context, size_t item, int worker)
{
    (void)worker;
    self_job *s = context;
    size_t m = s->a->n, j0 = item * PANEL, w = m - j0 < PANEL ? m - j0 : PANEL;
    points below = points_view(s->a, j0, m - j0);
    double *K = s->K + j0 * m + j0;
    distance_panel(&below, &below, 0, w, 1, K, m);
    for (size_t j = 0; j < w; j++) {
        size_t above = whole_lanes(j);
        K[j * m + j] = 0.0;
        apply_to_column(s, (j0 + j) * m + j0 + above, m - j0 - above, K + j * m + above);
    }
    return QUORUM_OK;
}

quorum_status covariance_self(const hyper *theta, const points *a, double *K,
                              const pair_slopes *slopes, int threads)
{
    self_job job = {.theta = theta, .a = a, .K = K, .slopes = slopes};
    return parallel_for(threads, (a->n + PANEL - 1) / PANEL, self_panel, &job);
}
