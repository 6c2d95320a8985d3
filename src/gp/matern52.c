/* Matern-5/2: with a = sqrt(5 s), g = (1 + a + a^2/3) exp(-a),
 * -2 g'(s) = 5/3 (1 + a) exp(-a). */
#include "gp/kernel.h"
#include "linalg/clones.h"
#include "linalg/vexp.h"

#include <math.h>

CLONED
static void value(size_t n, double variance, double *restrict k)
{
    for (size_t i = 0; i < n; i++) {
        double a = as_far_as_matters(sqrt(5.0 * k[i]));
        k[i] = variance * (1.0 + a + a * a * (1.0 / 3.0)) * exp_nonpositive(-a);
    }
}

CLONED
static void value_and_slope(size_t n, double variance, double *restrict k, double *restrict slope)
{
    for (size_t i = 0; i < n; i++) {
        double s = k[i];
        double a = as_far_as_matters(sqrt(5.0 * s));
        double e = variance * exp_nonpositive(-a);
        k[i] = (1.0 + a + a * a * (1.0 / 3.0)) * e;
        slope[i] = s > 0.0 ? (5.0 / 3.0) * (1.0 + a) * e : 0.0;
    }
}

const kernel kernel_matern52 = {.name = "matern52",
                                .help = "Matern-5/2: twice differentiable",
                                .value = value,
                                .value_and_slope = value_and_slope};
