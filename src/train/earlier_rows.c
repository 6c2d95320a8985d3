/* The nearest earlier rows of the targets, in two ways.
 *
 *   scan    GROUP targets and TILE rows at a time: |z - c|^2 - |c|^2 = |z|^2 - 2 z.c
 *   index   the nearest of all rows, wherever they are (near/scattered_search.h), of which those
 *           that are allowed stay */
#include "train/earlier_rows.h"

#include "base/memory.h"
#include "linalg/blas.h"
#include "near/ranked.h"
#include "near/scattered_search.h"
#include "team/work.h"

enum {
    GROUP = 32, /* targets and rows of one product of the scan */
    TILE = 1024
};

static quorum_status out_of_memory(const target_search *s)
{
    return failure(QUORUM_E_MEMORY, "out of memory for the neighbours of %zu training blocks",
                   s->count);
}

/* Candidates are the places before this one ... */
static size_t allowed_end(const target_search *s, size_t target)
{
    if (s->given == 0)
        return 0;
    return s->others ? s->rows->n : s->first[target];
}

/* ... outside of the block. */
static int is_allowed(const target_search *s, size_t target, size_t place)
{
    return place < allowed_end(s, target) &&
           (place < s->first[target] || place >= s->first[target + 1]);
}

/* ---- By a scan ---- */

typedef struct {
    const target_search *s;
    const size_t *items; /* groups of this process */
    int workers;
    double *product; /* workers x TILE x GROUP                     */
    ranked *room;    /* workers x GROUP x nearest_room(given)      */
    size_t groups;
    size_t *start; /* groups + 1: their targets                  */
    double *cost;  /* groups                                     */
} scan;

static void scan_free(scan *c)
{
    mem_free(c->product);
    mem_free(c->room);
    mem_free(c->start);
    mem_free(c->cost);
}

/* Later groups see more rows. */
static void lay_out_groups(scan *c)
{
    const target_search *s = c->s;
    for (size_t g = 0; g <= c->groups; g++)
        c->start[g] = g * GROUP < s->count ? g * GROUP : s->count;
    for (size_t g = 0; g < c->groups; g++)
        c->cost[g] = (double)allowed_end(s, c->start[g + 1] - 1);
}

static quorum_status scan_new(const target_search *s, scan *c)
{
    size_t groups = (s->count + GROUP - 1) / GROUP, workers;
    *c = (scan){.s = s, .groups = groups, .workers = parallel_workers(s->threads, groups)};
    workers = (size_t)c->workers;
    NEW_ARRAY(c->product, workers * TILE * GROUP);
    NEW_ARRAY(c->room, workers * GROUP * nearest_room(s->given));
    NEW_ARRAY(c->start, groups + 1);
    NEW_ARRAY(c->cost, groups);
    if (!c->product || !c->room || !c->start || !c->cost)
        return out_of_memory(s);
    lay_out_groups(c);
    return QUORUM_OK;
}

/* Offers the places from .. to-1 that are allowed to a target, by |z - c|^2 - |c|^2; product: its
 * column of -2 z.c. */
static void scan_column(const target_search *s, size_t target, size_t from, size_t to,
                        const double *product, nearest *best)
{
    const double *norm = s->rows->norm;
    size_t own = s->first[target], behind = s->first[target + 1];
    size_t end = allowed_end(s, target);
    for (size_t i = from; i < to && i < end; i++)
        if (i < own || i >= behind)
            nearest_offer(best, norm[i] + product[i - from], i);
}

