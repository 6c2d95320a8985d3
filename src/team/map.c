/* Items among the processes of a team, and their results back to all: even slices of equal items,
 * or an owner for each. */
#include "team/team.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static quorum_status out_of_memory(void)
{
    return failure(QUORUM_E_MEMORY, "out of memory for a message");
}

/* ---- Results as pieces ---- */

static size_t rows_of(const team_result *r)
{
    return r->rows > 0 ? r->rows : 1;
}

/* The results of the items first .. first + count - 1 in one row, which stand together. */
static team_piece piece_of(const team_result *r, size_t row, size_t first, size_t count, int owner)
{
    if (r->place)
        return (team_piece){r->place[first], r->place[first] ? r->bytes[first] : 0, owner};
    size_t from = r->start ? r->start[first] : first;
    size_t to = r->start ? r->start[first + count] : first + count;
    return (team_piece){(char *)r->data + (row * r->stride + from) * r->width,
                        (to - from) * r->width, owner};
}

/* Pieces of a run of items that one process has done. */
static size_t list_run(const team_result *results, size_t count, size_t first, size_t items,
                       int owner, team_piece *pieces)
{
    size_t listed = 0;
    for (size_t k = 0; k < count; k++) {
        size_t step = results[k].place ? 1 : items;
        for (size_t row = 0; row < rows_of(&results[k]); row++)
            for (size_t at = 0; at < items; at += step) {
                pieces[listed] = piece_of(&results[k], row, first + at, step, owner);
                listed += pieces[listed].bytes > 0;
            }
    }
    return listed;
}

static size_t pieces_of_run(const team_result *results, size_t count, size_t items)
{
    size_t pieces = 0;
    for (size_t k = 0; k < count; k++)
        pieces += results[k].place ? items : rows_of(&results[k]);
    return pieces;
}

/* ---- Equal items ---- */

/* This process's slice: items from `first` on. */
typedef struct {
    parallel_body body;
    void *context;
    size_t first;
} own_slice;

static quorum_status own_item(void *context, size_t item, int worker)
{
    const own_slice *o = context;
    return o->body(o->context, o->first + item, worker);
}

static void share_sliced(size_t n, const team_result *results, size_t count, team_piece *pieces)
{
    size_t listed = 0;
    for (int r = 0; r < team_size(); r++) {
        team_slice s = slice_of(n, 1, r, team_size());
        if (s.count > 0)
            listed += list_run(results, count, s.first, s.count, r, pieces + listed);
    }
    team_share(pieces, listed);
}

static size_t pieces_of_slices(size_t n, const team_result *results, size_t count)
{
    size_t pieces = 0;
    for (int r = 0; r < team_size(); r++)
        pieces += pieces_of_run(results, count, slice_of(n, 1, r, team_size()).count);
    return pieces;
}

quorum_status team_map(quorum_status ready, int threads, size_t n, parallel_body body,
                       void *context, const team_result *results, size_t count)
{
    team_slice mine = my_slice(n, 1);
    own_slice o = {.body = body, .context = context, .first = mine.first};
    team_piece *pieces = NULL;
    if (team_size() > 1 && ready >= 0 && !NEW_ARRAY(pieces, pieces_of_slices(n, results, count)))
        ready = out_of_memory();
    if (ready >= 0)
        ready = parallel_for(threads, mine.count, own_item, &o);
    quorum_status status = team_agree(ready);
    if (status >= 0 && pieces)
        share_sliced(n, results, count, pieces);
    mem_free(pieces);
    return status;
}

/* ---- Items by their cost ---- */

