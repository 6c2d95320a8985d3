/* Tells early that predictions will take long, while something can be done about it. */
#ifndef QUORUM_CLI_FORECAST_H
#define QUORUM_CLI_FORECAST_H

#include "arguments.h"

typedef struct {
    double start;        /* when the work began                                     */
    double before, read; /* share of the file: predicted, and read by now           */
    bool said;
} forecast;

void forecast_start(forecast *f);

/* Listens to the library's stages "read" and "predict"; notes, once, when a prediction by the
 * default neighbourhoods will take more than ten minutes yet.  Of a pipe nobody knows the length,
 * and nothing is said. */
void forecast_hear(forecast *f, const arguments *given, const char *stage, double fraction);

#endif
