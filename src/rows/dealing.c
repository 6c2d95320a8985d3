/* Reading rows: by one process into room that grows, or dealt to many.
 *
 * Block b of DEAL rows goes to rank b mod R.  In the end a rank sends each other rank those of its
 * blocks' rows that are in that one's slice; what comes from one rank is in the order of the rows.
 * Either way at most two copies are there at once, within the memory that the caller has. */
#include "rows/dealing.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "team/team.h"

#include <string.h>

enum {
    FIRST_ROOM = 4096,       /* rows, where a file does not say how many it has */
    DEAL = 4096,             /* rows of a block that is dealt                   */
    BLOCK_NUMBERS = 1 << 19, /* of a block that is read alone, at most ... */
    SHARE = 16,              /* ... of what memory has room for                 */
    PLACED = 2048            /* rows that a thread brings to their place at once */
};

static size_t width_of(const row_source *s)
{
    return row_width(&s->like);
}

/* ---- Room, within the memory option ---- */

static quorum_status fail_memory(const char *name, size_t rows, const row_source *s)
{
    return failure(QUORUM_E_MEMORY,
                   "%s: reading more than %zu rows of %zu columns takes more than memory, which is "
                   "%.0f MB; give more with --memory, or fewer rows or columns",
                   name, rows, width_of(s), s->memory / (1 << 20));
}

/* How many rows there is room for next: twice as many, or as many as memory allows while the old
 * ones are still there; 0: not a tenth more. */
static size_t next_room(size_t room, const row_source *s)
{
    double bytes = (double)width_of(s) * sizeof(double), most = s->memory / bytes - (double)room;
    if (most < 1.1 * (double)room)
        return 0;
    return most < 2.0 * (double)room ? (size_t)most : 2 * room;
}

/* ---- Alone: block after block, whose rows go to their place while they are at hand ---- */

/* All of them where the file says how many. */
static size_t first_room(const row_source *s)
{
    size_t rows = s->expected > 0 ? s->expected + 1 : FIRST_ROOM; /* + 1: sees the end */
    double most = s->memory / ((double)width_of(s) * sizeof(double));
    return most < 1.0 ? 0 : most < (double)rows ? (size_t)most : rows;
}

static quorum_status grow_rows(const row_source *s, row_set *rows)
{
    row_set larger;
    size_t more = next_room(rows->n, s);
    if (more == 0)
        return fail_memory(s->name, rows->n, s);
    TRY(rows_new(&s->like, more, &larger));
    rows_copy(rows, 0, rows->n, &larger, 0);
    rows_free(rows);
    *rows = larger;
    return QUORUM_OK;
}

/* `count` rows as they came, which become rows `first` .. of `to`. */
typedef struct {
    const double *block;
    size_t width, count, first;
    row_set *to;
} placing;

static quorum_status place_rows(void *context, size_t item, int worker)
{
    const placing *p = context;
    size_t end = (item + 1) * PLACED < p->count ? (item + 1) * PLACED : p->count;
    (void)worker;
    for (size_t i = item * PLACED; i < end; i++)
        row_unpack(p->block + i * p->width, p->to, p->first + i);
    return QUORUM_OK;
}

static quorum_status read_blocks(const row_source *s, size_t most, double *block, size_t *n,
                                 row_set *rows)
{
    placing p = {.block = block, .width = width_of(s), .to = rows};
    do {
        if (*n == rows->n)
            TRY(grow_rows(s, rows));
        size_t room = rows->n - *n;
        TRY(s->next(s->context, room < most ? room : most, block, &p.count));
        p.first = *n;
        TRY(parallel_for(s->threads > 1 ? s->threads : 1, (p.count + PLACED - 1) / PLACED,
                         place_rows, &p));
        *n += p.count;
    } while (p.count > 0);
    return QUORUM_OK;
}

/* Rows of a block: a small share of the memory. */
static size_t block_rows(const row_source *s)
{
    double numbers = s->memory / (SHARE * sizeof(double));
    size_t rows = (size_t)(numbers < BLOCK_NUMBERS ? numbers : BLOCK_NUMBERS) / width_of(s);
    return rows > 1 ? rows : 1;
}

static quorum_status read_alone(const row_source *s, size_t *n, row_set *held)
{
    double *block = NULL;
    size_t room = first_room(s), most = block_rows(s);
    quorum_status status;
    if (room == 0)
        return fail_memory(s->name, room, s);
    TRY_OR_DONE(rows_new(&s->like, room, held));
    if (!NEW_ARRAY(block, most * width_of(s)))
        status = failure(QUORUM_E_MEMORY, "out of memory for reading %s", s->name);
    else
        status = read_blocks(s, most, block, n, held);
    held->n = *n;
done:
    mem_free(block);
    if (status < 0)
        rows_free(held);
    return status;
}

/* ---- Dealt ---- */

typedef struct {
    const row_source *source;
    size_t width;
    double *block;                /* DEAL x width: as read                     */
    double *mine;                 /* room x width: blocks dealt to this rank   */
    size_t count, room;           /* rows                                      */
    size_t *out_bytes, *in_bytes; /* ranks                           */
} dealing;

static void dealing_free(dealing *t)
{
    mem_free(t->block);
    mem_free(t->mine);
    mem_free(t->out_bytes);
    mem_free(t->in_bytes);
}

static quorum_status dealing_new(const row_source *s, dealing *t)
{
    size_t ranks = (size_t)team_size();
    *t = (dealing){.source = s, .width = width_of(s)};
    NEW_ARRAY(t->block, DEAL * t->width);
    NEW_ARRAY(t->out_bytes, ranks);
    NEW_ARRAY(t->in_bytes, ranks);
    if (t->block && t->out_bytes && t->in_bytes)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for reading");
}

