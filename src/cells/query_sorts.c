/* Queries near their cells and far from them, as blocks of their own (query_sorts.h). */
#include "cells/query_sorts.h"

#include "base/memory.h"
#include "cells/cell_store.h"
#include "team/work.h"

#include <string.h>

static void sort_free(query_sort *s)
{
    mem_free(s->query);
    block_free(&s->w);
}

void query_sorts_free(query_sorts *s)
{
    mem_free(s->cell);
    mem_free(s->is_far);
    sort_free(&s->near);
    sort_free(&s->far);
}

static quorum_status find(void *context)
{
    query_sorts *s = context;
    size_t n = s->Q.n;
    if (!NEW_ARRAY(s->cell, n) || !NEW_ARRAY(s->is_far, n) || !NEW_ARRAY(s->near.query, n) ||
        !NEW_ARRAY(s->far.query, n))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n);
    TRY(cell_map_find(cell_store_map(s->p->cells), &s->Q, s->p->threads, s->cell, s->is_far));
    for (size_t q = 0; q < n; q++) {
        query_sort *own = s->is_far[q] ? &s->far : &s->near;
        own->query[own->count++] = q;
    }
    return QUORUM_OK;
}

quorum_status query_sorts_find(const plan *p, points Q, query_sorts *out)
{
    *out = (query_sorts){.p = p, .Q = Q};
    return team_all(QUORUM_OK, find, out);
}

/* As a block is taken (predict/block.c): padded by its last query. */
static quorum_status make_block(const plan *p, const block_space *all, query_sort *s)
{
    size_t D = p->m->rows.D, padded = padded_queries(s->count);
    if (s->count == 0)
        return QUORUM_OK;
    TRY(block_new(padded, D, p->with_slopes, &s->w));
    for (size_t i = 0; i < padded; i++) {
        const double *x = all->X + s->query[i < s->count ? i : s->count - 1] * D;
        memcpy(s->w.X + i * D, x, D * sizeof *x);
        s->w.spread[i] = 1.0;
        s->w.noise[i] = p->m->theta.noise;
        s->w.doubt[i] = 0.0;
    }
    for (size_t i = 0; p->with_slopes && i < padded * D; i++)
        s->w.spread_slope[i] = s->w.doubt_slope[i] = s->w.noise_slope[i] = 0.0;
    points_scale(&s->w.Q, padded, s->w.X, NULL, p->m->theta.lengthscale);
    return QUORUM_OK;
}

static quorum_status make_blocks(void *context)
{
    query_sorts *s = context;
    TRY(make_block(s->p, s->all, &s->near));
    return make_block(s->p, s->all, &s->far);
}

quorum_status query_sorts_divide(query_sorts *s, const block_space *all)
{
    s->all = all;
    return team_all(QUORUM_OK, make_blocks, s);
}

/* The D slopes of query i of a sort to those of query q of all. */
static void join_slopes(const block_space *from, size_t i, size_t D, block_space *to, size_t q)
{
    const double *const found[] = {from->mean_slope, from->var_slope, from->spread_slope,
                                   from->doubt_slope, from->noise_slope};
    double *const place[] = {to->mean_slope, to->var_slope, to->spread_slope, to->doubt_slope,
                             to->noise_slope};
    for (size_t k = 0; k < sizeof found / sizeof *found; k++)
        memcpy(place[k] + q * D, found[k] + i * D, D * sizeof *place[k]);
}

static void join(const query_sort *s, block_space *all)
{
    size_t D = all->Q.D;
    for (size_t i = 0; i < s->count; i++) {
        size_t q = s->query[i];
        all->mean[q] = s->w.mean[i];
        all->var[q] = s->w.var[i];
        all->spread[q] = s->w.spread[i];
        all->noise[q] = s->w.noise[i];
        all->doubt[q] = s->w.doubt[i];
        if (all->mean_slope)
            join_slopes(&s->w, i, D, all, q);
    }
}

void query_sorts_join(const query_sorts *s, block_space *all)
{
    join(&s->near, all);
    join(&s->far, all);
}
