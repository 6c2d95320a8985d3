/* Hyperparameters, and the kernel that they make of a distance.
 *
 * With one scale    k(x, x') = s_f^2 g(s),   s = sum_d (x_d - x'_d)^2 / l_d^2
 * with two          k(x, x') = s_f^2 ((1 - w) g(s) + w g(s / rho^2))
 * with three        k(x, x') = s_f^2 ((1 - w) g(s) + w ((1 - w) g(s / rho^2) + w g(s / rho^4)))
 *
 * a short component and longer ones in the same metric: w is the share of the variance that is not the
 * short one's, and rho how many times as far each reaches as the one before it. */
#ifndef QRM_GP_HYPER_H
#define QRM_GP_HYPER_H

#include "gp/kernel.h"

#include <stddef.h>

/* theta = {l_1 .. l_D, s_f^2, s^2} and, of a kernel with several scales, {w, rho}, shared by all experts
 * of a model. */
typedef struct {
    const kernel *kernel;
    size_t D;
    double *lengthscale; /* D */
    double signal;       /* s_f^2, the prior variance                        */
    double noise;        /* s^2                                              */
    double share;        /* w, from 0 to 1; 0: the short component alone     */
    double reach;        /* rho, 1 or more; of no account where w is 0       */
} hyper;

/* How many numbers of theta there are, and so numbers of a gradient, with D inputs. */
enum { MOST_SHAPES = 2 };
static inline size_t theta_length(const kernel *k, size_t D)
{
    return D + 2 + (k->component ? MOST_SHAPES : 0);
}

/* Number i of theta as training and files have it: log l_1 .. log l_D, log s_f^2, log s^2, logit w,
 * log rho; and back from all of them. */
double theta_log(const hyper *theta, size_t i);
void theta_from_logs(const double *x /* theta_length */, hyper *theta);

/* What a gradient needs of each pair beside k. */
typedef struct {
    double *slope; /* -2 dk/ds, as of a kernel (kernel.h)           */
    double *share; /* dk / dlogit w; NULL: one scale, or not wanted */
    double *reach; /* dk / dlog rho; likewise                       */
} pair_slopes;

/* values (n): s on entry, k on return; and the slopes, of n numbers each. */
void kernel_values(const hyper *theta, size_t n, double *values);
void kernel_slopes(const hyper *theta, size_t n, double *values, const pair_slopes *out);

#endif
