/* The table of options, and settings parsed from it.  Everything that is said of an option
 * (default, range, help, which commands take it) is said here, once. */
#include "options/options.h"

#include "base/memory.h"
#include "base/plain.h"
#include "encode/made.h"
#include "text/list.h"
#include "text/notation.h"
#include "linalg/blas.h"
#include "team/work.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ---- */

typedef enum { COUNT, REAL, BYTES, CHOICE, TEXT, FLAG } option_type;

typedef struct {
    const char *name;
    option_type type;
    size_t field; /* offset in settings */
    const char *default_value, *choices;
    double min, max;
    const char *placeholder, *used_by, *help;
    quorum_status (*check)(const char *text); /* of a TEXT, or NULL */
} option;

#define FIELD(name) offsetof(settings, name)

static char kernel_choices[256], partition_choices[256];

static quorum_status check_method(const char *text);
static quorum_status check_select(const char *text);
static quorum_status check_lambda(const char *text);
static quorum_status check_neighbours(const char *text);
static quorum_status check_spread(const char *text);
static quorum_status check_thousands(const char *text);
static quorum_status check_comment(const char *text);
static quorum_status check_periodic(const char *text);
static quorum_status check_lonlat(const char *text);

static const option table[] = {
    {"target", TEXT, FIELD(target), "-1", NULL, 0, 0, "COLS", "fit",
     "Target column, by name or number; negative numbers count from the end (-1: the last). "
     "Several "
     "are separated by commas, a name that has one in double quotes: a model of each is made, as "
     "if "
     "the others were ignored.",
     NULL},
    {"share", CHOICE, FIELD(share), "none", "none|theta", 0, 0, NULL, "fit",
     "What several targets have in common.  theta: kernel, metric, length-scales and noise are "
     "learned "
     "once, from the sum of the standardised targets, with the rows that have all of them; spread "
     "and "
     "calibration are each target's own.  Further targets then cost little, in the fit and with "
     "method nearest in predictions; for targets that depend on the inputs in the same way.",
     NULL},
    {"ignore", TEXT, FIELD(ignore), "", NULL, 0, 0, "COLS", "fit",
     "Columns to leave out, by name or number, separated by commas; a name that has one in double "
     "quotes.",
     NULL},
    {"offset", TEXT, FIELD(offset), "", NULL, 0, 0, "COL", "fit",
     "Column, by name or number, that is known of the target beforehand, such as another model's "
     "prediction: no input, but taken from the target, and added to predictions, which need the "
     "column too.",
     NULL},
    {"weights", TEXT, FIELD(weights), "", NULL, 0, 0, "COL", "fit evaluate",
     "Column, by name or number, that says as how many rows each row counts: no input; 0: it is "
     "left "
     "out.  evaluate weighs test rows by it, or else by the column of the fit where TEST has it.",
     NULL},
    {"noise-std", TEXT, FIELD(noise_std), "", NULL, 0, 0, "COL", "fit predict evaluate",
     "Column, by name or number, of what is known of each target's own error, as a standard "
     "deviation "
     "in the target's units, 0 allowed: no input, but added to the learned noise of that row, and "
     "at "
     "predictions to the variance; without the option they take the column of the fit where "
     "queries "
     "have it.",
     NULL},
    {"header", CHOICE, FIELD(header), "auto", "auto|yes|no", 0, 0, NULL, "fit predict evaluate",
     "Whether a csv file starts with column names; auto: when its first row is not all numbers.",
     NULL},
    {"missing", CHOICE, FIELD(missing), "error", "error|drop|nan|impute", 0, 0, NULL,
     "fit predict evaluate",
     "Rows with a missing or unusable cell: stop with an error, or drop and count them.  nan, for "
     "predictions: keep them, with empty cells, so that results have the rows of the queries.  "
     "impute: fill missing inputs, with wider intervals there; predictions can if the fit did.",
     NULL},

    {"decimal", CHOICE, FIELD(decimal), "auto", "auto|point|comma", 0, 0, NULL,
     "fit predict evaluate",
     "Decimal mark of a csv file's numbers.  auto: what the first number with one shows; where it "
     "shows neither, as in 236,300, that is an error.",
     NULL},
    {"thousands", TEXT, FIELD(thousands), "none", NULL, 0, 0, "MARK", "fit predict evaluate",
     "Mark between groups of three digits in a csv file: comma, point, space, apostrophe or "
     "underscore, or the character itself; none: digits are not grouped.",
     check_thousands},
    {"comment", TEXT, FIELD(comment), "none", NULL, 0, 0, "CHAR", "fit predict evaluate",
     "Lines of a csv file that begin with this character are passed over, as in '#'; none: there "
     "are no such lines.",
     check_comment},
    {"query", TEXT, FIELD(query), "", NULL, 0, 0, "SQL", "fit predict evaluate",
     "Of an SQLite database: the SELECT whose rows are the table.  The database is only read.",
     NULL},
    {"categorical", TEXT, FIELD(categorical), "auto", NULL, 0, 0, "auto|none|COLS", "fit",
     "Columns whose cells are levels of a category, not numbers.  auto: those with text; COLS: "
     "also "
     "these, by name or number, separated by commas (a name that has one in double quotes); none: "
     "text is an error.",
     NULL},
    {"encoding", CHOICE, FIELD(encoding), "position", "position|distance|auto", 0, 0, NULL, "fit",
     "What the levels of a category are to the model.  position: one number each, their effect on "
     "the target; distance: any two are as far from each other as any others, with one "
     "length-scale a category (of up to 64 levels, others have positions); auto: what predicts "
     "rows "
     "better that are held out of a small fit of each, where there are up to 64 levels in all.",
     NULL},
    {"unseen", CHOICE, FIELD(unseen), "predict", "predict|error", 0, 0, NULL, "predict evaluate",
     "Rows with a level of a category that was not in the training data: predict it as one more "
     "of its kind, with the variance that this leaves, or stop with an error.",
     NULL},
    {"dates", CHOICE, FIELD(dates), "auto", "auto|ymd|dmy|mdy|none", 0, 0, NULL, "fit",
     "Columns of dates and times of one form are numbers, in seconds.  auto: whether day (dmy) or "
     "month (mdy) comes first before the year the column's values say, or it is an error; ymd: "
     "only "
     "dates that begin with the year; none: dates are text.",
     NULL},
    {"periodic", TEXT, FIELD(periodic), "none", NULL, 0, 0, "none|auto|COL:PERIOD,..", "fit",
     "Adds sine and cosine of the column as inputs, so that what a period brings back is near.  "
     "PERIOD: hour, day, week or year of dates, or a number in the column's units; auto: of dates, "
     "day, week and year where the rows span two and are spread over one.",
     check_periodic},
    {"lonlat", TEXT, FIELD(lonlat), "none", NULL, 0, 0, "none|LON,LAT", "fit",
     "Two columns are a longitude and a latitude in degrees.  The model then measures by the "
     "distance "
     "on the sphere: inputs are the three coordinates of the place, the date line is no border, "
     "and a "
     "degree of longitude is shorter near the poles.",
     check_lonlat},

    {"experts", COUNT, FIELD(experts), "auto", NULL, 1, 1e8, "M", "fit",
     "Number of experts; 1 is the exact GP.  auto: as many as expert-size asks for.", NULL},
    {"expert-size", COUNT, FIELD(expert_size), "500", NULL, 1, 1e6, "m", "fit",
     "Rows an expert should have when experts is auto.  Training time grows with its square, "
     "memory with its square, accuracy slowly.",
     NULL},
    {"partition", CHOICE, FIELD(partition), "kmeans", partition_choices, 0, 0, NULL, "fit",
     "How rows are split among experts: kmeans makes compact parts, kdtree boxes of equal size, "
     "random equal samples of everything, communication one such sample and compact parts.",
     NULL},
    {"min-size", COUNT, FIELD(min_size), "auto", NULL, 1, 1e8, "N", "fit",
     "Smaller parts are merged with their nearest.  auto: a tenth of the mean size.", NULL},
    {"max-size", COUNT, FIELD(max_size), "auto", NULL, 1, 1e8, "N", "fit",
     "Larger parts are split.  auto: twice the mean size.", NULL},
    {"overlap", REAL, FIELD(overlap), "0", NULL, 0, 1e6, "F", "fit",
     "Near rows of other parts that each expert also holds, as a share of its own: 1 doubles every "
     "expert.  More accurate with npae, which takes shared rows into account, at (1 + F)^2 times "
     "the time and memory; the other rules count shared rows more than once.",
     NULL},

    {"kernel", CHOICE, FIELD(kernel), "auto", kernel_choices, 0, 0, NULL, "fit",
     "Covariance function, with one length-scale per input (x2: a short and a long component, x3: "
     "one that is longer still); "
     "auto: the one that predicts left-out "
     "training rows best (se when theta is given).",
     NULL},
    {"theta", TEXT, FIELD(theta), "", NULL, 0, 0, "L1,..,LD,SF2,S2", "fit",
     "Fixed hyperparameters in standardised units: the inputs' length-scales (or one for all), "
     "signal variance, noise variance; of a kernel with several scales also the share of all but "
     "the "
     "shortest and how many times as far each reaches as the one before it.  Skips training.",
     NULL},
    {"train", CHOICE, FIELD(train), "neighbours", "neighbours|parts|random|subset", 0, 0, NULL,
     "fit",
     "What hyperparameters are trained on: small blocks of rows, each given its nearest earlier "
     "rows; the experts' own parts, as in the paper; random parts of expert-size rows; or one "
     "random subset.",
     NULL},
    {"train-rows", COUNT, FIELD(train_rows), "20000", NULL, 1, 1e9, "N", "fit",
     "Rows that train=neighbours looks at, out of all; their neighbours come on top.", NULL},
    {"metric", CHOICE, FIELD(metric), "auto", "auto|ard|linear", 0, 0, NULL, "fit",
     "What distances between rows are measured in: every input by its own length-scale (ard), or "
     "directions in the inputs, each by its own (linear), found from where the target changes.  "
     "auto: with train=neighbours, directions where rows left out are predicted better by them.",
     NULL},
    {"partition-metric", CHOICE, FIELD(partition_metric), "learned", "learned|input", 0, 0, NULL,
     "fit",
     "Distances by which rows are split among experts: those of the metric and its length-scales, "
     "or of standardised inputs as they are.",
     NULL},
    {"trend", CHOICE, FIELD(trend), "constant", "auto|none|constant|linear", 0, 0, NULL, "fit",
     "What predictions return to away from the data: 0, the target's mean, or a line in the "
     "inputs, "
     "whose uncertainty then widens intervals.  auto: with train=neighbours, the line where "
     "rows left out, above all with the rows around them, are predicted better with it; else the "
     "mean.",
     NULL},
    {"warp", CHOICE, FIELD(warp), "none", "none|log|auto", 0, 0, NULL, "fit",
     "What of the target is modelled: the target itself, or its logarithm, for a target that is "
     "not negative and has a heavy tail, such as a price, a count or a rate; predictions are of "
     "the target either way.  auto: with train=neighbours, the logarithm of such a target where "
     "rows left out have a higher density by it, and no larger squared errors.",
     NULL},
    {"train-experts", COUNT, FIELD(train_experts), "auto", NULL, 1, 1e8, "N", "fit",
     "With train=parts, experts, drawn at random, that hyperparameters are trained on; with "
     "train=random, the number of random parts.  auto: all, or 100 when there are more.",
     NULL},
    {"restarts", COUNT, FIELD(restarts), "0", NULL, 0, 4, "N", "fit",
     "Further starting points of the training.  Starts are added by themselves when nothing better "
     "than noise is found.",
     NULL},
    {"max-evaluations", COUNT, FIELD(max_evaluations), "200", NULL, 1, 1e6, "N", "fit",
     "Likelihood evaluations per start at most.", NULL},
    {"tolerance", REAL, FIELD(tolerance), "1e-6", NULL, 0, 1, "T", "fit",
     "Training stops when the objective (NLML per row) changes relatively by less than this.",
     NULL},

    {"spread", TEXT, FIELD(spread), "auto", NULL, 0, 0, "NU|none", "fit",
     "Whether the variance of a prediction with neighbours follows how surprising the rows around "
     "it are, against NU rows that are as expected; none: it does not.  auto: what predicts "
     "left-out training rows best, and beyond the rows what rows left out with all rows beyond "
     "them say; none with train=parts or when theta is given.",
     check_spread},

    {"local-noise", CHOICE, FIELD(local_noise), "auto", "auto|yes|no", 0, 0, NULL, "fit",
     "Whether a prediction from nearest rows takes the noise that the rows around it have, a "
     "multiple of the model's, or the model's noise everywhere.  auto: what predicts left-out "
     "training rows better; no with train=parts, few rows or when theta is given.",
     NULL},

    {"graph", CHOICE, FIELD(graph), "auto", "auto|glasso|lasso|none", 0, 0, NULL, "fit",
     "How the graph of experts is learned: glasso, the graphical lasso; lasso, neighbourhood "
     "selection by lasso regressions; none, not at all (experts are then ranked by the variance "
     "they explain).  auto: by the graphical lasso, but not before something asks for it, such as "
     "a prediction with select graph:A, since the default prediction does not.",
     NULL},
    {"lambda", TEXT, FIELD(lambda), "rel:0.1", NULL, 0, 0, "V|rel:V|ebic", "fit",
     "Sparsity penalty of the graph: absolute (0.1 in the paper), relative to the largest "
     "covariance between two experts, or chosen by the extended BIC.",
     check_lambda},
    {"free-diagonal", FLAG, FIELD(free_diagonal), "false", NULL, 0, 0, NULL, "fit",
     "Leave the diagonal of the precision matrix unpenalised.", NULL},
    {"graph-rows", COUNT, FIELD(graph_rows), "1000", NULL, 2, 1e6, "N", "fit",
     "Training inputs, drawn at random, at which the experts' predictions are compared.", NULL},

    {"method", TEXT, FIELD(method), "auto", NULL, 0, 0, "NAME", "fit predict evaluate",
     "How a query is predicted: nearest, from its nearest rows; cells, by the experts of the cells "
     "around it, for many queries; or by experts that are joined by "
     "npae, groups, ggm, grbcm, rbcm, bcm, gpoe, gpoe-entropy, poe or single.  NAME* means NAME "
     "with "
     "select "
     "graph:0.8.  auto: the exact GP where the model is one expert, otherwise nearest, or cells "
     "where the fit found them as good and cheaper; with "
     "select, npae of those experts.",
     check_method},
    {"select", TEXT, FIELD(select), "auto", NULL, 0, 0, "WHICH", "fit predict evaluate graph",
     "Experts that take part: all; graph:A, the share A that is most important in the graph (also "
     "best:A); worst:A, the least important; expert:I, one alone; local:K, the K that explain most "
     "at each query; local:auto, as many as still help; knn:K, the K with the nearest centres; "
     "graph:A+local:K.  auto: all; local:4 where "
     "method is auto and neighbours 0.  It does not go with nearest, of which none is an old "
     "spelling, nor with cells.",
     check_select},
    {"neighbours", TEXT, FIELD(neighbours), "auto", NULL, 0, 0, "m", "fit predict evaluate",
     "Nearest training rows of a query that nearest predicts from, or that make an expert of the "
     "query's own for npae, joined with the others; 0: none.  auto: for nearest as many as the fit "
     "found to be enough, 512 at most; for cells, whose experts have so many rows, a quarter more; "
     "otherwise none.",
     check_neighbours},
    {"space", CHOICE, FIELD(space), "latent", "latent|observed", 0, 0, NULL, "fit predict evaluate",
     "Whether independent-expert rules aggregate the latent function and add the noise once, or "
     "aggregate noisy predictions as much of the literature does.  nearest, cells and npae are "
     "always latent.",
     NULL},
    {"graph-on", CHOICE, FIELD(graph_on), "train", "train|test", 0, 0, NULL,
     "predict evaluate graph",
     "Inputs behind the expert graph: the model's own training sample, or the queries of this "
     "call as in the paper (a row's prediction then depends on its batch).",
     NULL},
    {"interval", REAL, FIELD(interval), "0.95", NULL, 0.001, 0.999999, "P", "predict",
     "Probability of the central interval in the columns lower and upper.", NULL},
    {"interval-shape", CHOICE, FIELD(interval_shape), "auto", "auto|symmetric", 0, 0, NULL,
     "predict evaluate",
     "Whether the ends of calibrated intervals come each from its own side of the held-out errors "
     "(auto), or lie at the same distance from the mean.",
     NULL},
    {"calibration", CHOICE, FIELD(calibration), "auto", "auto|off", 0, 0, NULL, "predict evaluate",
     "Whether std and intervals use what fit --calibrate found; it holds for the prediction that "
     "it was made for.",
     NULL},
    {"latent", FLAG, FIELD(latent), "false", NULL, 0, 0, NULL, "predict",
     "Leave the noise out of std and interval: they describe the function, not new data.", NULL},
    {"mean-only", FLAG, FIELD(mean_only), "false", NULL, 0, 0, NULL, "predict",
     "Predict means only.  Saves the variance work where the rule does not need it.", NULL},

    {"calibrate", FLAG, FIELD(calibrate), "auto", "false|true|strict|auto", 0, 0, NULL, "fit",
     "Predict some training rows from the others and keep how they are distributed about their "
     "predictions, so that a 95 % interval covers 95 %; strict: rows that hyperparameters are not "
     "trained on.  It holds for predictions by this method, select, neighbours "
     "and space; a fit uses those options for nothing else.  auto: of the default prediction, by "
     "2,000 rows left out in turn, where train is neighbours and there are 2,000 rows or more.",
     NULL},
    {"checkpoint", TEXT, FIELD(checkpoint), "", NULL, 0, 0, "FILE", "fit",
     "File that keeps the state of the training after each evaluation.  A fit that was broken off "
     "goes on from there when it is started again with the same data and options, and gives the "
     "same model; quorum fit removes the file when the model is written.",
     NULL},
    {"start", TEXT, FIELD(start), "", NULL, 0, 0, "MODEL", "fit",
     "Model file that training starts from: with its kernel and metric, unless they are given, and "
     "its length-scales and variances in the units of these rows, instead of a first look and a "
     "comparison of kernels.  For data that have moved away from a model that was updated.",
     NULL},
    {"seed", COUNT, FIELD(seed), "1", NULL, 0, 9007199254740992.0, "N", "fit",
     "Seed of everything random; the same seed gives the same model.", NULL},
    {"threads", COUNT, FIELD(threads), "auto", NULL, 1, 256, "N", "fit predict evaluate",
     "Threads, of each process with quorum-mpi.  auto: all processors, divided among the processes "
     "of a machine.  Results do not depend on it.",
     NULL},
    {"memory", BYTES, FIELD(memory), "auto", NULL, 1e7, 1e15, "SIZE", "fit predict evaluate",
     "Memory to stay within, as in 800M or 4G, of each process with quorum-mpi.  auto: half of the "
     "machine's, divided among the processes on it.",
     NULL},
};

