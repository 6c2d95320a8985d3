/* The model: data sorted by expert, hyperparameters, graph. */
#ifndef QRM_MODEL_MODEL_H
#define QRM_MODEL_MODEL_H

#include "base/scratch.h"
#include "encode/encoding.h"
#include "encode/holes.h"
#include "encode/made.h"
#include "experts/committee.h"
#include "near/scattered_search.h"
#include "experts/overlap.h"
#include "rows/holdings.h"
#include "gp/neighbourhood.h"
#include "graph/expert_graph.h"
#include "options/options.h"

#include <stdint.h>

typedef struct model_cache model_cache; /* factors, made when first needed (ready.c) */

/* What a prediction computes, whatever words asked for it (recipe.c). */
typedef struct {
    const rule *rule;
    selection chosen;
    size_t neighbours; /* rows of each query's own expert, no more than there are */
    int space, graph_on;
} recipe;

/* What was learned from held-out rows (calibration.c); count 0: nothing. */
typedef struct {
    size_t count;
    double *ratio; /* count: |y - mean| / std, ascending                          */
    double *z;     /* count: (y - mean) / std, ascending; NULL: an older file     */
    double scale;  /* by which std is multiplied (calibrate/calibrate.c)                */
    recipe how;    /* the prediction it holds for; rule NULL: not known (yet) ... */
    char *select;  /* ... its selection as text, for the file                     */
    char *purpose; /* ... and all of it in words, as in "method npae, select all" */
    int unasked;   /* 1: by calibrate=auto: other predictions need no word about it */
} calibration;

/* What kernel=auto found; count 0: the kernel was given. */
enum { MOST_KERNELS = 8 };
typedef struct {
    int count;
    const char *name[MOST_KERNELS];
    double score[MOST_KERNELS]; /* mean log density of rows left out, standardised units */
} kernel_choice;

/* What method auto is, by rows that were held out of both (calibrate/method_choice.c). */
typedef struct {
    int compared; /* 1: cells with nearest; 0: nearest, without a comparison      */
    int by_cells; /* 1: cells                                                     */
    double error; /* squared error of cells over that of nearest                  */
    double gain;  /* log density a row of cells, less that of nearest             */
} method_choice;

/* The cells of the rows, where method auto is cells (cells/kept_cells.c); count 0: not known, and found
 * anew by who needs them, to the same bits. */
typedef struct {
    size_t count;
    double *centre; /* count x D, scaled by theta */
    size_t *of_row; /* n: the cell of each        */
} known_cells;

/* A graph, and the inputs behind it if they are kept. */
typedef struct {
    expert_graph graph; /* no ranking: not learned yet (model_graph); model_now shows it */
    double *reference;  /* references x D, standardised                                  */
    size_t references;
} learned_graph;

/* From the data's units to the model's and back (inputs.c). */
typedef struct {
    double *bend_at,
        *bend_width;          /* D: inputs are bent first (rows/bend.h), where the width is above 0;
                                     NULL: none is */
    double *x_mean, *x_scale; /* D                                  */
    char *constant;           /* D: 1 where an input does not vary  */
    double *rotation;         /* D x D: directions that stand for the standardised inputs, in
                                 columns; NULL: the inputs themselves */
    int warp;                 /* WARP_NONE or WARP_LOG: what of the target y is (warp.c) ... */
    double shift;             /* ... and what is added before                               */
    double y_mean, y_scale;
    double target_mean, target_scale; /* of the target itself, where y is about an offset or a
                                         line, or warped; target_scale 0: as y */
    double *line;                     /* D + 1: a linear trend (trend.c), or NULL ... */
    double *line_covariance;          /* ... and (D + 1)^2: of these coefficients     */
} unit_change;

