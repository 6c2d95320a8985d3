/* Queries in batches: some of every rank's slice at a time, so that the rows that come for them
 * need not all be there at once.  What is found (search_rounds.c) is seen by the caller's body on
 * the rank that asks, and the results go to all at the end. */
#include "near/scattered_search.h"

#include "base/memory.h"
#include "base/progress.h"
#include "near/search_rounds.h"
#include "team/team.h"

enum {
    BATCH = 256,          /* queries of a rank at a time, where rows go along ... */
    NUMBERS_BATCH = 2048, /* ... and where only their numbers do                  */
    BOXES_A_RANK = 8
};

size_t near_boxes(void)
{
    return team_is_alone() ? 1 : BOXES_A_RANK * (size_t)team_size();
}

typedef struct {
    const near_question *asked;
    near_body body;
    void *context;
    size_t each;        /* queries of a rank in a batch        */
    size_t *claimer;    /* Q->n: the rank that searches first  */
    size_t *list;       /* a batch: numbers of its queries ... */
    int *first, *asker; /* ... and their ranks                 */
    points Q;           /* a batch                             */
    near_rows near;     /* found for it                        */
} asking;

static void asking_free(asking *a)
{
    points_free(&a->Q);
    mem_free(a->claimer);
    mem_free(a->list);
    mem_free(a->first);
    mem_free(a->asker);
}

static quorum_status asking_new(asking *a)
{
    size_t n = a->asked->Q->n, most = a->each * (size_t)team_size();
    most = most < n ? most : n;
    TRY(points_new(most, a->asked->Q->D, &a->Q));
    NEW_ARRAY(a->claimer, n);
    NEW_ARRAY(a->list, most);
    NEW_ARRAY(a->first, most);
    NEW_ARRAY(a->asker, most);
    if (a->claimer && a->list && a->first && a->asker)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", most);
}

/* Who claims which: there is one for each, so the sum of their ranks is its rank. */
static quorum_status share_claims(quorum_status ready, asking *a)
{
    size_t n = a->asked->Q->n;
    for (size_t q = 0; ready >= 0 && q < n; q++)
        a->claimer[q] = a->asked->claimed[q] ? (size_t)team_rank() : 0;
    TRY(team_agree(ready));
    team_add(a->claimer, n);
    return QUORUM_OK;
}

/* The queries from `at` on in each rank's slice; 0: no rank has any. */
static size_t take_batch(asking *a, size_t at)
{
    size_t count = 0;
    for (int r = 0; r < team_size(); r++) {
        team_slice s = slice_of(a->asked->Q->n, 1, r, team_size());
        for (size_t i = at; i < s.count && i < at + a->each; i++) {
            a->list[count] = s.first + i;
            a->first[count] = (int)a->claimer[s.first + i];
            a->asker[count++] = r;
        }
    }
    points_gather(a->asked->Q, a->list, count, &a->Q);
    return count;
}

static quorum_status ask_one(void *context, size_t item, int worker)
{
    const asking *a = context;
    near_found found = {.count = a->near.found[item],
                        .row = a->near.nearest + item * a->near.m,
                        .rows = a->near.rows};
    return a->body(a->context, a->list[a->near.query[item]], &found, worker);
}

/* The share of this rank's slice that is done when the batch from `at` on is. */
static double share_after(const asking *a, size_t at)
{
    size_t mine = my_slice(a->asked->Q->n, 1).count;
    return at + a->each < mine ? (double)(at + a->each) / (double)mine : 1.0;
}

/* Failures of `body` are agreed on by the next call. */
static quorum_status ask_batch(quorum_status ready, asking *a, size_t at, const near_holdings *held,
                               quorum_status *own)
{
    near_batch batch = {&a->Q, a->first, a->asker, a->asked->m, a->asked->threads};
    TRY(near_rows_find(ready, held, &batch, &a->near));
    progress_expect(share_after(a, at));
    *own = parallel_for(a->asked->threads, a->near.count, ask_one, a);
    near_rows_free(&a->near);
    return QUORUM_OK;
}

static quorum_status was_asked(void *context, size_t query, int worker)
{
    (void)context, (void)query, (void)worker;
    return QUORUM_OK;
}

quorum_status near_ask(quorum_status ready, const near_holdings *held, const near_question *asked,
                       near_body body, void *context, const team_result *results, size_t count)
{
    asking a = {.asked = asked,
                .body = body,
                .context = context,
                .each = held->rows ? BATCH : NUMBERS_BATCH};
    quorum_status status, own = QUORUM_OK;
    if (ready >= 0)
        ready = asking_new(&a);
    TRY_OR_DONE(share_claims(ready, &a));
    for (size_t at = 0; take_batch(&a, at) > 0; at += a.each)
        TRY_OR_DONE(ask_batch(own, &a, at, held, &own));
    status = team_map(own, 1, asked->Q->n, was_asked, NULL, results, count);
done:
    asking_free(&a);
    return status;
}
