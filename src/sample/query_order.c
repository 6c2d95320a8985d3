/* Keys of queries: the bits of the inputs, mixed by the steps of splitmix64 (base/random.c). */
#include "sample/query_order.h"

#include <stdlib.h>
#include <string.h>

uint64_t key_of_both(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ (b * 0xD1342543DE82EF95u)) + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* -0 is the same input as 0. */
static uint64_t key_of_row(const double *x, size_t D)
{
    uint64_t key = D, bits;
    for (size_t d = 0; d < D; d++) {
        double value = x[d] + 0.0;
        memcpy(&bits, &value, sizeof bits);
        key = key_of_both(key, bits);
    }
    return key;
}

static int compare(const void *a, const void *b)
{
    const placed_query *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

void query_order(const double *X, size_t n, size_t D, placed_query *order)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (placed_query){key_of_row(X + i * D, D), i};
    qsort(order, n, sizeof *order, compare);
    uint64_t first = n > 0 ? order[0].key : 0, same = 0;
    for (size_t i = 1; i < n; i++) {
        same = order[i].key == first ? same + 1 : 0;
        first = order[i].key;
        if (same > 0)
            order[i].key = key_of_both(first, same);
    }
}
