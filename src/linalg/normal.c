#include "linalg/normal.h"

#include <math.h>

double normal_density(double z)
{
    return exp(-0.5 * z * z) / sqrt(2.0 * M_PI);
}

double normal_probability(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

/* Newton's method on the tail probability, from a start in which the tail
 * expansion is good; monotone because the tail is convex there. */
double normal_quantile(double probability)
{
    if (!(probability > 0.0 && probability < 1.0))
        return NAN;
    if (probability < 0.5)
        return -normal_quantile(1.0 - probability);
    double tail = 1.0 - probability, z = tail < 0.1 ? sqrt(-2.0 * log(tail)) - 0.5 : 0.0;
    for (int i = 0; i < 100; i++) {
        double step = (0.5 * erfc(z * M_SQRT1_2) - tail) / normal_density(z);
        z += step;
        if (fabs(step) <= 1e-15 * (1.0 + fabs(z)))
            break;
    }
    return z;
}
