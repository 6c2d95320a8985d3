/* Slopes of what a neighbourhood says along the scaled inputs of its query (gp/slopes.h), the rows
 * being those that they are:
 *
 *   mean' = alpha' k',   explained' = 2 gamma' k',   spread' by that of the factor,
 *   (u' V u)' = 2 p' f' - 2 (C^-1 F p)' k',   p = V u,   u = f(x) - F' gamma,   f(x) = (1, x), x = z l */
#include "predict/nearest.h"

#include "base/memory.h"
#include "gp/slopes.h"
#include "linalg/blas.h"

quorum_status neighbourhoods_want_slopes(size_t D, const double *V, neighbourhoods *n)
{
    near_slopes *s = &n->slopes;
    int line = V && n->width > 0;
    NEW_ARRAY(s->mean, n->b * D);
    NEW_ARRAY(s->explained, n->b * D);
    NEW_ARRAY(s->spread, n->b * D);
    if (line)
        NEW_ARRAY(s->doubt, n->b * D);
    s->V = V;
    if (s->mean && s->explained && s->spread && (s->doubt || !line))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for the gradients of %zu queries", n->b);
}

/* p (D + 1) = V u, u = f(x) - lift; room: D + 1. */
static void weigh_errors(const hyper *theta, const double *V, const double *z, const double *lift,
                         double *u, double *p)
{
    size_t D = theta->D;
    u[0] = 1.0 - lift[0];
    for (size_t d = 0; d < D; d++)
        u[d + 1] = z[d] * theta->lengthscale[d] - lift[d + 1];
    for (size_t i = 0; i <= D; i++)
        p[i] = vec_dot(D + 1, V + i * (D + 1), u);
}

/* h_i = f(x_i)' p. */
static void line_at_rows(const hyper *theta, const points *X, const double *p, double *h)
{
    size_t D = X->D;
    for (size_t i = 0; i < X->n; i++) {
        h[i] = p[0];
        for (size_t d = 0; d < D; d++)
            h[i] += p[d + 1] * X->Z[i * D + d] * theta->lengthscale[d];
    }
}

/* After the other slopes: side and pair of `own` are as they left them. */
static void doubt_slopes(const hyper *theta, const points *X, const double *z, const double *V,
                         const double *lift, neighbourhood_space *own, double *room, double *g)
{
    size_t m = X->n, D = X->D;
    double *p = room + D + 1, *h = own->side;
    weigh_errors(theta, V, z, lift, room, p);
    line_at_rows(theta, X, p, h);
    blas_solve_lower(m, 1, own->C, m, h, m);
    blas_solve_lower_transposed(m, 1, own->C, m, h, m);
    pull_back(m, D, h, own->pair + m, X->Z, z, g);
    for (size_t d = 0; d < D; d++)
        g[d] = 2.0 * (p[d + 1] * theta->lengthscale[d] - g[d]);
}

static void spread_slopes(const hyper *theta, spread_rule how, const neighbourhood *at,
                          const neighbourhood_slopes *s, double *g)
{
    double variance = variance_left(theta->signal, at->explained, at->noise);
    int is_left = at->explained < theta->signal;
    for (size_t d = 0; d < theta->D; d++) {
        surroundings slope = {.weight = s->weight[d],
                              .surprise = s->surprise[d],
                              .tested = s->tested[d],
                              .wide = {s->wide_weight[d], s->wide_surprise[d]},
                              .close = {s->close_weight[d], s->close_surprise[d]}};
        g[d] =
            spread_factor_slope(how, at->around, variance, slope, is_left ? -s->explained[d] : 0.0);
    }
}

void neighbourhoods_find_slopes(const hyper *theta, const points *X, const points *query,
                                const neighbourhood *at, neighbourhood_space *own, double *room,
                                size_t q, neighbourhoods *n)
{
    size_t D = X->D;
    neighbourhood_slopes s = {.mean = n->slopes.mean + q * D,
                              .explained = n->slopes.explained + q * D,
                              .weight = room,
                              .surprise = room + D,
                              .tested = room + 2 * D,
                              .wide_weight = room + 3 * D,
                              .wide_surprise = room + 4 * D,
                              .close_weight = room + 5 * D,
                              .close_surprise = room + 6 * D};
    neighbourhood_find_slopes(theta, X, query, own, &s);
    spread_slopes(theta, n->how, at, &s, n->slopes.spread + q * D);
    if (n->slopes.doubt)
        doubt_slopes(theta, X, query->Z, n->slopes.V, n->lift + q * n->width, own, room,
                     n->slopes.doubt + q * D);
}
