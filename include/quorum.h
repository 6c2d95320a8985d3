/* quorum: Gaussian-process regression for data too big for one GP.
 *
 * A data set is split among local GP experts; each prediction is made by the
 * quorum of experts that matters for it.  This is the whole public API:
 *
 *     quorum_options *o = quorum_options_new();
 *     quorum_options_set(o, "experts", "20");
 *     quorum_model *m = NULL;
 *     if (quorum_fit(X, y, rows, inputs, NULL, o, &m) < 0)
 *         fprintf(stderr, "%s\n", quorum_message());
 *     quorum_prediction out = {.mean = mean, .std = std};
 *     quorum_predict(m, Xq, queries, o, &out, NULL);
 *     quorum_model_free(m);
 *     quorum_options_free(o);
 *
 * Conventions.  Matrices are row-major arrays of double, one row an
 * observation.  Whoever passes a pointer keeps owning it; what a function
 * creates is freed by the matching _free or _close, which accept NULL.  The
 * library never prints, exits or aborts.  Results do not depend on the number
 * of threads, and a row's prediction does not depend on the other rows of its
 * call (except with graph-on=test).  Numbers in text have a decimal point,
 * whatever locale the program has set. */
#ifndef QUORUM_H
#define QUORUM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define QUORUM_API __attribute__((visibility("default")))
#else
#define QUORUM_API
#endif

#define QUORUM_VERSION_MAJOR 0
#define QUORUM_VERSION_MINOR 2
#define QUORUM_VERSION_PATCH 0

/* ---- Status ------------------------------------------------------------ */

/* 0 is success, negative a failure with no result, positive a numerical event
 * with a usable result.  After anything but QUORUM_OK, quorum_message() says
 * what happened, where, and what to do. */
typedef enum {
    QUORUM_OK = 0,
    QUORUM_E_ARGUMENT = -1,  /* the call itself is wrong: an option, a NULL, a size      */
    QUORUM_E_MEMORY = -2,    /* out of memory, or the work does not fit --memory         */
    QUORUM_E_FILE = -3,      /* a file cannot be opened, read or written                 */
    QUORUM_E_FORMAT = -4,    /* a file is not what it should be, or is damaged           */
    QUORUM_E_DATA = -5,      /* the data cannot be used: missing cells, constant target  */
    QUORUM_E_NUMERIC = -6,   /* the computation broke down                               */
    QUORUM_E_CANCELLED = -7, /* the progress callback asked to stop                      */
    QUORUM_E_INTERNAL = -8,  /* a defect in quorum: please report it                     */
    QUORUM_AT_BOUND = 1,     /* fit: some hyperparameters ended on a bound               */
    QUORUM_NO_SIGNAL = 2     /* fit: what was found is hardly more likely than noise     */
} quorum_status;

/* The sentence that belongs to this thread's last status that was not
 * QUORUM_OK.  Never NULL; valid until the thread's next quorum call. */
QUORUM_API const char *quorum_message(void);

/* A short name for a status, such as "file" or "numeric". */
QUORUM_API const char *quorum_status_name(quorum_status status);

/* Such as "1.2.3". */
QUORUM_API const char *quorum_version(void);

/* The BLAS kernel set in use, such as "Haswell" or "Zen". */
QUORUM_API const char *quorum_blas_kernel(void);

/* ---- Options ----------------------------------------------------------- */

/* Options are named values.  Every name, with its type, default, range and
 * help, is listed by quorum_option_at(), from which the command line's flags,
 * docs/options.md and the bindings are made. */
typedef struct quorum_options quorum_options;

typedef struct {
    const char *name;          /* "expert-size"                                          */
    const char *type;          /* "count", "real", "bytes", "choice", "text" or "flag"    */
    const char *default_value; /* as one would write it                                  */
    const char *choices;       /* "kmeans|kdtree|random", or NULL                        */
    double min, max;           /* range of count, real and bytes                         */
    const char *placeholder;   /* "M": how the value is named in help                    */
    const char *used_by;       /* commands: any of "fit predict evaluate", separated by spaces */
    const char *help;          /* what it does and when to change it                     */
} quorum_option_info;

QUORUM_API int quorum_option_count(void);
QUORUM_API const quorum_option_info *quorum_option_at(int i); /* NULL when out of range */

QUORUM_API quorum_options *quorum_options_new(void); /* all defaults; NULL: out of memory */
QUORUM_API void quorum_options_free(quorum_options *options);

/* Sets `name` from text ("20", "0.1", "4G", "kmeans", "true"); '_' and '-' are
 * the same in names.  The value is checked here and copied. */
QUORUM_API quorum_status quorum_options_set(quorum_options *options, const char *name,
                                            const char *value);

/* The present value as text, or NULL for an unknown name.  Valid until the
 * option is set again or the options are freed. */
QUORUM_API const char *quorum_options_get(const quorum_options *options, const char *name);

/* The bytes that the option memory stands for, auto resolved. */
QUORUM_API double quorum_options_memory(const quorum_options *options);

/* Called several times a second from the calling thread during long work, also
 * when there is nothing new; a non-zero return value cancels it
 * (QUORUM_E_CANCELLED).  `fraction` is in [0, 1], or negative when unknown;
 * `detail` may be "". */
typedef int (*quorum_progress_fn)(void *user, const char *stage, double fraction,
                                  const char *detail);
QUORUM_API void quorum_options_set_progress(quorum_options *options, quorum_progress_fn callback,
                                            void *user);

/* ---- Data from files --------------------------------------------------- */

/* Training data: csv, csv.gz (any delimiter, header or none), npy, npz, or an SQLite database (option query).
 * Options used: target, ignore, offset, weights, noise-std, categorical, dates, missing, header, decimal, thousands, comment; a table whose
 * reading takes more than the option memory is QUORUM_E_MEMORY.  The progress callback can cancel
 * reading, also while nothing comes through a pipe.  In a team of several
 * processes (below) process 0 alone reads the file, and X and y are each process's share of the
 * rows, one process after another in the rows' order; all else, `rows` too, is of the whole data
 * and the same in every process. */
