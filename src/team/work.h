/* Work that a team does together, for rooms that need not know who does what.
 *
 * All processes of a team make these calls, in the same order, from the thread that called the
 * library; a team of one simply does the work.  A call divides items among the processes, agrees on
 * failure and returns with the results of all items, in index order, on all of them: sums taken in
 * that order have the same bits for any number of processes.
 *
 * `ready` is how this process came here, such as whether it had memory for the work.  One that is
 * not ready does nothing, and the call fails for all: so nobody waits for one that has given up,
 * and no other agreement is needed before the call. */
#ifndef QRM_TEAM_WORK_H
#define QRM_TEAM_WORK_H

#include "base/parallel.h"

#include <stddef.h>
#include <stdint.h>

/* Where the results of n items stand: those of item i are
 *
 *   unit i of `data`, a unit having `width` bytes;
 *   the units start[i] .. start[i+1] - 1, where there is a start (n + 1);
 *   the same in each of `rows` rows, `stride` units apart, where it is a table;
 *   bytes[i] bytes at place[i], where there are places (n; NULL: none). */
typedef struct {
    void *data;
    size_t width;
    const size_t *start;
    size_t rows, stride;
    void *const *place;
    const size_t *bytes;
} team_result;

/* parallel_for over n items that cost about the same, neighbours being done by one process. */
quorum_status team_map(quorum_status ready, int threads, size_t n, parallel_body body,
                       void *context, const team_result *results, size_t count);

/* ---- Items that differ in cost, or whose data only one process has ---- */

/* Each item has one process that does it: the dearest first, to whoever has least to do. */
typedef struct {
    size_t n;
    int *owner;    /* n: who; for team, rows and near alone                         */
    size_t mine;   /* items of this process ...                                     */
    size_t *items; /* ... the dearest first, equal ones by number                   */
} work_share;

quorum_status work_share_new(const double *cost, size_t n, work_share *out);
void work_share_free(work_share *s);
int work_is_mine(const work_share *s, size_t item);

/* body does the items of this process. */
typedef quorum_status (*share_body)(void *context, const size_t *items, size_t count);
quorum_status team_map_share(quorum_status ready, const work_share *s, share_body body,
                             void *context, const team_result *results, size_t count);

/* ---- What each process does for itself: room, files that all of them read ---- */

/* Every process does it; all hear how it went. */
quorum_status team_all(quorum_status ready, quorum_status (*body)(void *context), void *context);

/* Fails unless the files of all processes have the same digest; `what` names them. */
quorum_status team_same_file(quorum_status ready, const char *what, uint64_t digest);

/* ---- What one process does for all: files ---- */

/* The first process alone does it; all hear how it went. */
quorum_status team_first(quorum_status ready, quorum_status (*body)(void *context), void *context);

/* The first process's bytes go to all; its array too, which the others allocate.  An array of none
 * is NULL. */
void team_send(void *data, size_t bytes);
quorum_status team_send_array(quorum_status ready, void **array, size_t *count, size_t width);
quorum_status team_send_text(quorum_status ready, char **text); /* NULL: no text */

/* ---- The machine ---- */

/* What one process may use of it: processors, and bytes of memory (0: unknown), which is the same
 * number on all. */
int team_processors(void);
double team_memory(void);

int team_is_alone(void); /* whether there is only one process */

#endif
