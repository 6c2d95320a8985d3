/* The table of options: everything that is said of an option (default, range, help, which commands take
 * it) is said here, once. */
#include "options/option_table.h"

#include "options/options.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FIELD(name) offsetof(settings, name)

static char kernel_choices[256], partition_choices[256];

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

    {"decimal", CHOICE, FIELD(decimal), "auto", "auto|point|comma|.|,", 0, 0, NULL,
     "fit predict evaluate",
     "Decimal mark of a csv file's numbers, by name or itself.  auto: what the first number with "
     "one shows; where it shows neither, as in 236,300, that is an error.",
     NULL},
    {"thousands", TEXT, FIELD(thousands), "none", NULL, 0, 0, "MARK", "fit predict evaluate",
     "Mark between groups of three digits in a csv file: comma, point, space, apostrophe or "
     "underscore, or the character itself; none: digits are not grouped.",
     option_check_thousands},
    {"comment", TEXT, FIELD(comment), "none", NULL, 0, 0, "CHAR", "fit predict evaluate",
     "Lines of a csv file that begin with this character are passed over, as in '#'; none: there "
     "are no such lines.",
     option_check_comment},
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
     option_check_periodic},
    {"lonlat", TEXT, FIELD(lonlat), "none", NULL, 0, 0, "none|LON,LAT", "fit",
     "Two columns are a longitude and a latitude in degrees.  The model then measures by the "
     "distance "
     "on the sphere: inputs are the three coordinates of the place, the date line is no border, "
     "and a "
     "degree of longitude is shorter near the poles.",
     option_check_lonlat},

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
    {"input-warp", CHOICE, FIELD(input_warp), "none", "none|asinh", 0, 0, NULL, "fit",
     "What of the inputs is modelled: the inputs themselves, or with asinh those that have heavy "
     "tails, such as sums of money, populations or counts, bent: straight around their median, "
     "logarithms far from it on either side.  For tables in which a few rows are so large that all "
     "others are alike beside them.",
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
     option_check_spread},

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
     option_check_lambda},
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
     option_check_method},
    {"select", TEXT, FIELD(select), "auto", NULL, 0, 0, "WHICH", "fit predict evaluate graph",
     "Experts that take part: all; graph:A, the share A that is most important in the graph (also "
     "best:A); worst:A, the least important; expert:I, one alone; local:K, the K that explain most "
     "at each query; local:auto, as many as still help; knn:K, the K with the nearest centres; "
     "graph:A+local:K.  auto: all; local:4 where "
     "method is auto and neighbours 0.  It does not go with nearest, of which none is an old "
     "spelling, nor with cells.",
     option_check_select},
    {"neighbours", TEXT, FIELD(neighbours), "auto", NULL, 0, 0, "m", "fit predict evaluate",
     "Nearest training rows of a query that nearest predicts from, or that make an expert of the "
     "query's own for npae, joined with the others; 0: none.  auto: for nearest as many as the fit "
     "found to be enough, 512 at most; for cells, whose experts have so many rows, a quarter more; "
     "otherwise none.",
     option_check_neighbours},
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
     "2,000 rows left out in turn, where train is neighbours and there are 2,000 rows or more, or "
     "of 200 rows or more with at most 50 for each input and level by fits to four fifths of them.",
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

/* ---- What others see of it ---- */

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

const option *option_at(int i)
{
    pthread_once(&once, build_info);
    return &table[i];
}
