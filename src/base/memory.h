/* Memory with overflow checks.  All of the library allocates through here, so
 * that tests can make every allocation fail in turn, and calls can leave memory to the
 * next one (base/scratch.h). */
#ifndef QRM_BASE_MEMORY_H
#define QRM_BASE_MEMORY_H

#include <stddef.h>

/* count x size bytes, 64-byte aligned, not initialised; NULL when out of memory
 * or when the product overflows.  Zero bytes give a valid pointer. */
void *mem_alloc(size_t count, size_t size);
void *mem_alloc_zero(size_t count, size_t size);
void *mem_alloc_sparse(size_t count, size_t size); /* parts that are never used take no memory */
void *mem_grow(void *old, size_t old_count, size_t new_count,
               size_t size); /* old stays on failure */
char *mem_copy_text(const char *text);
void mem_free(void *pointer);

/* An array of `count` elements of what `p` points to. */
#define NEW_ARRAY(p, count) ((p) = mem_alloc((count), sizeof *(p)))
#define NEW_ZEROED(p, count) ((p) = mem_alloc_zero((count), sizeof *(p)))

/* Physical memory of this machine in bytes (0 when unknown). */
double mem_physical(void);

/* For tests: the n-th allocation from now (1 = the next) and all later ones
 * fail, and nothing is taken from a scratch; 0 switches it off. */
void mem_fail_at(long n);
long mem_allocations(void); /* asked of the system since the last mem_fail_at */

#endif
