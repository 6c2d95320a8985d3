/* Calibration of a model that is fitted but for it. */
#ifndef QRM_FIT_CALIBRATE_H
#define QRM_FIT_CALIBRATE_H

#include "model/model.h"

enum { LEAST_HELD_OUT = 20 }; /* rows: fewer say nothing */

/* held, of calibrate=strict: 1 for each row of the training data that is held out, all in one round;
 * NULL: rows are drawn, and held out few at a time. */
quorum_status model_calibrate(quorum_model *m, const quorum_options *options, const char *held);

#endif
