/* The training rows of all experts, sorted by expert. */
#ifndef QRM_EXPERTS_PARTS_H
#define QRM_EXPERTS_PARTS_H

#include "gp/expert.h"

#include <stddef.h>

/* A view: expert e owns the columns offset[e] .. offset[e+1]-1 of X and y. */
typedef struct {
    size_t n, D, M;
    const double *X;      /* D x n */
    const double *y;      /* n     */
    const size_t *offset; /* M + 1 */
    const size_t *row;    /* n: the rows' numbers, ascending within an expert, where experts
                             may share rows; NULL: all rows are different */
} parts;

static inline size_t part_size(const parts *p, size_t e)
{
    return p->offset[e + 1] - p->offset[e];
}

static inline expert_data part_data(const parts *p, size_t e)
{
    return (expert_data){
        .m = part_size(p, e), .D = p->D, .X = p->X + p->offset[e] * p->D, .y = p->y + p->offset[e]};
}

static inline size_t largest_part(const parts *p)
{
    size_t largest = 0;
    for (size_t e = 0; e < p->M; e++)
        largest = part_size(p, e) > largest ? part_size(p, e) : largest;
    return largest;
}

/* The expert that owns a row. */
static inline size_t part_of_row(const parts *p, size_t row)
{
    size_t low = 0, high = p->M;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (p->offset[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Experts above this size are worked on one after another by all threads; the
 * others side by side, one thread each. */
enum { BIG_EXPERT = 2048 };

/* The given experts, largest first (ties: lower number first): the order in
 * which work is handed out. */
void sort_by_size(const parts *p, size_t *experts, size_t count);

#endif
