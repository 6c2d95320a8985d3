/* Blocks of near rows (kd-tree), a random order of the blocks, and for every target block the
 * nearest rows among the earlier ones: by a scan over all earlier rows, or, where targets are
 * few among many rows, by an index over all.  The parts hold what is given, farthest first, then
 * the block. */
#include "train/vecchia.h"

#include "base/memory.h"
#include "base/random.h"
#include "near/boxes.h"
#include "near/scattered_search.h"
#include "near/neighbours.h"
#include "near/ranked.h"
#include "rows/rows.h"
#include "linalg/blas.h"
#include "team/team.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDEX_FROM = 4, /* times as many rows as targets: search by index  */
    INDEX_CHUNK = 2048,
    GROUP = 32, /* targets and rows of one product of the search   */
    TILE = 1024
};

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
    return p->n / blocks + (b < p->n % blocks);
}

static size_t count_targets(const vecchia_problem *p, const block_order *b)
{
    size_t rows = 0, count = 0;
    while (count < b->blocks && (p->targets == 0 || rows < p->targets)) {
        count++;
        rows = p->n - b->first[b->blocks - count];
    }
    return count;
}

static quorum_status order_blocks(const vecchia_problem *p, block_order *b)
{
    *b = (block_order){.blocks = (p->n + p->block - 1) / p->block};
    if (!NEW_ARRAY(b->turn, b->blocks) || !NEW_ARRAY(b->first, b->blocks + 1)) {
        block_order_free(b);
        return failure(QUORUM_E_MEMORY, "out of memory for %zu training blocks", b->blocks);
    }
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

/* This rank's rows: all, or those of some of the kd-tree's boxes. */
typedef struct {
    size_t n, D; /* of all ranks                   */
    size_t count;
    size_t *place; /* count: ascending               */
    size_t *row;   /* count: numbers of the rows     */
    double *Z;     /* D x count: scaled rows         */
    double *norm;  /* count: |z|^2                   */
} ordering;

static void ordering_free(ordering *o)
{
    mem_free(o->place);
    mem_free(o->row);
    mem_free(o->Z);
    mem_free(o->norm);
}

static sliced_rows rows_of(const vecchia_problem *p)
{
    return (sliced_rows){.n = p->n, .D = p->D, .X = p->X, .y = p->y, .whole = p->whole};
}

static void scale_rows(const vecchia_problem *p, size_t count, const double *X, double *Z)
{
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < p->D; d++)
            Z[i * p->D + d] = X[i * p->D + d] / p->lengthscale[d];
}

/* Blocks of one row need no boxes; a team's rows do, so that near rows come to one rank. */
static size_t count_boxes(const vecchia_problem *p, const block_order *b)
{
    size_t few = p->whole || team_size() == 1 ? 1 : 8 * (size_t)team_size();
    if (p->block > 1)
        return b->blocks;
    return few < p->n ? few : p->n;
}

/* place[i] of the i-th boxed row: behind those of its block that come before it. */
static quorum_status find_places(const vecchia_problem *p, const block_order *b,
                                 const boxed_rows *boxed, size_t *place)
{
    size_t low = SIZE_MAX, high = 0, *seen;
    for (size_t i = 0; i < boxed->count; i++) {
        low = boxed->label[i] < low ? boxed->label[i] : low;
        high = boxed->label[i] >= high ? boxed->label[i] + 1 : high;
    }
    if (!NEW_ZEROED(seen, high > low ? high - low : 1))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu training blocks", b->blocks);
    for (size_t i = 0; i < boxed->count; i++)
        place[i] = p->block > 1 ? b->first[b->turn[boxed->label[i]]] + seen[boxed->label[i] - low]++
                                : b->first[b->turn[boxed->row[i]]];
    mem_free(seen);
    return QUORUM_OK;
}