enum { OPTIONS = sizeof table / sizeof *table };

static const char *const type_names[] = {"count", "real", "bytes", "choice", "text", "flag"};

static quorum_option_info info[OPTIONS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void append_choice(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? "|" : "", name);
}

static void build_info(void)
{
    for (int i = 0; i < kernel_count(); i++)
        append_choice(kernel_choices, sizeof kernel_choices, kernel_at(i)->name);
    append_choice(kernel_choices, sizeof kernel_choices, "auto");
    for (int i = 0; i < partition_count(); i++)
        append_choice(partition_choices, sizeof partition_choices, partition_at(i)->name);
    for (int i = 0; i < OPTIONS; i++)
        info[i] = (quorum_option_info){.name = table[i].name,
                                       .type = type_names[table[i].type],
                                       .default_value = table[i].default_value,
                                       .choices = table[i].choices,
                                       .min = table[i].min,
                                       .max = table[i].max,
                                       .placeholder = table[i].placeholder,
                                       .used_by = table[i].used_by,
                                       .help = table[i].help};
}

int quorum_option_count(void)
{
    return OPTIONS;
}

const quorum_option_info *quorum_option_at(int i)
{
    pthread_once(&once, build_info);
    return i >= 0 && i < OPTIONS ? &info[i] : NULL;
}

