#include "experts/near_rows.h"

#include "base/memory.h"
#include "team/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 1024 }; /* queries of one search */

static quorum_status out_of_memory(size_t queries)
{
    return failure(QUORUM_E_MEMORY, "out of memory for the nearest rows of %zu queries", queries);
}

/* ---- This rank's rows ---- */

typedef struct {
    const near_holdings *held;
    const points *Q;
    const int *home;
    size_t m;
    int threads;
    double *limit; /* Q->n: no farther            */
    size_t *found; /* Q->n: rows that were found  */
    /* room for TOGETHER queries */
    points some;
    double *some_limit, *distance; /* TOGETHER, TOGETHER x m */
    size_t *row;                   /* TOGETHER x m           */
    size_t *some_found;            /* TOGETHER               */
} search;

static void search_free(search *s)
{
    points_free(&s->some);
    mem_free(s->limit);
    mem_free(s->found);
    mem_free(s->some_limit);
    mem_free(s->distance);
    mem_free(s->row);
    mem_free(s->some_found);
}

static quorum_status search_new(search *s)
{
    size_t b = s->Q->n, some = b < TOGETHER ? b : TOGETHER;
    TRY(points_new(some, s->Q->D, &s->some));
    NEW_ARRAY(s->limit, b);
    NEW_ZEROED(s->found, b);
    NEW_ARRAY(s->some_limit, some);
    NEW_ARRAY(s->distance, some * s->m);
    NEW_ARRAY(s->row, some * s->m);
    NEW_ARRAY(s->some_found, some);
    if (!s->limit || !s->found || !s->some_limit || !s->distance || !s->row || !s->some_found)
        return out_of_memory(b);
    for (size_t q = 0; q < b; q++)
        s->limit[q] = INFINITY;
    return QUORUM_OK;
}

static near_row describe(const search *s, size_t place)
{
    size_t row = s->row[place], number = s->held->number ? s->held->number[row] : row;
    return (near_row){.distance = s->distance[place],
                      .number = number,
                      .tag = s->held->tag ? s->held->tag[row] : number};
}

/* Up to TOGETHER of the listed queries. */
static quorum_status search_some(search *s, const size_t *query, size_t count)
{
    points_gather(s->Q, query, count, &s->some);
    for (size_t i = 0; i < count; i++)
        s->some_limit[i] = s->limit[query[i]];
    TRY(neighbour_search_within(s->held->index, &s->some, s->m, s->some_limit, s->threads, s->row,
                                s->distance, s->some_found));
    for (size_t i = 0; i < count; i++)
        s->found[query[i]] = s->some_found[i];
    return QUORUM_OK;
}

/* Those at home here: n->nearest and found; limits. */
static quorum_status search_at_home(search *s, near_rows *n)
{
    for (size_t at = 0; s->held->index && at < n->count; at += TOGETHER) {
        size_t some = n->count - at < TOGETHER ? n->count - at : TOGETHER;
        TRY(search_some(s, n->query + at, some));
        for (size_t i = 0; i < some; i++) {
            size_t q = n->query[at + i], found = s->found[q];
            for (size_t k = 0; k < found; k++)
                n->nearest[(at + i) * s->m + k] = describe(s, i * s->m + k);
            n->found[at + i] = found;
            if (found == s->m)
                s->limit[q] = s->distance[i * s->m + found - 1];
        }
    }
    return QUORUM_OK;
}

/* ---- The others' queries ---- */

typedef struct {
    size_t *order;  /* Q->n: queries by home, in the order of their numbers */
    size_t *start;  /* ranks + 1: each rank's in `order`                    */
    near_row *rows; /* what was found for them, in that order               */
    size_t count, room;
    size_t *theirs;               /* ranks x my queries: rows that each found for mine */
    size_t *out_bytes, *in_bytes; /* ranks                                             */
    near_row *came;               /* rank by rank                                      */
    team_piece *pieces;           /* Q->n                                              */
} errand;

