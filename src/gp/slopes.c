/* Slopes of posteriors along the scaled inputs of a query (slopes.h):
 *
 *   mean = k' alpha                 c = alpha
 *   explained = k' C^-1 k           c = 2 gamma,   gamma = C^-1 k
 *   sum_i rho_i^2 a_i               c_i = 2 k_i a_i / s_f^4,   rho = k / s_f^2 */
#include "gp/slopes.h"

#include "linalg/blas.h"

#include <string.h>

void query_slopes(const hyper *theta, const points *X, const double *z, double *k, double *slope)
{
    size_t D = X->D;
    for (size_t i = 0; i < X->n; i++) {
        const double *row = X->Z + i * D;
        k[i] = 0.0;
        for (size_t d = 0; d < D; d++)
            k[i] += (row[d] - z[d]) * (row[d] - z[d]);
    }
    kernel_slopes(theta, X->n, k, &(pair_slopes){.slope = slope});
}

void pull_back(size_t m, size_t D, const double *c, const double *slope, const double *Z,
               const double *z, double *g)
{
    memset(g, 0, D * sizeof *g);
    for (size_t i = 0; i < m; i++)
        for (size_t d = 0; d < D; d++)
            g[d] += c[i] * slope[i] * (Z[i * D + d] - z[d]);
}

static void twice(size_t D, double *g)
{
    for (size_t d = 0; d < D; d++)
        g[d] *= 2.0;
}

void posterior_slopes(const hyper *theta, const points *X, const points *Q, const double *alpha,
                      const double *gamma, double *room, double *mean, double *explained)
{
    size_t m = X->n, D = X->D;
    for (size_t q = 0; q < Q->n; q++) {
        const double *z = Q->Z + q * D;
        query_slopes(theta, X, z, room, room + m);
        if (mean)
            pull_back(m, D, alpha, room + m, X->Z, z, mean + q * D);
        if (explained) {
            pull_back(m, D, gamma + q * m, room + m, X->Z, z, explained + q * D);
            twice(D, explained + q * D);
        }
    }
}

/* Sums over `count` of the nearest rows, which stand last in X. */
static void sum_slopes(const points *X, const double *z, const neighbourhood_space *ws,
                       size_t count, double c[][WIDE_ROWS], double *const *out, size_t sums)
{
    size_t m = X->n, D = X->D, q = m < WIDE_ROWS ? m : WIDE_ROWS, some = m < count ? m : count;
    for (size_t k = 0; k < sums; k++)
        pull_back(some, D, c[k] + q - some, ws->pair + 2 * m - some, X->Z + (m - some) * D, z,
                  out[k]);
}

static void surrounding_slopes(const hyper *theta, const points *X, const double *z,
                               const neighbourhood_space *ws, const neighbourhood_slopes *out)
{
    size_t m = X->n, q = m < WIDE_ROWS ? m : WIDE_ROWS;
    const double *k = ws->pair + m - q;
    double c[3][WIDE_ROWS];
    for (size_t i = 0; i < q; i++) {
        left_out_figures at = ws->shown[i];
        c[0][i] = ws->weight[i] * (2.0 * k[i] / (theta->signal * theta->signal));
        c[1][i] = c[0][i] * at.surprise;
        c[2][i] = c[0][i] * at.variance;
    }
    sum_slopes(X, z, ws, SPREAD_ROWS, c, (double *[]){out->weight, out->surprise, out->tested}, 3);
    sum_slopes(X, z, ws, WIDE_ROWS, c, (double *[]){out->wide_weight, out->wide_surprise}, 2);
    sum_slopes(X, z, ws, CLOSE_ROWS, c, (double *[]){out->close_weight, out->close_surprise}, 2);
}

void neighbourhood_find_slopes(const hyper *theta, const points *X, const points *query,
                               neighbourhood_space *ws, const neighbourhood_slopes *out)
{
    size_t m = X->n, D = X->D;
    double *gamma = ws->side, *alpha = ws->side + m, *slope = ws->pair + m;
    blas_solve_lower_transposed(m, 2, ws->C, m, ws->side, m);
    query_slopes(theta, X, query->Z, ws->pair, slope);
    pull_back(m, D, alpha, slope, X->Z, query->Z, out->mean);
    pull_back(m, D, gamma, slope, X->Z, query->Z, out->explained);
    twice(D, out->explained);
    surrounding_slopes(theta, X, query->Z, ws, out);
}
