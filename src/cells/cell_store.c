/* Kept experts of cells: a slot for each cell, with who uses it and when it was last taken.  One lock
 * guards the slots; experts are made without it, and where two threads have made the same one, the
 * second uses its own and throws it away. */
#include "cells/cell_store.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdint.h>

enum {
    CORE_SHARE = 16, /* one row in so many of an expert is its cell's own */
    LEAST_CORE = 4
};

typedef struct {
    cell_expert *expert; /* NULL: not kept */
    size_t users;
    uint64_t taken; /* when, by the store's count of takings */
} cell_slot;

struct cell_store {
    cell_source source;
    size_t m;
    cell_map map;
    pthread_mutex_t lock; /* for all that follows */
    cell_slot *slot;      /* cells */
    double kept;          /* bytes */
    uint64_t taken;
};

static size_t core_of(size_t m)
{
    size_t core = m / CORE_SHARE;
    return core > LEAST_CORE ? core : LEAST_CORE;
}

/* An expert with all rows needs one cell only. */
quorum_status cell_store_divide(const points *Z, size_t m, int threads, cell_map *out)
{
    size_t all = Z->n > 2 ? Z->n : 2;
    return cell_map_new(Z, m >= Z->n ? all : core_of(m), threads, out);
}

quorum_status cell_store_new(const cell_source *s, size_t m, cell_map *map, cell_store **out)
{
    cell_store *store;
    *out = NULL;
    if (!NEW_ZEROED(store, 1)) {
        cell_map_free(map);
        return failure(QUORUM_E_MEMORY, "out of memory for the cells of %zu rows", s->Z->n);
    }
    pthread_mutex_init(&store->lock, NULL);
    store->source = *s;
    store->m = m;
    store->map = *map;
    *map = (cell_map){0};
    quorum_status status = QUORUM_OK;
    if (!NEW_ZEROED(store->slot, store->map.cells))
        status = failure(QUORUM_E_MEMORY, "out of memory for the cells of %zu rows", s->Z->n);
    if (status < 0)
        cell_store_free(store);
    else
        *out = store;
    return status;
}

static void expert_free(cell_expert *e)
{
    if (e)
        cell_expert_free(e);
    mem_free(e);
}

void cell_store_free(cell_store *store)
{
    if (!store)
        return;
    for (size_t k = 0; store->slot && k < store->map.cells; k++)
        expert_free(store->slot[k].expert);
    mem_free(store->slot);
    cell_map_free(&store->map);
    pthread_mutex_destroy(&store->lock);
    mem_free(store);
}

const cell_map *cell_store_map(const cell_store *store)
{
    return &store->map;
}

const cell_source *cell_store_source(const cell_store *store)
{
    return &store->source;
}

double cell_store_kept(cell_store *store)
{
    pthread_mutex_lock(&store->lock);
    double kept = store->kept;
    pthread_mutex_unlock(&store->lock);
    return kept;
}

/* The kept expert that nobody uses and that was not asked for longest; cell_count: none. */
static size_t idle_longest(const cell_store *store)
{
    size_t cells = store->map.cells, found = cells;
    for (size_t k = 0; k < cells; k++) {
        const cell_slot *slot = &store->slot[k];
        if (slot->expert && slot->users == 0 &&
            (found == cells || slot->taken < store->slot[found].taken))
            found = k;
    }
    return found;
}

static double bytes_of(const cell_store *store)
{
    return cell_expert_bytes(store->m, store->map.D, store->source.width);
}

/* Whether one more fits, once idle ones have given way. */
static int make_way(cell_store *store, double room)
{
    double each = bytes_of(store);
    while (store->kept + each > room && store->kept > 0.0) {
        size_t k = idle_longest(store);
        if (k == store->map.cells)
            return 0;
        expert_free(store->slot[k].expert);
        store->slot[k].expert = NULL;
        store->kept -= each;
    }
    return store->kept + each <= room;
}

/* The kept expert, taken once more; NULL: there is none. */
static cell_expert *take_kept(cell_store *store, size_t cell)
{
    cell_slot *slot = &store->slot[cell];
    pthread_mutex_lock(&store->lock);
    cell_expert *kept = slot->expert;
    slot->users += kept != NULL;
    slot->taken = ++store->taken;
    pthread_mutex_unlock(&store->lock);
    return kept;
}

static void keep(cell_store *store, size_t cell, double room, cell_expert *made)
{
    cell_slot *slot = &store->slot[cell];
    pthread_mutex_lock(&store->lock);
    if (!slot->expert && make_way(store, room)) {
        slot->expert = made;
        slot->users = 1;
        store->kept += bytes_of(store);
    }
    pthread_mutex_unlock(&store->lock);
}

quorum_status cell_store_take(cell_store *store, size_t cell, double room,
                              const cell_expert **expert)
{
    cell_expert *e = take_kept(store, cell);
    *expert = e;
    if (e)
        return QUORUM_OK;
    if (!NEW_ARRAY(e, 1))
        return failure(QUORUM_E_MEMORY, "out of memory for a cell's expert");
    quorum_status status = cell_expert_new(&store->source, &store->map, cell, store->m, e);
    if (status < 0) {
        mem_free(e);
        return status;
    }
    keep(store, cell, room, e);
    *expert = e;
    return QUORUM_OK;
}

void cell_store_release(cell_store *store, size_t cell, const cell_expert *expert)
{
    cell_slot *slot = &store->slot[cell];
    pthread_mutex_lock(&store->lock);
    int is_kept = slot->expert == expert;
    slot->users -= (size_t)is_kept;
    pthread_mutex_unlock(&store->lock);
    if (!is_kept)
        expert_free((cell_expert *)expert);
}