static void errand_free(errand *e)
{
    mem_free(e->order);
    mem_free(e->start);
    mem_free(e->rows);
    mem_free(e->theirs);
    mem_free(e->out_bytes);
    mem_free(e->in_bytes);
    mem_free(e->came);
    mem_free(e->pieces);
}

static quorum_status errand_new(const search *s, size_t mine, errand *e)
{
    size_t ranks = (size_t)team_size(), b = s->Q->n, at = 0;
    *e = (errand){0};
    NEW_ARRAY(e->order, b);
    NEW_ARRAY(e->start, ranks + 1);
    NEW_ZEROED(e->theirs, ranks * mine);
    NEW_ARRAY(e->out_bytes, ranks);
    NEW_ARRAY(e->in_bytes, ranks);
    NEW_ARRAY(e->pieces, b);
    if (!e->order || !e->start || !e->theirs || !e->out_bytes || !e->in_bytes || !e->pieces)
        return out_of_memory(b);
    for (size_t r = 0; r < ranks; r++) {
        e->start[r] = at;
        for (size_t q = 0; q < b; q++)
            if (s->home[q] == (int)r)
                e->order[at++] = q;
    }
    e->start[ranks] = at;
    return QUORUM_OK;
}

static void share_limits(search *s, errand *e)
{
    for (size_t q = 0; q < s->Q->n; q++)
        e->pieces[q] =
            (team_piece){.data = &s->limit[q], .bytes = sizeof *s->limit, .owner = s->home[q]};
    team_share(e->pieces, s->Q->n);
}

static quorum_status keep_rows(const search *s, size_t count, errand *e)
{
    size_t more = 0;
    for (size_t i = 0; i < count; i++)
        more += s->some_found[i];
    if (e->count + more > e->room) {
        size_t room = 2 * (e->count + more);
        near_row *rows = mem_grow(e->rows, e->count, room, sizeof *rows);
        if (!rows)
            return out_of_memory(s->Q->n);
        e->rows = rows;
        e->room = room;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < s->some_found[i]; k++)
            e->rows[e->count++] = describe(s, i * s->m + k);
    return QUORUM_OK;
}

static quorum_status search_for_others(search *s, errand *e)
{
    for (int r = 0; s->held->index && r < team_size(); r++)
        for (size_t at = e->start[r]; r != team_rank() && at < e->start[r + 1]; at += TOGETHER) {
            size_t left = e->start[r + 1] - at, some = left < TOGETHER ? left : TOGETHER;
            TRY(search_some(s, e->order + at, some));
            TRY(keep_rows(s, some, e));
        }
    return QUORUM_OK;
}

/* found[q] of the queries in e->order, as a list that can be sent. */
static quorum_status send_counts(const search *s, size_t mine, errand *e)
{
    size_t *counts, b = s->Q->n;
    NEW_ARRAY(counts, b);
    TRY(team_agree(counts ? QUORUM_OK : out_of_memory(b)));
    for (size_t i = 0; i < b; i++)
        counts[i] = s->found[e->order[i]];
    for (int r = 0; r < team_size(); r++) {
        e->out_bytes[r] = (e->start[r + 1] - e->start[r]) * sizeof *counts;
        e->in_bytes[r] = mine * sizeof *counts;
    }
    team_exchange(counts, e->out_bytes, e->theirs, e->in_bytes);
    mem_free(counts);
    memset(e->theirs + (size_t)team_rank() * mine, 0, mine * sizeof *e->theirs);
    return QUORUM_OK;
}

