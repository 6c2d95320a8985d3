/* Nearest rows in a team, in rounds: first searches, limits to all, the other searches, lists to
 * the homes of the queries, merging.  See the header for why the result is that of one search. */
#include "near/scattered_search.h"

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
    const near_question *asked;
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
    size_t b = s->asked->Q->n, some = b < TOGETHER ? b : TOGETHER, m = s->asked->m;
    TRY(points_new(some, s->asked->Q->D, &s->some));
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
        return out_of_memory(s->asked->Q->n);
    s->rows = rows;
    s->room = room;
    return QUORUM_OK;
}

/* Up to TOGETHER of the listed queries. */
static quorum_status search_some(search *s, const size_t *query, size_t count)
{
    size_t m = s->asked->m, more = 0;
    points_gather(s->asked->Q, query, count, &s->some);
    for (size_t i = 0; i < count; i++)
        s->some_limit[i] = s->limit[query[i]];
    TRY(neighbour_search_within(s->held->index, &s->some, m, s->some_limit, s->asked->threads,
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
    for (size_t q = 0; s->held->index && q < s->asked->Q->n; q++)
        if ((s->asked->first[q] == team_rank()) == first)
            s->list[count++] = q;
    for (size_t at = 0; at < count; at += TOGETHER)
        TRY(search_some(s, s->list + at, count - at < TOGETHER ? count - at : TOGETHER));
    return QUORUM_OK;
}

/* How far the others have to look. */
static void share_limits(search *s)
{
    for (size_t q = 0; q < s->asked->Q->n; q++) {
        int first = s->asked->first[q];
        if (first == team_rank() && s->found[q] == s->asked->m)
            s->limit[q] = s->rows[s->start[q] + s->found[q] - 1].distance;
        s->pieces[q] = (team_piece){&s->limit[q], sizeof *s->limit, first};
    }
    team_share(s->pieces, s->asked->Q->n);
}

/* ---- The way home ---- */

typedef struct {
    size_t width;             /* numbers of a row that goes along, or 0            */
    size_t *out, *in;         /* ranks: rows that go to and come from each         */
    size_t *asked, *mine;     /* ranks: queries at home there; those at home here  */
    size_t *counts;           /* queries by home: rows found for each              */
    size_t *theirs;           /* ranks x my queries: rows that each found for mine */
    near_row *list, *came;    /* out, by home and query; in, by rank and query     */
    double *rows, *came_rows; /* the same: the rows                                */
} journey;

static void journey_free(journey *j)
{
    mem_free(j->out);
    mem_free(j->in);
    mem_free(j->asked);
    mem_free(j->mine);
    mem_free(j->counts);
    mem_free(j->theirs);
    mem_free(j->list);
    mem_free(j->came);
    mem_free(j->rows);
    mem_free(j->came_rows);
}

static quorum_status journey_new(const search *s, size_t mine, journey *j)
{
    size_t ranks = (size_t)team_size();
    *j = (journey){.width = s->held->X ? s->asked->Q->D + 1 : 0};
    NEW_ZEROED(j->out, ranks);
    NEW_ZEROED(j->in, ranks);
    NEW_ZEROED(j->asked, ranks);
    NEW_ARRAY(j->mine, ranks);
    NEW_ARRAY(j->counts, s->asked->Q->n);
    NEW_ARRAY(j->theirs, ranks * mine);
    NEW_ARRAY(j->list, s->count);
    NEW_ARRAY(j->rows, s->count * j->width);
    if (j->out && j->in && j->asked && j->mine && j->counts && j->theirs && j->list && j->rows)
        return QUORUM_OK;
    return out_of_memory(s->asked->Q->n);
}

static void pack_row(const search *s, const near_row *row, double *out)
{
    size_t D = s->asked->Q->D;
    memcpy(out, s->held->X + row->number * D, D * sizeof *out);
    out[D] = s->held->y[row->number];
}

/* What was found, by the queries' homes. */
static void pack(const search *s, journey *j)
{
    size_t at = 0, listed = 0;
    for (int r = 0; r < team_size(); r++)
        for (size_t q = 0; q < s->asked->Q->n; q++) {
            if (s->asked->home[q] != r)
                continue;
            j->counts[listed++] = s->found[q];
            j->asked[r]++;
            j->out[r] += s->found[q];
            for (size_t k = 0; k < s->found[q]; k++, at++) {
                j->list[at] = s->rows[s->start[q] + k];
                if (j->width > 0)
                    pack_row(s, &j->list[at], j->rows + at * j->width);
            }
        }
}

static void exchange_counts(journey *j, size_t mine)
{
    for (int r = 0; r < team_size(); r++)
        j->mine[r] = mine;
    team_exchange(j->counts, j->asked, j->theirs, j->mine, sizeof *j->counts);
    for (size_t r = 0; r < (size_t)team_size(); r++)
        for (size_t i = 0; i < mine; i++)
            j->in[r] += j->theirs[r * mine + i];
}

static quorum_status send_found(const search *s, journey *j, size_t mine)
{
    size_t all = 0;
    pack(s, j);
    exchange_counts(j, mine);
    for (int r = 0; r < team_size(); r++)
        all += j->in[r];
    NEW_ARRAY(j->came, all);
    NEW_ARRAY(j->came_rows, all * j->width);
    TRY(team_agree(j->came && j->came_rows ? QUORUM_OK : out_of_memory(mine)));
    team_exchange(j->list, j->out, j->came, j->in, sizeof *j->list);
    if (j->width > 0)
        team_exchange(j->rows, j->out, j->came_rows, j->in, j->width * sizeof *j->rows);
    for (size_t i = 0; j->width > 0 && i < all; i++)
        j->came[i].tag = i;
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
static quorum_status merge(const journey *j, near_rows *n)
{
    size_t ranks = (size_t)team_size(), *at = NULL;
    near_row *all = NULL;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(at, ranks) || !NEW_ARRAY(all, ranks * n->m)) {
        status = out_of_memory(n->count);
        goto done;
    }
    for (size_t r = 0, from = 0; r < ranks; from += j->in[r++])
        at[r] = from;
    for (size_t i = 0; i < n->count; i++) {
        size_t count = 0, lists = 0;
        for (size_t r = 0; r < ranks; r++) {
            size_t more = j->theirs[r * n->count + i];
            memcpy(all + count, j->came + at[r], more * sizeof *all);
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

static quorum_status go_home(const search *s, near_rows *n)
{
    journey j;
    quorum_status status = team_agree(journey_new(s, n->count, &j));
    if (status == QUORUM_OK)
        status = send_found(s, &j, n->count);
    if (status == QUORUM_OK)
        status = team_agree(merge(&j, n));
    if (status == QUORUM_OK) {
        n->rows = j.came_rows;
        j.came_rows = NULL;
    }
    journey_free(&j);
    return status;
}

/* ---- All of it ---- */

static quorum_status near_rows_new(const near_question *asked, near_rows *n)
{
    size_t count = 0, b = asked->Q->n;
    for (size_t q = 0; q < b; q++)
        count += asked->home[q] == team_rank();
    *n = (near_rows){.m = asked->m};
    NEW_ARRAY(n->query, count);
    NEW_ZEROED(n->found, count);
    NEW_ARRAY(n->nearest, count * n->m);
    if (!n->query || !n->found || !n->nearest)
        return out_of_memory(count);
    for (size_t q = 0; q < b; q++)
        if (asked->home[q] == team_rank())
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

quorum_status near_rows_find(const near_holdings *held, const near_question *asked, near_rows *out)
{
    search s = {.held = held, .asked = asked};
    quorum_status status = near_rows_new(asked, out);
    if (status == QUORUM_OK)
        status = search_new(&s);
    if (status == QUORUM_OK)
        status = search_those(&s, 1);
    TRY_OR_DONE(team_agree(status));
    share_limits(&s);
    TRY_OR_DONE(team_agree(search_those(&s, 0)));
    TRY_OR_DONE(go_home(&s, out));
done:
    search_free(&s);
    if (status < 0)
        near_rows_free(out);
    return status;
}