/* The boxed rows by their places. */
static quorum_status sort_rows(const boxed_rows *boxed, const size_t *place, ordering *o)
{
    uint32_t *at; /* n: which boxed row has a place, from 1 */
    size_t to = 0;
    if (!NEW_ZEROED(at, o->n))
        return failure(QUORUM_E_MEMORY, "out of memory for ordering %zu rows", o->n);
    for (size_t i = 0; i < boxed->count; i++)
        at[place[i]] = (uint32_t)(i + 1);
    for (size_t k = 0; k < o->n; k++) {
        if (at[k] == 0)
            continue;
        size_t i = at[k] - 1;
        double *z = o->Z + to * o->D;
        o->place[to] = k;
        o->row[to] = boxed->row[i];
        memcpy(z, boxed->X + i * o->D, o->D * sizeof *z);
        o->norm[to++] = vec_dot(o->D, z, z);
    }
    mem_free(at);
    return QUORUM_OK;
}

static quorum_status place_rows(const vecchia_problem *p, const block_order *b,
                                const boxed_rows *boxed, ordering *o)
{
    size_t *place;
    *o = (ordering){.n = p->n, .D = p->D, .count = boxed->count};
    NEW_ARRAY(place, o->count);
    NEW_ARRAY(o->place, o->count);
    NEW_ARRAY(o->row, o->count);
    NEW_ARRAY(o->Z, o->count * o->D);
    NEW_ARRAY(o->norm, o->count);
    quorum_status status = QUORUM_OK;
    if (!place || !o->place || !o->row || !o->Z || !o->norm)
        status = failure(QUORUM_E_MEMORY, "out of memory for training on %zu rows", p->n);
    if (status == QUORUM_OK)
        status = find_places(p, b, boxed, place);
    if (status == QUORUM_OK)
        status = sort_rows(boxed, place, o);
    mem_free(place);
    if (status < 0) {
        ordering_free(o);
        *o = (ordering){0};
    }
    return status;
}