static quorum_status send_found(const search *s, size_t mine, errand *e)
{
    size_t all = 0;
    for (int r = 0; r < team_size(); r++) {
        e->out_bytes[r] = e->in_bytes[r] = 0;
        for (size_t i = e->start[r]; r != team_rank() && i < e->start[r + 1]; i++)
            e->out_bytes[r] += s->found[e->order[i]] * sizeof *e->rows;
        for (size_t i = 0; i < mine; i++)
            e->in_bytes[r] += e->theirs[(size_t)r * mine + i] * sizeof *e->rows;
        all += e->in_bytes[r];
    }
    NEW_ARRAY(e->came, all / sizeof *e->came);
    TRY(team_agree(e->came ? QUORUM_OK : out_of_memory(mine)));
    team_exchange(e->rows, e->out_bytes, e->came, e->in_bytes);
    return QUORUM_OK;
}

static int nearer_first(const void *a, const void *b)
{
    const near_row *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The m nearest of what was found at home and of what came. */
static quorum_status merge(const errand *e, near_rows *n)
{
    size_t ranks = (size_t)team_size(), *at = NULL;
    near_row *all = NULL;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(at, ranks) || !NEW_ARRAY(all, ranks * n->m)) {
        status = out_of_memory(n->count);
        goto done;
    }
    for (size_t r = 0, from = 0; r < ranks; from += e->in_bytes[r++] / sizeof *all)
        at[r] = from;
    for (size_t i = 0; i < n->count; i++) {
        size_t count = n->found[i];
        near_row *nearest = n->nearest + i * n->m;
        memcpy(all, nearest, count * sizeof *all);
        for (size_t r = 0; r < ranks; r++) {
            size_t more = e->theirs[r * n->count + i];
            memcpy(all + count, e->came + at[r], more * sizeof *all);
            count += more;
            at[r] += more;
        }
        if (count > n->found[i])
            qsort(all, count, sizeof *all, nearer_first);
        n->found[i] = count < n->m ? count : n->m;
        memcpy(nearest, all, n->found[i] * sizeof *all);
    }
done:
    mem_free(at);
    mem_free(all);
    return status;
}

static quorum_status ask_others(search *s, near_rows *n)
{
    errand e;
    quorum_status status = team_agree(errand_new(s, n->count, &e));
    if (status < 0)
        goto done;
    share_limits(s, &e);
    TRY_OR_DONE(team_agree(search_for_others(s, &e)));
    TRY_OR_DONE(send_counts(s, n->count, &e));
    TRY_OR_DONE(send_found(s, n->count, &e));
    TRY_OR_DONE(team_agree(merge(&e, n)));
done:
    errand_free(&e);
    return status;
}

/* ---- All of it ---- */

static quorum_status near_rows_new(const points *Q, const int *home, size_t m, near_rows *n)
{
    size_t count = 0;
    for (size_t q = 0; q < Q->n; q++)
        count += home[q] == team_rank();
    *n = (near_rows){.m = m};
    NEW_ARRAY(n->query, count);
    NEW_ZEROED(n->found, count);
    NEW_ARRAY(n->nearest, count * m);
    if (!n->query || !n->found || !n->nearest)
        return out_of_memory(count);
    for (size_t q = 0; q < Q->n; q++)
        if (home[q] == team_rank())
            n->query[n->count++] = q;
    return QUORUM_OK;
}

void near_rows_free(near_rows *n)
{
    mem_free(n->query);
    mem_free(n->found);
    mem_free(n->nearest);
    *n = (near_rows){0};
}

quorum_status near_rows_find(const near_holdings *held, const points *Q, const int *home, size_t m,
                             int threads, near_rows *out)
{
    search s = {.held = held, .Q = Q, .home = home, .m = m, .threads = threads};
    quorum_status status = near_rows_new(Q, home, m, out);
    if (status == QUORUM_OK)
        status = search_new(&s);
    if (status == QUORUM_OK)
        status = search_at_home(&s, out);
    status = team_agree(status);
    if (status == QUORUM_OK && team_size() > 1)
        status = ask_others(&s, out);
    search_free(&s);
    if (status < 0)
        near_rows_free(out);
    return status;
}
