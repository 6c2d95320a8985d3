/* Options: one table (option_table.c) makes defaults, checks, flags and docs. */
#ifndef QRM_OPTIONS_OPTIONS_H
#define QRM_OPTIONS_OPTIONS_H

#include "aggregate/rule.h"
#include "aggregate/select.h"
#include "base/progress.h"
#include "data/reader.h"
#include "partition/partition.h"
#include "gp/kernel.h"
#include "graph/expert_graph.h"

/* Values, in their own types.  0 in a count or bytes means "auto". */
typedef struct {
    /* data */
    const char *target, *ignore, *offset, *weights, *noise_std;
    int header, missing, decimal;
    const char *thousands, *comment, *query;
    const char *categorical;
    int unseen, dates;
    const char *periodic, *lonlat;
    int encoding;
    /* experts */
    double experts, expert_size, min_size, max_size, overlap;
    int partition;
    /* training */
    int kernel; /* a number for kernel_at, or beyond: auto */
    const char *theta;
    int train, metric, partition_metric, trend, warp, input_warp;
    double train_rows, train_experts, restarts, max_evaluations, tolerance;
    const char *spread;
    int local_noise;
    /* graph */
    int graph;
    const char *lambda;
    int free_diagonal;
    double graph_rows;
    int graph_on;
    /* prediction */
    const char *method, *select, *neighbours;
    int space;
    double interval;
    int interval_shape, latent, mean_only, calibration;
    /* machine */
    int share;
    int calibrate;
    const char *checkpoint;
    const char *start;
    double seed, threads, memory;
} settings;

enum { UNSEEN_PREDICT, UNSEEN_ERROR };
enum { ENCODING_POSITION, ENCODING_DISTANCE, ENCODING_AUTO };
enum { DATES_AUTO, DATES_YMD, DATES_DMY, DATES_MDY, DATES_NONE };
enum { TRAIN_NEIGHBOURS, TRAIN_PARTS, TRAIN_RANDOM, TRAIN_SUBSET };
enum { METRIC_AUTO, METRIC_ARD, METRIC_LINEAR };
enum { PARTITION_LEARNED, PARTITION_INPUT };
enum { SHARE_NONE, SHARE_THETA };
enum { TREND_AUTO, TREND_NONE, TREND_CONSTANT, TREND_LINEAR };
enum { WARP_NONE, WARP_LOG, WARP_AUTO };
enum { INPUT_WARP_NONE, INPUT_WARP_ASINH };
enum { LOCAL_NOISE_AUTO, LOCAL_NOISE_YES, LOCAL_NOISE_NO };
enum { SPACE_LATENT, SPACE_OBSERVED };
enum { CALIBRATION_AUTO, CALIBRATION_OFF };
enum { CALIBRATE_NO, CALIBRATE_YES, CALIBRATE_STRICT, CALIBRATE_AUTO };
enum { SHAPE_AUTO, SHAPE_SYMMETRIC };
enum { GRAPH_ON_TRAIN, GRAPH_ON_TEST };

struct quorum_options {
    settings values;
    char **text; /* every option's present value as text; owns settings' strings */
    progress progress;
};

/* Values of `options`, or all defaults when NULL. */
const settings *options_values(const quorum_options *options);
const progress *options_progress(const quorum_options *options);

/* Begins to watch whether the call is cancelled (base/progress.h); `stage` names it.  A team tells
 * how far it is, and hears of a wish to stop at reports alone: one process that stops by itself
 * between them would leave the others waiting. */
void options_watch(const quorum_options *options, const char *stage, progress_watch *watch);

int options_threads(const settings *s);   /* the number to use: auto resolved, and
                                             what there is address space for */
double options_memory(const settings *s); /* bytes: auto resolved (half of the RAM)   */

/* The characters that stand for the options thousands and comment; 0: none. */
char options_thousands(const settings *s);
char options_comment(const settings *s);

/* A value of the options trend, warp and train by its number, and back (-1: unknown). */
const char *options_trend_name(int trend);
const char *options_warp_name(int warp);
const char *options_train_name(int train);
int options_train_number(const char *name);

enum {
    OWN_NEIGHBOURS = 512, /* what neighbours auto stands for, unless a model knows better, ... */
    CELL_NEIGHBOURS = 640 /* ... and with method cells, in the same proportion                 */
};
int options_neighbours_are_auto(const settings *s);
int options_method_is_auto(const settings *s); /* and select */

/* method, select and neighbours resolved for a model of so many experts: NAME* means NAME with
 * select graph:0.8; method auto is nearest, of one expert that expert alone (the exact GP), and
 * npae where experts are selected. */
quorum_status options_method(const settings *s, size_t experts, const rule **method,
                             selection *chosen, size_t *neighbours);

/* That selection as text, valid as long as s. */
const char *options_select(const settings *s, size_t experts);

/* Whether fit uses this option only to know which prediction to calibrate. */
int options_serve_calibration(const char *name);

/* The prior of the spread: a number, INFINITY for none, 0 for auto. */
double options_spread(const settings *s);

/* Kind and penalty of the expert graph; the rest of *out is zeroed. */
quorum_status options_graph(const settings *s, graph_options *out);

/* "0.1" absolute, "rel:0.1" a share of the largest off-diagonal, "ebic". */
quorum_status parse_lambda(const char *text, lambda_kind *kind, double *value);

/* Numbers separated by commas or spaces; at most `room`. */
quorum_status parse_numbers(const char *text, double *out, size_t room, size_t *count);

#endif
