/* The memory that OpenBLAS works in, taken before it is needed.
 *
 * OpenBLAS keeps a buffer of 128 MB of address space for each call that runs at a time, mapped
 * when first used and kept for ever.  Where there is none to be had, as under ulimit -v, it asks
 * again without end.  So the buffers are taken here, at a time when a failure can still be told:
 * after a mapping of that size on trial, and with mmap as OpenBLAS calls it (the linker's
 * --wrap=mmap) leading back here when it fails all the same. */
#include "linalg/blas.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>

enum { MOST_CALLS = 128 }; /* that OpenBLAS has places for */
static const size_t BUFFER_BYTES = (size_t)128 << 20;

extern void *blas_memory_alloc(int procpos) __attribute__((weak)); /* absent: another BLAS */
extern void blas_memory_free(void *buffer) __attribute__((weak));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int reserved;                   /* calls that have their buffers */
static _Thread_local jmp_buf *way_out; /* of the mapping that fails; NULL: none is reserved now */

void *__real_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
    __attribute__((weak));
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    void *p = __real_mmap(address, bytes, protection, flags, file, offset);
    if (p == MAP_FAILED && way_out)
        longjmp(*way_out, 1);
    return p;
}

static int can_map(void)
{
    void *p = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED && munmap(p, BUFFER_BYTES) == 0;
}

/* A buffer, new where all are in use; NULL: there is no memory.  (OpenBLAS's place for the buffer
 * is lost then: it has many, and a trial went before.) */
static void *take_buffer(void)
{
    jmp_buf out;
    void *volatile buffer = NULL;
    if (!can_map())
        return NULL;
    if (setjmp(out) == 0) {
        way_out = &out;
        buffer = blas_memory_alloc(0);
    }
    way_out = NULL;
    return buffer;
}

/* All at once, so that each is another one. */
static int take_buffers(int calls)
{
    void *buffer[MOST_CALLS];
    int taken = 0;
    while (taken < calls && (buffer[taken] = take_buffer()))
        taken++;
    for (int i = 0; i < taken; i++)
        blas_memory_free(buffer[i]);
    return taken;
}

int blas_reserve(int calls)
{
    int wanted = calls < MOST_CALLS ? calls : MOST_CALLS;
    if (!blas_memory_alloc)
        return calls;
    pthread_mutex_lock(&lock);
    if (reserved < wanted) {
        int taken = take_buffers(wanted);
        reserved = taken > reserved ? taken : reserved;
    }
    int ready = reserved;
    pthread_mutex_unlock(&lock);
    return ready < wanted ? ready : calls;
}

quorum_status blas_check(void)
{
    return blas_reserve(1) > 0
               ? QUORUM_OK
               : failure(QUORUM_E_MEMORY,
                         "out of memory for linear algebra, which takes %zu MB of address space "
                         "per thread: raise the limit (ulimit -v)",
                         BUFFER_BYTES >> 20);
}
