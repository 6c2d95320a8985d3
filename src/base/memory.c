/* Where all memory of the library comes from: sizes checked for overflow, a kept block if there
 * is one (base/scratch.h), else a new one; and the count by which tests make allocations fail. */
#include "base/memory.h"

#include "base/scratch.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_long asked;
static atomic_long fail_from; /* 0: never */

void mem_fail_at(long n)
{
    atomic_store(&asked, 0);
    atomic_store(&fail_from, n);
}

long mem_allocations(void)
{
    return atomic_load(&asked);
}

/* A new block, unless its turn to fail has come. */
static mem_block *ask_system(size_t bytes)
{
    long turn = atomic_fetch_add(&asked, 1) + 1;
    long limit = atomic_load(&fail_from);
    return limit > 0 && turn >= limit ? NULL : mem_block_new(bytes);
}

void *mem_alloc(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - 2 * (size_t)BLOCK_LINE) / size)
        return NULL;
    mem_block *b = NULL;
    if (atomic_load(&fail_from) == 0) /* tests see every allocation fail */
        b = scratch_take(count * size);
    if (!b)
        b = ask_system(count * size);
    return b ? (char *)b + BLOCK_LINE : NULL;
}

void *mem_alloc_zero(size_t count, size_t size)
{
    void *p = mem_alloc(count, size);
    if (p)
        memset(p, 0, count * size);
    return p;
}

/* Pages that are never touched are never there, unless they are huge ones. */
void *mem_alloc_sparse(size_t count, size_t size)
{
    char *p = mem_alloc(count, size);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = count * size;
    size_t skipped = (page - (uintptr_t)p % page) % page;
    if (p && bytes >= skipped + page)
        madvise(p + skipped, (bytes - skipped) / page * page, MADV_NOHUGEPAGE); /* may fail */
    return p;
}

void *mem_grow(void *old, size_t old_count, size_t new_count, size_t size)
{
    void *p = mem_alloc(new_count, size);
    if (!p)
        return NULL;
    if (old)
        memcpy(p, old, (old_count < new_count ? old_count : new_count) * size);
    mem_free(old);
    return p;
}

char *mem_copy_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = mem_alloc(n, 1);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

void mem_free(void *pointer)
{
    if (pointer)
        mem_block_free((mem_block *)((char *)pointer - BLOCK_LINE));
}

double mem_physical(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (double)pages * (double)page : 0.0;
}
