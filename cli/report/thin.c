/* Rows are put in the order of a hash of their number, and the first ones are taken.  The hash is the
 * finaliser of splitmix64, which is one to one: no two rows are alike. */
#include "report/thin.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct {
    uint64_t hash;
    size_t row;
} hashed_row;

static uint64_t mix(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int by_hash(const void *a, const void *b)
{
    const hashed_row *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static int by_row(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

size_t *choose_rows(size_t count, size_t most, unsigned long long seed, size_t *chosen)
{
    hashed_row *all = malloc((count + 1) * sizeof *all);
    size_t *rows = malloc((count + 1) * sizeof *rows);
    *chosen = count < most ? count : most;
    if (!all || !rows) {
        free(all);
        free(rows);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        all[i] = (hashed_row){mix((uint64_t)i ^ mix(seed)), i};
    qsort(all, count, sizeof *all, by_hash);
    for (size_t i = 0; i < *chosen; i++)
        rows[i] = all[i].row;
    qsort(rows, *chosen, sizeof *rows, by_row);
    free(all);
    return rows;
}
