/* A hash table of texts with open addressing: at most half of the slots are taken. */
#include "data/levels.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64, FIRST_BYTES = 512 };

static uint64_t hash_of(const char *text, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return h ^ h >> 32;
}

const char *levels_at(const level_table *t, size_t number)
{
    return t->text + t->start[number];
}

/* The slot of this text, or the free one where it belongs. */
static size_t find_slot(const level_table *t, const char *text, size_t n)
{
    size_t at = hash_of(text, n) & (t->slots - 1);
    for (; t->slot[at]; at = (at + 1) & (t->slots - 1)) {
        const char *there = levels_at(t, t->slot[at] - 1);
        if (strncmp(there, text, n) == 0 && there[n] == '\0')
            break;
    }
    return at;
}

size_t levels_find(const level_table *t, const char *text, size_t n)
{
    if (t->slots == 0)
        return t->count;
    size_t taken = t->slot[find_slot(t, text, n)];
    return taken ? taken - 1 : t->count;
}

static quorum_status fail_memory(const level_table *t)
{
    return failure(QUORUM_E_MEMORY, "out of memory for more than %zu levels", t->count);
}

/* Twice the slots, and all levels in their new ones. */
static quorum_status grow_slots(level_table *t)
{
    size_t slots = t->slots ? 2 * t->slots : FIRST_SLOTS, *slot;
    size_t *start = mem_grow(t->start, t->count, slots / 2, sizeof *start);
    if (start)
        t->start = start;
    if (!start || !NEW_ZEROED(slot, slots))
        return fail_memory(t);
    mem_free(t->slot);
    t->slot = slot;
    t->slots = slots;
    for (size_t i = 0; i < t->count; i++)
        slot[find_slot(t, levels_at(t, i), strlen(levels_at(t, i)))] = i + 1;
    return QUORUM_OK;
}

static quorum_status make_room(level_table *t, size_t n)
{
    size_t bytes = t->bytes ? t->bytes : FIRST_BYTES;
    while (bytes < t->used + n + 1)
        bytes *= 2;
    if (bytes > t->bytes) {
        char *text = mem_grow(t->text, t->used, bytes, 1);
        if (!text)
            return fail_memory(t);
        t->text = text;
        t->bytes = bytes;
    }
    return 2 * (t->count + 1) > t->slots ? grow_slots(t) : QUORUM_OK;
}

quorum_status levels_add(level_table *t, const char *text, size_t n, size_t *number)
{
    *number = levels_find(t, text, n);
    if (*number < t->count)
        return QUORUM_OK;
    if (t->overflows || t->count == MOST_LEVELS || n > LONGEST_LEVEL) {
        t->overflows = 1;
        *number = 0;
        return QUORUM_OK;
    }
    TRY(make_room(t, n));
    t->slot[find_slot(t, text, n)] = t->count + 1;
    t->start[t->count++] = t->used;
    memcpy(t->text + t->used, text, n);
    t->text[t->used + n] = '\0';
    t->used += n + 1;
    return QUORUM_OK;
}

double levels_bytes(const level_table *t)
{
    return (double)t->bytes + 1.5 * (double)t->slots * sizeof(size_t);
}

typedef struct {
    const char *text;
    size_t number;
} numbered_level;

static int compare_levels(const void *a, const void *b)
{
    return strcmp(((const numbered_level *)a)->text, ((const numbered_level *)b)->text);
}

quorum_status levels_sort(const level_table *t, size_t *place)
{
    numbered_level *list;
    if (!NEW_ARRAY(list, t->count))
        return fail_memory(t);
    for (size_t i = 0; i < t->count; i++)
        list[i] = (numbered_level){levels_at(t, i), i};
    qsort(list, t->count, sizeof *list, compare_levels);
    for (size_t i = 0; i < t->count; i++)
        place[list[i].number] = i;
    mem_free(list);
    return QUORUM_OK;
}

void levels_free(level_table *t)
{
    mem_free(t->text);
    mem_free(t->start);
    mem_free(t->slot);
    *t = (level_table){0};
}
