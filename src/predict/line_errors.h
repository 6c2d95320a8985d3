/* What the errors of a linear trend's coefficients do to predictions that weigh rows (joint_space):
 *
 *   u_q = f(x_q) - sum_i a_qi f(x_i),   a = the seats' gammas times their weights
 *   doubt_q = u_q' V u_q,   covariance_qk = u_q' V u_k */
#ifndef QRM_PREDICT_LINE_ERRORS_H
#define QRM_PREDICT_LINE_ERRORS_H

#include "predict/predictor.h"

/* doubt (n) at the first n queries, from the weights (seats x b) of npae_solve.  Together
 * (team/work.h). */
quorum_status line_doubts(const quorum_model *m, const joint_space *j, const double *weights,
                          size_t n, double *doubt);

/* *errors ((D + 1) x b), u of every query, is new, and the caller's to free. */
quorum_status line_errors(const quorum_model *m, const joint_space *j, const double *weights,
                          double **errors);

/* *covariance (b x b) is new, and the caller's to free. */
quorum_status line_error_covariance(const quorum_model *m, const joint_space *j,
                                    const double *weights, double **covariance);

#endif