/* ---- Reading values ---- */

static int same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
            return 0;
    return *a == *b;
}

static int find_option(const char *name)
{
    for (int i = 0; i < OPTIONS; i++)
        if (same_name(table[i].name, name))
            return i;
    return -1;
}

static double byte_unit(const char *suffix)
{
    static const char units[] = "kmgtKMGT";
    if (*suffix == '\0' || plain_compare(suffix, "b") == 0)
        return 1.0;
    const char *unit = strchr(units, *suffix);
    const char *rest = suffix + 1;
    if (!unit || (*rest && plain_compare(rest, "b") != 0 && plain_compare(rest, "ib") != 0))
        return 0.0;
    return pow(1024.0, (double)((unit - units) % 4 + 1));
}

static quorum_status read_number(const option *o, const char *value, double *out)
{
    if (strcmp(value, "auto") == 0 && strcmp(o->default_value, "auto") == 0) {
        *out = 0.0;
        return QUORUM_OK;
    }
    char *end;
    errno = 0;
    double x = plain_real(value, &end), unit = 1.0;
    if (o->type == BYTES && end != value)
        unit = byte_unit(end);
    else if (*end != '\0')
        unit = 0.0;
    if (end == value || unit == 0.0 || !isfinite(x))
        return failure(QUORUM_E_ARGUMENT, "option %s: \"%s\" is not a %s", o->name, value,
                       o->type == BYTES   ? "size such as 800M or 4G"
                       : o->type == COUNT ? "whole number"
                                          : "number");
    x *= unit;
    if (o->type == COUNT && x != floor(x))
        return failure(QUORUM_E_ARGUMENT, "option %s: \"%s\" is not a whole number", o->name,
                       value);
    if (o->max < 1.0 && x > 1.0 && x / 100.0 >= o->min && x / 100.0 <= o->max)
        return failure(QUORUM_E_ARGUMENT,
                       "option %s: %s is outside its range, %.6g to %.6g; did you mean %.6g?",
                       o->name, value, o->min, o->max, x / 100.0);
    if (x < o->min || x > o->max)
        return failure(QUORUM_E_ARGUMENT, "option %s: %s is outside its range, %.6g to %.6g",
                       o->name, value, o->min, o->max);
    *out = x;
    return QUORUM_OK;
}