/* The rows of the places that a target found, farthest first. */
static void keep_found(const target_search *s, size_t target, nearest *best)
{
    size_t *rows = s->found + target * s->given, count = nearest_finish(best, rows, NULL);
    reverse_rows(count, rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = s->rows->row[rows[i]];
    s->found_count[target] = count;
}

/* Every process has all rows: places are columns of Z. */
static quorum_status scan_group(void *context, size_t item, int worker)
{
    const scan *c = context;
    const target_search *s = c->s;
    size_t first = c->start[c->items[item]], width = c->start[c->items[item] + 1] - first;
    size_t D = s->rows->D, room = nearest_room(s->given), end = 0;
    double *product = c->product + (size_t)worker * TILE * GROUP;
    nearest found[GROUP];
    for (size_t k = 0; k < width; k++) {
        found[k] = nearest_start(s->given, c->room + ((size_t)worker * GROUP + k) * room);
        end = allowed_end(s, first + k) > end ? allowed_end(s, first + k) : end;
    }
    for (size_t from = 0; from < end; from += TILE) {
        size_t to = end - from < TILE ? end : from + TILE;
        blas_gemm('T', 'N', to - from, width, D, -2.0, s->rows->Z + from * D, D,
                  s->centre + first * D, D, 0.0, product, TILE);
        for (size_t k = 0; k < width; k++)
            scan_column(s, first + k, from, to, product + k * TILE, &found[k]);
    }
    for (size_t k = 0; k < width; k++)
        keep_found(s, first + k, &found[k]);
    return QUORUM_OK;
}

static quorum_status scan_groups(void *context, const size_t *items, size_t count)
{
    scan *c = context;
    c->items = items;
    return parallel_for(c->workers, count, scan_group, c);
}

quorum_status earlier_rows_by_scan(quorum_status ready, const target_search *s)
{
    scan c = {0};
    work_share share = {0};
    if (ready >= 0)
        ready = scan_new(s, &c);
    if (ready >= 0)
        ready = work_share_new(c.cost, c.groups, &share);
    team_result results[] = {
        {.data = s->found, .width = s->given * sizeof *s->found, .start = c.start},
        {.data = s->found_count, .width = sizeof *s->found_count, .start = c.start}};
    quorum_status status = team_map_share(ready, &share, scan_groups, &c, results, 2);
    work_share_free(&share);
    scan_free(&c);
    return status;
}

/* ---- By an index ---- */

typedef struct {
    points targets; /* their centres                                  */
    char *claimed;  /* a target: 1 where this process has placed it   */
    neighbour_index *index;
} index_search;

static void index_search_free(index_search *i)
{
    neighbour_index_free(i->index);
    points_free(&i->targets);
    mem_free(i->claimed);
}

/* Centres are scaled already. */
static quorum_status take_centres(const target_search *s, points *targets)
{
    size_t D = s->rows->D;
    double *unit;
    TRY(points_new(s->count, D, targets));
    if (!NEW_ARRAY(unit, D))
        return out_of_memory(s);
    for (size_t d = 0; d < D; d++)
        unit[d] = 1.0;
    points_scale(targets, s->count, s->centre, NULL, unit);
    mem_free(unit);
    return QUORUM_OK;
}

/* Whoever has a target's first row has rows near it. */
static void claim_targets(const target_search *s, char *claimed)
{
    for (size_t i = 0, e = 0; i < s->rows->count; i++) {
        while (e < s->count && s->first[e] < s->rows->place[i])
            e++;
        if (e < s->count && s->first[e] == s->rows->place[i])
            claimed[e] = 1;
    }
}

static quorum_status index_search_new(const target_search *s, index_search *i)
{
    const ordered_rows *o = s->rows;
    points rows = {.n = o->count, .D = o->D, .stride = o->count, .Z = o->Z, .norm = o->norm};
    TRY(take_centres(s, &i->targets));
    if (!NEW_ZEROED(i->claimed, s->count))
        return out_of_memory(s);
    claim_targets(s, i->claimed);
    return o->count > 0 ? neighbour_index_new(&rows, s->threads, &i->index) : QUORUM_OK;
}

/* Of the rows around a target, nearest first, the nearest allowed ones, farthest first. */
static quorum_status keep_allowed(void *context, size_t target, const near_found *around,
                                  int worker)
{
    const target_search *s = context;
    size_t count = 0, *found = s->found + target * s->given;
    (void)worker;
    for (size_t i = 0; i < around->count && count < s->given; i++)
        if (is_allowed(s, target, around->row[i].number))
            found[count++] = around->row[i].tag;
    reverse_rows(count, found);
    s->found_count[target] = count;
    return QUORUM_OK;
}

/* Twice as many rows are looked at as are wanted: most come earlier than the targets, and
 * a target that finds fewer is given fewer. */
quorum_status earlier_rows_by_index(quorum_status ready, const target_search *s)
{
    index_search i = {0};
    size_t m = (s->others ? 1 : 2) * s->given + s->block;
    if (ready >= 0)
        ready = index_search_new(s, &i);
    near_holdings held = {.index = i.index, .number = s->rows->place, .tag = s->rows->row};
    near_question asked = {.Q = &i.targets,
                           .claimed = i.claimed,
                           .m = m < s->rows->n ? m : s->rows->n,
                           .threads = s->threads};
    team_result results[] = {{.data = s->found, .width = s->given * sizeof *s->found},
                             {.data = s->found_count, .width = sizeof *s->found_count}};
    quorum_status status = near_ask(ready, &held, &asked, keep_allowed, (void *)s, results, 2);
    index_search_free(&i);
    return status;
}
