/* Median splits along the widest input until every box has its share of the rows: sizes equal
 * within one row.
 *
 * A split is a set: the first rows by (input, row number).  It does not depend on who finds it.
 * Here are the splits that one process makes by itself; the first ones of a team are in
 * scattered_boxes.c. */
#include "near/boxes.h"

#include "base/memory.h"
#include "team/team.h"
#include "base/parallel.h"
#include "near/ranked.h"
#include "near/scattered_boxes.h"
#include "near/select_nth.h"

#include <string.h>

typedef struct {
    size_t D;
    const double *X; /* D x rows: of this rank                       */
    size_t *rows;    /* a box's rows in a row, ascending             */
    ranked *items;   /* as many: scratch                             */
    size_t *label;   /* as many, by row                              */
} local_split;

/* The rows that rank before the pivot come first; both halves stay in order. */
static void part_rows(const local_split *s, size_t *rows, size_t count, size_t d, ranked pivot,
                      size_t *behind)
{
    size_t kept = 0, rest = 0;
    for (size_t i = 0; i < count; i++) {
        ranked item = {s->X[rows[i] * s->D + d], rows[i]};
        if (ranked_before(item, pivot))
            rows[kept++] = rows[i];
        else
            behind[rest++] = rows[i];
    }
    memcpy(rows + kept, behind, rest * sizeof *rows);
}

static void split_box(const local_split *s, size_t at, box b)
{
    size_t *rows = s->rows + at;
    if (b.parts <= 1) {
        for (size_t i = 0; i < b.count; i++)
            s->label[rows[i]] = b.first;
        return;
    }
    box low = lower_half(b);
    if (low.count < b.count) {
        ranked *items = s->items + at;
        size_t d = widest_input(rows, b.count, s->X, s->D);
        for (size_t i = 0; i < b.count; i++)
            items[i] = (ranked){s->X[rows[i] * s->D + d], rows[i]};
        ranked_select(items, b.count, low.count);
        part_rows(s, rows, b.count, d, items[low.count], (size_t *)items);
    }
    split_box(s, at, low);
    split_box(s, at + low.count, upper_half(b));
}

/* The boxes to split, of rows that lie one box after another. */
typedef struct {
    local_split split;
    const box *boxes;
    size_t *start; /* where each box's rows begin */
} own_boxes;

static quorum_status split_item(void *context, size_t item, int worker)
{
    const own_boxes *o = context;
    (void)worker;
    split_box(&o->split, o->start[item], o->boxes[item]);
    return QUORUM_OK;
}

quorum_status split_own_boxes(const box_problem *p, const box *boxes, size_t count, boxed_rows *out)
{
    own_boxes o = {.split = {.D = p->rows->held.D, .X = out->rows.X}, .boxes = boxes};
    quorum_status status = QUORUM_OK;
    NEW_ARRAY(o.split.rows, out->rows.n);
    NEW_ARRAY(o.split.items, out->rows.n);
    NEW_ARRAY(out->label, out->rows.n);
    NEW_ARRAY(o.start, count + 1);
    o.split.label = out->label;
    if (o.split.rows && o.split.items && out->label && o.start) {
        o.start[0] = 0;
        for (size_t b = 0; b < count; b++)
            o.start[b + 1] = o.start[b] + boxes[b].count;
        for (size_t i = 0; i < out->rows.n; i++)
            o.split.rows[i] = i;
        status = parallel_for(p->threads, count, split_item, &o);
    } else {
        status = failure(QUORUM_E_MEMORY, "out of memory for a kd-tree of %zu rows", out->rows.n);
    }
    mem_free(o.split.rows);
    mem_free(o.split.items);
    mem_free(o.start);
    return status;
}

/* Rows that one process has need not move. */
static quorum_status box_own_rows(const box_problem *p, boxed_rows *out)
{
    size_t n = p->rows->n;
    box all = {.parts = p->parts, .count = n};
    out->rows = p->rows->held;
    if (!NEW_ARRAY(out->row, n))
        return failure(QUORUM_E_MEMORY, "out of memory for a kd-tree of %zu rows", n);
    for (size_t i = 0; i < n; i++)
        out->row[i] = i;
    return split_own_boxes(p, &all, 1, out);
}

quorum_status box_rows(quorum_status ready, const box_problem *p, boxed_rows *out)
{
    *out = (boxed_rows){0};
    if (!p->rows->whole && !team_is_alone())
        ready = box_scattered_rows(ready, p, out);
    else if (ready >= 0)
        ready = box_own_rows(p, out);
    if (ready < 0)
        boxed_rows_free(out);
    return ready;
}

void boxed_rows_free(boxed_rows *b)
{
    mem_free(b->row);
    mem_free(b->label);
    if (b->moved)
        rows_free(&b->rows);
    *b = (boxed_rows){0};
}

quorum_status boxes_label(quorum_status ready, const box_problem *p, size_t *label)
{
    boxed_rows b;
    TRY(box_rows(ready, p, &b));
    memset(label, 0, p->rows->n * sizeof *label);
    for (size_t i = 0; i < b.rows.n; i++)
        label[b.row[i]] = b.label[i];
    if (!p->rows->whole)
        team_add(label, p->rows->n);
    boxed_rows_free(&b);
    return QUORUM_OK;
}
