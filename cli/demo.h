/* What `quorum demo` has at hand: the paper's 1-D example, fitted and scored. */
#ifndef QUORUM_CLI_DEMO_H
#define QUORUM_CLI_DEMO_H

#include "arguments.h"
#include "scoring.h"

enum { DEMO_TRAIN = 5000, DEMO_TEST = 500 };

#define DEMO_NOISE 0.2
#define DEMO_LOW (-0.2) /* the test points reach beyond the training points' [0, 1] */
#define DEMO_HIGH 1.2

typedef struct {
    double x[DEMO_TRAIN], y[DEMO_TRAIN];
    double x_test[DEMO_TEST], y_test[DEMO_TEST];
    quorum_model *model;
    contenders all;
} demo;

/* Draws the fit of the best contender beside two others; returns the exit code. */
int draw_demo(const demo *d, const arguments *given, const char *path);

/* The contender with the smallest MSLL. */
const contender *best_contender(const contenders *all);

#endif