/* The training file's columns. */
typedef struct {
    char **names;        /* D + 1, the target's last                */
    int has_names;       /* 0: made up                              */
    size_t target;       /* the target's place in the training file, but for an offset */
    char *offset;        /* the name of the offset's column; NULL: there is none       */
    size_t offset_place; /* its place in the training file, but for the next two */
    char *weights;       /* the name of the weights' column; NULL: there is none       */
    size_t weights_place;
    char *noise_std; /* the name of the column of known errors; NULL: there is none */
    size_t noise_place;
    int has_errors; /* of a fit: 1 where rows have known errors, which no warp goes with */
    int is_reduced; /* 1: a model without some of its rows, asked about these with their errors */
    char **date;    /* D: the form of dates (text/date.h), NULL of other columns; NULL: there
                            are none                                             */
    size_t *others; /* other_targets: the places among all columns of the training file of targets
                       that have models of their own (targets/several.h); the places above are as if
                       they were not there                                       */
    size_t other_targets;
} model_columns;

/* Models of further targets of the same table (targets/several.h). */
typedef struct {
    quorum_model **model; /* count */
    size_t count;
    int shared; /* 1: with the same rows, division, encoding and theta as the first */
} further_models;

/* Targets that are exactly alike, as a fit counts them (fit/atoms.c); all 0 of a file's. */
enum { ATOMS_MOST = 63 };
typedef struct {
    size_t values;      /* how many the targets have; 0: more than ATOMS_MOST      */
    double common;      /* the value of the most rows, of more than a 64th of all ... */
    size_t common_rows; /* ... and how many; 0: there is none                       */
} target_atoms;

/* How a model came about. */
typedef struct {
    int train; /* the option train: TRAIN_.. */
    int trend; /* the option trend: TREND_.. */
    double nlml;
    int evaluations;
    size_t train_experts, train_rows;
    kernel_choice kernel_choice;
    double seconds_partition, seconds_train, seconds_graph, seconds_calibrate, seconds_total;
    char *options; /* all options' texts, JSON */
    target_atoms atoms;
} model_history;

/* What follows from the rest, for quorum_inspect (model_complete). */
typedef struct {
    size_t *sizes;             /* M     */
    int *at_bound;             /* D + 4 */
    int *is_constant;          /* D     */
    double *input_lengthscale; /* D: along each input alone */
    double *slope, *slope_std; /* D: of a linear trend, in the data's units; or NULL */
    size_t *levels;            /* D: of categories; these three NULL without any     */
    const char *const **level; /* D                                                  */
    const double **position;   /* D                                                  */
    size_t *first_level;       /* D: of levels that stand apart; NULL: none do       */
} model_shown;

struct quorum_model {
    /* the rows, and the experts that they are split among */
    row_set rows; /* standardised, sorted by expert          */
    size_t *row;  /* n: their numbers in the training data   */
    size_t M;
    size_t *offset;   /* M + 1                                   */
    extra_rows extra; /* rows that experts hold beyond their own */
    holdings held;    /* which of the rows this process has      */
    const partition *partition;
    uint64_t seed;

    /* one GP for all of them */
    hyper theta;
    double *log_theta; /* D + 4: log l_1 .. log l_D, log s_f^2, log s^2, and of a kernel with two
                          scales logit w, log rho, as in the file                          */
    double spread;     /* rows that a neighbourhood's own spread is weighed against
                          (gp/neighbourhood.h); INFINITY: none                             */
    double untested;   /* what multiplies variances that no row near the query has tested; 0: not
                          known, nothing does                                              */
    int nested_spread; /* whether more rows are the prior of fewer; of older files they are not */
    int local_noise;   /* whether a neighbourhood has a noise of its own (gp/local_noise.h)  */
    size_t neighbours; /* rows around a query that are enough to predict it; 0: not known  */
    size_t
        *same; /* while theta is searched for, D: the first input that has this one's length-scale
                          (encode/made.h); NULL: each has its own                          */
    method_choice method;
    known_cells cells;

