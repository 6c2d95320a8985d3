/* Calibration of a model that is fitted but for it. */
#ifndef QRM_CALIBRATE_CALIBRATE_H
#define QRM_CALIBRATE_CALIBRATE_H

#include "model/model.h"
#include "rows/scattered.h"

enum { LEAST_HELD_OUT = 20 }; /* rows: fewer say nothing */

/* held, of calibrate=strict: 1 for each row of the training data that is held out, all in one round;
 * NULL: rows are drawn, and held out few at a time. */
quorum_status model_calibrate(quorum_model *m, const quorum_options *options, const char *held);

/* Whether a fit may be calibrated without being asked to, and of n rows will be by rows left out in turn. */
int calibrates_unasked(const settings *s);
int model_calibrates_unasked(size_t n, const settings *s);

/* calibrate=auto: by rows left out in turn, where that is cheap (left_out_ratios.c); the rows are the
 * model's, standardised, and it will have so many experts.  What it is for has still to be said: calibration_is_for. */
quorum_status model_calibrate_left_out(quorum_model *m, const settings *s, size_t experts,
                                       const scattered_rows *rows);

/* m->method: what method auto is, of a model that has all but its calibration (method_choice.c). */
quorum_status model_choose_method(quorum_model *m, const quorum_options *options);

/* ---- What is found of each row ---- */

typedef struct {
    double z, weight;
} weighted_ratio;

typedef struct {
    calibration c;
    double *std;            /* count: of each row, in the order in which they are added */
    double *weight;         /* count: likewise, as how many rows it counts              */
    weighted_ratio *sorted; /* count: room                                     */
} findings;

/* Room for so many in findings that are zeroed but for what c is for; 0: no memory. */
int findings_new(size_t most, findings *f);
void findings_free(findings *f);
void findings_add(findings *f, double error, double std, double unit /* of the target */,
                  double weight);
void findings_summarise(findings *f);
calibration findings_take(findings *f);

/* What model_calibrate would find joins `pool`, which has room for it, and the model has no calibration. */
quorum_status model_pool_ratios(quorum_model *m, const quorum_options *options, const char *held,
                                findings *pool);

#endif
