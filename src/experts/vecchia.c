#include "experts/vecchia.h"

#include "base/memory.h"
#include "base/random.h"
#include "experts/neighbours.h"
#include "experts/partition.h"
#include "linalg/blas.h"
#include "team/team.h"

#include <stdlib.h>
#include <string.h>

enum {
    STREAM_ORDER = 6, /* random stream: see rng_seed                     */
    INDEX_FROM = 4,   /* times as many rows as targets: search by index  */
    INDEX_CHUNK = 1024,
    GROUP = 32, /* targets and rows of one product of the search   */
    TILE = 1024
};

/* ---- Blocks in a random order ---- */

/* The rows sorted by block, blocks in random order: place[] holds rows, block r
 * (its rank) has the places first[r] .. first[r+1]-1. */
typedef struct {
    size_t n, D, blocks;
    size_t *place; /* n                                       */
    size_t *first; /* blocks + 1                              */
    double *Z;     /* D x n: scaled rows, in order of place   */
    double *norm;  /* n: |z|^2                                */
} ordering;

static void ordering_free(ordering *o)
{
    mem_free(o->place);
    mem_free(o->first);
    mem_free(o->Z);
    mem_free(o->norm);
}

static double *scaled_rows(const vecchia_problem *p)
{
    double *Z;
    if (!NEW_ARRAY(Z, p->n * p->D))
        return NULL;
    for (size_t i = 0; i < p->n; i++)
        for (size_t d = 0; d < p->D; d++)
            Z[i * p->D + d] = p->X[i * p->D + d] / p->lengthscale[d];
    return Z;
}

/* label[i]: the rank of row i's block. */
static quorum_status rank_blocks(const vecchia_problem *p, const double *Z, size_t blocks,
                                 size_t *label)
{
    size_t *rank;
    partition_problem boxes = {.n = p->n, .D = p->D, .parts = blocks, .X = Z, .threads = 1};
    if (!NEW_ARRAY(rank, blocks))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu training blocks", blocks);
    for (size_t b = 0; b < blocks; b++)
        rank[b] = b;
    rng r = rng_seed(p->seed, STREAM_ORDER);
    rng_shuffle(&r, rank, blocks);
    quorum_status status = QUORUM_OK;
    if (blocks < p->n)
        status = partition_kdtree.split(&boxes, label);
    for (size_t i = 0; status == QUORUM_OK && i < p->n; i++)
        label[i] = rank[blocks < p->n ? label[i] : i];
    mem_free(rank);
    return status;
}

/* Counting sort by label: rows of a block stay in ascending order. */
static void sort_rows(const double *Z, const size_t *label, ordering *o)
{
    memset(o->first, 0, (o->blocks + 1) * sizeof *o->first);
    for (size_t i = 0; i < o->n; i++)
        o->first[label[i] + 1]++;
    for (size_t b = 0; b < o->blocks; b++)
        o->first[b + 1] += o->first[b];
    for (size_t i = 0; i < o->n; i++)
        o->place[o->first[label[i]]++] = i;
    for (size_t b = o->blocks; b > 0; b--)
        o->first[b] = o->first[b - 1];
    o->first[0] = 0;
    for (size_t i = 0; i < o->n; i++) {
        double *z = o->Z + i * o->D;
        memcpy(z, Z + o->place[i] * o->D, o->D * sizeof *z);
        o->norm[i] = vec_dot(o->D, z, z);
    }
}

static quorum_status order_rows(const vecchia_problem *p, ordering *out)
{
    ordering o = {.n = p->n, .D = p->D, .blocks = (p->n + p->block - 1) / p->block};
    size_t *label = NULL;
    double *Z = scaled_rows(p);
    quorum_status status = QUORUM_OK;
    NEW_ARRAY(label, o.n);
    NEW_ARRAY(o.place, o.n);
    NEW_ARRAY(o.first, o.blocks + 1);
    NEW_ARRAY(o.Z, o.n * o.D);
    NEW_ARRAY(o.norm, o.n);
    if (!Z || !label || !o.place || !o.first || !o.Z || !o.norm)
        status = failure(QUORUM_E_MEMORY, "out of memory for training on %zu rows", p->n);
    if (status == QUORUM_OK)
        status = rank_blocks(p, Z, o.blocks, label);
    if (status == QUORUM_OK)
        sort_rows(Z, label, &o);
    mem_free(Z);
    mem_free(label);
    if (status < 0)
        ordering_free(&o);
    else
        *out = o;
    return status;
}

