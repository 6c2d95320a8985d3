/* Blocks of near rows (boxes of median splits), a random order of the blocks, and for every target
 * block the nearest rows among the earlier ones (earlier_rows.h).  The parts hold what is given,
 * farthest first, then the block.
 *
 * In a team rows are divided.  Where targets are few among many rows, blocks are searched for where
 * the rows are; otherwise there are not many rows, and every process gets all of them. */
#include "train/vecchia.h"

#include "base/memory.h"
#include "base/random.h"
#include "gp/points.h"
#include "linalg/blas.h"
#include "near/boxes.h"
#include "near/scattered_search.h"
#include "rows/scattered.h"
#include "team/work.h"
#include "train/earlier_rows.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDEX_FROM = 4
}; /* times as many rows as targets: search by index, and where any other row may be found */

/* ---- Blocks in a random order ---- */

/* Block b is the turn[b]-th, and the turn-th has the places first[turn] .. first[turn+1]-1.  The
 * last ones are the targets, which see the data nearly as dense as a query will. */
typedef struct {
    size_t blocks, targets;
    size_t *turn;  /* blocks     */
    size_t *first; /* blocks + 1 */
} block_order;

static void block_order_free(block_order *b)
{
    mem_free(b->turn);
    mem_free(b->first);
}

/* Sizes of blocks are known before their rows are: see boxed_rows. */
static size_t block_rows(const vecchia_problem *p, size_t blocks, size_t b)
{
    return p->rows->n / blocks + (b < p->rows->n % blocks);
}

static size_t count_targets(const vecchia_problem *p, const block_order *b)
{
    size_t rows = 0, count = 0;
    while (count < b->blocks && (p->targets == 0 || rows < p->targets)) {
        count++;
        rows = p->rows->n - b->first[b->blocks - count];
    }
    return count;
}

