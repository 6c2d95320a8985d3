/* The training rows of all experts, sorted by expert. */
#ifndef QRM_ROWS_PARTS_H
#define QRM_ROWS_PARTS_H

#include "gp/expert.h"
#include "team/work.h"

#include <stddef.h>
#include <stdint.h>

/* A view: expert e holds the columns offset[e] .. offset[e+1]-1 of X and y. */
typedef struct {
    size_t n, D, M;
    const double *X;      /* D x n */
    const double *y;      /* n     */
    const size_t *offset; /* M + 1 */
    const size_t *row;    /* n: the rows' numbers, ascending within an expert, where experts
                             may share rows; NULL: all rows are different */
    const char *held;     /* M: 1 where this rank has the expert's rows; NULL: it has all */
    const size_t *home;   /* a row's column in the part of its one owner, where experts share
                             rows; NULL: every column is at home */
} parts;

static inline size_t part_size(const parts *p, size_t e)
{
    return p->offset[e + 1] - p->offset[e];
}

static inline expert_data part_data(const parts *p, size_t e)
{
    return (expert_data){
        .m = part_size(p, e), .D = p->D, .X = p->X + p->offset[e] * p->D, .y = p->y + p->offset[e]};
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
quorum_status expert_owners(const parts *p, int *owner /* M */); /* the same as ranks */

/* owner[i] (count): the rank that works on experts[i], by cost m^3; the experts come largest first. */
quorum_status spread_by_size(const parts *p, const size_t *experts, size_t count, int *owner);

#endif
