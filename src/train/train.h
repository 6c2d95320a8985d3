/* Shared hyperparameters by maximising the sum of the experts' log marginal
 * likelihoods, or of log likelihoods of some rows given others (vecchia.h). */
#ifndef QRM_TRAIN_TRAIN_H
#define QRM_TRAIN_TRAIN_H

#include "base/progress.h"
#include "train/checkpoint.h"
#include "gp/expert.h"
#include "rows/parts.h"

typedef struct {
    int max_evaluations; /* of value and gradient, per start                        */
    double tolerance;    /* relative change of the objective at which to stop       */
    int restarts;        /* further starts that are tried in any case               */
    int threads;
    double memory; /* bytes that the workspaces may take                          */
    const progress *progress;
    /* Of part e the first given[e] rows are only conditioned on: it counts as
     * NLML(all its rows) - NLML(those), and as so many rows fewer.  NULL: none. */
    const size_t *given;
    /* Parts with given rows have a scale of their own (conditional.h); 0: they have not. */
    double nu;
    int variances_only;     /* 1: length-scales, and a second scale's reach, stay         */
    int keep_reach;         /* 1: a second scale's reach stays                            */
    checkpoint *checkpoint; /* remembers evaluations; NULL: nobody does               */
    const hyper *start;     /* where to begin; NULL: l = sqrt(D), s_f^2 = 1, s^2 = 0.1; a second
                               scale that it does not have begins by itself              */
    size_t varying;         /* D of that: inputs that vary; 0: all                      */
    const size_t *same;     /* D: the first input that has this one's length-scale; NULL: each has
                               its own                                                   */
    double done, share;     /* of the caller's work: before this search, and this search */
} training_options;

/* Whether theta is more likely than noise alone: surely; less than its parameters may gain by
 * chance from so few rows; or not at all. */
typedef enum { SIGNAL_FOUND, SIGNAL_DOUBTFUL, SIGNAL_NONE } evidence;

typedef struct {
    double nlml;     /* sum over the training experts                               */
    double rows;     /* that it is the sum over: the objective is nlml / rows       */
    int evaluations; /* over all starts                                             */
    evidence signal; /* for anything but noise                                      */
} training_result;

/* Bounds of log theta: 0 .. D-1 length-scales, D signal, D+1 noise; of a second scale D+2 logit w,
 * D+3 log rho (gp/hyper.h). */
double theta_lower_bound(size_t D, size_t i);
double theta_upper_bound(size_t D, size_t i);

/* For each parameter -1 on its lower bound, 1 on its upper, 0 between. */
void theta_at_bound(const hyper *theta, int *at_bound /* D + 4: 0 of a scale that is not there */);

/* Trains theta (lengthscale has room for D numbers) on the listed experts. */
quorum_status train(const parts *p, const size_t *experts, size_t count,
                    const training_options *options, hyper *theta, training_result *result);

/* Sum of the experts' NLML at theta, and its gradient when not NULL. */
quorum_status total_likelihood(const parts *p, const size_t *experts, size_t count,
                               const training_options *options, const hyper *theta, double *value,
                               double *gradient);

#endif
