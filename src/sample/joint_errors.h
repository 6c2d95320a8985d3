/* The errors f - mean of the predictions at n queries, as one Gaussian: each query's error is what
 * earlier ones say of it, and something new (docs/methods.md, "Draws").
 *
 *   e_p = sum_k b_pk e_k + c_p z_p,   z_p ~ N(0, 1),   k among the earlier places near p
 *
 * in the order of query_order.h.  With S the covariance of f at p and the earlier queries E, given
 * the rows N nearest to p,
 *
 *   S = k(P, P) - k(P, N) (k(N, N) + s^2 I)^-1 k(N, P),   P = [p, E]
 *   b = (S_EE + R)^-1 S_Ep,   c^2 = S_pp - 2 b' S_Ep + b' S_EE b
 *
 * which is exact as long as N has all rows and E all earlier queries.  R is small: rounding, and
 * where another query's own rows tell more of it than N does (error_weights.c).
 *
 * In standardised units, without the spread; scaled to the margins by who uses them. */
#ifndef QRM_SAMPLE_JOINT_ERRORS_H
#define QRM_SAMPLE_JOINT_ERRORS_H

#include "predict/predictor.h"
#include "sample/query_order.h"

typedef struct {
    size_t n, D;
    size_t given;        /* earlier queries that one leans on, at most              */
    placed_query *order; /* n                                                       */
    points Z;            /* n: scaled, in the order                                 */
    size_t *earlier;     /* n x given: places, farthest first                       */
    size_t *count;       /* n: how many of them there are                           */
    double *weight;      /* n x given: b                                            */
    double *own;         /* n: c                                                    */
    double *variance;    /* n: S_pp                                                 */
    double *U;           /* n x (D + 1): u of a linear trend (model/trend.c); NULL  */
} joint_errors;

/* Bytes that n queries take, beside what the caller has. */
double joint_errors_bytes(size_t n, size_t D, size_t given);

/* Free in any case.  p->index and the model's rows are brought as needed. */
quorum_status joint_errors_find(plan *p, const double *X, size_t n, size_t given,
                                joint_errors *out);
void joint_errors_free(joint_errors *e);

/* spread (n): the standard deviation of e_p that the weights make, which is sqrt(S_pp) but for what
 * they approximate (error_spread.c). */
quorum_status joint_errors_spread(const joint_errors *e, int threads, double *spread);

/* ---- error_weights.c ---- */

/* b (count) and c of a query from S ((count + 1)^2, the query first) and the variances that the
 * earlier ones have by their own rows; A is room for count^2. */
quorum_status error_weights(size_t count, const double *S, const double *variances, double signal,
                            double *A, double *b, double *c);

#endif