/* A full block, unless the file ends. */
static quorum_status read_block(const dealing *t, size_t *rows)
{
    const row_source *s = t->source;
    size_t got = 1;
    *rows = 0;
    while (team_rank() == 0 && *rows < DEAL && got > 0) {
        TRY(s->next(s->context, DEAL - *rows, t->block + *rows * t->width, &got));
        *rows += got;
    }
    return QUORUM_OK;
}

static quorum_status make_room(dealing *t)
{
    size_t room = t->room == 0 ? DEAL : next_room(t->room, t->source);
    if (t->count + DEAL <= t->room)
        return QUORUM_OK;
    if (room < t->room + DEAL)
        return fail_memory("a process's share", t->count, t->source);
    double *more = mem_grow(t->mine, t->count * t->width, room * t->width, sizeof *more);
    if (!more)
        return failure(QUORUM_E_MEMORY, "out of memory for more than %zu rows", t->count);
    t->mine = more;
    t->room = room;
    return QUORUM_OK;
}

/* The block of `rows` rows goes from rank 0 to rank `to`. */
static void deal_block(dealing *t, int to, size_t rows)
{
    size_t bytes = rows * t->width * sizeof *t->block;
    for (int k = 0; k < team_size(); k++)
        t->out_bytes[k] = t->in_bytes[k] = 0;
    if (team_rank() == 0)
        t->out_bytes[to] = bytes;
    if (team_rank() == to)
        t->in_bytes[0] = bytes;
    team_exchange(t->block, t->out_bytes, t->mine + t->count * t->width, t->in_bytes, 1);
    t->count += team_rank() == to ? rows : 0;
}

static quorum_status deal_blocks(dealing *t, size_t *n)
{
    size_t rows = DEAL;
    for (int to = 0; rows == DEAL; to = (to + 1) % team_size()) {
        quorum_status status = read_block(t, &rows);
        if (status == QUORUM_OK && team_rank() == to)
            status = make_room(t);
        TRY(team_agree(status));
        team_send(&rows, sizeof rows);
        deal_block(t, to, rows);
        *n += rows;
    }
    return QUORUM_OK;
}

/* ---- From those they were dealt to, to those that hold them ---- */

/* How many of the rows before this one were dealt to a rank. */
static size_t dealt_before(size_t row, int rank)
{
    size_t ranks = (size_t)team_size(), round = DEAL * ranks, r = (size_t)rank;
    size_t rest = row % round, first = r * DEAL;
    return row / round * DEAL + (rest <= first ? 0 : rest - first < DEAL ? rest - first : DEAL);
}

static size_t dealt_between(team_slice rows, int rank)
{
    return dealt_before(rows.first + rows.count, rank) - dealt_before(rows.first, rank);
}

static void count_exchange(dealing *t, size_t n, team_slice held)
{
    size_t bytes = t->width * sizeof *t->mine;
    for (int k = 0; k < team_size(); k++) {
        team_slice theirs = slice_of(n, ROWS_STEP, k, team_size());
        t->out_bytes[k] = dealt_between(theirs, team_rank()) * bytes;
        t->in_bytes[k] = dealt_between(held, k) * bytes;
    }
}

/* What came from rank r, in its order, to the places that the rows have in the slice. */
static const double *put_dealt(const dealing *t, team_slice held, int r, const double *came,
                               row_set *to)
{
    size_t ranks = (size_t)team_size();
    for (size_t i = 0; i < held.count; i++) {
        if ((held.first + i) / DEAL % ranks != (size_t)r)
            continue;
        row_unpack(came, to, i);
        came += t->width;
    }
    return came;
}

/* Room for what comes, beside what was dealt. */
static quorum_status room_to_settle(const dealing *t, size_t rows, double **came)
{
    double bytes = (double)(t->room + rows) * (double)t->width * sizeof **came;
    if (bytes > t->source->memory)
        return fail_memory("a process's share", rows, t->source);
    return NEW_ARRAY(*came, rows * t->width)
               ? QUORUM_OK
               : failure(QUORUM_E_MEMORY, "out of memory for %zu rows", rows);
}

/* Room for the rows as they will be, once those that were dealt are gone. */
static quorum_status room_for_held(dealing *t, size_t rows, row_set *out)
{
    mem_free(t->mine);
    t->mine = NULL;
    return rows_new(&t->source->like, rows, out);
}

static quorum_status settle(dealing *t, size_t n, row_set *out)
{
    quorum_status status;
    team_slice held = my_slice(n, ROWS_STEP);
    double *came = NULL;
    count_exchange(t, n, held);
    TRY_OR_DONE(team_agree(room_to_settle(t, held.count, &came)));
    team_exchange(t->mine, t->out_bytes, came, t->in_bytes, 1);
    TRY_OR_DONE(team_agree(room_for_held(t, held.count, out)));
    const double *next = came;
    for (int r = 0; r < team_size(); r++)
        next = put_dealt(t, held, r, next, out);
done:
    mem_free(came);
    return status;
}

static quorum_status read_together(quorum_status ready, const row_source *s, size_t *n,
                                   row_set *held)
{
    dealing t = {0};
    if (ready >= 0)
        ready = dealing_new(s, &t);
    quorum_status status = team_agree(ready);
    if (status >= 0)
        status = deal_blocks(&t, n);
    if (status >= 0)
        status = settle(&t, *n, held);
    dealing_free(&t);
    return status;
}

quorum_status rows_deal(quorum_status ready, const row_source *source, size_t *n, row_set *held)
{
    *n = 0;
    *held = (row_set){.D = source->like.D};
    if (!team_is_alone())
        return read_together(ready, source, n, held);
    return ready >= 0 ? read_alone(source, n, held) : ready;
}
