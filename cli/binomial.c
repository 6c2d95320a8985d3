/* Quantiles of a binomial share: P(k) = n! / (k! (n - k)!) share^k (1 - share)^(n - k), summed from
 * k = 0. */
#include "binomial.h"

#include <math.h>

static double log_choose(double n, double k)
{
    return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

double binomial_quantile(size_t n, double share, double probability)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        double inside = (double)k, outside = (double)(n - k);
        sum += exp(log_choose((double)n, inside) + inside * log(share) + outside * log1p(-share));
        if (sum >= probability)
            return inside / (double)n;
    }
    return 1.0;
}
