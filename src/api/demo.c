/* The paper's one-dimensional example. */
#include "base/random.h"
#include "quorum.h"

#include <math.h>

double quorum_demo_function(double x)
{
    return 5.0 * x * x * sin(12.0 * x) + (x * x * x - 0.5) * sin(3.0 * x - 0.5) +
           4.0 * cos(2.0 * x);
}

void quorum_demo_data(size_t n, double low, double high, double noise, unsigned long long seed,
                      double *x, double *y)
{
    rng r = rng_seed(seed, STREAM_DEMO);
    for (size_t i = 0; i < n; i++) {
        x[i] = low + (high - low) * rng_uniform(&r);
        y[i] = quorum_demo_function(x[i]) + noise * rng_normal(&r);
    }
}