static quorum_status read_choice(const option *o, const char *value, int *out)
{
    const char *p = o->choices;
    for (int i = 0;; i++) {
        size_t n = strcspn(p, "|");
        if (strlen(value) == n && strncmp(p, value, n) == 0) {
            *out = i;
            return QUORUM_OK;
        }
        if (p[n] == '\0')
            break;
        p += n + 1;
    }
    return failure(QUORUM_E_ARGUMENT, "option %s: \"%s\" is not one of %s", o->name, value,
                   o->choices);
}

static quorum_status read_flag(const option *o, const char *value, int *out)
{
    static const char *const yes[] = {"true", "yes", "on", "1"}, *const no[] = {"false", "no",
                                                                                "off", "0"};
    for (int i = 0; i < 4; i++) {
        if (plain_compare(value, yes[i]) == 0 || plain_compare(value, no[i]) == 0) {
            *out = plain_compare(value, yes[i]) == 0;
            return QUORUM_OK;
        }
    }
    if (o->choices)
        return read_choice(o, value, out);
    return failure(QUORUM_E_ARGUMENT, "option %s: \"%s\" is not true or false", o->name, value);
}

static quorum_status store(settings *s, const option *o, const char *value)
{
    char *field = (char *)s + o->field;
    switch (o->type) {
    case COUNT:
    case REAL:
    case BYTES: return read_number(o, value, (double *)(void *)field);
    case CHOICE: return read_choice(o, value, (int *)(void *)field);
    case FLAG: return read_flag(o, value, (int *)(void *)field);
    case TEXT:
        if (o->check)
            TRY(o->check(value));
        *(const char **)(void *)field = value;
        return QUORUM_OK;
    }
    return failure(QUORUM_E_INTERNAL, "option %s has no type", o->name);
}

