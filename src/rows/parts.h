/* The training rows of all experts, sorted by expert. */
#ifndef QRM_ROWS_PARTS_H
#define QRM_ROWS_PARTS_H

#include "rows/rows.h"
#include "team/work.h"

#include <stddef.h>
#include <stdint.h>

/* Part e is the rows offset[e] .. offset[e+1]-1. */
typedef struct {
    row_set rows;
    size_t M;
    size_t *offset; /* M + 1 */
    size_t *row;    /* n: the rows' numbers, ascending within an expert, where experts
                       may share rows; NULL: all rows are different */
    size_t *home;   /* a row's column in the part of its one owner, where experts share
                       rows; NULL: every column is at home */
    char *held;     /* M: 1 where this process has the expert's rows; NULL: it has all */
} parts;

/* Frees the rows and all lists of parts that own theirs. */
void parts_free(parts *p);

static inline size_t part_size(const parts *p, size_t e)
{
    return p->offset[e + 1] - p->offset[e];
}

static inline row_set part_rows(const parts *p, size_t e)
{
    return rows_view(&p->rows, p->offset[e], part_size(p, e));
}

static inline size_t largest_part(const parts *p)
{
    size_t largest = 0;
    for (size_t e = 0; e < p->M; e++)
        largest = part_size(p, e) > largest ? part_size(p, e) : largest;
    return largest;
}

/* The number of the row at a column. */
static inline size_t row_at(const parts *p, size_t column)
{
    return p->row ? p->row[column] : column;
}

static inline int is_home(const parts *p, size_t column)
{
    return !p->home || p->home[p->row[column]] == column;
}

/* The column at which expert e holds the row that also stands at `column`; SIZE_MAX:
 * it does not hold it. */
static inline size_t column_in_part(const parts *p, size_t e, size_t column)
{
    size_t low = p->offset[e], high = p->offset[e + 1];
    if (column >= low && column < high)
        return column;
    if (!p->row)
        return SIZE_MAX;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (p->row[middle] <= p->row[column])
            low = middle;
        else
            high = middle;
    }
    return p->row[low] == p->row[column] ? low : SIZE_MAX;
}

/* The expert in whose part a column stands. */
static inline size_t part_of_row(const parts *p, size_t column)
{
    size_t low = 0, high = p->M;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (p->offset[middle] <= column)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Experts above this size are worked on one after another by all threads; the
 * others side by side, one thread each. */
enum { BIG_EXPERT = 2048 };

/* The given experts, largest first (ties: lower number first): the order in
 * which work is handed out. */
void sort_by_size(const parts *p, size_t *experts, size_t count);

/* Who works on which expert, by cost m^3: as items, the largest first (ties: lower number
 * first).  Free with work_share_free. */
quorum_status share_by_size(const parts *p, work_share *out);

#endif