typedef struct {
    size_t rows, inputs;
    double *X;           /* rows x inputs, row-major; in a team this process's rows only  */
    double *y;           /* rows, likewise                                                */
    char **names;        /* inputs + 1 column names, the target's last; NULL: no header   */
    size_t target;       /* the target's place among the columns kept but the offset, 0 .. inputs */
    size_t dropped;      /* rows left out by missing=drop                                 */
    int converted;       /* 1: the header is not UTF-8 and was read as Windows-1252       */
    int decimal_comma;   /* 1: decimal=auto found that numbers have decimal commas        */
    double *offset;      /* rows, as y: what is known of the target; NULL: no offset      */
    char *offset_name;   /* its column's name, none of `names`; NULL: no header           */
    size_t offset_place; /* its place among the columns kept, 0 .. inputs + 1           */
    /* Categories (docs/data.md): X has a level's number, from 0. */
    size_t *levels;   /* inputs: how many levels each has, 0 of a number; NULL: all are numbers */
    char ***level;    /* inputs: their names, UTF-8, ascending bytewise; NULL of a number  */
    size_t left_out;  /* columns of text with too many different cells to be a category ...   */
    char **left_name; /* ... left_out: their names, or x1, x2, ...: they are no inputs        */
    /* Weights and known noise (docs/data.md), as y; NULL: none. */
    double *weight;      /* rows: as how many rows each counts, not negative; 0: it is left out */
    char *weight_name;   /* its column's name, none of `names`; NULL: no header             */
    size_t weight_place; /* its place among all columns kept, 0 .. inputs + 3               */
    double *noise_std;   /* rows: known standard deviation of the target, not negative      */
    char *noise_name;    /* likewise                                                        */
    size_t noise_place;  /* likewise                                                        */
    char **date; /* inputs: of a column of dates, in X as seconds since 1970-01-01 UTC, their form,
                    such as "dd/mm/yyyy" (docs/data.md); NULL of others; NULL: there are none    */
    int header_doubt; /* 1: header=auto took the first row for names, and some are numbers     */
    /* Several targets (docs/data.md), the option target being a list.  y and the last of `names` are
     * those of the first; weight_place and noise_place are places among all columns kept. */
    size_t targets;     /* how many; 0 and 1: one, and the others are not looked at              */
    double **target_y;  /* targets: as y; the first is y.  NaN, with missing=drop: the row is left
                             out of that target's model alone                                  */
    char **target_name; /* targets: their columns' names, the first one's NULL; NULL: no header  */
    size_t
        *target_place; /* targets: their places among all columns kept, 0 .. inputs + targets + 1 */
} quorum_data;

QUORUM_API quorum_status quorum_data_read(const char *path, const quorum_options *options,
                                          quorum_data **data);
QUORUM_API void quorum_data_free(quorum_data *data);

/* Queries for a model, in chunks, so that a file larger than memory works.
 * Columns are matched to the model's by name where both have names, otherwise
 * by position; with_target also wants the target column (for evaluation).  Texts of categories are
 * matched to the model's levels: -1 in X is a text that is none of them, or QUORUM_E_DATA with
 * unseen=error.  The options' progress
 * callback is kept, to be asked while rows are read.  In a team process 0 alone reads, and every
 * process gets all rows; what was dropped, converted or kept only process 0 knows (the others: 0). */
typedef struct quorum_stream quorum_stream;
typedef struct quorum_model quorum_model;

QUORUM_API quorum_status quorum_stream_open(const char *path, const quorum_model *model,
                                            int with_target, const quorum_options *options,
                                            quorum_stream **stream);

/* What is wanted of a file beside the model's inputs.  Columns go by name, or by number from 1 (-1 is
 * the last); they may be inputs or the target too.  Start with {0}. */
typedef struct {
    int with_target;    /* as in quorum_stream_open                                        */
    const char *column; /* one more column of numbers; NULL: none                          */
    const char *keep;   /* columns of any kind, kept as text: separated by commas, a name with a
                           comma in double quotes, or "all"; NULL: none; "": no columns, but the
                           numbers of rows                                                 */
    const char *label;  /* of lines (below): how messages name them; NULL: "request"       */
} quorum_stream_request;

QUORUM_API quorum_status quorum_stream_open_with(const char *path, const quorum_model *model,
                                                 const quorum_stream_request *wanted,
                                                 const quorum_options *options,
                                                 quorum_stream **stream);

/* Queries that come line by line, to a server say: whole lines of csv, of which the first may be a
 * header, or with json=1 one JSON value at a time, an object of names and values or a list of values in the
 * order of the columns.  What was fed is read by quorum_stream_next until that gives no row; what is left
 * of it goes with the next feed.  A line that fails is passed over, and so is a header that does not fit the model: the next line
 * may be one.  Cells of csv are separated by commas, semicolons or tabs.  Model, options
 * and the texts of the request are to live as long as the stream.  In a team of several
 * processes all feed, and what the first one feeds is read; JSON is refused there. */
QUORUM_API quorum_status quorum_stream_open_lines(const quorum_model *model, int json,
                                                  const quorum_stream_request *wanted,
                                                  const quorum_options *options,
                                                  quorum_stream **stream);
QUORUM_API quorum_status quorum_stream_feed(quorum_stream *stream, const char *text, size_t bytes);

/* Reads up to max_rows rows: X (max_rows x inputs), y (max_rows, or NULL
 * without target).  *rows is 0 at the end of the file.  A chunk that takes more than a quarter of
 * the option memory is QUORUM_E_MEMORY.  With missing=nan (not with the target) a row that has a
 * missing or unusable cell is NaN in all of X: predict at the other rows. */
QUORUM_API quorum_status quorum_stream_next(quorum_stream *stream, size_t max_rows, double *X,
                                            double *y, size_t *rows);

/* The offsets of the rows that quorum_stream_next gave last, for quorum_prediction; they are the
 * stream's, until its next call.  NULL: the model has no offset. */
QUORUM_API const double *quorum_stream_offset(const quorum_stream *stream);

