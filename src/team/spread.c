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