/* ---- The nearest earlier rows ---- */

typedef struct {
    double distance; /* |z - c|^2 - |c|^2 */
    size_t place;
} candidate;

static int farther(candidate a, candidate b)
{
    return a.distance > b.distance || (a.distance == b.distance && a.place > b.place);
}

/* Lets the item at the top of a heap of `size` sink: the farthest comes up. */
static void sink(candidate *heap, size_t size, size_t i)
{
    candidate item = heap[i];
    for (size_t child; (child = 2 * i + 1) < size; i = child) {
        if (child + 1 < size && farther(heap[child + 1], heap[child]))
            child++;
        if (!farther(heap[child], item))
            break;
        heap[i] = heap[child];
    }
    heap[i] = item;
}

/* One target's search: the `room` nearest of the places seen so far. */
typedef struct {
    candidate *heap;
    size_t size, room;
} nearest;

static void consider(nearest *t, double distance, size_t place)
{
    candidate c = {distance, place};
    if (t->size < t->room) {
        t->heap[t->size++] = c;
        if (t->size == t->room)
            for (size_t i = t->room / 2 + 1; i-- > 0;)
                sink(t->heap, t->room, i);
    } else if (t->room && farther(t->heap[0], c)) {
        t->heap[0] = c;
        sink(t->heap, t->room, 0);
    }
}

typedef struct {
    const vecchia_problem *p;
    const ordering *o;
    size_t count;        /* target blocks: the last of the order              */
    size_t skipped;      /* blocks before them                                */
    size_t *found;       /* count x p->given: places                          */
    size_t *found_count; /* count                                             */
    double *center;      /* per worker: D x GROUP                             */
    double *product;     /* per worker: TILE x GROUP                          */
    candidate *heap;     /* per worker: GROUP x p->given                      */
} target_search;

/* Candidates are the places before this one. */
static size_t allowed_end(const target_search *s, size_t target)
{
    if (s->p->given == 0)
        return 0;
    return s->p->others ? s->o->n : s->o->first[s->skipped + target];
}

static void block_center(const ordering *o, size_t block, double *center)
{
    memset(center, 0, o->D * sizeof *center);
    size_t from = o->first[block], to = o->first[block + 1];
    for (size_t i = from; i < to; i++)
        for (size_t d = 0; d < o->D; d++)
            center[d] += o->Z[i * o->D + d] / (double)(to - from);
}

/* One target's column of products z.c over the places from .. to-1. */
static void scan_column(const target_search *s, size_t target, size_t from, size_t to,
                        const double *product, nearest *t)
{
    const ordering *o = s->o;
    size_t own = o->first[s->skipped + target], behind = o->first[s->skipped + target + 1];
    size_t end = allowed_end(s, target);
    for (size_t i = from; i < to && i < end; i++) {
        double distance = o->norm[i] + product[i - from];
        if ((t->size < t->room || distance <= t->heap[0].distance) && (i < own || i >= behind))
            consider(t, distance, i);
    }
}

static int farthest_first(const void *a, const void *b)
{
    candidate x = *(const candidate *)a, y = *(const candidate *)b;
    return farther(x, y) ? -1 : farther(y, x);
}

