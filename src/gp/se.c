/* Squared exponential: g(s) = exp(-s/2), -2 g'(s) = g(s). */
#include "gp/kernel.h"
#include "linalg/clones.h"
#include "linalg/vexp.h"

CLONED
static void value(size_t n, double variance, double *restrict k)
{
    for (size_t i = 0; i < n; i++)
        k[i] = variance * exp_nonpositive(-0.5 * k[i]);
}

CLONED
static void value_and_slope(size_t n, double variance, double *restrict k, double *restrict slope)
{
    for (size_t i = 0; i < n; i++) {
        double s = k[i];
        k[i] = variance * exp_nonpositive(-0.5 * s);
        slope[i] = s > 0.0 ? k[i] : 0.0;
    }
}

const kernel kernel_se = {.name = "se",
                          .help = "squared exponential: infinitely smooth",
                          .value = value,
                          .value_and_slope = value_and_slope};
