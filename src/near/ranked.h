/* Rows ranked by a key, ties by the lower row number, and the m nearest of a stream. */
#ifndef QRM_NEAR_RANKED_H
#define QRM_NEAR_RANKED_H

#include <stddef.h>

typedef struct {
    double key;
    size_t row;
} ranked;

static inline int ranked_before(ranked a, ranked b)
{
    return a.key < b.key || (a.key == b.key && a.row < b.row);
}

/* Puts the item of rank nth < count (0 = first) at its place, smaller ones before it.
 * Linear time on average whatever the order; the same result every time. */
void ranked_select(ranked *items, size_t count, size_t nth);
void ranked_sort(ranked *items, size_t count);

/* The m first of all items offered so far are among items[0 .. count-1]; nothing
 * that ranks behind `limit` can be one of them. */
typedef struct {
    size_t m, count, room;
    ranked limit;
    ranked *items; /* room = nearest_room(m), the caller's */
} nearest;

size_t nearest_room(size_t m);
nearest nearest_start(size_t m, ranked *items);
void nearest_tighten(nearest *best); /* when count = room: drops all but the m first */

static inline void nearest_offer(nearest *best, double key, size_t row)
{
    ranked item = {key, row};
    if (!ranked_before(item, best->limit))
        return;
    best->items[best->count++] = item;
    if (best->count == best->room)
        nearest_tighten(best);
}

/* The m first in order, or all if fewer were offered; keys may be NULL.  Returns how many. */
size_t nearest_finish(nearest *best, size_t *rows, double *keys);

#endif
