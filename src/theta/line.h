/* The target in the model's units, and a line through it (model/trend.c). */
#ifndef QRM_FIT_LINE_H
#define QRM_FIT_LINE_H

#include "model/model.h"
#include "rows/scattered.h"

/* ---- target.c ---- */

/* Learns y_mean and y_scale of the target about its offset, or under its warp, and puts it into
 * own->y. */
quorum_status target_standardise(quorum_model *m, const settings *s, const scattered_rows *given,
                                 row_set *own);

/* own->y = the rows' target in these units, without a line; likewise own->error. */
void target_apply(const unit_change *u, const row_set *given, const row_set *own);

/* ---- warp_shift.c ---- */

/* The target is modelled by its logarithm from now on: sets warp and shift, before it is
 * standardised.  Of negative targets this fails or, where `possible` is given, is not done. */
quorum_status warp_begin(quorum_model *m, const scattered_rows *given, int *possible);
void warp_end(quorum_model *m);

/* ---- line.c ---- */

/* A line by ordinary least squares is taken out of the rows' y, which are then in units of what it
 * leaves (y_scale).  Rows as in theta.h. */
quorum_status line_begin(quorum_model *m, const scattered_rows *given, const scattered_rows *rows);

/* Takes back what line_begin did; y_scale was this before it. */
void line_take_back(quorum_model *m, double y_scale, const scattered_rows *given,
                    const scattered_rows *rows);

/* Where there is a line: the same by generalised least squares, with the covariance of its
 * coefficients, now that theta is known. */
quorum_status line_settle(quorum_model *m, const settings *s, const scattered_rows *given,
                          const scattered_rows *rows);

/* The same by this theta. */
quorum_status line_by_theta(quorum_model *m, const settings *s, const hyper *theta,
                            const scattered_rows *given, const scattered_rows *rows);

/* The same when the rows are split among experts, by the experts' own likelihoods. */
quorum_status line_settle_parts(quorum_model *m, const settings *s);

#endif
