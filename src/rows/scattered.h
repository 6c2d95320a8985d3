/* The training rows before they are split among experts.  Each process of a team holds a slice of
 * them, so that a team has room for more rows than one process; a team of one holds all.
 *
 * Functions here are called by all processes together, with the same lists.  Those that take
 * `ready` agree on it (team/work.h); on rows that are whole, every process works for itself. */
#ifndef QRM_ROWS_SCATTERED_H
#define QRM_ROWS_SCATTERED_H

#include "rows/rows.h"
#include "team/work.h"

enum { ROWS_STEP = 512 }; /* slices begin at multiples of it */

typedef struct {
    size_t n;     /* of all processes                         */
    row_set held; /* those that this process holds ...        */
    size_t first; /* ... from this number on                  */
    int whole;    /* 1: every process has all rows, by itself */
} scattered_rows;

/* n rows, of which this process holds its slice (held->n is not looked at), or all of them. */
scattered_rows rows_scattered(size_t n, const row_set *held);
scattered_rows rows_whole(const row_set *all);

/* How many of n rows this process holds. */
size_t rows_share(size_t n);

/* The listed rows, in the list's order, to every process, in the fields that `to` has. */
quorum_status rows_fetch(quorum_status ready, const scattered_rows *r, const size_t *which,
                         size_t count, row_set *to);

/* The same as rows of their own, which a team holds in slices like the others: `out` lies in
 * `room`. */
quorum_status rows_pick(quorum_status ready, const scattered_rows *r, const size_t *which,
                        size_t count, row_set *room, scattered_rows *out);

/* All rows, or where there are more than 20,000, or of many inputs fewer, so many that are spread
 * evenly, to every process in all their fields; rows_free, also after a failure. */
quorum_status rows_sample(quorum_status ready, const scattered_rows *r, row_set *out);

/* Lists of rows, ascending in each, list k being list[start[k]] .. list[start[k+1]-1]: their rows
 * go to the process that does item first + k of `who`.  `to` has those of this process's lists, one
 * list after another, in the fields that it has. */
quorum_status rows_deliver(quorum_status ready, const scattered_rows *r, const size_t *list,
                           const size_t *start, size_t lists, const work_share *who, size_t first,
                           row_set *to);

/* Rows that lie one after another, from number `first` on. */
typedef struct {
    size_t first;
    row_set rows;
} row_range;

/* `body` sees all rows, a range after another in their order, whoever holds them: on each process
 * it goes on from the state (`bytes`) that the one before left, and all have what the last one
 * left.  So a sum over rows has the same bits for any number of processes. */
quorum_status rows_fold(quorum_status ready, const scattered_rows *r, void *state, size_t bytes,
                        void (*body)(void *context, const row_range *range), void *context);

/* `body` sees all rows, in ranges of ROWS_STEP at most that begin at its multiples, in parallel.
 * Results have one unit per row (team/work.h: data and width). */
typedef quorum_status (*rows_body)(void *context, const row_range *range, int worker);
quorum_status rows_map(quorum_status ready, const scattered_rows *r, int threads, rows_body body,
                       void *context, const team_result *results, size_t count);

/* Numbers of rows, each known to one process and 0 on the others: all have all of them. */
quorum_status rows_fill(quorum_status ready, const scattered_rows *r, size_t *numbers,
                        size_t count);

/* For the account: this process holds so many rows now. */
void rows_note(size_t held);

/* All rows to every process; *all is new, and the caller's to free. */
quorum_status rows_gather(quorum_status ready, const scattered_rows *r, row_set *all);

#endif