static quorum_status order_rows(const vecchia_problem *p, const block_order *b, ordering *o)
{
    sliced_rows rows = rows_of(p);
    size_t held = held_rows(&rows).count;
    boxed_rows boxed = {0};
    double *Z;
    NEW_ARRAY(Z, held * p->D);
    quorum_status status = team_agree(
        Z ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for training on %zu rows", p->n));
    if (status == QUORUM_OK) {
        scale_rows(p, held, p->X, Z);
        rows.X = Z;
        box_problem boxes = {.rows = &rows, .parts = count_boxes(p, b), .threads = p->threads};
        status = box_rows(QUORUM_OK, &boxes, &boxed);
    }
    if (status == QUORUM_OK)
        status = team_agree(place_rows(p, b, &boxed, o));
    boxed_rows_free(&boxed);
    mem_free(Z);
    return status;
}

/* ---- The nearest earlier rows ---- */

typedef struct {
    const vecchia_problem *p;
    const ordering *o;
    size_t count;        /* target blocks: the last of the order              */
    const size_t *first; /* count + 1: their places                           */
    size_t *row;         /* first[0] .. n-1: the targets' rows                */
    double *X, *y;       /* likewise                                          */
    double *center;      /* D x count: the mean of each target's scaled rows  */
    size_t *found;       /* count x p->given: rows                            */
    size_t *found_count; /* count                                             */
    double *product;     /* per worker: TILE x GROUP                          */
    ranked *items;       /* per worker: GROUP x nearest_room(p->given)        */
} target_search;

/* Candidates are the places before this one. */
static size_t allowed_end(const target_search *s, size_t target)
{
    if (s->p->given == 0)
        return 0;
    return s->p->others ? s->o->n : s->first[target];
}

/* The targets' rows: their numbers from the ranks that placed them, then what is in them. */
static quorum_status find_targets(target_search *s)
{
    const ordering *o = s->o;
    size_t start = s->first[0], total = o->n - start;
    sliced_rows rows = rows_of(s->p);
    NEW_ZEROED(s->row, total);
    NEW_ARRAY(s->X, total * o->D);
    NEW_ARRAY(s->y, total);
    NEW_ZEROED(s->center, s->count * o->D);
    quorum_status status = QUORUM_OK;
    if (!s->row || !s->X || !s->y || !s->center)
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu training blocks", s->count);
    TRY(team_agree(status));
    for (size_t i = 0; i < o->count; i++)
        if (o->place[i] >= start)
            s->row[o->place[i] - start] = o->row[i];
    if (!s->p->whole)
        team_add(s->row, total);
    TRY(rows_fetch(QUORUM_OK, &rows, s->row, total, s->X, s->y));
    for (size_t e = 0; e < s->count; e++)
        for (size_t i = s->first[e]; i < s->first[e + 1]; i++)
            for (size_t d = 0; d < o->D; d++)
                s->center[e * o->D + d] += s->X[(i - start) * o->D + d] / s->p->lengthscale[d] /
                                           (double)(s->first[e + 1] - s->first[e]);
    return QUORUM_OK;
}

/* Offers the places from .. to-1 that are allowed to a target, by |z - c|^2 - |c|^2; product: its
 * column of -2 z.c. */
static void scan_column(const target_search *s, size_t target, size_t from, size_t to,
                        const double *product, nearest *best)
{
    const ordering *o = s->o;
    size_t own = s->first[target], behind = s->first[target + 1];
    size_t end = allowed_end(s, target);
    for (size_t i = from; i < to && i < end; i++)
        if (i < own || i >= behind)
            nearest_offer(best, o->norm[i] + product[i - from], i);
}

/* The rows of the places that a target found, farthest first. */
static void keep_found(const target_search *s, size_t target, nearest *best)
{
    size_t *rows = s->found + target * s->p->given, count = nearest_finish(best, rows, NULL);
    reverse_rows(count, rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = s->o->row[rows[i]];
    s->found_count[target] = count;
}

static quorum_status search_group(void *context, size_t item, int worker)
{
    target_search *s = context;
    const ordering *o = s->o;
    size_t first = item * GROUP, D = o->D, room = nearest_room(s->p->given);
    size_t width = s->count - first < GROUP ? s->count - first : GROUP;
    const double *center = s->center + first * D;
    double *product = s->product + (size_t)worker * TILE * GROUP;
    nearest found[GROUP];
    size_t end = 0;
    for (size_t k = 0; k < width; k++) {
        found[k] = nearest_start(s->p->given, s->items + ((size_t)worker * GROUP + k) * room);
        end = allowed_end(s, first + k) > end ? allowed_end(s, first + k) : end;
    }
    for (size_t from = 0; from < end; from += TILE) {
        size_t to = end - from < TILE ? end : from + TILE;
        blas_gemm('T', 'N', to - from, width, D, -2.0, o->Z + from * D, D, center, D, 0.0, product,
                  TILE);
        for (size_t k = 0; k < width; k++)
            scan_column(s, first + k, from, to, product + k * TILE, &found[k]);
    }
    for (size_t k = 0; k < width; k++)
        keep_found(s, first + k, &found[k]);
    return QUORUM_OK;
}

/* Every rank has all rows: places are columns of Z. */
static quorum_status find_neighbours(target_search *s)
{
    size_t groups = (s->count + GROUP - 1) / GROUP;
    size_t workers = (size_t)parallel_workers(s->p->threads, groups);
    quorum_status status = QUORUM_OK;
    NEW_ARRAY(s->product, workers * TILE * GROUP);
    NEW_ARRAY(s->items, workers * GROUP * nearest_room(s->p->given));
    if (s->product && s->items)
        status = team_deal((int)workers, groups, search_group, s); /* later ones see more rows */
    else
        status = failure(QUORUM_E_MEMORY, "out of memory for the neighbours of %zu training blocks",
                         s->count);
    mem_free(s->product);
    mem_free(s->items);
    TRY(status);
    TRY(team_share_dealt(s->found, s->p->given * sizeof *s->found, s->count, GROUP));
    return team_share_dealt(s->found_count, sizeof *s->found_count, s->count, GROUP);
}

/* ---- The same by an index, where targets are few among many rows ---- */

/* Of the rows around a target, nearest first, the nearest allowed ones, farthest first. */
static void keep_allowed(target_search *s, size_t target, const near_row *around, size_t room)
{
    size_t given = s->p->given, count = 0, *found = s->found + target * given;
    size_t own = s->first[target], behind = s->first[target + 1], end = allowed_end(s, target);
    for (size_t i = 0; i < room && count < given; i++) {
        size_t place = around[i].number;
        if (place < end && (place < own || place >= behind))
            found[count++] = around[i].tag;
    }
    reverse_rows(count, found);
    s->found_count[target] = count;
}

/* home[e]: the rank that has placed target e. */
static void find_homes(const target_search *s, size_t *owner, int *home)
{
    const ordering *o = s->o;
    memset(owner, 0, s->count * sizeof *owner);
    for (size_t i = 0, e = 0; i < o->count; i++) {
        while (e < s->count && s->first[e] < o->place[i])
            e++;
        if (e < s->count && s->first[e] == o->place[i])
            owner[e] = (size_t)team_rank();
    }
    team_add(owner, s->count);
    for (size_t e = 0; e < s->count; e++)
        home[e] = (int)owner[e];
}

/* What every target was given, from its home to all. */
static quorum_status share_found(target_search *s, const int *home)
{
    team_piece *pieces;
    size_t listed = 0, given = s->p->given;
    NEW_ARRAY(pieces, 2 * s->count);
    TRY(team_agree(pieces ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for a message")));
    for (size_t e = 0; e < s->count; e++) {
        pieces[listed++] = (team_piece){&s->found_count[e], sizeof *s->found_count, home[e]};
        pieces[listed++] = (team_piece){s->found + e * given, given * sizeof *s->found, home[e]};
    }
    team_share(pieces, listed);
    mem_free(pieces);
    return QUORUM_OK;
}

/* Twice as many rows are looked at as are wanted: most come earlier than the targets, and
 * a target that finds fewer is given fewer. */
static quorum_status find_by_index(target_search *s)
{
    const ordering *o = s->o;
    size_t D = o->D, room = (s->p->others ? 1 : 2) * s->p->given + s->p->block, *owner = NULL;
    int *home = NULL;
    double *unit = NULL;
    points rows = {.n = o->count, .D = D, .stride = o->count, .Z = o->Z, .norm = o->norm};
    points targets = {0};
    neighbour_index *index = NULL;
    quorum_status status = QUORUM_OK;
    room = room < o->n ? room : o->n;
    NEW_ARRAY(owner, s->count);
    NEW_ARRAY(home, s->count);
    NEW_ARRAY(unit, D);
    if (!owner || !home || !unit)
        status = failure(QUORUM_E_MEMORY, "out of memory for the neighbours of %zu training blocks",
                         s->count);
    if (status == QUORUM_OK)
        status = points_new(s->count, D, &targets);
    if (status == QUORUM_OK && o->count > 0)
        status = neighbour_index_new(&rows, s->p->threads, &index);
    TRY_OR_DONE(team_agree(status));
    for (size_t d = 0; d < D; d++)
        unit[d] = 1.0; /* centres are scaled already */
    points_scale(&targets, s->count, s->center, NULL, unit);
    find_homes(s, owner, home);
    near_holdings held = {.index = index, .number = o->place, .tag = o->row};
    for (size_t first = 0; first < s->count; first += INDEX_CHUNK) {
        near_rows around;
        size_t left = s->count - first, some = left < INDEX_CHUNK ? left : INDEX_CHUNK;
        points Q = points_view(&targets, first, some);
        near_question asked = {&Q, home + first, home + first, room, s->p->threads};
        TRY_OR_DONE(near_rows_find(&held, &asked, &around));
        for (size_t i = 0; i < around.count; i++)
            keep_allowed(s, first + around.query[i], around.nearest + i * room, around.found[i]);
        near_rows_free(&around);
    }
    TRY_OR_DONE(share_found(s, home));
done:
    neighbour_index_free(index);
    points_free(&targets);
    mem_free(owner);
    mem_free(home);
    mem_free(unit);
    return status;
}

/* ---- The parts ---- */

/* The list of all parts' rows. */
static void list_rows(const target_search *s, vecchia_parts *v)
{
    size_t to = 0, start = s->first[0];
    for (size_t e = 0; e < s->count; e++) {
        v->all[e] = e;
        v->offset[e] = to;
        v->given[e] = s->found_count[e];
        for (size_t i = 0; i < s->found_count[e]; i++)
            v->row[to++] = s->found[e * s->p->given + i];
        for (size_t i = s->first[e]; i < s->first[e + 1]; i++)
            v->row[to++] = s->row[i - start];
    }
    v->offset[s->count] = to;
}

static quorum_status gather(const target_search *s, vecchia_parts *v)
{
    size_t total = s->p->n - s->first[0], D = s->p->D;
    sliced_rows rows = rows_of(s->p);
    quorum_status status = QUORUM_OK;
    for (size_t e = 0; e < s->count; e++)
        total += s->found_count[e];
    NEW_ARRAY(v->given, s->count);
    NEW_ARRAY(v->all, s->count);
    NEW_ARRAY(v->offset, s->count + 1);
    NEW_ARRAY(v->row, total);
    NEW_ARRAY(v->X, total * D);
    NEW_ARRAY(v->y, total);
    if (!v->given || !v->all || !v->offset || !v->row || !v->X || !v->y)
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu training blocks", s->count);
    TRY(team_agree(status));
    list_rows(s, v);
    v->parts =
        (parts){.n = total, .D = D, .M = s->count, .X = v->X, .y = v->y, .offset = v->offset};
    return rows_fetch(QUORUM_OK, &rows, v->row, total, v->X, v->y);
}

static void target_search_free(target_search *s)
{
    mem_free(s->row);
    mem_free(s->X);
    mem_free(s->y);
    mem_free(s->center);
    mem_free(s->found);
    mem_free(s->found_count);
}

static quorum_status find_all(target_search *s, int by_index)
{
    TRY(find_targets(s));
    NEW_ARRAY(s->found, s->count * s->p->given);
    NEW_ARRAY(s->found_count, s->count);
    TRY(team_agree(
        s->found && s->found_count
            ? QUORUM_OK
            : failure(QUORUM_E_MEMORY, "out of memory for %zu training blocks", s->count)));
    return by_index ? find_by_index(s) : find_neighbours(s);
}

static quorum_status parts_of_order(const vecchia_problem *p, const block_order *b, int by_index,
                                    vecchia_parts *v)
{
    ordering o = {0};
    TRY(order_rows(p, b, &o));
    target_search s = {
        .p = p, .o = &o, .count = b->targets, .first = b->first + b->blocks - b->targets};
    quorum_status status = find_all(&s, by_index);
    ordering_free(&o);
    if (status == QUORUM_OK)
        status = gather(&s, v);
    target_search_free(&s);
    return status;
}

/* Where targets are not few, all ranks need all rows: there are not many. */
static quorum_status parts_of_all(const vecchia_problem *p, const block_order *b, vecchia_parts *v)
{
    sliced_rows slice = rows_of(p), whole;
    vecchia_problem all = *p;
    double *X = NULL, *y = NULL;
    quorum_status status = rows_gather(QUORUM_OK, &slice, &X, &y, &whole);
    all.X = X;
    all.y = y;
    all.whole = 1;
    if (status == QUORUM_OK)
        status = parts_of_order(&all, b, 0, v);
    mem_free(X);
    mem_free(y);
    return status;
}

quorum_status vecchia_parts_new(const vecchia_problem *p, vecchia_parts *out)
{
    block_order b;
    vecchia_parts v = {0};
    TRY(team_agree(order_blocks(p, &b)));
    int by_index = p->n > INDEX_FROM * b.targets * p->block;
    int needs_all = !by_index && !p->whole && team_size() > 1;
    quorum_status status =
        needs_all ? parts_of_all(p, &b, &v) : parts_of_order(p, &b, by_index, &v);
    block_order_free(&b);
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
    mem_free(v->X);
    mem_free(v->y);
    mem_free(v->offset);
    *v = (vecchia_parts){0};
}