static int dearer_first(const void *a, const void *b, void *context)
{
    const double *cost = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (cost[x] != cost[y])
        return cost[x] > cost[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Items and their costs, the dearest first. */
typedef struct {
    size_t *item;
    double *cost;
    int *owner;
} costly;

static quorum_status costly_new(const double *cost, size_t n, costly *c)
{
    NEW_ARRAY(c->item, n);
    NEW_ARRAY(c->cost, n);
    NEW_ARRAY(c->owner, n);
    if (!c->item || !c->cost || !c->owner)
        return failure(QUORUM_E_MEMORY, "out of memory for dividing %zu items", n);
    for (size_t i = 0; i < n; i++)
        c->item[i] = i;
    qsort_r(c->item, n, sizeof *c->item, dearer_first, (void *)cost);
    for (size_t i = 0; i < n; i++)
        c->cost[i] = cost[c->item[i]];
    return QUORUM_OK;
}

static void costly_free(costly *c)
{
    mem_free(c->item);
    mem_free(c->cost);
    mem_free(c->owner);
}

quorum_status work_share_new(const double *cost, size_t n, work_share *out)
{
    costly c = {0};
    work_share s = {.n = n};
    quorum_status status = costly_new(cost, n, &c);
    NEW_ARRAY(s.owner, n);
    NEW_ARRAY(s.items, n);
    if (status >= 0 && (!s.owner || !s.items))
        status = failure(QUORUM_E_MEMORY, "out of memory for dividing %zu items", n);
    if (status >= 0) {
        spread_by_cost(c.cost, n, team_size(), c.owner);
        for (size_t i = 0; i < n; i++) {
            s.owner[c.item[i]] = c.owner[i];
            if (c.owner[i] == team_rank())
                s.items[s.mine++] = c.item[i];
        }
    }
    costly_free(&c);
    *out = s;
    if (status < 0)
        work_share_free(out);
    return status;
}

void work_share_free(work_share *s)
{
    mem_free(s->owner);
    mem_free(s->items);
    *s = (work_share){0};
}

int work_is_mine(const work_share *s, size_t item)
{
    assert(item < s->n);
    return s->owner[item] == team_rank();
}

static void share_owned(const work_share *s, const team_result *results, size_t count,
                        team_piece *pieces)
{
    size_t listed = 0;
    for (size_t i = 0; i < s->n; i++)
        listed += list_run(results, count, i, 1, s->owner[i], pieces + listed);
    team_share(pieces, listed);
}

quorum_status team_map_share(quorum_status ready, const work_share *s, share_body body,
                             void *context, const team_result *results, size_t count)
{
    team_piece *pieces = NULL;
    if (team_size() > 1 && ready >= 0 &&
        !NEW_ARRAY(pieces, s->n * pieces_of_run(results, count, 1)))
        ready = out_of_memory();
    if (ready >= 0)
        ready = body(context, s->items, s->mine);
    quorum_status status = team_agree(ready);
    if (status >= 0 && pieces)
        share_owned(s, results, count, pieces);
    mem_free(pieces);
    return status;
}

/* ---- Each for itself, and one for all ---- */

quorum_status team_all(quorum_status ready, quorum_status (*body)(void *context), void *context)
{
    return team_agree(ready >= 0 ? body(context) : ready);
}

/* Processes that each work with another file would mix them up, or wait for each other for ever. */
quorum_status team_same_file(quorum_status ready, const char *what, uint64_t digest)
{
    uint64_t first = digest;
    TRY(team_agree(ready));
    team_send(&first, sizeof first);
    return team_agree(digest == first
                          ? QUORUM_OK
                          : failure(QUORUM_E_FORMAT,
                                    "%s differs between processes: process %d has another one "
                                    "than process 0; give all of them the same file",
                                    what, team_rank()));
}

quorum_status team_first(quorum_status ready, quorum_status (*body)(void *context), void *context)
{
    if (ready >= 0 && team_rank() == 0)
        ready = body(context);
    return team_agree(ready);
}

quorum_status team_send_array(quorum_status ready, void **array, size_t *count, size_t width)
{
    size_t wanted = ready >= 0 ? *count : 0;
    team_send(&wanted, sizeof wanted);
    if (ready >= 0 && team_rank() > 0 && wanted > 0) {
        *array = mem_alloc(wanted, width);
        if (!*array)
            ready = failure(QUORUM_E_MEMORY, "out of memory for %zu items that were sent", wanted);
    }
    TRY(team_agree(ready));
    *count = wanted;
    team_send(*array, wanted * width);
    return QUORUM_OK;
}

quorum_status team_send_text(quorum_status ready, char **text)
{
    void *bytes = *text;
    size_t size = ready >= 0 && *text ? strlen(*text) + 1 : 0;
    quorum_status status = team_send_array(ready, &bytes, &size, 1);
    *text = bytes;
    return status;
}

int team_is_alone(void)
{
    return team_size() == 1;
}
