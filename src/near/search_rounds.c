/* Nearest rows in a team, in rounds: first searches, limits to all, the other searches, lists to
 * those who ask, merging.  scattered_search.h says why the result is that of one search. */
#include "near/search_rounds.h"

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
    const near_batch *batch;
    double *limit;      /* queries: no farther                        */
    size_t *found;      /* queries: rows that were found here         */
    size_t *start;      /* queries: where they stand in `rows`        */
    near_row *rows;     /* count                                      */
    size_t count, room; /* rows found, and room for them              */
    size_t *list;       /* queries: scratch                           */
    team_piece *pieces; /* queries                                    */
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
    mem_free(s->start);
    mem_free(s->rows);
    mem_free(s->list);
    mem_free(s->pieces);
    mem_free(s->some_limit);
    mem_free(s->distance);
    mem_free(s->row);
    mem_free(s->some_found);
}

static quorum_status search_new(search *s)
{
    size_t b = s->batch->Q->n, some = b < TOGETHER ? b : TOGETHER, m = s->batch->m;
    TRY(points_new(some, s->batch->Q->D, &s->some));
    NEW_ARRAY(s->limit, b);
    NEW_ZEROED(s->found, b);
    NEW_ZEROED(s->start, b);
    NEW_ARRAY(s->list, b);
    NEW_ARRAY(s->pieces, b);
    NEW_ARRAY(s->some_limit, some);
    NEW_ARRAY(s->distance, some * m);
    NEW_ARRAY(s->row, some * m);
    NEW_ARRAY(s->some_found, some);
    if (!s->limit || !s->found || !s->start || !s->list || !s->pieces || !s->some_limit ||
        !s->distance || !s->row || !s->some_found)
        return out_of_memory(b);
    for (size_t q = 0; q < b; q++)
        s->limit[q] = INFINITY;
    return QUORUM_OK;
}

static quorum_status make_room(search *s, size_t more)
{
    if (s->count + more <= s->room)
        return QUORUM_OK;
    size_t room = s->count + more + s->count / 2;
    near_row *rows = mem_grow(s->rows, s->count, room, sizeof *rows);
    if (!rows)
        return out_of_memory(s->batch->Q->n);
    s->rows = rows;
    s->room = room;
    return QUORUM_OK;
}

/* Up to TOGETHER of the listed queries. */
static quorum_status search_some(search *s, const size_t *query, size_t count)
{
    size_t m = s->batch->m, more = 0;
    points_gather(s->batch->Q, query, count, &s->some);
    for (size_t i = 0; i < count; i++)
        s->some_limit[i] = s->limit[query[i]];
    TRY(neighbour_search_within(s->held->index, &s->some, m, s->some_limit, s->batch->threads,
                                s->row, s->distance, s->some_found));
    for (size_t i = 0; i < count; i++)
        more += s->some_found[i];
    TRY(make_room(s, more));
    for (size_t i = 0; i < count; i++) {
        s->found[query[i]] = s->some_found[i];
        s->start[query[i]] = s->count;
        for (size_t k = i * m; k < i * m + s->some_found[i]; k++)
            s->rows[s->count++] = (near_row){.distance = s->distance[k],
                                             .number = s->held->number[s->row[k]],
                                             .tag = s->held->tag ? s->held->tag[s->row[k]] : 0};
    }
    return QUORUM_OK;
}

/* The queries for which this rank searches first, or those for which it does not. */
static quorum_status search_those(search *s, int first)
{
    size_t count = 0;
    for (size_t q = 0; s->held->index && q < s->batch->Q->n; q++)
        if ((s->batch->first[q] == team_rank()) == first)
            s->list[count++] = q;
    for (size_t at = 0; at < count; at += TOGETHER)
        TRY(search_some(s, s->list + at, count - at < TOGETHER ? count - at : TOGETHER));
    return QUORUM_OK;
}

/* How far the others have to look. */
static void share_limits(search *s)
{
    for (size_t q = 0; q < s->batch->Q->n; q++) {
        int first = s->batch->first[q];
        if (first == team_rank() && s->found[q] == s->batch->m)
            s->limit[q] = s->rows[s->start[q] + s->found[q] - 1].distance;
        s->pieces[q] = (team_piece){&s->limit[q], sizeof *s->limit, first};
    }
    team_share(s->pieces, s->batch->Q->n);
}

/* ---- To those who ask ---- */

typedef struct {
    size_t width;             /* numbers of a row that goes along, or 0            */
    size_t *out, *in;         /* ranks: rows that go to and come from each         */
    size_t *asked, *mine;     /* ranks: queries that it asks; those asked here     */
    size_t *counts;           /* queries by asker: rows found for each             */
    size_t *theirs;           /* ranks x my queries: rows that each found for mine */
    near_row *list, *came;    /* out, by asker and query; in, by rank and query    */
    double *rows, *came_rows; /* the same: the rows                                */
} transfer;

static void transfer_free(transfer *t)
{
    mem_free(t->out);
    mem_free(t->in);
    mem_free(t->asked);
    mem_free(t->mine);
    mem_free(t->counts);
    mem_free(t->theirs);
    mem_free(t->list);
    mem_free(t->came);
    mem_free(t->rows);
    mem_free(t->came_rows);
}

