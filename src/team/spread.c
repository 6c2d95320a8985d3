/* What both back ends share: slices of items, items dealt in turn, and items by their cost, the
 * dearest first to whoever has least to do. */
#include "team/team.h"

#include "base/memory.h"

#include <assert.h>

static size_t limited(int ranks)
{
    return ranks < MOST_RANKS ? (size_t)ranks : MOST_RANKS;
}

/* Steps of items, the first ranks having one more where they do not divide. */
team_slice slice_of(size_t n, size_t step, int rank, int ranks)
{
    assert(step >= 1 && 0 <= rank && rank < ranks);
    size_t steps = (n + step - 1) / step, size = limited(ranks), r = (size_t)rank;
    if (r >= size)
        return (team_slice){.first = n};
    size_t each = steps / size, more = steps % size;
    size_t first = step * (r * each + (r < more ? r : more));
    size_t end = first + step * (each + (r < more));
    first = first < n ? first : n;
    end = end < n ? end : n;
    return (team_slice){.first = first, .count = end - first};
}

team_slice my_slice(size_t n, size_t step)
{
    return slice_of(n, step, team_rank(), team_size());
}

int slice_owner(size_t n, size_t step, size_t item, int ranks)
{
    size_t steps = (n + step - 1) / step, size = limited(ranks), which = item / step;
    size_t each = steps / size, more = steps % size;
    if (which < more * (each + 1))
        return (int)(which / (each + 1));
    return (int)(more + (which - more * (each + 1)) / each);
}

void team_in_turn(void *data, size_t bytes, void (*turn)(void *context), void *context)
{
    for (int r = 0; r < team_size(); r++) {
        if (r == team_rank())
            turn(context);
        team_share(&(team_piece){.data = data, .bytes = bytes, .owner = r}, 1);
    }
}

void team_share_slices(void *items, size_t width, size_t n, size_t step)
{
    team_piece pieces[MOST_RANKS];
    size_t size = limited(team_size());
    if (size == 1)
        return;
    for (size_t r = 0; r < size; r++) {
        team_slice s = slice_of(n, step, (int)r, team_size());
        pieces[r] = (team_piece){
            .data = (char *)items + s.first * width, .bytes = s.count * width, .owner = (int)r};
    }
    team_share(pieces, size);
}

quorum_status team_share_columns(void *table, size_t width, size_t rows, size_t stride, size_t n)
{
    size_t size = limited(team_size()), count = 0;
    team_piece *pieces = NULL;
    if (size == 1)
        return QUORUM_OK;
    NEW_ARRAY(pieces, rows * size);
    TRY(team_agree(pieces ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for a message")));
    for (size_t r = 0; r < size; r++) {
        team_slice s = slice_of(n, 1, (int)r, team_size());
        for (size_t i = 0; i < rows; i++)
            pieces[count++] = (team_piece){.data = (char *)table + (i * stride + s.first) * width,
                                           .bytes = s.count * width,
                                           .owner = (int)r};
    }
    team_share(pieces, count);
    mem_free(pieces);
    return QUORUM_OK;
}

/* A rank's items: first, first + stride, ... */
typedef struct {
    parallel_body body;
    void *context;
    size_t first, stride;
} own_items;

static quorum_status own_item(void *context, size_t item, int worker)
{
    const own_items *o = context;
    return o->body(o->context, o->first + item * o->stride, worker);
}

quorum_status team_for(int threads, size_t n, parallel_body body, void *context)
{
    team_slice mine = my_slice(n, 1);
    own_items o = {.body = body, .context = context, .first = mine.first, .stride = 1};
    return team_agree(parallel_for(threads, mine.count, own_item, &o));
}

quorum_status team_deal(int threads, size_t n, parallel_body body, void *context)
{
    size_t size = (size_t)team_size(), rank = (size_t)team_rank();
    own_items o = {.body = body, .context = context, .first = rank, .stride = size};
    size_t count = rank < n ? (n - rank + size - 1) / size : 0;
    return team_agree(parallel_for(threads, count, own_item, &o));
}

quorum_status team_share_dealt(void *items, size_t width, size_t n, size_t step)
{
    size_t count = (n + step - 1) / step;
    team_piece *pieces = NULL;
    if (team_size() == 1)
        return QUORUM_OK;
    NEW_ARRAY(pieces, count);
    TRY(team_agree(pieces ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for a message")));
    for (size_t i = 0; i < count; i++) {
        size_t some = n - i * step < step ? n - i * step : step;
        pieces[i] = (team_piece){.data = (char *)items + i * step * width,
                                 .bytes = some * width,
                                 .owner = (int)(i % (size_t)team_size())};
    }
    team_share(pieces, count);
    mem_free(pieces);
    return QUORUM_OK;
}

void spread_by_cost(const double *cost, size_t n, int ranks, int *owner)
{
    assert(ranks >= 1);
    double load[MOST_RANKS] = {0};
    size_t size = limited(ranks);
    for (size_t i = 0; i < n; i++) {
        size_t idle = 0;
        for (size_t r = 1; r < size; r++)
            if (load[r] < load[idle])
                idle = r;
        owner[i] = (int)idle;
        load[idle] += cost[i];
    }
}
