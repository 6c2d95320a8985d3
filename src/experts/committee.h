/* All experts of a model, ready to predict: their factors and posteriors. */
#ifndef QRM_EXPERTS_COMMITTEE_H
#define QRM_EXPERTS_COMMITTEE_H

#include "base/progress.h"
#include "experts/parts.h"

/* Factors are kept when they fit into the budget; otherwise they are made anew,
 * group by group, for every block of queries.  The results are the same. */
typedef struct {
    parts parts;
    hyper theta;
    points Z;        /* all rows, scaled                                    */
    double *factors; /* expert e's L (m x m) and alpha (m) at factors + start[e]; or NULL */
    size_t *start;   /* M + 1                                               */
} committee;

/* theta's memory and the parts' must outlive the committee. */
quorum_status committee_new(const parts *p, const hyper *theta, double budget, int threads,
                            const progress *report, committee *out);
void committee_free(committee *c);

/* Posteriors of p experts at b queries; NULL parts are not computed. */
typedef struct {
    double *mean;      /* p x b: [i * b + q]                           */
    double *explained; /* p x b: prior variance minus the latent one   */
    double **gamma;    /* p arrays of m_i x b                          */
} posteriors;

/* Posteriors of the listed experts at the queries Q.  Query q's numbers depend
 * on query q only, provided that Q->n is a multiple of QUERY_MULTIPLE. */
quorum_status committee_posteriors(const committee *c, const size_t *experts, size_t count,
                                   const points *Q, double budget, int threads,
                                   const posteriors *out);

/* BLAS treats the last columns of an odd block differently, bit for bit: blocks
 * of queries are padded to a multiple of this. */
enum { QUERY_MULTIPLE = 16 };

/* Bytes of kept factors, and of one worker's scratch. */
double committee_factor_bytes(const parts *p);

#endif
