/* What each query is predicted by itself: mean and variance, noise and the rest of it apart. */
#ifndef QRM_SAMPLE_MARGINS_H
#define QRM_SAMPLE_MARGINS_H

#include "predict/predictor.h"

/* One value a query, in the target's units; of a warped target all are of w(y) (model/warp.c). */
typedef struct {
    double *mean;
    double *latent; /* standard deviation without the noise, calibrated where std is  */
    double *noise;  /* sqrt(std^2 - latent^2); 0 with latent=true                      */
} margins;

quorum_status margins_new(size_t n, margins *out);
void margins_free(margins *g);

/* sqrt(whole^2 - part^2) of deviations, 0 where the part is as large; also of numbers whose squares
 * are not finite. */
double rest_of(double whole, double part);

/* At the n queries X, as quorum_predict gives them (plan p). */
quorum_status margins_find(const plan *p, const double *X, size_t n, margins *g);

#endif
