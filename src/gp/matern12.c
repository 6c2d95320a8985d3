/* Matern-1/2: with r = sqrt(s), g = exp(-r), -2 g'(s) = exp(-r) / r.
 *
 * A pair's part in the gradient, slope (z_d - z'_d)^2 <= r, vanishes with r while
 * its slope grows beyond what the sums over all pairs can carry: pairs nearer
 * than r = 1e-8 are left out of the gradient. */
#include "gp/kernel.h"
#include "linalg/clones.h"
#include "linalg/vexp.h"

#include <math.h>

CLONED
static void value(size_t n, double variance, double *restrict k)
{
    for (size_t i = 0; i < n; i++)
        k[i] = variance * exp_nonpositive(-as_far_as_matters(sqrt(k[i])));
}

CLONED
static void value_and_slope(size_t n, double variance, double *restrict k, double *restrict slope)
{
    for (size_t i = 0; i < n; i++) {
        double s = k[i];
        double r = as_far_as_matters(sqrt(s));
        k[i] = variance * exp_nonpositive(-r);
        slope[i] = s > 1e-16 ? k[i] / r : 0.0;
    }
}

const kernel kernel_matern12 = {.name = "matern12",
                                .help = "Matern-1/2: continuous, not differentiable",
                                .value = value,
                                .value_and_slope = value_and_slope};