quorum_status quorum_options_set(quorum_options *options, const char *name, const char *value)
{
    if (!options || !name || !value)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_options_set: options, name and value must not be NULL");
    int i = find_option(name);
    if (i < 0)
        return failure(QUORUM_E_ARGUMENT, "there is no option called \"%s\"", name);
    char *copy = mem_copy_text(value);
    if (!copy)
        return failure(QUORUM_E_MEMORY, "out of memory for option %s", name);
    quorum_status status = store(&options->values, &table[i], copy);
    if (status < 0) {
        mem_free(copy);
        return status;
    }
    mem_free(options->text[i]);
    options->text[i] = copy;
    return QUORUM_OK;
}

quorum_options *quorum_options_new(void)
{
    pthread_once(&once, build_info);
    quorum_options *o;
    if (!NEW_ZEROED(o, 1))
        return NULL;
    if (!NEW_ZEROED(o->text, OPTIONS)) {
        mem_free(o);
        return NULL;
    }
    for (int i = 0; i < OPTIONS; i++)
        if (quorum_options_set(o, table[i].name, table[i].default_value) < 0) {
            quorum_options_free(o);
            return NULL;
        }
    return o;
}

void quorum_options_free(quorum_options *options)
{
    if (!options)
        return;
    for (int i = 0; options->text && i < OPTIONS; i++)
        mem_free(options->text[i]);
    mem_free(options->text);
    mem_free(options);
}

