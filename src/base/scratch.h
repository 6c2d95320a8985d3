/* Memory that one call leaves to the next.
 *
 * Between scratch_enter and scratch_leave, blocks that this thread frees by mem_free are
 * kept, and mem_alloc takes a kept block before it asks the system for one: a call that is
 * made again allocates nothing, and who allocates need not know.  A block is always an
 * allocation of its own, so that one which outlives the call is freed like any other.
 *
 * A shelf has places for several calls at the same time.  Each takes a place of its own; one
 * that finds none free does without, so that nobody waits. */
#ifndef QRM_BASE_SCRATCH_H
#define QRM_BASE_SCRATCH_H

#include <stdatomic.h>
#include <stddef.h>

enum {
    NOT_KEPT = -1,     /* the size of a block that is freed at once             */
    BLOCK_LINE = 64,   /* bytes: blocks start and end on cache lines            */
    BLOCK_SIZES = 128, /* sizes of blocks that can be kept                      */
    SHELF_PLACES = 16  /* calls at the same time that have a scratch each       */
};

/* Stands on a line of its own before what mem_alloc gives. */
typedef struct mem_block {
    struct mem_block *next;
    size_t bytes; /* behind this line                                      */
    int size;     /* its number among the sizes that are kept, or NOT_KEPT */
    unsigned call;
} mem_block;

typedef struct {
    atomic_int taken;
    unsigned call;                /* counts the calls                            */
    size_t bytes, most;           /* kept now, and at most                       */
    mem_block *kept[BLOCK_SIZES]; /* by size, the last one freed first           */
} scratch;

typedef struct {
    scratch place[SHELF_PLACES];
} scratch_shelf; /* all zero: empty */

/* What this thread used before, for scratch_leave: calls may be nested. */
typedef struct {
    scratch *own, *before;
} scratch_visit;

/* Up to `most` bytes stay on the shelf's place after the call. */
scratch_visit scratch_enter(scratch_shelf *shelf, double most);
void scratch_leave(scratch_visit visit);

/* While no call is under way. */
void scratch_shelf_free(scratch_shelf *shelf);

/* ---- for memory.c ---- */

/* A new block for `bytes` bytes; NULL: out of memory. */
mem_block *mem_block_new(size_t bytes);

/* A kept block with room for `bytes` bytes, or NULL. */
mem_block *scratch_take(size_t bytes);

/* Keeps the block for scratch_take, or frees it. */
void mem_block_free(mem_block *b);

#endif