static quorum_status transfer_new(const search *s, size_t mine, transfer *t)
{
    size_t ranks = (size_t)team_size();
    *t = (transfer){.width = s->held->rows ? row_width(s->held->rows) : 0};
    NEW_ZEROED(t->out, ranks);
    NEW_ZEROED(t->in, ranks);
    NEW_ZEROED(t->asked, ranks);
    NEW_ARRAY(t->mine, ranks);
    NEW_ARRAY(t->counts, s->batch->Q->n);
    NEW_ARRAY(t->theirs, ranks * mine);
    NEW_ARRAY(t->list, s->count);
    NEW_ARRAY(t->rows, s->count * t->width);
    if (t->out && t->in && t->asked && t->mine && t->counts && t->theirs && t->list && t->rows)
        return QUORUM_OK;
    return out_of_memory(s->batch->Q->n);
}

/* What was found, by those who ask. */
static void pack(const search *s, transfer *t)
{
    size_t at = 0, listed = 0;
    for (int r = 0; r < team_size(); r++)
        for (size_t q = 0; q < s->batch->Q->n; q++) {
            if (s->batch->asker[q] != r)
                continue;
            t->counts[listed++] = s->found[q];
            t->asked[r]++;
            t->out[r] += s->found[q];
            for (size_t k = 0; k < s->found[q]; k++, at++) {
                t->list[at] = s->rows[s->start[q] + k];
                if (t->width > 0)
                    row_pack(s->held->rows, t->list[at].number, t->rows + at * t->width);
            }
        }
}

static void exchange_counts(transfer *t, size_t mine)
{
    for (int r = 0; r < team_size(); r++)
        t->mine[r] = mine;
    team_exchange(t->counts, t->asked, t->theirs, t->mine, sizeof *t->counts);
    for (size_t r = 0; r < (size_t)team_size(); r++)
        for (size_t i = 0; i < mine; i++)
            t->in[r] += t->theirs[r * mine + i];
}

static quorum_status send_found(const search *s, transfer *t, size_t mine)
{
    size_t all = 0;
    pack(s, t);
    exchange_counts(t, mine);
    for (int r = 0; r < team_size(); r++)
        all += t->in[r];
    NEW_ARRAY(t->came, all);
    NEW_ARRAY(t->came_rows, all * t->width);
    TRY(team_agree(t->came && t->came_rows ? QUORUM_OK : out_of_memory(mine)));
    team_exchange(t->list, t->out, t->came, t->in, sizeof *t->list);
    if (t->width > 0)
        team_exchange(t->rows, t->out, t->came_rows, t->in, t->width * sizeof *t->rows);
    for (size_t i = 0; t->width > 0 && i < all; i++)
        t->came[i].tag = i;
    return QUORUM_OK;
}

static int nearer_first(const void *a, const void *b)
{
    const near_row *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The m nearest of what came. */
static quorum_status merge(const transfer *t, near_rows *n)
{
    size_t ranks = (size_t)team_size(), *at = NULL;
    near_row *all = NULL;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(at, ranks) || !NEW_ARRAY(all, ranks * n->m)) {
        status = out_of_memory(n->count);
        goto done;
    }
    for (size_t r = 0, from = 0; r < ranks; from += t->in[r++])
        at[r] = from;
    for (size_t i = 0; i < n->count; i++) {
        size_t count = 0, lists = 0;
        for (size_t r = 0; r < ranks; r++) {
            size_t more = t->theirs[r * n->count + i];
            memcpy(all + count, t->came + at[r], more * sizeof *all);
            count += more;
            at[r] += more;
            lists += more > 0;
        }
        if (lists > 1)
            qsort(all, count, sizeof *all, nearer_first);
        n->found[i] = count < n->m ? count : n->m;
        memcpy(n->nearest + i * n->m, all, n->found[i] * sizeof *all);
    }
done:
    mem_free(at);
    mem_free(all);
    return status;
}

static quorum_status send_to_askers(const search *s, near_rows *n)
{
    transfer t;
    quorum_status status = team_agree(transfer_new(s, n->count, &t));
    if (status == QUORUM_OK)
        status = send_found(s, &t, n->count);
    if (status == QUORUM_OK)
        status = team_agree(merge(&t, n));
    if (status == QUORUM_OK) {
        n->rows = t.came_rows;
        t.came_rows = NULL;
    }
    transfer_free(&t);
    return status;
}

/* ---- All of it ---- */

static quorum_status near_rows_new(const near_batch *batch, near_rows *n)
{
    size_t count = 0, b = batch->Q->n;
    for (size_t q = 0; q < b; q++)
        count += batch->asker[q] == team_rank();
    *n = (near_rows){.m = batch->m};
    NEW_ARRAY(n->query, count);
    NEW_ZEROED(n->found, count);
    NEW_ARRAY(n->nearest, count * n->m);
    if (!n->query || !n->found || !n->nearest)
        return out_of_memory(count);
    for (size_t q = 0; q < b; q++)
        if (batch->asker[q] == team_rank())
            n->query[n->count++] = q;
    return QUORUM_OK;
}

void near_rows_free(near_rows *n)
{
    mem_free(n->query);
    mem_free(n->found);
    mem_free(n->nearest);
    mem_free(n->rows);
    *n = (near_rows){0};
}

quorum_status near_rows_find(quorum_status ready, const near_holdings *held,
                             const near_batch *batch, near_rows *out)
{
    search s = {.held = held, .batch = batch};
    quorum_status status;
    *out = (near_rows){0};
    if (ready >= 0)
        ready = near_rows_new(batch, out);
    if (ready >= 0)
        ready = search_new(&s);
    if (ready >= 0)
        ready = search_those(&s, 1);
    TRY_OR_DONE(team_agree(ready));
    share_limits(&s);
    TRY_OR_DONE(team_agree(search_those(&s, 0)));
    TRY_OR_DONE(send_to_askers(&s, out));
done:
    search_free(&s);
    if (status < 0)
        near_rows_free(out);
    return status;
}
