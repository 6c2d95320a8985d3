/* Matern-1/2: with r = sqrt(s), g = exp(-r), -2 g'(s) = exp(-r) / r. */
#include "gp/kernel.h"
#include "linalg/clones.h"
#include "linalg/vexp.h"

#include <math.h>

CLONED
static void value(size_t n, double variance, double *restrict k)
{
    for (size_t i = 0; i < n; i++)
        k[i] = variance * exp_nonpositive(-sqrt(k[i]));
}

CLONED
static void value_and_slope(size_t n, double variance, double *restrict k, double *restrict slope)
{
    for (size_t i = 0; i < n; i++) {
        double s = k[i];
        double r = sqrt(s);
        k[i] = variance * exp_nonpositive(-r);
        slope[i] = s > 0.0 ? k[i] / r : 0.0;
    }
}

const kernel kernel_matern12 = {"matern12", "Matern-1/2: continuous, not differentiable", value,
                                value_and_slope};
