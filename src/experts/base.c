/* GRBCM's data: the base's rows, one part's or random ones of all, and for every expert those
 * rows followed by its own that are not among them, all copied into one table in that order. */
#include "experts/base.h"

#include "base/memory.h"
#include "base/random.h"

#include <string.h>

/* in_base[row] = 1 for the rows of the base; *size is how many there are. */
static quorum_status choose_base(const parts *p, const size_t *experts, size_t count,
                                 size_t base_expert, uint64_t seed, char *in_base, size_t *size)
{
    if (base_expert != SIZE_MAX) {
        *size = part_size(p, base_expert);
        for (size_t c = p->offset[base_expert]; c < p->offset[base_expert + 1]; c++)
            in_base[row_at(p, c)] = 1;
        return QUORUM_OK;
    }
    size_t *rows, n = 0, different = 0;
    if (!NEW_ARRAY(rows, p->rows.n))
        return failure(QUORUM_E_MEMORY, "out of memory for the base expert");
    for (size_t i = 0; i < count; i++)
        for (size_t c = p->offset[experts[i]]; c < p->offset[experts[i] + 1]; c++)
            if (is_home(p, c))
                rows[n++] = row_at(p, c);
    for (size_t c = 0; c < p->rows.n; c++)
        different += (size_t)is_home(p, c);
    rng random = rng_seed(seed, STREAM_BASE);
    rng_shuffle(&random, rows, n);
    *size = (different + p->M / 2) / p->M;
    *size = *size < 1 ? 1 : *size > n ? n : *size;
    for (size_t i = 0; i < *size; i++)
        in_base[rows[i]] = 1;
    mem_free(rows);
    return QUORUM_OK;
}

static size_t append(const parts *p, size_t column, parts *a, size_t at)
{
    rows_copy(&p->rows, column, 1, &a->rows, at);
    return at + 1;
}

static size_t append_base(const parts *p, const char *in_base, parts *a, size_t at)
{
    for (size_t c = 0; c < p->rows.n; c++)
        if (is_home(p, c) && in_base[row_at(p, c)])
            at = append(p, c, a, at);
    return at;
}

static size_t append_own(const parts *p, size_t e, const char *in_base, parts *a, size_t at)
{
    for (size_t c = p->offset[e]; c < p->offset[e + 1]; c++)
        if (!in_base[row_at(p, c)])
            at = append(p, c, a, at);
    return at;
}

static size_t count_own(const parts *p, size_t e, const char *in_base)
{
    size_t own = 0;
    for (size_t c = p->offset[e]; c < p->offset[e + 1]; c++)
        own += !in_base[row_at(p, c)];
    return own;
}

static quorum_status lay_out(const parts *p, const size_t *experts, size_t count,
                             const char *in_base, size_t base, parts *a)
{
    size_t total = base, M = 1;
    for (size_t i = 0; i < count; i++)
        total += count_own(p, experts[i], in_base) + base;
    TRY(rows_new(&p->rows, total, &a->rows));
    if (!NEW_ARRAY(a->offset, count + 2))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows of joined experts", total);
    a->offset[0] = 0;
    a->offset[1] = append_base(p, in_base, a, 0);
    for (size_t i = 0; i < count; i++) {
        if (count_own(p, experts[i], in_base) == 0)
            continue; /* the base itself, or a part drawn empty */
        size_t at = append_base(p, in_base, a, a->offset[M]);
        a->offset[M + 1] = append_own(p, experts[i], in_base, a, at);
        M++;
    }
    a->rows.n = a->offset[M];
    a->M = M;
    return QUORUM_OK;
}

quorum_status augment_parts(const parts *p, const size_t *experts, size_t count, size_t base_expert,
                            uint64_t seed, parts *out)
{
    parts a = {0};
    char *in_base;
    size_t base = 0;
    if (!NEW_ZEROED(in_base, p->rows.n))
        return failure(QUORUM_E_MEMORY, "out of memory for the base expert");
    quorum_status status = choose_base(p, experts, count, base_expert, seed, in_base, &base);
    if (status == QUORUM_OK)
        status = lay_out(p, experts, count, in_base, base, &a);
    mem_free(in_base);
    if (status < 0)
        parts_free(&a);
    *out = a;
    return status;
}
