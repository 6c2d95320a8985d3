/* The training rows before they are split among experts.  Each rank of a team holds a slice of
 * them, so that a team has room for more rows than one process; a team of one holds all.
 * Functions here are called by all ranks together, with the same lists. */
#ifndef QRM_ROWS_ROWS_H
#define QRM_ROWS_ROWS_H

#include "base/status.h"
#include "team/team.h"

#include <stddef.h>

enum { ROWS_STEP = 512 }; /* slices begin at multiples of it */

typedef struct {
    size_t n, D;     /* of all ranks                                         */
    const double *X; /* D x held: a row's inputs together                    */
    const double *y; /* held, or NULL                                        */
    int whole;       /* 1: every rank has all rows, by itself                */
} sliced_rows;

/* The rows that this rank holds. */
static inline team_slice held_rows(const sliced_rows *r)
{
    return r->whole ? (team_slice){.count = r->n} : my_slice(r->n, ROWS_STEP);
}

/* Calls that take `ready` agree on it (team/work.h); on rows that are whole, every rank works for
 * itself. */

/* The listed rows, in the list's order, to every rank: X is D x count; y may be NULL. */
quorum_status rows_fetch(quorum_status ready, const sliced_rows *r, const size_t *which,
                         size_t count, double *X, double *y);

/* The same as rows of their own, which a team holds in slices like the others: `out` lies in X,
 * and has no y. */
quorum_status rows_pick(quorum_status ready, const sliced_rows *r, const size_t *which,
                        size_t count, double *X, sliced_rows *out);

/* Lists of rows, ascending in each, list k being list[start[k]] .. list[start[k+1]-1]: their rows
 * go to the rank that does item first + k of `who`.  X (D x rows) has those of this rank's lists,
 * one list after another. */
quorum_status rows_deliver(quorum_status ready, const sliced_rows *r, const size_t *list,
                           const size_t *start, size_t lists, const work_share *who, size_t first,
                           double *X, double *y);

/* Some rows that lie one after another: row first + i has its inputs at X + i D, its target at
 * y[i]. */
typedef struct {
    size_t first, count;
    const double *X, *y;
} row_range;

/* `body` sees all rows, a range after another in their order, whoever holds them: on each rank it
 * goes on from the state (`bytes`) that the rank before left, and all have what the last one
 * left.  So a sum over rows has the same bits for any number of ranks. */
void rows_fold(const sliced_rows *r, void *state, size_t bytes,
               void (*body)(void *context, const row_range *range), void *context);

/* `body` sees all rows, in ranges of ROWS_STEP at most that begin at its multiples, in parallel.
 * Results have one unit per row (team/work.h: data and width). */
typedef quorum_status (*rows_body)(void *context, const row_range *range, int worker);
quorum_status rows_map(quorum_status ready, const sliced_rows *r, int threads, rows_body body,
                       void *context, const team_result *results, size_t count);

/* Numbers of rows, each known to one rank and 0 on the others: all have all of them. */
quorum_status rows_fill(quorum_status ready, const sliced_rows *r, size_t *numbers, size_t count);

/* How many of the rows this rank holds; and for the account, that it holds so many now. */
static inline size_t rows_held(const sliced_rows *r)
{
    return held_rows(r).count;
}
static inline void rows_note(size_t held)
{
    team_note_rows(held);
}

/* All rows to every rank; X and y are new and the caller's to free. */
quorum_status rows_gather(quorum_status ready, const sliced_rows *r, double **X, double **y,
                          sliced_rows *whole);

#endif
