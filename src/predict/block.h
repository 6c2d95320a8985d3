/* A block of queries: into the model's units, and the predictions back into the caller's. */
#ifndef QRM_PREDICT_BLOCK_H
#define QRM_PREDICT_BLOCK_H

#include "predict/predictor.h"

quorum_status block_new(size_t b, size_t D, int with_slopes, block_space *w);
void block_free(block_space *w);

/* Standardises and scales the listed rows of X; the padding repeats the last one. */
void block_take(const plan *p, const double *X, const size_t *which, size_t n, block_space *w);

/* The known errors of the same rows' targets, in the target's units; NULL: none. */
void block_take_errors(const plan *p, const double *noise_std, const size_t *which, size_t n,
                       block_space *w);

/* The mean at query q in the target's units: the GP's, and the line; of a warped target still
 * warped. */
double block_mean(const quorum_model *m, const block_space *w, size_t q);

/* Writes the predictions at the n queries to the listed places of `out`. */
quorum_status block_write(const plan *p, const block_space *w, const size_t *which, size_t n,
                          const quorum_prediction *out, tally *t);

/* The gradients at query q, whose variance is var in standardised units, to place `at` of `out`
 * (slopes.c). */
quorum_status block_write_gradients(const plan *p, const block_space *w, size_t q, double var,
                                    size_t at, const quorum_prediction *out);

/* predict.c: the predictions at n queries by a plan, and the same without the noise. */
quorum_status predict_margins(const plan *p, const double *X, size_t n,
                              const quorum_prediction *out, const quorum_prediction *latent);

/* predict.c: the parts of a call of quorum_predict: what is refused before the work, the work within its
 * memory and heard by the progress callback, and what is left to be done after it. */
quorum_status predict_check(const quorum_model *m, const double *X, size_t rows,
                            const quorum_options *options, const quorum_prediction *out, tally *t);
quorum_status predict_by_plan(const plan *p, const double *X, size_t n,
                              const quorum_prediction *out, tally *t);
quorum_status predict_watched(const quorum_model *m, const quorum_options *options,
                              quorum_status (*body)(void *context), void *context);
void predict_finish(const quorum_model *m, const double *X, size_t rows,
                    const quorum_prediction *out, quorum_status status, tally *t);

/* NaN to n places of every array there is. */
void fill_nan(const quorum_prediction *out, size_t n, size_t D);

#endif
