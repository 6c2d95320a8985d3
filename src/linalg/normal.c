/* The standard normal distribution:
 *
 *   density exp(-z^2/2) / sqrt(2 pi),   P(Z <= z) = erfc(-z / sqrt 2) / 2 */
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

/* z with P(Z > z) = tail <= 1/2.  Newton's method; the tail is convex there, so
 * after the first step it approaches from one side. */
static double upper_quantile(double tail)
{
    double z = tail < 0.1 ? sqrt(-2.0 * log(tail)) - 0.5 : 0.0;
    for (int i = 0; i < 100; i++) {
        double step = (normal_probability(-z) - tail) / normal_density(z);
        z += step;
        if (fabs(step) <= 1e-15 * (1.0 + fabs(z)))
            break;
    }
    return z;
}

double normal_quantile(double probability)
{
    if (!(probability > 0.0 && probability < 1.0))
        return NAN;
    return probability < 0.5 ? -upper_quantile(probability) : upper_quantile(1.0 - probability);
}
