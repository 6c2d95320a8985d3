/* exp(x) for x <= 0, written so that compilers vectorise it: the same bits in
 * every lane and in the scalar remainder of a loop, and exactly 0 where the
 * result would be subnormal.
 *
 *   exp(x) = 2^k exp(r),  k = round(x / ln 2),  r = x - k ln 2,  |r| <= 0.3466
 *
 * with a Taylor polynomial of degree 13 (truncation below 5e-18). */
#ifndef QRM_LINALG_VEXP_H
#define QRM_LINALG_VEXP_H

#include <stdint.h>
#include <string.h>

static inline double exp_nonpositive(double x)
{
    const double round_shift = 0x1.8p52, log2e = 0x1.71547652b82fep0;
    /* ln 2 in two parts, the first short enough for k * ln2_high to be exact */
    const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
    double shifted = x * log2e + round_shift; /* k sits in the low bits of the mantissa */
    double k = shifted - round_shift;
    double r = (x - k * ln2_high) - k * ln2_low;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    uint64_t bits, exponent;
    memcpy(&exponent, &shifted, sizeof exponent);
    memcpy(&bits, &p, sizeof bits);
    bits += exponent << 52;
    double result;
    memcpy(&result, &bits, sizeof result);
    return x < -708.0 ? 0.0 : result;
}

#endif