    made_inputs made; /* inputs that are made of columns, behind these */
    size_t place; /* the input that is x of places, y and z behind it, whose length-scales are one
                          (made.h); 0: there are none                                         */
    hole_rule holes;   /* missing cells of the columns, where the fit has learned of them */
    encoding encoding; /* of categories among the inputs, before units apply */
    unit_change units;
    model_columns columns;
    learned_graph learned;
    graph_options graph_how; /* kind, penalty, inputs: as asked for at fit time */
    calibration calibration;
    model_history history;
    model_shown shown;
    further_models further; /* of the first target's model, whose they are; none of others */
    model_cache *cache;
};

/* Fails unless the inputs + 1 names are UTF-8 without control characters, no two alike; NULL
 * passes. */
quorum_status check_column_names(const char *const *names, size_t inputs);

/* The same of the name of a column beside them, such as "the offset", which is none of them. */
quorum_status check_other_column(const char *const *names, size_t inputs, const char *role,
                                 const char *name);

/* Empty, with cache; NULL: out of memory. */
quorum_model *model_new(void);

/* What a model has of its rows: they, their division and graph, calibration, and what is made of these
 * when it is asked for.  Freed, or no longer the model's, which then has neither. */
void model_free_rows(quorum_model *m);
void model_forget_rows(quorum_model *m);

/* theta = exp(log_theta), so that a saved model gives the same bits. */
void model_set_theta(quorum_model *m);

/* What another model of the same inputs has learned: how inputs are standardised; theta with what belongs
 * to it.  On failure the rest is there to be freed. */
quorum_status model_copy_input_units(const quorum_model *from, quorum_model *to);
quorum_status model_copy_theta(const quorum_model *from, quorum_model *to);

/* Derives what is not stored: sizes, at_bound and is_constant. */
quorum_status model_complete(quorum_model *m);

/* Of these the categories alone, for a model that gets its encoding later. */
quorum_status model_show_levels(quorum_model *m);

/* Columns of a table that the inputs are, and are made of. */
size_t model_table_columns(const quorum_model *m);

/* X (n x D) of a table (n x columns).  NaN, a missing cell, stays where the model knows of holes, and is
 * otherwise QUORUM_E_DATA. */
quorum_status model_make_inputs(const quorum_model *m, size_t n, const double *table, double *X);

/* The experts' own rows: every row once. */
parts model_parts(const quorum_model *m);

/* Room for the rows, which have the fields of `like`, once offset is known, and who will have
 * them. */
quorum_status model_own_rows(quorum_model *m, const row_set *like);

/* From now on every process has the rows of these experts, or of all (rows/holdings.h). */
quorum_status model_hold(quorum_status ready, const quorum_model *m, const size_t *experts,
                         size_t count);
quorum_status model_hold_all(const quorum_model *m);
int model_is_whole(const quorum_model *m); /* whether that is so */

/* ---- inputs.c: inputs that do not vary in the training data ---- */

/* A constant input is 0 in the model's rows and in every query, and its length-scale the longest
 * that a file can hold: it takes no part in any distance. */
extern const double LOG_LONGEST; /* log of that length-scale */

size_t model_varying(const quorum_model *m); /* inputs that are not constant */
size_t model_scales(const quorum_model *m);  /* length-scales of these: inputs may share one */
quorum_status model_check_varying(const quorum_model *m);

/* Fails when an input is not finite, or of a category neither a level's number nor -1, a level that
 * the training data do not have. */
quorum_status model_check_queries(const quorum_model *m, const double *X, size_t n);

/* Fails when there is such a level. */
quorum_status model_check_known_levels(const quorum_model *m, const double *X, size_t n);
size_t model_count_new_levels(const quorum_model *m, const double *X, size_t n); /* rows with one */

/* The metric may be linear up to so many inputs: turning a row takes their square. */
enum { MOST_DIRECTIONS = 256 };

/* Z = X (n x D, in their units) encoded, bent, standardised, and turned where the metric is linear. */
void model_standardise(const quorum_model *m, size_t n, const double *X, double *Z);

/* The way back, of one row (D), and of a number: rounding must not take it beyond the largest. */
void model_in_units(const quorum_model *m, const double *z, double *x);
double number_in_units(double mean, double scale, double z);

