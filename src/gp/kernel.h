/* Kernels: k(x, x') = s_f^2 g(s), with s = sum_d (x_d - x'_d)^2 / l_d^2.
 *
 * A kernel is one function of s and its slope; ARD, distances and gradients are
 * common to all.  To add one: a file like se.c and a line in kernel.c's table.  A kernel with
 * several scales is made of one of them (scales.c). */
#ifndef QRM_GP_KERNEL_H
#define QRM_GP_KERNEL_H

#include <stddef.h>

/* A distance that is as good as any farther one: exp(-1000) is 0 here, while a polynomial of it
 * is still finite.  So k is 0 where s is infinite. */
static inline double as_far_as_matters(double a)
{
    return a < 1000.0 ? a : 1000.0;
}

typedef struct kernel {
    const char *name, *help;

    /* values: s on entry, variance * g(s) on return (n numbers). */
    void (*value)(size_t n, double variance, double *values);

    /* The same, and slopes = -2 variance g'(s), the weight of
     * dk/dlog l_d = slope (x_d - x'_d)^2 / l_d^2; 0 where s = 0. */
    void (*value_and_slope)(size_t n, double variance, double *values, double *slopes);

    /* Instead of these two functions: what a kernel with several scales is made of, so many times. */
    const struct kernel *component;
    int scales;
} kernel;

extern const kernel kernel_se, kernel_matern12, kernel_matern32, kernel_matern52;
extern const kernel kernel_matern32x2, kernel_matern52x2, kernel_matern32x3;

int kernel_count(void);
int kernel_candidates(void);                    /* the first ones, which kernel=auto compares */
const kernel *kernel_at(int i);                 /* NULL when out of range */
const kernel *kernel_by_name(const char *name); /* NULL when unknown    */

#endif
