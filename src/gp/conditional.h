/* Likelihood of some rows given others. */
#ifndef QRM_GP_CONDITIONAL_H
#define QRM_GP_CONDITIONAL_H

#include "gp/expert.h"

/* -log p(y_B | y_N), where N are the first `given` rows of `data` (given < m) and
 * B the others, and its gradient as in negative_log_likelihood, of which this is the
 * difference NLML(N u B) - NLML(N), at the price of one factor.
 * nu > 0: these rows' covariance is theta's times a scale of their own, unknown, for which
 * theta speaks like nu rows; 0: it is theta's. */
quorum_status negative_log_conditional(const hyper *theta, const row_set *data, size_t given,
                                       double nu, likelihood_space *ws, double *value,
                                       double *gradient /* theta_length, or NULL */);

#endif
