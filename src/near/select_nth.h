/* Reorders rows so that the nth smallest by one input stands at position nth,
 * smaller ones before it and larger ones behind it (ties by row number). */
#ifndef QRM_NEAR_SELECT_NTH_H
#define QRM_NEAR_SELECT_NTH_H

#include <stddef.h>

/* rows[count]; the key of a row is X[row * D + d]. */
void select_nth(size_t *rows, size_t count, size_t nth, const double *X, size_t D, size_t d);

/* The input with the largest variance over the given rows; of many, over rows spread evenly
 * over the list. */
size_t widest_input(const size_t *rows, size_t count, const double *X, size_t D);

enum { WIDEST_SAMPLE = 1024 }; /* rows looked at, at most */

static inline size_t sample_size(size_t count)
{
    return count < WIDEST_SAMPLE ? count : WIDEST_SAMPLE;
}

/* Where the t-th of them stands in a list of `count`. */
static inline size_t sample_place(size_t count, size_t t)
{
    size_t samples = sample_size(count);
    if (samples == 0)
        return 0;
    return t * (count / samples) + t * (count % samples) / samples;
}

#endif