/* Likewise known standard deviations, for quorum_prediction: of the column that the option noise-std
 * names, or else of the model's own where the file has it.  And rows' weights, for scores, of files
 * that are read with their target: by the option weights, likewise.  NULL: none. */
QUORUM_API const double *quorum_stream_noise_std(const quorum_stream *stream);
QUORUM_API const double *quorum_stream_weights(const quorum_stream *stream);

/* Likewise the values of the column that quorum_stream_open_with was given, NaN where a cell is missing, which
 * is no fault unless it is an input that is not filled, the target or another column that is needed.
 * NULL: none. */
QUORUM_API const double *quorum_stream_column(const quorum_stream *stream);

/* Which of the model's columns (below quorum_info.columns) that column is, whatever it was called by:
 * its values are levels' numbers of a category, and of dates seconds.  (size_t)-1: it is none of them. */
QUORUM_API size_t quorum_stream_column_place(const quorum_stream *stream);

/* The columns that are kept, with names in UTF-8, which all processes know; and of the rows that
 * quorum_stream_next gave last, until its next call: the text of a cell, in UTF-8, as it stands in the
 * file without its quotes (numbers of npy and npz with 17 digits), and the row's number in the file,
 * from 1, without the header and blank or comment lines. */
QUORUM_API size_t quorum_stream_kept_columns(const quorum_stream *stream);
QUORUM_API const char *quorum_stream_kept_name(const quorum_stream *stream, size_t column);
QUORUM_API const char *quorum_stream_kept(const quorum_stream *stream, size_t row, size_t column);
QUORUM_API size_t quorum_stream_row(const quorum_stream *stream, size_t row);

/* Rows that missing=drop has dropped so far; and the number in the file of the i-th, 0 where that is
 * not known: only the first ten are. */
QUORUM_API size_t quorum_stream_dropped(const quorum_stream *stream);
QUORUM_API size_t quorum_stream_dropped_row(const quorum_stream *stream, size_t i);

/* What was wrong with that row: the cell and its place, until the stream is closed; "": not known. */
QUORUM_API const char *quorum_stream_why_dropped(const quorum_stream *stream, size_t i);

/* 1: as in quorum_data, kept cells too; 2: the header is UTF-8, and some kept cell of the rows read is
 * not and was read as Windows-1252. */
QUORUM_API int quorum_stream_converted(const quorum_stream *stream);
QUORUM_API int quorum_stream_decimal_comma(const quorum_stream *stream); /* of the rows read */
QUORUM_API void quorum_stream_close(quorum_stream *stream);

/* ---- Fit ---------------------------------------------------------------- */

/* Fits a model to X (rows x inputs) and y.  `names` holds inputs + 1 column
 * names, the target's last, all different, UTF-8 without control characters, or
 * is NULL.  *model is set only on success (status
 * >= 0) and is the caller's to free.  In a team X and y are this process's share, as
 * quorum_data_read gives it, while `rows` counts all. */
QUORUM_API quorum_status quorum_fit(const double *X, const double *y, size_t rows, size_t inputs,
                                    const char *const *names, const quorum_options *options,
                                    quorum_model **model);

/* The same from data read from a file, or put together by the caller; query files without a header
 * are then matched by the training file's layout.  With an offset the target is y - offset, and
 * every prediction needs the offset at its queries.  A weight w counts as w equal rows, of known
 * noise noise_std beside what is learned (docs/methods.md, "Weights and known noise"). */
QUORUM_API quorum_status quorum_fit_data(const quorum_data *data, const quorum_options *options,
                                         quorum_model **model);
QUORUM_API void quorum_model_free(quorum_model *model);

/* Of data with several targets quorum_fit_data makes a model of each, the same bit for bit as of data
 * with that target alone, unless share=theta (docs/methods.md, "Several targets").  The model that it gives is the first target's and has the others with it: it
 * is saved, loaded and freed with them.  How many there are, 1 where it is the only one; and the model
 * of target i, from 0 (`model` itself; NULL: there is none), for every other function.  It belongs to
 * `model`; from 1 on it is saved alone. */
QUORUM_API size_t quorum_model_targets(const quorum_model *model);
QUORUM_API quorum_model *quorum_model_target(quorum_model *model, size_t i);

/* A model file is a plain .npz; see docs/model-file.md.  Saving is atomic;
 * loading checks every member, and first of all how much memory they would take
 * together.  quorum_load goes by the default of the option memory and cannot be
 * cancelled; the options that quorum_load_with uses are memory and the progress
 * callback.  In a team process 0 writes the file, and every process reads it. */
QUORUM_API quorum_status quorum_save(const quorum_model *model, const char *path);
QUORUM_API quorum_status quorum_load(const char *path, quorum_model **model);
QUORUM_API quorum_status quorum_load_with(const char *path, const quorum_options *options,
                                          quorum_model **model);

/* ---- Inspect ------------------------------------------------------------ */

/* What a model is made of.  Pointers belong to the model and live as long as
 * it does.  Hyperparameters are those of the standardised data. */
