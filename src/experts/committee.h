/* All experts of a model, ready to predict: their factors and posteriors. */
#ifndef QRM_EXPERTS_COMMITTEE_H
#define QRM_EXPERTS_COMMITTEE_H

#include "base/progress.h"
#include "gp/expert.h"
#include "rows/parts.h"

/* Factors are kept when they fit into the budget; otherwise they are made anew,
 * group by group, for every block of queries.  The results are the same. */
typedef struct {
    parts parts;
    hyper theta;
    work_share share; /* who alone works with an expert's factor, by its cost m^3 */
    points Z;         /* rows, scaled: all, or those that are here           */
    char *scaled;     /* M: 1 where Z has an expert's rows; NULL: it has all */
    int turned;       /* 1: Z.T is there, which experts are asked by         */
    double *factors;  /* expert e's L (m x m) and alpha (m) at factors + start[e]; or NULL */
    size_t *start;    /* M + 1; experts of other processes have no room      */
    double *centre;   /* D x M: means of the experts' scaled rows            */
    double *radius;   /* M: largest distance of an expert's row from it      */
    double *worth;    /* M: sum of s^2 over its rows' noises: their number, where no row has a
                         weight or an error of its own (gp/noise.h)          */
} committee;

/* Together, by all processes of a team; theta's memory and the parts' must outlive the committee. */
quorum_status committee_new(const parts *p, const hyper *theta, double budget, int threads,
                            const progress *report, committee *out);
void committee_free(committee *c);

/* The same without what only experts are asked by: no factors, and Z.T not before committee_turn. */
quorum_status committee_gather(const parts *p, const hyper *theta, int threads, committee *out);
quorum_status committee_turn(committee *c, int threads);

/* Scales rows that have come since (parts.held). */
void committee_scale_held(committee *c);

/* Makes all factors and keeps them, unless they are kept already or do not fit into `budget`
 * bytes.  Nobody may be answered meanwhile. */
quorum_status committee_keep_factors(committee *c, double budget, int threads,
                                     const progress *report);

/* What one expert is asked: its posterior at b of the queries, b a multiple of
 * QUERY_MULTIPLE; NULL parts are not computed. */
typedef struct {
    size_t expert, b;
    const size_t *query; /* b: columns of Q; NULL: the first b                    */
    double *mean;        /* b                                                     */
    double *explained;   /* b: prior variance minus the latent one                */
    double *gamma;       /* m x b                                                 */
    double *mean_slope,
        *explained_slope; /* D x b: along the queries' scaled inputs (gp/slopes.h) */
    const size_t *own;    /* b: rows of the expert, counted from its first: then mean and explained
                            are those at each row from the expert's other rows   */
    double *solve;        /* m x b: given V, becomes C^-1 V; then nothing else is asked, and one
                            process alone asks                                    */
} question;

/* Answers all questions about the queries Q, one an expert at most; their order does not matter.
 * A query's numbers depend on that query only.  Factors that are not kept are made for a group
 * of experts at a time, within `budget` bytes.  Together (team/work.h): each expert is asked where
 * its factor is, and all have the answers; who is not ready need not have any questions. */
quorum_status committee_answer(quorum_status ready, const committee *c, const question *questions,
                               size_t count, const points *Q, double budget, int threads);

/* Whether this process works with expert e's factor. */
int committee_is_mine(const committee *c, size_t e);

/* BLAS treats the last columns of an odd block differently, bit for bit: blocks
 * of queries are padded to a multiple of this. */
enum { QUERY_MULTIPLE = 16 };

static inline size_t padded_queries(size_t b)
{
    return (b + QUERY_MULTIPLE - 1) / QUERY_MULTIPLE * QUERY_MULTIPLE;
}

/* Bytes of the factors that this process would keep. */
double committee_factor_bytes(const committee *c);

#endif
