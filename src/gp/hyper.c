/* theta as unbounded numbers: logarithms, and of a share, which has two ends, the logit
 * log(w / (1 - w)). */
#include "gp/hyper.h"

#include <math.h>

double theta_log(const hyper *theta, size_t i)
{
    if (i < theta->D)
        return log(theta->lengthscale[i]);
    switch (i - theta->D) {
    case 0: return log(theta->signal);
    case 1: return log(theta->noise);
    case 2: return log(theta->share / (1.0 - theta->share));
    default: return log(theta->reach);
    }
}

void theta_from_logs(const double *x, hyper *theta)
{
    size_t D = theta->D;
    for (size_t d = 0; d < D; d++)
        theta->lengthscale[d] = exp(x[d]);
    theta->signal = exp(x[D]);
    theta->noise = exp(x[D + 1]);
    theta->share = theta->kernel->component ? 1.0 / (1.0 + exp(-x[D + 2])) : 0.0;
    theta->reach = theta->kernel->component ? exp(x[D + 3]) : 1.0;
}