static quorum_status search_group(void *context, size_t item, int worker)
{
    target_search *s = context;
    const ordering *o = s->o;
    size_t first = item * GROUP, D = o->D, room = s->p->given;
    size_t width = s->count - first < GROUP ? s->count - first : GROUP;
    double *center = s->center + (size_t)worker * D * GROUP;
    double *product = s->product + (size_t)worker * TILE * GROUP;
    nearest found[GROUP];
    size_t end = 0;
    for (size_t k = 0; k < width; k++) {
        block_center(o, s->skipped + first + k, center + k * D);
        found[k] = (nearest){.heap = s->heap + ((size_t)worker * GROUP + k) * room, .room = room};
        end = allowed_end(s, first + k) > end ? allowed_end(s, first + k) : end;
    }
    for (size_t from = 0; from < end; from += TILE) {
        size_t to = end - from < TILE ? end : from + TILE;
        blas_gemm('T', 'N', to - from, width, D, -2.0, o->Z + from * D, D, center, D, 0.0, product,
                  TILE);
        for (size_t k = 0; k < width; k++)
            scan_column(s, first + k, from, to, product + k * TILE, &found[k]);
    }
    for (size_t k = 0; k < width; k++) {
        qsort(found[k].heap, found[k].size, sizeof *found[k].heap, farthest_first);
        for (size_t i = 0; i < found[k].size; i++)
            s->found[(first + k) * room + i] = found[k].heap[i].place;
        s->found_count[first + k] = found[k].size;
    }
    return QUORUM_OK;
}

static quorum_status find_neighbours(target_search *s)
{
    size_t groups = (s->count + GROUP - 1) / GROUP;
    size_t workers = (size_t)parallel_workers(s->p->threads, groups);
    quorum_status status = QUORUM_OK;
    NEW_ARRAY(s->center, workers * s->o->D * GROUP);
    NEW_ARRAY(s->product, workers * TILE * GROUP);
    NEW_ARRAY(s->heap, workers * GROUP * s->p->given);
    if (s->center && s->product && s->heap)
        status = team_deal((int)workers, groups, search_group, s); /* later ones see more rows */
    else
        status = failure(QUORUM_E_MEMORY, "out of memory for the neighbours of %zu training blocks",
                         s->count);
    mem_free(s->center);
    mem_free(s->product);
    mem_free(s->heap);
    TRY(status);
    TRY(team_share_dealt(s->found, s->p->given * sizeof *s->found, s->count, GROUP));
    return team_share_dealt(s->found_count, sizeof *s->found_count, s->count, GROUP);
}

/* ---- The same by an index, where targets are few among many rows ---- */

/* Of the `room` rows around a target, nearest first, the nearest allowed ones, farthest
 * first. */
static void keep_allowed(target_search *s, size_t target, const size_t *around, size_t room)
{
    size_t given = s->p->given, count = 0, *found = s->found + target * given;
    size_t own = s->o->first[s->skipped + target], behind = s->o->first[s->skipped + target + 1];
    size_t end = allowed_end(s, target);
    for (size_t i = 0; i < room && count < given; i++)
        if (around[i] < end && (around[i] < own || around[i] >= behind))
            found[count++] = around[i];
    reverse_rows(count, found);
    s->found_count[target] = count;
}

/* Twice as many rows are looked at as are wanted: most come earlier than the targets, and
 * a target that finds fewer is given fewer. */
