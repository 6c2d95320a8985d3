/* Nearest rows when each process of a team holds some of the rows.
 *
 * One process claims a query, best one that holds rows near it, and searches first; the others then
 * only look for rows that are not farther than the m-th that it found.  All lists go to the process
 * that asks the query, and are merged there.  Distances depend on the query and the row only, and
 * ties go by the rows' numbers: the result is that of one search over all rows.
 *
 * A team of one holds all rows and asks all queries. */
#ifndef QRM_NEAR_SCATTERED_SEARCH_H
#define QRM_NEAR_SCATTERED_SEARCH_H

#include "near/neighbours.h"
#include "rows/rows.h"
#include "team/work.h"

typedef struct {
    double distance; /* squared                                            */
    size_t number;   /* of the row, by which ties are broken               */
    size_t tag;      /* what its holder says of it; where rows go along, its place among them */
} near_row;

/* The rows that this process holds. */
typedef struct {
    const neighbour_index *index; /* over them; NULL: it has none                        */
    const size_t *number;         /* of each, ascending                                  */
    const size_t *tag;            /* of each; NULL: 0                                    */
    const row_set *rows;          /* row i goes along with its number i; NULL on all
                                     processes: only numbers go                          */
} near_holdings;

typedef struct {
    const points *Q;
    const char *claimed; /* Q->n: 1 where this process searches first.  One alone claims a query */
    size_t m;            /* rows for each, at most                                               */
    int threads;
} near_question;

/* The rows of one query, nearest first. */
typedef struct {
    size_t count; /* m, unless there are fewer rows in all                       */
    const near_row *row;
    const double *rows; /* where rows go along: as they travel (rows/rows.h), a row at
                           rows + tag row_width                                        */
} near_found;

typedef quorum_status (*near_body)(void *context, size_t query, const near_found *found,
                                   int worker);

/* `body` sees the rows of each query, in parallel: every process asks those that team_map would
 * give it, some of them at a time.  ready and the results, which are per query: team/work.h. */
quorum_status near_ask(quorum_status ready, const near_holdings *held, const near_question *asked,
                       near_body body, void *context, const team_result *results, size_t count);

/* Boxes of near rows, each on one process, with which such a search has little to send. */
size_t near_boxes(void);

#endif
