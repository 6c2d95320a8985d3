/* Calibration of a model that is fitted but for it. */
#ifndef QRM_FIT_CALIBRATE_H
#define QRM_FIT_CALIBRATE_H

#include "model/model.h"

quorum_status model_calibrate(quorum_model *m, const quorum_options *options);

#endif