typedef struct {
    size_t rows, inputs, experts;
    const size_t *sizes;      /* experts: training rows of each; with overlap their sum
                                 is more than rows                                   */
    const char *const *names; /* inputs + 1, the target's last                       */
    const char *kernel, *partition;
    const double *lengthscale; /* inputs                                              */
    double signal_variance, noise_variance;
    const int *at_bound;            /* inputs + 4: lengthscales, signal, noise, long_share,
                                     long_reach; -1 on the lower bound, 1 on the upper (hardly any
                                     effect), 0 between                                    */
    const double *x_mean, *x_scale; /* inputs                                            */
    double y_mean, y_scale;
    double nlml;          /* what training made small: the negative log likelihood of
                                     train_rows rows, standardised units                 */
    int evaluations;      /* of the objective and its gradient                   */
    size_t train_experts; /* experts that the hyperparameters were trained on; 0: on
                             other rows, see train                               */
    double seconds_partition, seconds_train, seconds_graph, seconds_calibrate, seconds_total;
    unsigned long long seed;
    /* The expert graph (docs/methods.md, "The expert graph"); importance and ranking are NULL
     * as long as nobody has asked for it (quorum_learn_graph). */
    double lambda;            /* penalty used, absolute                              */
    size_t edges;             /* non-zero pairs of the precision matrix              */
    const double *precision;  /* experts x experts; NULL: not learned (yet), see graph_trouble */
    const double *importance; /* experts                                             */
    const size_t *ranking;    /* experts: most important first                       */
    /* Calibration (docs/methods.md, "Calibration"). */
    size_t calibration_rows;  /* held-out rows behind it; 0: not calibrated            */
    double calibration_scale; /* by which std is multiplied                            */
    /* Training (docs/training.md). */
    const char *train;               /* the option's value                             */
    size_t train_rows;               /* rows that nlml is the likelihood of            */
    size_t kernels;                  /* that kernel=auto compared; 0: it was given     */
    const char *const *kernel_names; /* kernels                                        */
    const double *kernel_scores;     /* kernels: mean log density of left-out rows     */
    double spread; /* NU of the option spread; infinite: variances do not follow it    */
    /* Where it came from. */
    const size_t *row;    /* rows: numbers, from 0, of the training rows, sorted by expert */
    const size_t *offset; /* experts + 1: expert e owns row[offset[e]] .. row[offset[e+1]-1] */
    int named;            /* 1: names are the data's own; 0: made up                      */
    const char *options;  /* the options of fit and their values as text: a JSON object   */
    const int *constant;  /* inputs: 1 where the training data do not vary: the input has no
                             effect, and a length-scale that stands for an infinite one     */
    const char *calibration_for; /* the prediction that calibration holds for, as in "method
                                    nearest, neighbours 512, or method cells"; NULL: not calibrated        */
    const char *graph_trouble;   /* why the graph that was to be learned is not there, or is only
                                  approximate, and what to do; NULL: nothing to tell      */
    /* The metric (docs/training.md, "The metric"). */
    const double *rotation; /* inputs x inputs: row k is direction k in the standardised inputs,
                               which lengthscale[k] and at_bound[k] are then of; NULL: directions
                               are the inputs themselves                                  */
    const double *input_lengthscale; /* inputs: distance along each input alone that counts as one
                                        length-scale; lengthscale itself without rotation  */
    size_t
        neighbours; /* nearest rows that are enough to predict a query (docs/training.md, "How many
                          neighbours"); 0: not known                                      */
    /* Of a kernel with several scales (docs/methods.md, "Kernels"). */
    double long_share; /* share of signal_variance of all but the shortest; 0: one scale */
    double long_reach; /* how many times as far each reaches as the one before it, the first
                          having the length-scales of lengthscale; 1: one scale          */
    /* The trend (docs/methods.md, "Trend"). */
    const char *trend; /* "none", "constant" or "linear": what y_mean and slope are of      */
    const double *slope, *slope_std;  /* inputs: of a linear trend, the target's change by a unit of
                                        each input, and its standard error; NULL: no line */
    double target_mean, target_scale; /* mean and standard deviation of the target itself, as
                                         quorum_scores_add wants them; y_mean and y_scale are
                                         those of what is left by an offset or a line     */
    const char *offset_name; /* the column that is to be added to predictions; NULL: none */
    /* The warp (docs/methods.md, "Warp"). */
    const char *warp;  /* "none", or "log": y_mean, y_scale, slope and all variances are those of
                          log(target + warp_shift)                                        */
    double warp_shift; /* 0 of a positive target, and without a warp                      */
    /* Categories (docs/data.md, "Categories"); NULL: all inputs are numbers. */
    const size_t *levels;            /* inputs: how many levels each has, 0 of a number          */
    const char *const *const *level; /* inputs: their names; NULL of a number                    */
    const double *const *position;   /* inputs: the numbers that stand for them, likewise        */
    const char *weights_name; /* the column of the rows' weights; NULL: none                 */
    const char *noise_name;   /* the column of the rows' known noise; NULL: none             */
    /* Columns of a table (docs/data.md, "Dates and times"): the first inputs.  The others are made of
     * them, and have names such as "date (week, sin)". */
    size_t columns;
    const char *const *date; /* columns: the form of dates, NULL of others; NULL: there are none */
    double untested; /* factor of variances that no row near a query has tested (docs/methods.md,
                        "Spread"); 0: not known, none                                     */
    int local_noise; /* predictions from nearest rows have the noise around the query, a multiple of
                        noise_variance (docs/methods.md, "Local noise")                   */
    /* Targets that are exactly alike (docs/methods.md, "Rows that agree"), which a fit counts and a file
     * does not keep. */
    size_t target_values; /* how many values the target has; 0: more than 63, or not known */
    double
        common_target; /* the value of the most rows, where more than a 64th of all have it ...   */
    size_t common_rows;        /* ... and how many have; 0: none, or not known                  */
    const size_t *first_level; /* inputs: of a category whose levels stand apart (encoding=distance)
                                  the first of its levels' inputs, whose length-scale is that of all of
                                  them; 0 of others; NULL: there are none                 */
    /* A place (docs/data.md, "Longitude and latitude"): two columns in degrees, which are no inputs
     * themselves and count as constant, and the first of three inputs that are made of them. */
    size_t longitude, latitude;
    size_t place; /* 0: there is none */
    /* What method auto is, by rows that were held out (docs/methods.md, "Which of the two"). */
    const char *chosen_method; /* "cells" or "nearest"; NULL: not compared, nearest          */
    double cells_error;        /* squared error of cells over that of nearest; 1: not compared */
    double cells_gain;         /* log density a row of cells, less that of nearest           */
    /* Inputs with heavy tails, bent before they are standardised (docs/methods.md, "Bent inputs"):
     * asinh((x - bend_at) / bend_width) where the width is above 0. */
    const double *bend_at, *bend_width; /* inputs; NULL: none is bent                        */
} quorum_info;

QUORUM_API quorum_status quorum_inspect(const quorum_model *model, quorum_info *info);