const char *quorum_options_get(const quorum_options *options, const char *name)
{
    int i = name ? find_option(name) : -1;
    if (i < 0)
        return NULL;
    return options ? options->text[i] : table[i].default_value;
}

void quorum_options_set_progress(quorum_options *options, quorum_progress_fn callback, void *user)
{
    if (options)
        options->progress = (progress){.callback = callback, .user = user};
}

/* ---- Values for the library ---- */

static settings defaults;
static pthread_once_t defaults_once = PTHREAD_ONCE_INIT;

static void build_defaults(void)
{
    for (int i = 0; i < OPTIONS; i++)
        store(&defaults, &table[i], table[i].default_value);
}

const settings *options_values(const quorum_options *options)
{
    if (options)
        return &options->values;
    pthread_once(&once, build_info);
    pthread_once(&defaults_once, build_defaults);
    return &defaults;
}

const progress *options_progress(const quorum_options *options)
{
    return options ? &options->progress : NULL;
}

void options_watch(const quorum_options *options, const char *stage, progress_watch *watch)
{
    progress_watch_begin(watch, options_progress(options), stage);
    watch->only_told = !team_is_alone();
}

/* Fewer where linear algebra has no memory for so many: the result is the same. */
int options_threads(const settings *s)
{
    int wanted = s->threads > 0.0 ? (int)s->threads : team_processors();
    int ready = blas_reserve(wanted);
    return ready > 0 ? ready : 1;
}

double quorum_options_memory(const quorum_options *options)
{
    return options_memory(options_values(options));
}

double options_memory(const settings *s)
{
    if (s->memory > 0.0)
        return s->memory;
    double physical = team_memory();
    return physical > 0.0 ? 0.5 * physical : 4e9;
}

const char *options_trend_name(int trend)
{
    static const char *const names[] = {"auto", "none", "constant", "linear"};
    return names[trend];
}

const char *options_warp_name(int warp)
{
    static const char *const names[] = {"none", "log", "auto"};
    return names[warp];
}

static const char *const train_names[] = {"neighbours", "parts", "random", "subset"};
enum { TRAIN_NAMES = sizeof train_names / sizeof *train_names };

