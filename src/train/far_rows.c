/* Rows at growing distances.  Blocks are in a random order, so the first K of them lie anywhere, the
 * farther apart the smaller K is: the nearest of these are far rows.  Level l has
 *
 *   K_l = blocks / 8^l,   l = 1 .. FAR_LEVELS
 *
 * blocks, of each its first row, and every target is given the FAR_EACH nearest of them that it
 * does not have yet. */
#include "train/far_rows.h"

#include "base/memory.h"

#include <string.h>

enum { THINNER = 8 }; /* times fewer blocks at each level */

/* The first rows of the first blocks, as rows of a smaller problem in which each block is one row. */
typedef struct {
    ordered_rows rows;
    size_t *first; /* targets + 1: places of the targets, or behind all rows */
    size_t *found; /* targets x FAR_EACH                                     */
    size_t *found_count;
} thin_level;

static void thin_level_free(thin_level *t)
{
    mem_free(t->rows.place);
    mem_free(t->rows.row);
    mem_free(t->rows.Z);
    mem_free(t->rows.norm);
    mem_free(t->first);
    mem_free(t->found);
    mem_free(t->found_count);
}

static quorum_status out_of_memory(const placed_blocks *b)
{
    return failure(QUORUM_E_MEMORY, "out of memory for the far rows of %zu training blocks",
                   b->targets);
}

static quorum_status thin_level_new(const placed_blocks *b, size_t D, size_t keep, thin_level *t)
{
    *t = (thin_level){.rows = {.n = keep, .D = D}};
    NEW_ARRAY(t->rows.place, keep);
    NEW_ARRAY(t->rows.row, keep);
    NEW_ARRAY(t->rows.Z, keep * D);
    NEW_ARRAY(t->rows.norm, keep);
    NEW_ARRAY(t->first, b->targets + 1);
    NEW_ARRAY(t->found, b->targets * FAR_EACH);
    NEW_ZEROED(t->found_count, b->targets);
    if (t->rows.place && t->rows.row && t->rows.Z && t->rows.norm && t->first && t->found &&
        t->found_count)
        return QUORUM_OK;
    return out_of_memory(b);
}

static void keep_row(const ordered_rows *from, size_t i, size_t place, ordered_rows *to)
{
    size_t at = to->count++, D = from->D;
    to->place[at] = place;
    to->row[at] = from->row[i];
    memcpy(to->Z + at * D, from->Z + i * D, D * sizeof *to->Z);
    to->norm[at] = from->norm[i];
}

/* Of the rows that are here those that begin one of the first `keep` blocks. */
static void thin_rows(const placed_blocks *b, const ordered_rows *all, size_t keep, thin_level *t)
{
    size_t i = 0;
    for (size_t block = 0; block < keep; block++) {
        while (i < all->count && all->place[i] < b->first[block])
            i++;
        if (i < all->count && all->place[i] == b->first[block])
            keep_row(all, i, block, &t->rows);
    }
    for (size_t e = 0; e <= b->targets; e++) {
        size_t block = b->blocks - b->targets + e;
        t->first[e] = block < keep ? block : keep;
    }
}

static int is_among(size_t row, const size_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == row)
            return 1;
    return 0;
}

/* What target e has found at a level goes before what it has. */
static void add_found(const target_search *near, const thin_level *t, size_t e, far_rows *f)
{
    size_t *row = f->row + e * FAR_MOST, fresh[FAR_EACH], count = 0;
    for (size_t i = 0; i < t->found_count[e]; i++) {
        size_t r = t->found[e * FAR_EACH + i];
        if (!is_among(r, near->found + e * near->given, near->found_count[e]) &&
            !is_among(r, row, f->count[e]))
            fresh[count++] = r;
    }
    memmove(row + count, row, f->count[e] * sizeof *row);
    memcpy(row, fresh, count * sizeof *row);
    f->count[e] += count;
}

static quorum_status find_level(quorum_status ready, const placed_blocks *b,
                                const target_search *near, search_way search, size_t keep,
                                far_rows *f)
{
    thin_level t = {0};
    if (ready >= 0)
        ready = thin_level_new(b, near->rows->D, keep, &t);
    if (ready >= 0)
        thin_rows(b, near->rows, keep, &t);
    target_search far = *near;
    far.rows = &t.rows;
    far.first = t.first;
    far.block = 1;
    far.given = FAR_EACH;
    far.others = 0;
    far.found = t.found;
    far.found_count = t.found_count;
    quorum_status status = search(ready, &far);
    for (size_t e = 0; status == QUORUM_OK && e < b->targets; e++)
        add_found(near, &t, e, f);
    thin_level_free(&t);
    return status;
}

/* Without blocks enough for one level there are no far rows; where there is a level, whoever lacks
 * memory says so in its search, which all processes make. */
quorum_status far_rows_find(const placed_blocks *b, const target_search *near, search_way search,
                            far_rows *out)
{
    quorum_status status = QUORUM_OK;
    size_t keep = b->blocks / THINNER;
    *out = (far_rows){0};
    if (keep < FAR_EACH)
        return QUORUM_OK;
    NEW_ARRAY(out->row, b->targets * FAR_MOST);
    NEW_ZEROED(out->count, b->targets);
    if (!out->row || !out->count)
        status = out_of_memory(b);
    for (int l = 0; l < FAR_LEVELS && keep >= FAR_EACH; l++, keep /= THINNER)
        TRY(status = find_level(status, b, near, search, keep, out));
    return status;
}

void far_rows_free(far_rows *f)
{
    mem_free(f->row);
    mem_free(f->count);
    *f = (far_rows){0};
}