static quorum_status find_by_index(target_search *s)
{
    const ordering *o = s->o;
    size_t D = o->D, room = (s->p->others ? 1 : 2) * s->p->given + s->p->block;
    size_t *around = NULL;
    double *center = NULL, *unit = NULL;
    points rows = {0}, targets = {0};
    neighbour_index *index = NULL;
    quorum_status status = QUORUM_OK;
    room = room < o->n ? room : o->n;
    NEW_ARRAY(around, room * INDEX_CHUNK);
    NEW_ARRAY(center, D * INDEX_CHUNK);
    NEW_ARRAY(unit, D);
    if (!around || !center || !unit) {
        status = failure(QUORUM_E_MEMORY, "out of memory for the neighbours of %zu training blocks",
                         s->count);
        goto done;
    }
    for (size_t d = 0; d < D; d++)
        unit[d] = 1.0; /* Z is scaled already */
    TRY_OR_DONE(points_new(o->n, D, &rows));
    TRY_OR_DONE(points_new(INDEX_CHUNK, D, &targets));
    points_scale(&rows, o->n, o->Z, NULL, unit);
    TRY_OR_DONE(neighbour_index_new(&rows, s->p->threads, &index));
    team_slice mine = my_slice(s->count, 1);
    for (size_t first = mine.first, end = first + mine.count; first < end; first += INDEX_CHUNK) {
        size_t width = end - first < INDEX_CHUNK ? end - first : INDEX_CHUNK;
        for (size_t k = 0; k < width; k++)
            block_center(o, s->skipped + first + k, center + k * D);
        points_scale(&targets, width, center, NULL, unit);
        TRY_OR_DONE(neighbour_search(index, &targets, room, s->p->threads, around, NULL));
        for (size_t k = 0; k < width; k++)
            keep_allowed(s, first + k, around + k * room, room);
    }
done:
    neighbour_index_free(index);
    points_free(&rows);
    points_free(&targets);
    mem_free(around);
    mem_free(center);
    mem_free(unit);
    TRY(team_agree(status));
    team_share_slices(s->found, s->p->given * sizeof *s->found, s->count, 1);
    team_share_slices(s->found_count, sizeof *s->found_count, s->count, 1);
    return QUORUM_OK;
}

/* ---- The parts ---- */

/* How many blocks to train on: the last of the order, which see the data nearly as
 * dense as a query will. */
static size_t count_targets(const vecchia_problem *p, const ordering *o)
{
    size_t rows = 0, count = 0;
    while (count < o->blocks && (p->targets == 0 || rows < p->targets)) {
        count++;
        rows = o->n - o->first[o->blocks - count];
    }
    return count;
}

static void take_row(const vecchia_problem *p, size_t row, size_t to, vecchia_parts *v)
{
    memcpy(v->X + to * p->D, p->X + row * p->D, p->D * sizeof *v->X);
    v->y[to] = p->y[row];
    v->row[to] = row;
}

static quorum_status gather(const target_search *s, vecchia_parts *v)
{
    const ordering *o = s->o;
    size_t total = 0;
    for (size_t e = 0; e < s->count; e++)
        total += s->found_count[e];
    total += o->n - o->first[s->skipped];
    NEW_ARRAY(v->given, s->count);
    NEW_ARRAY(v->all, s->count);
    NEW_ARRAY(v->offset, s->count + 1);
    NEW_ARRAY(v->row, total);
    NEW_ARRAY(v->X, total * o->D);
    NEW_ARRAY(v->y, total);
    if (!v->given || !v->all || !v->offset || !v->row || !v->X || !v->y)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu training blocks", s->count);
    size_t to = 0;
    for (size_t e = 0; e < s->count; e++) {
        v->all[e] = e;
        v->offset[e] = to;
        v->given[e] = s->found_count[e];
        for (size_t i = 0; i < s->found_count[e]; i++)
            take_row(s->p, o->place[s->found[e * s->p->given + i]], to++, v);
        for (size_t i = o->first[s->skipped + e]; i < o->first[s->skipped + e + 1]; i++)
            take_row(s->p, o->place[i], to++, v);
    }
    v->offset[s->count] = to;
    v->parts =
        (parts){.n = total, .D = o->D, .M = s->count, .X = v->X, .y = v->y, .offset = v->offset};
    return QUORUM_OK;
}

quorum_status vecchia_parts_new(const vecchia_problem *p, vecchia_parts *out)
{
    ordering o = {0};
    vecchia_parts v = {0};
    target_search s = {.p = p, .o = &o};
    quorum_status status = order_rows(p, &o);
    if (status < 0)
        return status;
    s.count = count_targets(p, &o);
    s.skipped = o.blocks - s.count;
    if (!NEW_ARRAY(s.found, s.count * p->given) || !NEW_ARRAY(s.found_count, s.count)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu training blocks", s.count);
        goto done;
    }
    TRY_OR_DONE(o.n > INDEX_FROM * s.count * p->block ? find_by_index(&s) : find_neighbours(&s));
    TRY_OR_DONE(gather(&s, &v));
done:
    ordering_free(&o);
    mem_free(s.found);
    mem_free(s.found_count);
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
