/* A kernel of theta at distances: one component, or several that share a metric, each of which reaches
 * rho times as far as the one before it.  With J components
 *
 *   k           = sum_j K_j,   K_j = s_f^2 p_j g(s_j),   s_j = s / rho^(2 j),   j = 0 .. J-1
 *   p_j         = (1 - w) w^j,   of the last w^j
 *   -2 dk/ds    = sum_j K_j's slope / rho^(2 j)
 *   dk/dlogit w = sum_j (j (1 - w) - w) K_j,   of the last j (1 - w) K_j
 *   dk/dlog rho = sum_j j s_j (K_j's slope)
 *
 * A component's slope is -2 times its derivative (kernel.h).  Where w = 0 nothing but the first
 * component is computed: the bits are those of it alone. */
#include "gp/hyper.h"

#include "linalg/clones.h"

#include <math.h>

enum { CHUNK = 128 }; /* distances at a time: what components need stays in the cache */

/* Component j of theta's kernel. */
typedef struct {
    double variance; /* s_f^2 p_j                          */
    double factor;   /* 1 / rho^(2 j)                      */
    double share;    /* dlog p_j / dlogit w                */
    double number;   /* j                                  */
} component;

static component component_at(const hyper *theta, int j)
{
    int is_last = j == theta->kernel->scales - 1;
    double w = theta->share, own = is_last ? 1.0 : 1.0 - w;
    double reach = theta->reach > 0.0 ? theta->reach : 1.0;
    component c = {.variance = theta->signal * own,
                   .factor = 1.0,
                   .share = j * (1.0 - w) - (is_last ? 0.0 : w),
                   .number = j};
    for (int i = 0; i < j; i++) {
        c.variance *= w;
        c.factor /= reach * reach;
    }
    return c;
}

/* ---- Values ---- */

CLONED
static void shrink(size_t n, double factor, const double *restrict s, double *restrict t)
{
    for (size_t i = 0; i < n; i++)
        t[i] = factor * s[i];
}

CLONED
static void add(size_t n, const double *restrict more, double *restrict k)
{
    for (size_t i = 0; i < n; i++)
        k[i] += more[i];
}

/* n <= CHUNK. */
static void chunk_of_values(const hyper *theta, size_t n, double *k)
{
    const kernel *shape = theta->kernel->component;
    double s[CHUNK], more[CHUNK];
    shrink(n, 1.0, k, s);
    shape->value(n, component_at(theta, 0).variance, k);
    for (int j = 1; j < theta->kernel->scales; j++) {
        component c = component_at(theta, j);
        shrink(n, c.factor, s, more);
        shape->value(n, c.variance, more);
        add(n, more, k);
    }
}

void kernel_values(const hyper *theta, size_t n, double *values)
{
    const kernel *k = theta->kernel;
    if (!k->component || theta->share == 0.0) {
        (k->component ? k->component : k)->value(n, theta->signal, values);
        return;
    }
    for (size_t i = 0; i < n; i += CHUNK)
        chunk_of_values(theta, n - i < CHUNK ? n - i : CHUNK, values + i);
}

/* ---- Slopes ---- */

/* A distance beyond any that matters has no slope, and must not be infinity times nothing. */
CLONED
static void bound(size_t n, double *t)
{
    for (size_t i = 0; i < n; i++)
        t[i] = t[i] < 1e6 ? t[i] : 1e6;
}

/* Of the first component, whose value and slope are there. */
CLONED
static void begin(size_t n, double share, const double *restrict k, double *restrict by_share,
                  double *restrict by_reach)
{
    for (size_t i = 0; i < n; i++) {
        by_share[i] = share * k[i];
        by_reach[i] = 0.0;
    }
}

/* A further component joins those before it. */
CLONED
static void join(size_t n, const component *c, const double *restrict t,
                 const double *restrict more, const double *restrict more_slope, double *restrict k,
                 double *restrict slope, double *restrict by_share, double *restrict by_reach)
{
    for (size_t i = 0; i < n; i++) {
        by_share[i] += c->share * more[i];
        by_reach[i] += c->number * t[i] * more_slope[i];
        slope[i] += c->factor * more_slope[i];
        k[i] += more[i];
    }
}

static void chunk_of_slopes(const hyper *theta, size_t n, double *k, double *slope,
                            double *by_share, double *by_reach)
{
    const kernel *shape = theta->kernel->component;
    double s[CHUNK], t[CHUNK], more[CHUNK], more_slope[CHUNK];
    component c = component_at(theta, 0);
    shrink(n, 1.0, k, s);
    shape->value_and_slope(n, c.variance, k, slope);
    begin(n, c.share, k, by_share, by_reach);
    for (int j = 1; j < theta->kernel->scales; j++) {
        c = component_at(theta, j);
        shrink(n, c.factor, s, t);
        bound(n, t);
        shrink(n, 1.0, t, more);
        shape->value_and_slope(n, c.variance, more, more_slope);
        join(n, &c, t, more, more_slope, k, slope, by_share, by_reach);
    }
}

void kernel_slopes(const hyper *theta, size_t n, double *values, const pair_slopes *out)
{
    if (!theta->kernel->component) {
        theta->kernel->value_and_slope(n, theta->signal, values, out->slope);
        return;
    }
    double nobody[2][CHUNK];
    for (size_t i = 0; i < n; i += CHUNK)
        chunk_of_slopes(theta, n - i < CHUNK ? n - i : CHUNK, values + i, out->slope + i,
                        out->share ? out->share + i : nobody[0],
                        out->reach ? out->reach + i : nobody[1]);
}

const kernel kernel_matern32x2 = {
    .name = "matern32x2",
    .help = "two Matern-3/2 of different reach, in one metric",
    .component = &kernel_matern32,
    .scales = 2,
};

const kernel kernel_matern52x2 = {
    .name = "matern52x2",
    .help = "two Matern-5/2 of different reach, in one metric",
    .component = &kernel_matern52,
    .scales = 2,
};

const kernel kernel_matern32x3 = {
    .name = "matern32x3",
    .help = "three Matern-3/2, each reaching as many times as far as the one before it",
    .component = &kernel_matern32,
    .scales = 3,
};