/* The model's inputs X (rows x inputs) of a table's columns (rows x columns of quorum_info; dates in
 * seconds since 1970-01-01 UTC).  NaN, a missing cell, stays NaN of a model that was fitted with
 * missing=impute, and is otherwise QUORUM_E_DATA.  A stream gives inputs already. */
QUORUM_API quorum_status quorum_make_inputs(const quorum_model *model, const double *table,
                                            size_t rows, double *X);

/* The training rows as the model has them, row i being number quorum_info.row[i] of the training data, and
 * but for rounding as they were given: table (rows x columns; levels' numbers, dates in seconds, NaN where a number was
 * missing), and y (rows), of a model with an offset without it.  Either may be NULL.  Refused in a team of several processes. */
QUORUM_API quorum_status quorum_training_rows(const quorum_model *model, double *table, double *y);

/* Learns the expert graph, with the graph options of the fit; the model keeps it, and quorum_save
 * saves it.  Options used: threads, memory.
 *   X NULL, rows 0: the model's own, on inputs drawn by its seed, unless it has one.  A fit with
 * graph=glasso has done so, and a prediction that selects by the graph does; the bits are the
 * same.  Others may predict meanwhile.
 *   X (rows x inputs): anew on these, as graph-on=test does for one call; pointers of an earlier
 * quorum_inspect are gone.  Not while others use the model.
 * QUORUM_E_NUMERIC where it cannot be learned: quorum_info says why, or of X the model has its
 * old one.  In a team by all processes at once, each with all of X. */
QUORUM_API quorum_status quorum_learn_graph(quorum_model *model, const double *X, size_t rows,
                                            const quorum_options *options);

/* ---- Predict ------------------------------------------------------------ */

/* Arrays of the caller, one value a query; any may be NULL.  In the target's
 * units; std and the interval include the noise unless latent=true.  On success
 * all are finite (with mean-only, the means), on failure all are filled with NaN. */
typedef struct {
    double *mean, *std, *lower, *upper;
    const double *offset; /* given, of a model with an offset: its values at the queries, which are
                             added to mean, lower, upper and quantile; NULL otherwise */
    const double
        *probability; /* given, `probabilities` of them in (0, 1): the quantiles wanted ... */
    size_t probabilities;
    double *quantile; /* ... rows x probabilities, of what the interval is of; NULL: none */
    /* rows x inputs: the derivatives of mean and std by each input, in the data's units, the rows and
     * experts that a query is predicted from being held fixed (docs/methods.md, "Gradients") */
    double *mean_gradient, *std_gradient;
    double *novelty; /* from 0 to 1: the share of the prior variance that is left, before spread and
                        calibration; 1: nothing is known there; NaN with mean-only */
    double *distance; /* to the nearest training row, in length-scales of the model's metric */
    const double
        *noise_std; /* given: known standard deviation of each query's target, not negative:
                                its square is added to the variance, before calibration; NULL: 0 */
} quorum_prediction;

/* Counts of numerical events; all but experts_used are sums over queries. */
typedef struct {
    double experts_used;    /* mean number of experts per query                         */
    size_t prior_fallbacks; /* precision not positive: the prior was returned           */
    size_t clamped;         /* variances brought back into their range                  */
    size_t jittered;        /* NPAE systems that needed jitter                          */
    size_t pseudo_inverses; /* NPAE systems solved by pseudo-inverse                    */
    size_t unsure;          /* select local: another expert might explain more          */
    int calibrated;         /* 1: std and interval are calibrated                       */
    double seconds;
    size_t off_constants;   /* queries with another value of a constant input than the
                               training data, which has no effect                       */
    int calibration_unused; /* 1: the model is calibrated, but for another prediction than this
                               (quorum_info.calibration_for): std and interval are as without it */
    const char *method;     /* the method that these options mean for the model, auto resolved:
                               one of quorum_method_name; NULL: they are refused        */
    size_t outside;         /* queries with a novelty above 0.9: the rows say next to nothing about
                               them; 0 with mean-only                                   */
    size_t unseen;          /* queries with a level that was not in the training data   */
    size_t filled;          /* queries with missing cells that were filled (missing=impute) ... */
    size_t filled_anew;     /* ... of which some in a column that has all its cells in training */
} quorum_report;

/* Predicts at X (rows x inputs; of a category the number of the level in quorum_info, or -1 for one
 * that was not in the training data, unless unseen=error; with missing=impute and a model that was
 * fitted with it NaN for a missing cell), learning the model's expert graph first if experts are selected
 * by it and it has none.  Options used: method, select, space,
 * neighbours, interval, interval-shape, latent, mean-only, calibration, unseen, threads, memory, graph-on.  Safe to
 * call from many threads on one model; in a team by all processes at once, each with all queries,
 * and each gets all results.  `report` may be NULL.  Of no rows it says whether the
 * model can predict with these options, and whether that is calibrated. */
QUORUM_API quorum_status quorum_predict(const quorum_model *model, const double *X, size_t rows,
                                        const quorum_options *options, const quorum_prediction *out,
                                        quorum_report *report);

/* Predicts all targets of a model (quorum_model_targets) at the same X, which is of each one's inputs: the bits of
 * quorum_predict for each.  out and report: one for each target; report may be NULL.  Of a fit with
 * share=theta, method nearest finds neighbours and factors their covariance once for all. */
QUORUM_API quorum_status quorum_predict_targets(const quorum_model *model, const double *X,
                                                size_t rows, const quorum_options *options,
                                                const quorum_prediction *const *out,
                                                quorum_report *report);

/* The joint predictive covariance of nearest or npae between the given queries, rows x rows; the
 * noise is on the diagonal unless latent=true, and the diagonal is the square of the std
 * that quorum_predict gives (but for select local:auto, which asks all it may here), calibrated
 * where that is.  Of a model with an offset the mean is without it: add it.  Options used: method,
 * select, neighbours, latent, calibration, graph-on, threads, memory.  Refused in a team of several
 * processes. */