const char *options_train_name(int train)
{
    return train >= 0 && train < TRAIN_NAMES ? train_names[train] : NULL;
}

int options_train_number(const char *name)
{
    for (int i = 0; name && i < TRAIN_NAMES; i++)
        if (strcmp(name, train_names[i]) == 0)
            return i;
    return -1;
}

/* *method NULL: auto. */
static quorum_status find_method(const char *text, const rule **method, int *starred)
{
    size_t length = strlen(text);
    *starred = length > 0 && text[length - 1] == '*';
    *method = rule_by_name(text, length - (size_t)*starred);
    if (*starred && *method && rule_asks_nobody(*method))
        return failure(QUORUM_E_ARGUMENT,
                       "method \"%s\": %s asks no experts, so there are none to select", text,
                       (*method)->name);
    if (*method || strcmp(text, "auto") == 0)
        return QUORUM_OK;
    char names[256] = "auto";
    for (int i = 0; i < rule_count(); i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", rule_at(i)->name);
    }
    return failure(QUORUM_E_ARGUMENT, "method \"%s\" is not known; the methods are %s", text,
                   names);
}

static quorum_status check_method(const char *text)
{
    const rule *method;
    int starred;
    return find_method(text, &method, &starred);
}

static quorum_status check_select(const char *text)
{
    selection chosen;
    return strcmp(text, "auto") == 0 ? QUORUM_OK : selection_parse(text, &chosen);
}

static quorum_status parse_neighbours(const char *text, size_t *count)
{
    char *end;
    unsigned long long value = plain_count(text, &end);
    if (end == text || *end != '\0' || text[0] == '-' || value > 10000)
        return failure(QUORUM_E_ARGUMENT,
                       "option neighbours: \"%s\" is not a whole number up to 10000, or auto",
                       text);
    *count = value;
    return QUORUM_OK;
}

static quorum_status check_neighbours(const char *text)
{
    size_t count;
    return strcmp(text, "auto") == 0 ? QUORUM_OK : parse_neighbours(text, &count);
}

/* 0: auto. */
static quorum_status parse_spread(const char *text, double *prior)
{
    char *end;
    *prior = strcmp(text, "none") == 0 ? INFINITY : 0.0;
    if (*prior > 0.0 || strcmp(text, "auto") == 0)
        return QUORUM_OK;
    *prior = plain_real(text, &end);
    if (end != text && *end == '\0' && *prior > 0.0 && isfinite(*prior))
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT,
                   "option spread: \"%s\" is not a positive number, none or auto", text);
}

static quorum_status check_spread(const char *text)
{
    double prior;
    return parse_spread(text, &prior);
}

double options_spread(const settings *s)
{
    double prior = 0.0;
    return parse_spread(s->spread, &prior) == QUORUM_OK ? prior : 0.0;
}

static quorum_status check_thousands(const char *text)
{
    if (strcmp(text, "none") == 0 || notation_mark(text))
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT,
                   "option thousands: \"%s\" is not comma, point, space, apostrophe, underscore or "
                   "none",
                   text);
}

char options_thousands(const settings *s)
{
    return notation_mark(s->thousands);
}

/* A character that begins no number, no name and no cell. */
static quorum_status check_comment(const char *text)
{
    if (strcmp(text, "none") == 0 ||
        (text[0] && !text[1] && strchr("#%!@$&*/:<=>?\\^`|~", text[0])))
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT,
                   "option comment: \"%s\" is not none or a single character such as # or %%",
                   text);
}