static quorum_status order_blocks(const vecchia_problem *p, block_order *b)
{
    *b = (block_order){.blocks = (p->rows->n + p->block - 1) / p->block};
    if (!NEW_ARRAY(b->turn, b->blocks) || !NEW_ARRAY(b->first, b->blocks + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu training blocks", b->blocks);
    for (size_t k = 0; k < b->blocks; k++)
        b->turn[k] = k;
    rng r = rng_seed(p->seed, STREAM_ORDER);
    rng_shuffle(&r, b->turn, b->blocks);
    b->first[0] = 0;
    for (size_t k = 0; k < b->blocks; k++)
        b->first[b->turn[k] + 1] = block_rows(p, b->blocks, k);
    for (size_t t = 0; t < b->blocks; t++)
        b->first[t + 1] += b->first[t];
    b->targets = count_targets(p, b);
    return QUORUM_OK;
}

/* ---- Rows in that order ---- */

static void ordered_rows_free(ordered_rows *o)
{
    mem_free(o->place);
    mem_free(o->row);
    mem_free(o->Z);
    mem_free(o->norm);
}

/* Blocks of one row need no boxes; a team's rows do, so that near rows come together. */
static size_t count_boxes(const vecchia_problem *p, const scattered_rows *rows,
                          const block_order *b)
{
    size_t few = rows->whole ? 1 : near_boxes();
    if (p->block > 1)
        return b->blocks;
    return few < p->rows->n ? few : p->rows->n;
}

/* Scaled rows, and the boxes that they are in. */
typedef struct {
    const vecchia_problem *p;
    const scattered_rows *rows;
    double *Z; /* D x held rows; `boxed` may lie in it */
    boxed_rows boxed;
} scaled_boxes;

static void scaled_boxes_free(scaled_boxes *s)
{
    boxed_rows_free(&s->boxed);
    mem_free(s->Z);
    s->Z = NULL;
}

/* Boxes in the scaled rows.  Where rows are divided, it fails for all or for none. */
static quorum_status box_blocks(const block_order *b, scaled_boxes *s)
{
    const vecchia_problem *p = s->p;
    const row_set *held = &s->rows->held;
    quorum_status ready = QUORUM_OK;
    if (NEW_ARRAY(s->Z, held->n * held->D))
        scale_inputs(held->n, held->D, held->X, p->lengthscale, s->Z);
    else
        ready = failure(QUORUM_E_MEMORY, "out of memory for training on %zu rows", p->rows->n);
    scattered_rows rows = *s->rows;
    rows.held.X = s->Z;
    box_problem boxes = {.rows = &rows, .parts = count_boxes(p, s->rows, b), .threads = p->threads};
    return box_rows(ready, &boxes, &s->boxed);
}

/* place[i] of the i-th boxed row: behind those of its block that come before it. */
static quorum_status find_places(const vecchia_problem *p, const block_order *b,
                                 const boxed_rows *boxed, size_t *place)
{
    size_t low = SIZE_MAX, high = 0, *seen;
    for (size_t i = 0; i < boxed->rows.n; i++) {
        low = boxed->label[i] < low ? boxed->label[i] : low;
        high = boxed->label[i] >= high ? boxed->label[i] + 1 : high;
    }
    if (!NEW_ZEROED(seen, high > low ? high - low : 1))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu training blocks", b->blocks);
    for (size_t i = 0; i < boxed->rows.n; i++)
        place[i] = p->block > 1 ? b->first[b->turn[boxed->label[i]]] + seen[boxed->label[i] - low]++
                                : b->first[b->turn[boxed->row[i]]];
    mem_free(seen);
    return QUORUM_OK;
}

/* The boxed rows by their places. */
static quorum_status sort_rows(const boxed_rows *boxed, const size_t *place, ordered_rows *o)
{
    uint32_t *at; /* n: which boxed row has a place, from 1 */
    size_t to = 0;
    if (!NEW_ZEROED(at, o->n))
        return failure(QUORUM_E_MEMORY, "out of memory for ordering %zu rows", o->n);
    for (size_t i = 0; i < boxed->rows.n; i++)
        at[place[i]] = (uint32_t)(i + 1);
    for (size_t k = 0; k < o->n; k++) {
        if (at[k] == 0)
            continue;
        size_t i = at[k] - 1;
        double *z = o->Z + to * o->D;
        o->place[to] = k;
        o->row[to] = boxed->row[i];
        memcpy(z, boxed->rows.X + i * o->D, o->D * sizeof *z);
        o->norm[to++] = vec_dot(o->D, z, z);
    }
    mem_free(at);
    return QUORUM_OK;
}

static quorum_status place_rows(const vecchia_problem *p, const block_order *b,
                                const boxed_rows *boxed, ordered_rows *o)
{
    size_t *place;
    *o = (ordered_rows){.n = p->rows->n, .D = p->rows->held.D, .count = boxed->rows.n};
    NEW_ARRAY(place, o->count);
    NEW_ARRAY(o->place, o->count);
    NEW_ARRAY(o->row, o->count);
    NEW_ARRAY(o->Z, o->count * o->D);
    NEW_ARRAY(o->norm, o->count);
    quorum_status status = QUORUM_OK;
    if (!place || !o->place || !o->row || !o->Z || !o->norm)
        status = failure(QUORUM_E_MEMORY, "out of memory for training on %zu rows", p->rows->n);
    if (status == QUORUM_OK)
        status = find_places(p, b, boxed, place);
    if (status == QUORUM_OK)
        status = sort_rows(boxed, place, o);
    mem_free(place);
    return status;
}

/* ---- The targets ---- */

typedef struct {
    size_t start, total; /* their places: start .. start + total - 1          */
    size_t *row;         /* total: numbers of the rows                        */
    row_set rows;        /* likewise: the rows                                */
    double *centre;      /* D x blocks: the mean of each block's scaled rows  */
} target_rows;

static void target_rows_free(target_rows *t)
{
    mem_free(t->row);
    rows_free(&t->rows);
    mem_free(t->centre);
}

static quorum_status target_rows_new(const row_set *like, const target_search *s, target_rows *t)
{
    const ordered_rows *o = s->rows;
    TRY(rows_new(like, t->total, &t->rows));
    NEW_ZEROED(t->row, t->total);
    NEW_ZEROED(t->centre, s->count * o->D);
    if (!t->row || !t->centre)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu training blocks", s->count);
    for (size_t i = 0; i < o->count; i++)
        if (o->place[i] >= t->start)
            t->row[o->place[i] - t->start] = o->row[i];
    return QUORUM_OK;
}

static void find_centres(const vecchia_problem *p, const target_search *s, const target_rows *t)
{
    size_t D = t->rows.D;
    scale_inputs(t->rows.n, D, t->rows.X, p->lengthscale, t->rows.X);
    for (size_t e = 0; e < s->count; e++)
        for (size_t i = s->first[e]; i < s->first[e + 1]; i++)
            for (size_t d = 0; d < D; d++)
                t->centre[e * D + d] +=
                    t->rows.X[(i - t->start) * D + d] / (double)(s->first[e + 1] - s->first[e]);
}

/* The targets' rows: their numbers from whoever placed them, then what is in them. */
static quorum_status find_targets(quorum_status ready, const vecchia_problem *p,
                                  const scattered_rows *rows, target_search *s, target_rows *t)
{
    *t = (target_rows){.start = s->first[0], .total = p->rows->n - s->first[0]};
    if (ready >= 0)
        ready = target_rows_new(&rows->held, s, t);
    ready = rows_fill(ready, rows, t->row, t->total);
    ready = rows_fetch(ready, rows, t->row, t->total, &t->rows);
    if (ready >= 0 && t->centre)
        find_centres(p, s, t);
    s->centre = t->centre;
    return ready;
}

/* ---- The parts ---- */

/* Room for as many rows as may be found, so that nobody lacks it after the search. */
static quorum_status make_room(const vecchia_problem *p, const row_set *like, size_t targets,
                               target_search *s, vecchia_parts *v)
{
    size_t most = targets + s->count * (p->given + (p->with_far ? FAR_MOST : 0));
    TRY(rows_new(like, most, &v->parts.rows));
    NEW_ARRAY(s->found, s->count * s->given);
    NEW_ARRAY(s->found_count, s->count);
    NEW_ARRAY(v->given, s->count);
    NEW_ARRAY(v->all, s->count);
    NEW_ARRAY(v->parts.offset, s->count + 1);
    NEW_ARRAY(v->row, most);
    if (s->found && s->found_count && v->given && v->all && v->parts.offset && v->row)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for %zu training blocks", s->count);
}

/* The list of all parts' rows: far ones, then those found, which come farthest first too and of
 * which the last `skip` are passed over, then the block's. */
static void list_rows(const target_search *s, size_t skip, const far_rows *far,
                      const target_rows *t, vecchia_parts *v)
{
    size_t to = 0;
    for (size_t e = 0; e < s->count; e++) {
        size_t near = s->found_count[e] > skip ? s->found_count[e] - skip : 0;
        v->all[e] = e;
        v->parts.offset[e] = to;
        for (size_t i = 0; far->count && i < far->count[e]; i++)
            v->row[to++] = far->row[e * FAR_MOST + i];
        for (size_t i = 0; i < near; i++)
            v->row[to++] = s->found[e * s->given + i];
        v->given[e] = to - v->parts.offset[e];
        for (size_t i = s->first[e]; i < s->first[e + 1]; i++)
            v->row[to++] = t->row[i - t->start];
    }
    v->parts.offset[s->count] = to;
}

static quorum_status gather(const scattered_rows *rows, size_t skip, const target_search *s,
                            const far_rows *far, const target_rows *t, vecchia_parts *v)
{
    list_rows(s, skip, far, t, v);
    v->parts.M = s->count;
    v->parts.rows.n = v->parts.offset[s->count];
    return rows_fetch(QUORUM_OK, rows, v->row, v->parts.rows.n, &v->parts.rows);
}

/* Nearest rows, then those far ones that are wanted. */
static quorum_status search_rows(quorum_status ready, const vecchia_problem *p,
                                 const block_order *b, search_way search, const target_search *s,
                                 far_rows *far)
{
    placed_blocks placed = {.blocks = b->blocks, .targets = b->targets, .first = b->first};
    TRY(search(ready, s));
    return p->with_far ? far_rows_find(&placed, s, search, far) : QUORUM_OK;
}

/* What fails on one process alone goes on as `ready`, until a call that all make. */
static quorum_status parts_of_boxes(quorum_status ready, scaled_boxes *boxes, const block_order *b,
                                    search_way search, vecchia_parts *v)
{
    const vecchia_problem *p = boxes->p;
    ordered_rows o = {0};
    target_rows t;
    far_rows far = {0};
    target_search s = {.rows = &o,
                       .count = b->targets,
                       .first = b->first + b->blocks - b->targets,
                       .block = p->block,
                       .given = p->given + p->skip,
                       .others = p->others,
                       .threads = p->threads};
    if (ready >= 0)
        ready = place_rows(p, b, &boxes->boxed, &o);
    scaled_boxes_free(boxes);
    ready = find_targets(ready, p, boxes->rows, &s, &t);
    if (ready >= 0)
        ready = make_room(p, &boxes->rows->held, t.total, &s, v);
    quorum_status status = search_rows(ready, p, b, search, &s, &far);
    ordered_rows_free(&o);
    if (ready >= 0 && status == QUORUM_OK)
        status = gather(boxes->rows, p->skip, &s, &far, &t, v);
    target_rows_free(&t);
    mem_free(s.found);
    mem_free(s.found_count);
    far_rows_free(&far);
    return status;
}

static quorum_status parts_by_index(const vecchia_problem *p, const block_order *b,
                                    vecchia_parts *v)
{
    scaled_boxes boxes = {.p = p, .rows = p->rows};
    quorum_status status = box_blocks(b, &boxes);
    if (status == QUORUM_OK)
        status = parts_of_boxes(QUORUM_OK, &boxes, b, earlier_rows_by_index, v);
    scaled_boxes_free(&boxes);
    return status;
}

/* All rows are here, and what is done before the search every process does by itself. */
static quorum_status parts_by_scan(const vecchia_problem *p, const block_order *b,
                                   const scattered_rows *rows, vecchia_parts *v)
{
    scaled_boxes boxes = {.p = p, .rows = rows};
    quorum_status ready = box_blocks(b, &boxes);
    quorum_status status = parts_of_boxes(ready, &boxes, b, earlier_rows_by_scan, v);
    scaled_boxes_free(&boxes);
    return status;
}

static quorum_status gather_and_scan(const vecchia_problem *p, const block_order *b,
                                     vecchia_parts *v)
{
    row_set all;
    quorum_status status = rows_gather(QUORUM_OK, p->rows, &all);
    scattered_rows whole = rows_whole(&all);
    if (status == QUORUM_OK)
        status = parts_by_scan(p, b, &whole, v);
    rows_free(&all);
    return status;
}

static quorum_status parts_of_order(const vecchia_problem *p, const block_order *b,
                                    vecchia_parts *v)
{
    if (p->others || p->rows->n > INDEX_FROM * b->targets * p->block)
        return parts_by_index(p, b, v);
    return team_is_alone() ? parts_by_scan(p, b, p->rows, v) : gather_and_scan(p, b, v);
}

typedef struct {
    const vecchia_problem *p;
    block_order order;
} ordering;

static quorum_status order_problem(void *context)
{
    ordering *o = context;
    return order_blocks(o->p, &o->order);
}

/* Which way the parts are found depends on the order of the blocks: first all have to have it. */
quorum_status vecchia_parts_new(const vecchia_problem *p, vecchia_parts *out)
{
    ordering o = {.p = p};
    vecchia_parts v = {0};
    quorum_status status = team_all(QUORUM_OK, order_problem, &o);
    if (status == QUORUM_OK)
        status = parts_of_order(p, &o.order, &v);
    block_order_free(&o.order);
    if (status < 0)
        vecchia_parts_free(&v);
    else
        *out = v;
    return status;
}

void vecchia_parts_free(vecchia_parts *v)
{
    mem_free(v->given);
    mem_free(v->all);
    mem_free(v->row);
    parts_free(&v->parts);
    *v = (vecchia_parts){0};
}
