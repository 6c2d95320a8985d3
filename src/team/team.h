/* Who works on what when several processes do one job.
 *
 * All ranks run the same program and take the same decisions; of the training rows each has a
 * share (rows/rows.h).  A heavy loop is cut into items, each item has one owner, and what
 * the owners found is shared: then all have all, and sums taken in index order have the same
 * bits for any number of ranks.
 *
 *     my_slice or spread_by_cost  ->  each rank does its items  ->  team_agree  ->  team_share
 *
 * serial.c is a team of one (libquorum, quorum); mpi.c is one of MPI processes
 * (quorum-mpi).  Functions under "together" are called by all ranks, in the same order,
 * from the thread that called the library.  What can fail on one rank alone is agreed on
 * before anything is shared. */
#ifndef QRM_TEAM_TEAM_H
#define QRM_TEAM_TEAM_H

#include "team/work.h"

#include <stddef.h>

/* ---- Alone ---- */

int team_rank(void); /* 0 .. team_size() - 1; rank 0 reads, writes and speaks */
int team_size(void);

/* ---- Together ---- */

void team_start(int *argc, char ***argv);

/* The largest of all ranks' exit codes.  A rank that fails while the others go on waits
 * a while for them, then ends them. */
int team_finish(int code);

/* The failure of the lowest rank that failed, with its sentence; else mine.  Who fails sees a
 * failure, which is said here so that analysers know it. */
quorum_status team_common_status(quorum_status mine);
static inline quorum_status team_agree(quorum_status mine)
{
    quorum_status common = team_common_status(mine);
    return mine < 0 && common >= 0 ? mine : common;
}

/* Each piece goes from its owner to all; all ranks list the same pieces. */
typedef struct {
    void *data;
    size_t bytes;
    int owner;
} team_piece;

void team_share(const team_piece *pieces, size_t count);

/* Counts are added up over all ranks, and all have the sums.  Integers: any order is right. */
void team_add(size_t *counts, size_t n);

/* `out` has out_count[r] items of `width` bytes for each rank r, one after another; what the ranks
 * sent to this one comes into `in` the same way, in_count[r] items from rank r. */
void team_exchange(const void *out, const size_t *out_count, void *in, const size_t *in_count,
                   size_t width);

/* What this rank spent on all this so far. */
typedef struct {
    double seconds;        /* sending and waiting            */
    double processor;      /* processor seconds of that      */
    double sent, received; /* bytes                          */
} team_traffic;

team_traffic team_spent(void);

/* For the account of its rows (processes.c): this rank has so many now. */
void team_note_rows(size_t rows);

/* ---- Owners (spread.c): the same for every back end ---- */

enum { MOST_RANKS = 4096 }; /* of a larger team, the rest owns nothing */

/* A rank's share of n items in a row, as even as multiples of `step` allow. */
typedef struct {
    size_t first, count;
} team_slice;

team_slice slice_of(size_t n, size_t step, int rank, int ranks);
team_slice my_slice(size_t n, size_t step); /* of this rank in this team */
int slice_owner(size_t n, size_t step, size_t item, int ranks);

/* The ranks take turns at the same bytes, rank 0 first, and all have what the last one left:
 * a sum over items in slices keeps its order. */
void team_in_turn(void *data, size_t bytes, void (*turn)(void *context), void *context);

/* Each rank's slice of the n items of `width` bytes goes to all. */
void team_share_slices(void *items, size_t width, size_t n, size_t step);

/* owner[i]: the rank that has least to do so far, item after item: give the costly first. */
void spread_by_cost(const double *cost, size_t n, int ranks, int *owner);

#endif