static quorum_status check_periodic(const char *text)
{
    char unit[PERIOD_ROOM], *column;
    double period;
    const char *p = text;
    if (strcmp(text, "none") == 0)
        return QUORUM_OK;
    if (!NEW_ARRAY(column, strlen(text) + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for the option periodic");
    do
        p = period_next(p, column, unit, &period);
    while (p && *p);
    mem_free(column);
    return p ? QUORUM_OK
             : failure(QUORUM_E_ARGUMENT,
                       "option periodic: \"%.200s\" is not none, auto or a list of COL:PERIOD, as "
                       "in date:week,hour:24",
                       text);
}

static quorum_status check_lonlat(const char *text)
{
    char *name;
    if (strcmp(text, "none") == 0)
        return QUORUM_OK;
    if (!NEW_ARRAY(name, strlen(text) + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for the option lonlat");
    const char *rest = list_take(text, name);
    int is_two = rest && name[0] && *rest && (rest = list_take(rest, name)) && name[0] && !*rest;
    mem_free(name);
    return is_two ? QUORUM_OK
                  : failure(QUORUM_E_ARGUMENT,
                            "option lonlat: \"%.200s\" is not none or two columns, LON,LAT", text);
}

char options_comment(const settings *s)
{
    return s->comment[1] ? '\0' : s->comment[0];
}

static quorum_status check_lambda(const char *text)
{
    lambda_kind kind;
    double value;
    return parse_lambda(text, &kind, &value);
}

/* What select auto stands for with method auto and without neighbours. */
static const char WITHOUT_NEIGHBOURS[] = "local:4";

static int is_auto(const char *text)
{
    return strcmp(text, "auto") == 0;
}

int options_neighbours_are_auto(const settings *s)
{
    return is_auto(s->neighbours);
}

int options_method_is_auto(const settings *s)
{
    return is_auto(s->method) && is_auto(s->select);
}

/* method auto: nearest, but npae where experts are selected, where neighbours are not wanted, and
 * of one expert, which is the exact GP then. */
static const rule *automatic_method(const settings *s, size_t experts, size_t neighbours)
{
    int by_rows = is_auto(s->neighbours) ? experts > 1 : neighbours > 0;
    return is_auto(s->select) && by_rows ? &rule_nearest : &rule_npae;
}

/* options_method, with the selection as text. */
static quorum_status resolve(const settings *s, size_t experts, const rule **method,
                             const char **select, size_t *neighbours)
{
    int starred, automatic;
    *neighbours = 0;
    TRY(find_method(s->method, method, &starred));
    if (!is_auto(s->neighbours))
        TRY(parse_neighbours(s->neighbours, neighbours));
    automatic = !*method;
    if (automatic)
        *method = automatic_method(s, experts, *neighbours);
    if (*method == &rule_npae && strcmp(s->select, "none") == 0)
        *method = &rule_nearest; /* which was called that once */
    if (rule_asks_nobody(*method) && is_auto(s->neighbours))
        *neighbours = *method == &rule_cells ? CELL_NEIGHBOURS : OWN_NEIGHBOURS;
    *select = !is_auto(s->select)         ? s->select
              : rule_asks_nobody(*method) ? "none"
              : starred                   ? "graph:0.8"
              : automatic && experts > 1  ? WITHOUT_NEIGHBOURS
                                          : "all";
    return QUORUM_OK;
}

quorum_status options_method(const settings *s, size_t experts, const rule **method,
                             selection *chosen, size_t *neighbours)
{
    const char *select;
    TRY(resolve(s, experts, method, &select, neighbours));
    return selection_parse(select, chosen);
}

const char *options_select(const settings *s, size_t experts)
{
    const rule *method;
    const char *select = s->select;
    size_t neighbours;
    (void)resolve(s, experts, &method, &select, &neighbours); /* options_set has checked them */
    return select;
}

int options_serve_calibration(const char *name)
{
    static const char *const names[] = {"method", "select", "neighbours", "space"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

quorum_status options_graph(const settings *s, graph_options *out)
{
    *out = (graph_options){.graph = (graph_kind)s->graph,
                           .free_diagonal = s->free_diagonal,
                           .rows = (size_t)s->graph_rows};
    return parse_lambda(s->lambda, &out->lambda, &out->value);
}

quorum_status parse_lambda(const char *text, lambda_kind *kind, double *value)
{
    const char *number = text;
    *kind = LAMBDA_ABSOLUTE;
    *value = 0.0;
    if (strcmp(text, "ebic") == 0) {
        *kind = LAMBDA_EBIC;
        return QUORUM_OK;
    }
    if (strncmp(text, "rel:", 4) == 0) {
        *kind = LAMBDA_RELATIVE;
        number += 4;
    }
    char *end;
    *value = plain_real(number, &end);
    if (end == number || *end != '\0' || !(*value >= 0.0) || !isfinite(*value))
        return failure(QUORUM_E_ARGUMENT,
                       "lambda \"%s\": use a number >= 0 (absolute), rel:V (a share of the largest "
                       "covariance) or ebic",
                       text);
    return QUORUM_OK;
}

quorum_status parse_numbers(const char *text, double *out, size_t room, size_t *count)
{
    *count = 0;
    while (*text) {
        text += strspn(text, ", \t");
        if (!*text)
            break;
        char *end;
        double value = plain_real(text, &end);
        if (end == text || (*end && !strchr(", \t", *end)))
            return failure(QUORUM_E_ARGUMENT, "\"%s\" does not start with a number", text);
        if (*count == room)
            return failure(QUORUM_E_ARGUMENT, "more than %zu numbers", room);
        out[(*count)++] = value;
        text = end;
    }
    return QUORUM_OK;
}

int quorum_method_count(void)
{
    return rule_count();
}

const char *quorum_method_name(int i)
{
    return rule_at(i) ? rule_at(i)->name : NULL;
}

const char *quorum_method_help(int i)
{
    return rule_at(i) ? rule_at(i)->help : NULL;
}