QUORUM_API quorum_status quorum_predict_joint(const quorum_model *model, const double *X,
                                              size_t rows, const quorum_options *options,
                                              double *mean, double *covariance);

/* Joint draws of the target at X: out (rows x count), one row a query, of the function itself with
 * latent=true.  Each query's draws are mean + std Z with what quorum_predict gives, Z distributed as
 * quorum_distribution_of tells, and between queries they have the correlations of a GP on the rows
 * near them (docs/methods.md, "Draws").  Draw j depends on the seed, the model and the set of
 * queries: not on their order, on count or on threads.  Of a model with an offset draws are without
 * it: add it.  Options used: seed, method, select, space, neighbours, latent, calibration,
 * interval-shape, graph-on, threads, memory.  On failure all are NaN.  Refused in a team of several
 * processes. */
QUORUM_API quorum_status quorum_sample(const quorum_model *model, const double *X, size_t rows,
                                       const quorum_options *options, size_t count, double *out);

/* What suggestions are of. */
typedef struct {
    size_t candidates, targets; /* that were looked at: a fixed sample where there are more than
                                   2,000, or than memory has room for                     */
    double variance;            /* mean latent variance of the targets before            */
} quorum_suggestion;

/* The `count` rows of X whose measurement, one after another, takes most off the mean latent
 * variance at `over` (over_rows x inputs; NULL: at X itself): row (count) has their numbers from 0,
 * reduction (count) by how much each does, after those before it, in the target's units squared (of a
 * warped target in those of its logarithm).  `about` may be NULL.  Greedy, with exact updates of the
 * joint covariance that quorum_sample draws from (docs/methods.md, "Suggestions").  Options used: as
 * quorum_sample but seed, latent and interval-shape. */
QUORUM_API quorum_status quorum_suggest(const quorum_model *model, const double *X, size_t rows,
                                        const double *over, size_t over_rows,
                                        const quorum_options *options, size_t count, size_t *row,
                                        double *reduction, quorum_suggestion *about);

/* Half the width of the interval of this probability, divided by the std that
 * quorum_predict gives with these options: the normal quantile, or what calibration
 * found.  Of a model with a warp both are those of log(target + warp_shift). */
QUORUM_API double quorum_interval_factor(const quorum_model *model, const quorum_options *options,
                                         double probability);

/* The quantile of this probability minus the mean, divided by that std.  The interval of
 * probability P ends where (1 - P)/2 and (1 + P)/2 have theirs. */
QUORUM_API double quorum_quantile_factor(const quorum_model *model, const quorum_options *options,
                                         double probability);
/* Decisions from n predictions of quorum_predict with these options: the probability that y (or with
 * latent=true the function) is above or below a threshold, and by how much it is expected to be above
 * or below the best value so far, E max(0, y - best) and E max(0, best - y).  By the distribution
 * that quorum_distribution_of tells; improvements of a warped target by the log-normal one. */
QUORUM_API quorum_status quorum_probability_above(const quorum_model *model,
                                                  const quorum_options *options, size_t n,
                                                  const double *mean, const double *std,
                                                  double threshold, double *probability);
QUORUM_API quorum_status quorum_probability_below(const quorum_model *model,
                                                  const quorum_options *options, size_t n,
                                                  const double *mean, const double *std,
                                                  double threshold, double *probability);
QUORUM_API quorum_status quorum_improvement_above(const quorum_model *model,
                                                  const quorum_options *options, size_t n,
                                                  const double *mean, const double *std,
                                                  double best, double *improvement);
QUORUM_API quorum_status quorum_improvement_below(const quorum_model *model,
                                                  const quorum_options *options, size_t n,
                                                  const double *mean, const double *std,
                                                  double best, double *improvement);

/* How many queries to pass at once for good speed within the memory option. */
QUORUM_API size_t quorum_block_rows(const quorum_model *model, const quorum_options *options);

/* The methods that the method option knows besides auto: name and a line of explanation. */
QUORUM_API int quorum_method_count(void);
QUORUM_API const char *quorum_method_name(int i);
QUORUM_API const char *quorum_method_help(int i);

/* ---- Maps ---------------------------------------------------------------- */

/* One input of a grid: its values, or of a single one that is no number its text. */
typedef struct {
    const char *name;
    size_t count;
    const double *value; /* count */
    const char *text;    /* count is 1, and value NULL; else NULL */
    const char *units;   /* of the values, as CF has them, or NULL */
} quorum_axis;

/* Values at all points of the grid, the first axis varying fastest. */
typedef struct {
    const char *name, *long_name; /* long_name may be NULL */
    const double *value;
} quorum_layer;

typedef struct {
    size_t axes, layers;
    const quorum_axis *axis;
    const quorum_layer *layer;
    const char *title; /* or NULL */
    const char *longitude,
        *latitude; /* axes in degrees; NULL: one that is called lon or longitude, lat or
                                         latitude */
} quorum_grid;

/* Writes it as NetCDF by the CF conventions (PATH.nc; an axis of one value is a scalar coordinate), as
 * GeoTIFF (PATH.tif; two axes vary, a band for each layer, EPSG:4326 of degrees), or as
 * arrays (PATH.npz; of two axes that vary 2-d, else 1-d).  The file appears whole or not at all. */
QUORUM_API quorum_status quorum_save_grid(const quorum_grid *grid, const char *path);

/* ---- The parts by themselves --------------------------------------------- */

/* The rule `method` on the caller's own experts: their means and variances at each
 * query, experts x queries, become `out_mean` and `out_variance` (queries each).
 * Means are differences from the prior's mean, prior_variance is the prior's.
 * With grbcm the first expert is the base, whose rows the others hold as well.
 * npae is refused: it needs the experts' covariances; so is nearest, which asks none.  On failure
 * both outputs are
 * filled with NaN. */
QUORUM_API quorum_status quorum_aggregate(const char *method, size_t experts, size_t queries,
                                          const double *mean, const double *variance,
                                          double prior_variance, double *out_mean,
                                          double *out_variance);

