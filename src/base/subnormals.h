/* The processor's treatment of subnormal numbers, of the calling thread. */
#ifndef QRM_BASE_SUBNORMALS_H
#define QRM_BASE_SUBNORMALS_H

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef unsigned long float_state;

static inline float_state read_float_state(void)
{
#if defined(__x86_64__)
    return _mm_getcsr();
#elif defined(__aarch64__)
    unsigned long state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    return state;
#else
    return 0;
#endif
}

static inline void set_float_state(float_state state)
{
#if defined(__x86_64__)
    _mm_setcsr((unsigned int)state);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(state));
#else
    (void)state;
#endif
}

/* From now on they are zero; gives the state of before. */
static inline float_state flush_subnormals(void)
{
    float_state old = read_float_state();
#if defined(__x86_64__)
    set_float_state(old | 0x8040u); /* FTZ and DAZ */
#elif defined(__aarch64__)
    set_float_state(old | (1ul << 24));
#endif
    return old;
}

#endif