/* How many of its units input d, at z before it is turned, rises with one of what it is bent to. */
double model_bend_rise(const quorum_model *m, size_t d, double z);

/* Queries in which a constant input has another value than in the training data. */
size_t model_count_off_constants(const quorum_model *m, const double *X, size_t n);

/* ---- trend.c: what y is about, in the model's inputs and standardised units ---- */

/* Room for a line, all 0, or a copy; none where there is none. */
quorum_status line_new(size_t D, unit_change *u);
quorum_status line_copy(size_t D, const unit_change *from, unit_change *to);
void line_free(unit_change *u);

/* beta_0 + sum_d beta_d x_d. */
double line_at(size_t D, const double *beta, const double *x);

/* The target of a row x (D) whose y this is, about its offset, still warped. */
double model_target_in_units(const quorum_model *m, const double *x, double y);

/* u' V u of coefficients u (D + 1), and of u = f(x) - lift, which it also writes; lift, sum_i
 * gamma_i f(x_i) of the rows that a prediction weighs by gamma, may be NULL: none. */
double model_line_variance(const quorum_model *m, const double *u);
double model_line_doubt(const quorum_model *m, const double *x, const double *lift, double *u);

/* Slopes (D) of f(x)' V f(x) along x / l; u (D + 1) becomes V f(x). */
void model_line_doubt_slope(const quorum_model *m, const double *x, double *u, double *slope);

/* Slopes and their standard errors, for quorum_inspect. */
quorum_status model_show_line(quorum_model *m);

/* ---- warp.c: the target as it is, and its logarithm ---- */

/* w(y), and its inverse. */
double warp_forward(const unit_change *u, double y);
double warp_back(const unit_change *u, double z);

/* The deviation of w(y), as it counts in moments of y. */
double warp_deviation(const unit_change *u, double s);

/* Of a model with a warp: mean and deviation of y, those of w(y) being mu and s; and of n joint ones,
 * in place. */
void warp_moments(const unit_change *u, double mu, double s, double *mean, double *std);
void warp_moments_back(const unit_change *u, double *mean, double *std); /* to mu and s */
void warp_joint(const unit_change *u, size_t n, double *mean, double *covariance);

/* ---- calibration.c ---- */

#define LARGEST_UNTESTED 1e6 /* factor of variances that nobody has tested */
#define LARGEST_RATIO 1e100  /* |y - mean| / std that is kept, and that a file may have */

void calibration_free(calibration *c);

/* Keeps in c->how, select and purpose which prediction of m these settings are. */
quorum_status calibration_is_for(calibration *c, const quorum_model *m, const settings *s);

/* Whether predictions with these settings are calibrated. */
int model_is_calibrated(const quorum_model *m, const settings *s);

/* Whether they are not although the model has a calibration and it was not refused. */
int model_misses_calibration(const quorum_model *m, const settings *s);

/* By what std is multiplied with these settings: 1 without calibration. */
double model_calibration_scale(const quorum_model *m, const settings *s);

/* What multiplies variances of neighbourhoods: uncalibrated, and with these settings.  Calibration has
 * seen rows among others only; where it shrinks variances, it does not those that nobody has tested. */
spread_rule model_spread(const quorum_model *m);
spread_rule model_spread_with(const quorum_model *m, const settings *s);

/* Ends of the interval of this probability, and a quantile, as distances from the mean in
 * uncalibrated standard deviations. */
void model_interval_ends(const quorum_model *m, const settings *s, double probability,
                         double *lower, double *upper);
double model_quantile(const quorum_model *m, const settings *s, double probability);

/* The distribution of (y - mean) / std, std being uncalibrated; no points: Gaussian. */
void model_distribution(const quorum_model *m, const settings *s, quorum_distribution *out);

/* ---- recipe.c ---- */

quorum_status model_recipe(const quorum_model *m, const settings *s, recipe *out);

/* The options themselves, or where method auto is cells the same with nearest: for what cells do not
 * have.  own is room. */
const quorum_options *options_by_rows(const quorum_model *m, const quorum_options *options,
                                      quorum_options *own);

