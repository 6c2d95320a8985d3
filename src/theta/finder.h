/* Inside fit: what the searches for theta share (theta.c, rounds.c, choice.c, metric.c). */
#ifndef QRM_FIT_FINDER_H
#define QRM_FIT_FINDER_H

#include "theta/theta.h"
#include "train/contender.h"
#include "train/train.h"
#include "train/vecchia.h"

typedef struct {
    quorum_model *m;
    const settings *s;
    const progress *p;
    const scattered_rows *given; /* rows as they were given ...           */
    const scattered_rows *rows;  /* ... and standardised                  */
    checkpoint *checkpoint;      /* or NULL                               */
    training_result *result;
    int searches, planned; /* so many searches are over, of so many */
    int is_quick;          /* until last rounds begin               */
} finder;

/* ---- rounds.c ---- */

enum {
    MANY_EXPERTS = 100, /* train-experts=auto trains on so many at most */
    SUBSET_ROWS = 1500  /* train=subset                                 */
};

quorum_status copy_theta(const hyper *from, hyper *to);
void set_theta(hyper *to, const hyper *from); /* both keep their memory */

training_options search_options(const finder *f);

/* train(), with the evaluations of all searches counted. */
quorum_status search_theta(finder *f, const parts *p, const size_t *experts, size_t count,
                           training_options *o, hyper *theta);

/* Trains theta on `count` parts of `size` rows, all drawn at random.  start: where to
 * begin, or NULL. */
quorum_status train_on_random_rows(finder *f, size_t count, size_t size, training_options *o,
                                   const hyper *start, hyper *theta);

/* The rounds of theta.c's head, each from the theta that is there; the last one with scales of
 * blocks' own, if the data may have any, or without. */
quorum_status first_look(finder *f);
quorum_status quick_round(finder *f, hyper *theta);
quorum_status last_round(finder *f, hyper *theta, int own_scales);
int has_own_scales(const quorum_model *m);

/* Blocks of rows in theta's metric, about `targets` rows. */
vecchia_problem neighbour_problem(const finder *f, const hyper *metric, double targets);

/* ---- choice.c ---- */

enum {
    FINALISTS = 2,     /* kernels that have a last round  */
    LEAST_SCORED = 100 /* fewer rows do not tell a spread */
};

/* theta by quick rounds of the kernels, a metric and last rounds, of the kernel that was given or of
 * the best. */
quorum_status choose_theta(finder *f);

/* m->spread by rows left out. */
quorum_status learn_spread(finder *f);

/* m->untested, after the number of neighbours, with train=neighbours. */
quorum_status learn_untested(finder *f);

/* The number of neighbours that prediction needs, into the model. */
quorum_status learn_neighbours(finder *f);

/* Rows that are left out in turn, near by theta's own metric. */
quorum_status left_out_parts(finder *f, const hyper *theta, vecchia_parts *v);

/* Contenders as they are before a search: what they are and their thetas, without scores. */
quorum_status copy_contenders(contender *const *list, int count, contender *copy);

/* A quick round from c->theta, and its score, at a glance. */
quorum_status quick_round_and_score(finder *f, contender *c);

/* Its score by all rows that there are to be, if it had a glance at few. */
quorum_status look_closely(finder *f, contender *c);

/* The best of the list first, by more rows where a glance leaves doubt. */
quorum_status best_first(finder *f, contender **list, int count);

/* ---- metric.c ---- */

/* Turns of the metric that may be tried; searches that they take, for so many contenders. */
int count_metric_searches(const quorum_model *m, const settings *s, int contenders);
int count_turns(const quorum_model *m, const settings *s);

/* The rows along these directions of the inputs (D x D, the model's); NULL: the inputs themselves. */
void turn_rows(const finder *f, double *rotation);

/* The listed contenders, best first, in a metric of directions while that predicts rows better. */
quorum_status find_metric(finder *f, contender **list, int count);

/* ---- start.c ---- */

/* With the option start: m->theta and the metric are those of that model, in these rows' units, and *own names
 * its kernel, and no metric to look for. */
quorum_status theta_start(finder *f, settings *own);

/* ---- noise_choice.c ---- */

/* m->local_noise, after the number of neighbours, and with a noise of neighbourhoods' own m->spread
 * too, if that is learned. */
quorum_status learn_noise(finder *f, int learns);

/* ---- warp_choice.c ---- */

/* The target by its logarithm if that predicts rows better that are left out. */
quorum_status find_warp(finder *f);

/* ---- trend_choice.c ---- */

/* Scores a trial on few rows left out at all distances, in units that are `unit` times smaller. */
quorum_status score_trial(finder *f, contender *c, double unit);

/* Searches that a trial of a line may take, for each of so many contenders. */
int count_trials(const quorum_model *m, const settings *s);

/* With trend=auto: the listed contenders, best first, about a line if that predicts rows better. */
quorum_status find_trend(finder *f, contender **list, int count);

#endif
