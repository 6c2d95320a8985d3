/* How the hyperparameters, and the kernel, are found. */
#ifndef QRM_FIT_THETA_H
#define QRM_FIT_THETA_H

#include "train/train.h"
#include "model/model.h"

/* `rows` are standardised, as they were given, before they are split among experts. */

/* With warp=auto, before anything else is learned: which warp the model has; the target of `rows` is then
 * standardised under it.  *searches: how many it took. */
quorum_status theta_choose_warp(quorum_model *m, const settings *s, const progress *p,
                                const scattered_rows *given, const scattered_rows *rows,
                                checkpoint *c, training_result *result, int *searches);

/* What can be learned before the rows are split: the metric, which turns the rows (Z, of the
 * inputs `given`, both as held), the kernel, and theta unless
 * train=parts; then, with partition-metric=learned, a first theta for the metric.  *result says
 * what the last search found; its evaluations are those of all, of so many searches before too. */
quorum_status theta_before_partition(quorum_model *m, const settings *s, const progress *p,
                                     const scattered_rows *given, const scattered_rows *rows,
                                     int searches, checkpoint *c, training_result *result);

/* The rest: theta from the experts' own rows (train=parts), or the likelihood of a
 * theta that was given.  QUORUM_NO_SIGNAL when that is not surely more than noise. */
quorum_status theta_after_partition(quorum_model *m, const settings *s, const progress *p,
                                    checkpoint *c, training_result *result);

/* Of a target whose theta is there already (share=theta): its own spread. */
quorum_status theta_is_shared(quorum_model *m, const settings *s, const progress *p,
                              const scattered_rows *given, const scattered_rows *rows,
                              training_result *result);

/* ---- warp_choice.c ---- */

/* Whether the fit tries both warps (warp=auto): as many trials; and the searches that they take. */
enum { WARP_SEARCHES = 4 };
int count_warps(const quorum_model *m, const settings *s);

/* ---- bounds.c ---- */

/* QUORUM_AT_BOUND with a sentence that names all hyperparameters on a bound, or QUORUM_OK; `weight` is the mean
 * of the rows' weights, which may be why the noise is on one. */
quorum_status model_say_bounds(const quorum_model *m, double weight);

/* ---- resume.c ---- */

/* The option checkpoint, opened for this fit; NULL where there is none.  Searches for theta
 * take it, or NULL. */
quorum_status open_checkpoint(const quorum_model *m, const scattered_rows *rows,
                              const quorum_options *options, checkpoint **out);

#endif