/* Whether the expert graph says who takes part, or with whom. */
int recipe_asks_graph(const recipe *r);

/* Refuses what does not go together, and also what this model cannot do. */
quorum_status recipe_check(const recipe *r);
quorum_status model_check_recipe(const quorum_model *m, const recipe *r);

/* Whether both are the same prediction of this model. */
int model_same_prediction(const quorum_model *m, const recipe *a, const recipe *b);

/* ---- ready.c: factors, made once and shared by all threads ---- */

model_cache *model_cache_new(quorum_model *owner);
void model_cache_free(model_cache *cache);

/* Memory that predictions leave to each other. */
scratch_shelf *model_scratch(const quorum_model *m);

quorum_status model_committee(const quorum_model *m, const settings *s, const progress *p,
                              const committee **out);

/* The same committee for those who do not ask its experts: no factors are made, nor Z.T. */
quorum_status model_rows(const quorum_model *m, const settings *s, const committee **out);

/* Z.T of that committee, for who takes covariances of its rows all the same. */
quorum_status model_turn_rows(const quorum_model *m, const settings *s);

/* The search for nearest rows, over the model's rows; queries: that are asked by it (MANY_QUERIES: not known).
 * What it gives lives as long as the model. */
#define MANY_QUERIES SIZE_MAX
quorum_status model_neighbour_index(const quorum_model *m, size_t queries, const settings *s,
                                    const neighbour_index **out);

/* The same where each process has only its own experts' rows. */
quorum_status model_near_holdings(const quorum_model *m, const settings *s,
                                  const near_holdings **out);

/* The model's different rows, scaled, by number; of a model that is whole, after model_rows. */
quorum_status model_points(const quorum_model *m, const points **out);

/* What a later room makes of a model, once for each number, and keeps with it: `make` is called by all
 * processes together, and what it has made is freed with the model, or at once where one fails.  *place: how
 * many numbers of the kind were asked for before it. */
typedef struct {
    quorum_status (*make)(void *context, void **out);
    void (*release)(void *made);
} attachment_kind;

quorum_status model_attachment(const quorum_model *m, const attachment_kind *kind, size_t number,
                               void *context, void **out, size_t *place);

/* GRBCM's experts over the listed ones; base_expert as in experts/base.h. */
quorum_status model_base_committee(const quorum_model *m, const size_t *experts, size_t count,
                                   size_t base_expert, const settings *s, const progress *p,
                                   const committee **out);

/* The model's own graph: what it has, or else what it learns now, keeps, and would have learned
 * in its fit. */
quorum_status model_graph(const quorum_model *m, const settings *s, const progress *p,
                          const expert_graph **out);

/* Takes this graph for the model's own, instead of one that it may have; g is empty then. */
void model_take_graph(const quorum_model *m, learned_graph *g);

/* Its ranking, for a selection by it; NULL where all are chosen anyway. */
quorum_status model_ranking(const quorum_model *m, const selection *chosen, const settings *s,
                            const progress *p, const size_t **ranking);

/* A copy that shares all arrays with m, for those who look at its graph while others may learn it;
 * not to be freed. */
quorum_model model_now(const quorum_model *m);

/* ---- regraph.c ---- */

void learned_graph_free(learned_graph *g);

/* rows (room for all): numbers of rows in an order drawn by the model's seed; how many of them, from
 * the first on, the graph is learned from. */
size_t model_reference_rows(const quorum_model *m, size_t *rows);

/* The graph of the model's own reference inputs, which are drawn by its seed. */
quorum_status model_learn_own_graph(const quorum_model *m, const settings *s, const progress *p,
                                    learned_graph *out);

/* Fails when there is nothing to select by, and says why. */
quorum_status expert_graph_check(const expert_graph *g);

/* The graph of the model's kind, learned on these inputs (n x D, in their units). */
quorum_status model_graph_on(const quorum_model *m, const double *X, size_t n, const settings *s,
                             const progress *p, expert_graph *g);

#endif
