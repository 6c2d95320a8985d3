/* Blocks that a call has freed, in lists by size, for the next call that asks for as much.  When
 * there is no room for more, what the present call has not used itself goes first. */
#include "base/scratch.h"

#include <stdint.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#endif

static _Thread_local scratch *current; /* NULL: blocks come from the system and go back */

/* ---- Sizes ---- */

/* Lines of the sizes: 1 2 3 4, 5 6 7 8, 10 12 14 16, 20 ...; at most a quarter is wasted. */
static size_t size_lines(int size)
{
    return size < 4 ? (size_t)size + 1 : (size_t)(5 + size % 4) << (size / 4 - 1);
}

static size_t whole_lines(size_t bytes)
{
    return bytes == 0 ? 1 : (bytes + BLOCK_LINE - 1) / BLOCK_LINE;
}

/* The least size that has room; NOT_KEPT where a block would fill the scratch. */
static int find_size(const scratch *s, size_t bytes)
{
    size_t lines = whole_lines(bytes);
    int size = 0;
    if (!s || bytes > s->most / 2)
        return NOT_KEPT;
    while (size < BLOCK_SIZES && size_lines(size) < lines)
        size++;
    return size < BLOCK_SIZES ? size : NOT_KEPT;
}

/* ---- Blocks ---- */

static char *contents(mem_block *b)
{
    return (char *)b + BLOCK_LINE;
}

mem_block *mem_block_new(size_t bytes)
{
    int size = find_size(current, bytes);
    size_t lines = size == NOT_KEPT ? whole_lines(bytes) : size_lines(size);
    mem_block *b = aligned_alloc(BLOCK_LINE, (lines + 1) * BLOCK_LINE);
    if (!b)
        return NULL;
    *b = (mem_block){.bytes = lines * BLOCK_LINE, .size = size};
    ASAN_POISON_MEMORY_REGION(contents(b) + bytes, b->bytes - bytes);
    return b;
}

static void release(mem_block *b)
{
    ASAN_UNPOISON_MEMORY_REGION(contents(b), b->bytes);
    free(b);
}

mem_block *scratch_take(size_t bytes)
{
    int size = find_size(current, bytes);
    if (size == NOT_KEPT || !current->kept[size])
        return NULL;
    mem_block *b = current->kept[size];
    current->kept[size] = b->next;
    current->bytes -= b->bytes;
    ASAN_UNPOISON_MEMORY_REGION(contents(b), bytes);
    return b;
}

/* Releases what has been kept since before this call, or all. */
static void clear(scratch *s, int all)
{
    for (int size = 0; size < BLOCK_SIZES; size++) {
        mem_block **at = &s->kept[size];
        while (*at) {
            mem_block *b = *at;
            if (!all && b->call == s->call) {
                at = &b->next;
                continue;
            }
            *at = b->next;
            s->bytes -= b->bytes;
            release(b);
        }
    }
}

void mem_block_free(mem_block *b)
{
    scratch *s = current;
    if (s && b->size != NOT_KEPT && s->bytes + b->bytes > s->most)
        clear(s, 0);
    if (!s || b->size == NOT_KEPT || s->bytes + b->bytes > s->most) {
        release(b);
        return;
    }
    b->call = s->call;
    b->next = s->kept[b->size];
    s->kept[b->size] = b;
    s->bytes += b->bytes;
    ASAN_POISON_MEMORY_REGION(contents(b), b->bytes);
}

/* ---- Shelf ---- */

scratch_visit scratch_enter(scratch_shelf *shelf, double most)
{
    scratch_visit visit = {.before = current};
    for (int i = 0; i < SHELF_PLACES && !visit.own; i++)
        if (!atomic_exchange(&shelf->place[i].taken, 1))
            visit.own = &shelf->place[i];
    if (visit.own) {
        visit.own->call++;
        visit.own->most = (size_t)most;
        if (visit.own->bytes > visit.own->most)
            clear(visit.own, 1);
    }
    current = visit.own;
    return visit;
}

void scratch_leave(scratch_visit visit)
{
    current = visit.before;
    if (visit.own)
        atomic_store(&visit.own->taken, 0);
}

void scratch_shelf_free(scratch_shelf *shelf)
{
    for (int i = 0; i < SHELF_PLACES; i++)
        clear(&shelf->place[i], 1);
}
