/* A kernel of theta at distances: one component, or two that share a metric.
 *
 *   k           = near + far,   near = s_f^2 (1 - w) g(s),   far = s_f^2 w h(t),   t = s / rho^2
 *   -2 dk/ds    = near's slope + far's slope / rho^2
 *   dk/dlogit w = (1 - w) far - w near
 *   dk/dlog rho = t (far's slope)
 *
 * A component's slope is -2 times its derivative (kernel.h).  Where w = 0 nothing of the second
 * component is computed: the bits are those of the first alone. */
#include "gp/hyper.h"

#include "linalg/clones.h"

#include <math.h>

enum { CHUNK = 128 }; /* distances at a time: the second component's stay in the cache */

CLONED
static void shrink(size_t n, double factor, const double *restrict s, double *restrict t)
{
    for (size_t i = 0; i < n; i++)
        t[i] = factor * s[i];
}

CLONED
static void add(size_t n, const double *restrict far, double *restrict k)
{
    for (size_t i = 0; i < n; i++)
        k[i] += far[i];
}

/* 1 / rho^2. */
static double shrink_factor(const hyper *theta)
{
    return theta->reach > 0.0 ? 1.0 / (theta->reach * theta->reach) : 1.0;
}

/* n <= CHUNK. */
static void two_values(const hyper *theta, size_t n, double *k)
{
    double far[CHUNK];
    shrink(n, shrink_factor(theta), k, far);
    theta->kernel->longer->value(n, theta->signal * theta->share, far);
    theta->kernel->shorter->value(n, theta->signal * (1.0 - theta->share), k);
    add(n, far, k);
}

void kernel_values(const hyper *theta, size_t n, double *values)
{
    const kernel *k = theta->kernel;
    if (!k->longer || theta->share == 0.0) {
        (k->longer ? k->shorter : k)->value(n, theta->signal, values);
        return;
    }
    for (size_t i = 0; i < n; i += CHUNK)
        two_values(theta, n - i < CHUNK ? n - i : CHUNK, values + i);
}

/* From the components and their slopes to the whole. */
CLONED
static void join(size_t n, double w, double factor, const double *restrict t,
                 const double *restrict far, const double *restrict far_slope, double *restrict k,
                 double *restrict slope, double *restrict share, double *restrict reach)
{
    for (size_t i = 0; i < n; i++) {
        share[i] = (1.0 - w) * far[i] - w * k[i];
        reach[i] = t[i] * far_slope[i];
        slope[i] += factor * far_slope[i];
        k[i] += far[i];
    }
}

/* A distance beyond any that matters has no slope, and must not be infinity times nothing. */
CLONED
static void bound(size_t n, double *t)
{
    for (size_t i = 0; i < n; i++)
        t[i] = t[i] < 1e6 ? t[i] : 1e6;
}

static void two_slopes(const hyper *theta, size_t n, double *k, double *slope, double *share,
                       double *reach)
{
    double t[CHUNK], far[CHUNK], far_slope[CHUNK], factor = shrink_factor(theta);
    shrink(n, factor, k, t);
    bound(n, t);
    shrink(n, 1.0, t, far);
    theta->kernel->longer->value_and_slope(n, theta->signal * theta->share, far, far_slope);
    theta->kernel->shorter->value_and_slope(n, theta->signal * (1.0 - theta->share), k, slope);
    join(n, theta->share, factor, t, far, far_slope, k, slope, share, reach);
}

void kernel_slopes(const hyper *theta, size_t n, double *values, const pair_slopes *out)
{
    if (!theta->kernel->longer) {
        theta->kernel->value_and_slope(n, theta->signal, values, out->slope);
        return;
    }
    double nobody[2][CHUNK];
    for (size_t i = 0; i < n; i += CHUNK)
        two_slopes(theta, n - i < CHUNK ? n - i : CHUNK, values + i, out->slope + i,
                   out->share ? out->share + i : nobody[0],
                   out->reach ? out->reach + i : nobody[1]);
}

const kernel kernel_matern32x2 = {
    .name = "matern32x2",
    .help = "two Matern-3/2 of different reach, in one metric",
    .shorter = &kernel_matern32,
    .longer = &kernel_matern32,
};

const kernel kernel_matern52x2 = {
    .name = "matern52x2",
    .help = "two Matern-5/2 of different reach, in one metric",
    .shorter = &kernel_matern52,
    .longer = &kernel_matern52,
};