/* Graphical lasso: the precision matrix (size x size, exact zeros where there is no
 * edge) that maximises log|Omega| - tr(S Omega) - lambda ||Omega||_1, S symmetric;
 * free_diagonal leaves the diagonal unpenalised.  On failure it is filled with NaN. */
QUORUM_API quorum_status quorum_graphical_lasso(size_t size, const double *S, double lambda,
                                                int free_diagonal, double *precision);

/* ---- Distributions ------------------------------------------------------ */

/* What (y - mean) / std is distributed like: g(U), U standard normal, g straight between the points
 * (u, z), which rise, and beyond them as between the last two (docs/methods.md, "Calibration").
 * Zeroed, with no points, it is the standard normal itself. */
enum { QUORUM_MOST_POINTS = 32 };
typedef struct {
    size_t points; /* 0, or 2 at least */
    double u[QUORUM_MOST_POINTS], z[QUORUM_MOST_POINTS];
    double lower[4], upper[4]; /* with points: ends of the intervals whose coverage is counted */
} quorum_distribution;

/* Of predictions with these options, std being the one that quorum_predict gives: no points where
 * they are not calibrated. */
QUORUM_API quorum_status quorum_distribution_of(const quorum_model *model,
                                                const quorum_options *options,
                                                quorum_distribution *out);

/* g(normal quantile of p), 0 < p < 1, and its inverse; the logarithm of the density at z; the
 * continuous ranked probability score of an observation z, the integral of
 * (P(Z <= t) - [z <= t])^2 dt.  In units of std: the density of y is that of z over std, its
 * score that of z times std.  NaN where the argument is not in range. */
QUORUM_API double quorum_distribution_quantile(const quorum_distribution *d, double probability);
QUORUM_API double quorum_distribution_probability(const quorum_distribution *d, double z);
QUORUM_API double quorum_distribution_log_density(const quorum_distribution *d, double z);
QUORUM_API double quorum_distribution_crps(const quorum_distribution *d, double z);

/* ---- Metrics ------------------------------------------------------------ */

/* Scores are gathered chunk by chunk: zero the struct, add, finish. */
typedef struct {
    size_t n;
    double sum_y, sum_yy, shift; /* of the test targets, about shift */
    double sum_sq, sum_abs, sum_nlpd, sum_trivial, sum_crps;
    size_t inside[4]; /* of the 50, 90, 95, 99 % intervals */
    double unit;      /* of sum_y, sum_abs and the roots of sum_yy and sum_sq: a power of two */
    double weight; /* of the n rows together, which all sums are weighted by: n without weights */
    double weight_inside[4]; /* of those that `inside` counts */
} quorum_scores;

typedef struct {
    double smse, msll, mae, rmse, nlpd, crps; /* smse is NaN where the targets do not vary */
    double coverage[4]; /* share of targets inside the central 50, 90, 95, 99 % intervals */
} quorum_metrics;

/* The probabilities whose coverage is counted: 0.50, 0.90, 0.95, 0.99. */
QUORUM_API extern const double quorum_coverage_levels[4];

/* train_mean and train_std describe the trivial Gaussian that MSLL compares with; what is scored
 * is mean + std Z, Z of the distribution, of which NULL is the standard normal. */
QUORUM_API void quorum_scores_add(quorum_scores *scores, size_t n, const double *y,
                                  const double *mean, const double *std, double train_mean,
                                  double train_std, const quorum_distribution *distribution);

/* The same of predictions by a model that this is of: its target's mean and deviation, and the
 * log-normal distribution where it has a warp, of which mean and std are the moments; the distribution
 * given is then that of the logarithm.  Of info only target_mean, target_scale, warp and warp_shift
 * are used; without a warp it is quorum_scores_add. */
QUORUM_API void quorum_scores_add_model(quorum_scores *scores, const quorum_info *info, size_t n,
                                        const double *y, const double *mean, const double *std,
                                        const quorum_distribution *distribution);

/* The same of rows that count as `weight` (n) rows each, not negative; NULL: as one. */
QUORUM_API void quorum_scores_add_weighted(quorum_scores *scores, const quorum_info *info, size_t n,
                                           const double *y, const double *mean, const double *std,
                                           const quorum_distribution *distribution,
                                           const double *weight);
QUORUM_API void quorum_scores_finish(const quorum_scores *scores, quorum_metrics *metrics);

/* ---- Update ------------------------------------------------------------- */

/* New training rows: X (rows x inputs) as quorum_predict takes it and a stream gives it, NaN being a
 * missing cell that a model fitted with missing=impute fills.  Start with {0}. */
typedef struct {
    size_t rows;
    const double *X, *y;     /* y NaN: the row is left out                                */
    const double *offset;    /* of a model with an offset; NULL otherwise                 */
    const double *weight;    /* as in quorum_data; NULL: 1                                */
    const double *noise_std; /* likewise; NULL: 0                                         */
} quorum_new_rows;

/* Old rows that go, by their numbers in quorum_info.row; and how many rows stay at most, the last
 * ones.  Start with {0}. */
typedef struct {
    const size_t *row;
    size_t rows;
    size_t window; /* 0: all */
} quorum_forgetting;

/* What became of the rows of one target, and how well its model predicted the new ones before it had
 * them. */
typedef struct {
    size_t added, removed;
    size_t unseen;          /* rows left out for a level that the model does not know        */
    size_t off_constants;   /* rows with another value of a constant input, which has no effect */
    size_t scored;          /* rows that were predicted: all, or a sample of them; 0: none   */
    quorum_metrics metrics; /* of these                                                    */
    double density;         /* mean log density of their (y - mean) / std ...                     */
    double expected; /* ... and of the left-out rows that calibration is made of; NaN: none */
    double chance;   /* how often so many left-out rows have a mean that is as low; NaN: none */
    int drift;       /* 1: chance is below 0.01: fit again                                 */
} quorum_update_report;

