#include "experts/base.h"

#include "base/memory.h"
#include "base/random.h"

#include <string.h>

/* in_base[column] = 1 for the rows of the base; returns how many there are. */
static quorum_status choose_base(const parts *p, const size_t *experts, size_t count,
                                 size_t base_expert, uint64_t seed, char *in_base, size_t *size)
{
    if (base_expert != SIZE_MAX) {
        *size = part_size(p, base_expert);
        memset(in_base + p->offset[base_expert], 1, *size);
        return QUORUM_OK;
    }
    size_t *rows, n = 0;
    if (!NEW_ARRAY(rows, p->n))
        return failure(QUORUM_E_MEMORY, "out of memory for the base expert");
    for (size_t i = 0; i < count; i++)
        for (size_t r = p->offset[experts[i]]; r < p->offset[experts[i] + 1]; r++)
            rows[n++] = r;
    rng random = rng_seed(seed, 3);
    rng_shuffle(&random, rows, n);
    *size = (p->n + p->M / 2) / p->M;
    *size = *size < 1 ? 1 : *size > n ? n : *size;
    for (size_t i = 0; i < *size; i++)
        in_base[rows[i]] = 1;
    mem_free(rows);
    return QUORUM_OK;
}

/* Appends the columns first .. last-1 whose mark is `wanted`. */
static size_t append(const parts *p, size_t first, size_t last, const char *mark, char wanted,
                     augmented_parts *a, size_t at)
{
    for (size_t r = first; r < last; r++) {
        if (mark[r] != wanted)
            continue;
        memcpy(a->X + at * p->D, p->X + r * p->D, p->D * sizeof *a->X);
        a->y[at++] = p->y[r];
    }
    return at;
}

static size_t count_own(const parts *p, size_t e, const char *in_base)
{
    size_t own = 0;
    for (size_t r = p->offset[e]; r < p->offset[e + 1]; r++)
        own += !in_base[r];
    return own;
}

static quorum_status lay_out(const parts *p, const size_t *experts, size_t count,
                             const char *in_base, size_t base, augmented_parts *a)
{
    size_t total = base, M = 1;
    for (size_t i = 0; i < count; i++)
        total += count_own(p, experts[i], in_base) + base;
    if (!NEW_ARRAY(a->X, total * p->D) || !NEW_ARRAY(a->y, total) ||
        !NEW_ARRAY(a->offset, count + 2))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows of joined experts", total);
    a->offset[0] = 0;
    a->offset[1] = append(p, 0, p->n, in_base, 1, a, 0);
    for (size_t i = 0; i < count; i++) {
        if (count_own(p, experts[i], in_base) == 0)
            continue; /* the base itself, or a part drawn empty */
        size_t at = append(p, 0, p->n, in_base, 1, a, a->offset[M]);
        a->offset[M + 1] =
            append(p, p->offset[experts[i]], p->offset[experts[i] + 1], in_base, 0, a, at);
        M++;
    }
    a->parts =
        (parts){.n = a->offset[M], .D = p->D, .M = M, .X = a->X, .y = a->y, .offset = a->offset};
    return QUORUM_OK;
}

quorum_status augment_parts(const parts *p, const size_t *experts, size_t count, size_t base_expert,
                            uint64_t seed, augmented_parts *out)
{
    augmented_parts a = {0};
    char *in_base;
    size_t base = 0;
    if (!NEW_ZEROED(in_base, p->n))
        return failure(QUORUM_E_MEMORY, "out of memory for the base expert");
    quorum_status status = choose_base(p, experts, count, base_expert, seed, in_base, &base);
    if (status == QUORUM_OK)
        status = lay_out(p, experts, count, in_base, base, &a);
    mem_free(in_base);
    if (status < 0)
        augmented_parts_free(&a);
    *out = a;
    return status;
}

void augmented_parts_free(augmented_parts *a)
{
    mem_free(a->X);
    mem_free(a->y);
    mem_free(a->offset);
    *a = (augmented_parts){0};
}
