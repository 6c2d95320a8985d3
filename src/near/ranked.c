/* Quickselect and sorting of (key, row) pairs, and the m nearest of a stream: candidates under
 * the limit are collected, and when there is no more room the m nearest of them stay and lower
 * the limit. */
#include "near/ranked.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

enum { FEW = 16 }; /* sorted by insertion */

static void swap(ranked *a, ranked *b)
{
    ranked t = *a;
    *a = *b;
    *b = t;
}

/* Three places chosen by a fixed hash, so that no order met in practice is a bad one. */
static void median_of_three_to_front(ranked *items, size_t count)
{
    uint64_t h = count * UINT64_C(0x9E3779B97F4A7C15);
    ranked *a = &items[(h >> 33) % count];
    ranked *b = &items[((h * UINT64_C(0xBF58476D1CE4E5B9)) >> 33) % count];
    ranked *c = &items[((h * UINT64_C(0x94D049BB133111EB)) >> 33) % count];
    ranked *low = ranked_before(*b, *a) ? b : a, *high = low == a ? b : a;
    ranked *median = ranked_before(*c, *low) ? low : ranked_before(*high, *c) ? high : c;
    swap(items, median);
}

/* Splits at a pivot and returns its place: before it what ranks before it.  No
 * branch depends on the data.  Keys and rows move by themselves: a pair written in
 * halves and read whole would have to wait for its store. */
static size_t split_at_pivot(ranked *items, size_t count)
{
    median_of_three_to_front(items, count);
    ranked pivot = items[0];
    size_t store = 1; /* items[1 .. store-1] rank before the pivot */
    for (size_t i = 1; i < count; i++) {
        double key = items[i].key;
        size_t row = items[i].row;
        items[i].key = items[store].key;
        items[i].row = items[store].row;
        items[store].key = key;
        items[store].row = row;
        store += (size_t)((key < pivot.key) | ((key == pivot.key) & (row < pivot.row)));
    }
    swap(&items[0], &items[store - 1]);
    return store - 1;
}

void ranked_select(ranked *items, size_t count, size_t nth)
{
    assert(nth < count);
    while (count > 1) {
        size_t place = split_at_pivot(items, count);
        if (nth == place)
            return;
        if (nth < place) {
            count = place;
        } else {
            items += place + 1;
            nth -= place + 1;
            count -= place + 1;
        }
    }
}

static void insertion_sort(ranked *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        ranked item = items[i];
        size_t j = i;
        for (; j > 0 && ranked_before(item, items[j - 1]); j--)
            items[j] = items[j - 1];
        items[j] = item;
    }
}

void ranked_sort(ranked *items, size_t count)
{
    while (count > FEW) {
        size_t place = split_at_pivot(items, count), behind = count - place - 1;
        if (place < behind) { /* recurse into the shorter side */
            ranked_sort(items, place);
            items += place + 1;
            count = behind;
        } else {
            ranked_sort(items + place + 1, behind);
            count = place;
        }
    }
    insertion_sort(items, count);
}

/* Room for half as many again: a tightening then costs little per item and the
 * limit is never far from the m-th. */
size_t nearest_room(size_t m)
{
    return m + m / 2 + 8;
}

nearest nearest_start(size_t m, ranked *items)
{
    return (nearest){
        .m = m, .room = nearest_room(m), .limit = {INFINITY, SIZE_MAX}, .items = items};
}

void nearest_tighten(nearest *best)
{
    ranked_select(best->items, best->count, best->m - 1);
    best->limit = best->items[best->m - 1];
    best->count = best->m;
}

size_t nearest_finish(nearest *best, size_t *rows, double *keys)
{
    if (best->count > best->m)
        nearest_tighten(best);
    ranked_sort(best->items, best->count);
    for (size_t i = 0; i < best->count; i++) {
        rows[i] = best->items[i].row;
        if (keys)
            keys[i] = best->items[i].key;
    }
    return best->count;
}