/* Adds rows to a model and takes others away.  Theta, units, positions of levels, metric, neighbours
 * and the division among experts stay: a new row joins the expert whose centre is nearest.  So
 * predictions by nearest are those of a fit to all rows with that theta and these units, bit for bit,
 * and those by experts the ones of a model with this division.  Rows are numbered anew in their order,
 * new ones last.  A graph is forgotten, to be learned when it is asked for; calibration learns from the
 * new rows (docs/updating.md).  `rows`: one for each target (quorum_model_targets), NULL: none are
 * added; `forget` may be NULL; `report`, one for each target, may be NULL.  Options used: threads,
 * memory, seed, unseen, missing.  On failure the model is as it was.  Not while others use it, and
 * pointers of an earlier quorum_inspect are gone.  Refused in a team of several processes. */
QUORUM_API quorum_status quorum_update(quorum_model *model, const quorum_new_rows *rows,
                                       const quorum_forgetting *forget,
                                       const quorum_options *options, quorum_update_report *report);

/* ---- Explain ------------------------------------------------------------- */

/* A number, and the central 95 % of it when the rows are drawn again. */
typedef struct {
    double value, low, high;
} quorum_estimate;

/* How much one input matters (docs/importance.md), f being the predicted mean without offset, and
 * the distribution that of the rows.  An input is a column of the table, whatever the model makes of
 * it, and of a place both columns. */
typedef struct {
    size_t column, also; /* also: the other column of a place, otherwise the same        */
    quorum_estimate squared_error, nlpd; /* by how much the mean loss of a row grows when the column
                                            is permuted among the rows; NaN without y    */
    quorum_estimate first; /* Var(E[f | x_j]) / Var f: what x_j tells by itself, and by what goes
                              with it                                                    */
    quorum_estimate
        total;          /* E[Var(f | all but x_j)] / Var f: what is open while x_j is not known */
    double lengthscale; /* in the column's units: how far f bends, not how much x_j matters;
                              infinite: no effect; NaN: of categories, which have none     */
} quorum_input_importance;

typedef struct {
    size_t rows;   /* that were changed and predicted again                                 */
    size_t once;   /* that were predicted once, for `first` and `variance`                   */
    size_t inputs; /* of `out`                                                              */
    double squared_error, nlpd; /* mean losses of the rows as they are; NaN without y       */
    double variance;            /* Var f                                                   */
} quorum_importance_summary;

/* Fills `out` (quorum_info.columns at most; about->inputs of them) from rows that the model can
 * predict, 20 at least: all, or where there are more than `most` (0: no limit) that many, drawn by
 * the seed, and ten times as many where a row is predicted once.  y may be NULL.  The numbers depend on the seed, not on threads.  Options used: seed, and those of
 * quorum_predict but latent and mean-only.  Refused in a team of several processes. */
QUORUM_API quorum_status quorum_importance(const quorum_model *model, const quorum_new_rows *rows,
                                           size_t most, const quorum_options *options,
                                           quorum_input_importance *out,
                                           quorum_importance_summary *about);

/* Where an effect is asked for: one or two columns and their values, levels' numbers of a category;
 * with two all combinations, the first varying fastest. */
typedef struct {
    size_t axes, column[2], count[2];
    const double *value[2]; /* count each */
} quorum_effect_grid;

/* Arrays of the caller, a value for each point of the grid. */
typedef struct {
    double
        *mean; /* partial dependence: the mean of f over the rows, each with the point's values */
    double *lower, *upper; /* mean ends of the intervals there, which are the function's; the
                              interval of the mean itself is no wider                       */
    double *support;       /* 0 to 1: the share of rows for which some of the rows that are alike
                        otherwise have about these values (docs/importance.md)             */
    double *curves;        /* wanted x points: f of single rows; may be NULL                      */
    size_t wanted;
    double *at; /* wanted x axes: the rows' own values; may be NULL                         */
} quorum_effect_curves;

/* Effects over the rows, as quorum_importance takes them; y is not looked at.  *used, which may be
 * NULL, is how many were averaged over; wanted must not be more.  On failure all are NaN. */
QUORUM_API quorum_status quorum_effect(const quorum_model *model, const quorum_new_rows *rows,
                                       size_t most, const quorum_effect_grid *grid,
                                       const quorum_options *options, quorum_effect_curves *out,
                                       size_t *used);

/* ---- The paper's built-in example --------------------------------------- */

/* f(x) = 5x^2 sin(12x) + (x^3 - 0.5) sin(3x - 0.5) + 4 cos(2x), without noise. */
QUORUM_API double quorum_demo_function(double x);

/* n points: x uniform in [low, high], y = f(x) + noise of the given deviation. */
QUORUM_API void quorum_demo_data(size_t n, double low, double high, double noise,
                                 unsigned long long seed, double *x, double *y);

/* ---- Several processes ---------------------------------------------------- */

/* The command quorum-mpi does one job with many processes: all call the same functions in the
 * same order with the same arguments, but for training data, of which each has its share of the
 * rows (quorum_data).  Process 0 alone reads data and writes files; models are read by all.
 * Results are in every process, and are those of one process, bit for bit.  In libquorum the
 * team is always one process, whose share is everything. */
QUORUM_API int quorum_team_rank(void); /* 0 .. size - 1 */
QUORUM_API int quorum_team_size(void);

/* Called by every process before anything else, and as the last thing; finish returns the
 * largest of all exit codes. */
QUORUM_API quorum_status quorum_team_start(int *argc, char ***argv);
QUORUM_API int quorum_team_finish(int code);

/* Called by all: the status of the lowest process that failed, with its message, or else this
 * one's. */
QUORUM_API quorum_status quorum_team_agree(quorum_status status);

/* What one process has spent since the start. */
typedef struct {
    double seconds;     /* in all                            */
    double waited;      /* of these for other processes      */
    double computed;    /* processor seconds of the rest     */
    double sent;        /* bytes                             */
    double received;    /* bytes                             */
    double peak_memory; /* bytes, the largest so far         */
    double rows;        /* training rows held, the most so far */
} quorum_team_usage;

/* Fills one entry for every process; all have to call it. */
QUORUM_API void quorum_team_account(quorum_team_usage *usage /* size */);

#ifdef __cplusplus
}
#endif
#endif /* QUORUM_H */
