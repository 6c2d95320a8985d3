/* The tables of a model file (members.h).  A new member is a line here: its place in the file is
 * its place in the table. */
#include "model/members.h"

#include "model/member_rules.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define AT(field) offsetof(struct quorum_model, field)
#define SHOWN(field) offsetof(quorum_info, field)

const array_member array_members[] = {
    {.name = "X",
     .side = {SIDE_ROWS, SIDE_INPUTS},
     .of_rows = 1,
     .place = AT(rows.X),
     .doc = "inputs, standardised (and turned by `rotation` where there is one), rows sorted by "
            "expert"},
    {.name = "y",
     .side = {SIDE_ROWS},
     .of_rows = 1,
     .place = AT(rows.y),
     .doc = "target, standardised, in the same order"},
    {.name = "weight",
     .side = {SIDE_ROWS},
     .when = WHERE_LEARNED,
     .of_rows = 1,
     .place = AT(rows.weight),
     .least = LEAST_WEIGHT,
     .most = MOST_WEIGHT,
     .allowed = "1e-12 to 1e12",
     .doc =
         "only after `fit --weights`, unless all are 1: as how many rows each counts, in the same "
         "order"},
    {.name = "error",
     .side = {SIDE_ROWS},
     .when = WHERE_LEARNED,
     .of_rows = 1,
     .place = AT(rows.error),
     .most = MOST_ERROR,
     .allowed = "0 to 1e8",
     .doc =
         "only after `fit --noise-std`, unless all are 0: standard deviations of the rows' known "
         "errors, in units of `y`: row i has the noise (noise variance + error^2) / weight"},
    {.name = "row",
     .type = INDICES,
     .side = {SIDE_ROWS},
     .of_rows = 1,
     .place = AT(row),
     .shown = SHOWN(row),
     .doc = "the row's number in the training data, from 0, after dropped rows; ascending within "
            "an expert"},
    {.name = "offset",
     .type = INDICES,
     .side = {SIDE_OFFSETS},
     .place = AT(offset),
     .shown = SHOWN(offset),
     .check = check_offset,
     .allowed = "starts with 0, ends with n, strictly ascending",
     .doc = "expert e (from 0) owns rows `offset[e]` to `offset[e+1] - 1`"},
    {.name = "extra",
     .type = INDICES,
     .side = {SIDE_EXTRAS},
     .when = WITH_OVERLAP,
     .place = AT(extra.row),
     .check = check_extra,
     .allowed = "0 to n - 1",
     .doc = "places in `X` of rows that experts hold beyond their own, sorted by expert"},
    {.name = "extra_offset",
     .type = INDICES,
     .side = {SIDE_OFFSETS},
     .when = WITH_OVERLAP,
     .place = AT(extra.offset),
     .check = check_extra_offset,
     .allowed = "starts with 0, ends with k, ascending; the rows of an expert ascending too, none "
                "of them its own",
     .doc = "expert e also holds the rows `extra[extra_offset[e]]` to `extra[extra_offset[e+1] - "
            "1]`"},
    {.name = "log_lengthscale",
     .side = {SIDE_INPUTS},
     .within = log_lengthscale_of,
     .check = check_log_lengthscale,
     .allowed = "within +-100",
     .doc = "natural logarithms of the length-scales, for standardised inputs; 100, as good as "
            "infinite, of a constant one"},
    {.name = "log_signal_variance",
     .within = log_signal_of,
     .check = check_log_signal,
     .allowed = "within +-100",
     .doc = "of the signal variance, for the standardised target"},
    {.name = "log_noise_variance",
     .within = log_noise_of,
     .check = check_log_noise,
     .allowed = "within +-100",
     .doc = "of the noise variance, likewise"},
    {.name = "logit_long_share",
     .when = WITH_SCALES,
     .within = logit_share_of,
     .check = check_logit_share,
     .allowed = "within +-100",
     .doc = "log(w / (1 - w)), w being the share of the signal variance of all components but the "
            "shortest"},
    {.name = "log_long_reach",
     .when = WITH_SCALES,
     .within = log_reach_of,
     .check = check_log_reach,
     .allowed = "0 to 100",
     .doc = "of rho, how many times as far each component reaches as the one before it"},
    {.name = "bend_at",
     .side = {SIDE_INPUTS},
     .when = WITH_BENDS,
     .place = AT(units.bend_at),
     .shown = SHOWN(bend_at),
     .doc =
         "inputs with heavy tails are bent before they are standardised: asinh((input - bend_at) "
         "/ bend_width)"},
    {.name = "bend_width",
     .side = {SIDE_INPUTS},
     .when = WITH_BENDS,
     .place = AT(units.bend_width),
     .shown = SHOWN(bend_width),
     .check = check_bends,
     .allowed = "0, of inputs that are left as they are, or positive; one at least is",
     .doc = "the width in it"},
    {.name = "x_mean",
     .side = {SIDE_INPUTS},
     .place = AT(units.x_mean),
     .shown = SHOWN(x_mean),
     .doc =
         "standardised input = (input - mean) / scale, the input bent where it has a `bend_width`; "
         "of a constant column its value"},
    {.name = "x_scale",
     .side = {SIDE_INPUTS},
     .place = AT(units.x_scale),
     .shown = SHOWN(x_scale),
     .positive = 1,
     .allowed = "positive",
     .doc = "the scale in it; 1 for a constant column"},
    {.name = "rotation",
     .side = {SIDE_INPUTS, SIDE_INPUTS},
     .when = WITH_ROTATION,
     .place = AT(units.rotation),
     .shown = SHOWN(rotation),
     .check = check_rotation,
     .allowed = "rows of unit length, at right angles to each other; D is 256 at most",
     .doc = "of a linear metric: row k is direction k in the standardised inputs z; the model's "
            "inputs are `rotation @ z`, and length-scales are along directions"},
    {.name = "y_mean",
     .place = AT(units.y_mean),
     .shown = SHOWN(y_mean),
     .doc = "the same for the target"},
    {.name = "y_scale",
     .place = AT(units.y_scale),
     .shown = SHOWN(y_scale),
     .positive = 1,
     .allowed = "positive",
     .doc = "likewise"},
    {.name = "trend",
     .side = {SIDE_LINE},
     .when = WITH_TREND,
     .place = AT(units.line),
     .doc =
         "of a linear trend: coefficients of (1, x), x being the model's inputs as in `X`; `y` is "
         "what it leaves of the standardised target, and predictions get it back"},
    {.name = "trend_covariance",
     .side = {SIDE_LINE, SIDE_LINE},
     .when = WITH_TREND,
     .place = AT(units.line_covariance),
     .check = check_line_covariance,
     .allowed = "symmetric, diagonal not negative; D is 1,000 at most",
     .doc = "of these coefficients"},
    {.name = "reference",
     .side = {SIDE_REFERENCES, SIDE_INPUTS},
     .when = WHERE_LEARNED,
     .place = AT(learned.reference),
     .doc = "inputs behind the expert graph, standardised; absent until the graph is learned"},
    {.name = "precision",
     .side = {SIDE_EXPERTS, SIDE_EXPERTS},
     .when = WHERE_LEARNED,
     .place = AT(learned.graph.precision),
     .shown = SHOWN(precision),
     .doc = "Omega, symmetric, exact zeros where there is no edge; the unit matrix without a "
            "graph; absent where it could not be learned, and like `reference`"},
    {.name = "importance",
     .side = {SIDE_EXPERTS},
     .when = WHERE_LEARNED,
     .place = AT(learned.graph.importance),
     .shown = SHOWN(importance),
     .doc = "sum over j != i of |Omega_ij|"},
    {.name = "calibration",
     .side = {SIDE_HELD_OUT},
     .when = WITH_CALIBRATION,
     .place = AT(calibration.ratio),
     .check = check_calibration,
     .allowed = "0 to 1e100, ascending; h is n at most",
     .doc = "ratios |y - mean| / std of the held-out rows"},
    {.name = "calibration_signed",
     .side = {SIDE_HELD_OUT},
     .when = WITH_SIGNED_RATIOS,
     .place = AT(calibration.z),
     .check = check_signed_ratios,
     .allowed = "ascending; without their signs those of `calibration`",
     .doc = "ratios (y - mean) / std of the same rows; missing in older files, whose intervals are "
            "symmetric"},
    {.name = "cell_centre",
     .side = {SIDE_CELLS, SIDE_INPUTS},
     .when = WITH_CELLS,
     .place = AT(cells.centre),
     .allowed = "there are n cells at most",
     .doc = "centres of [the cells](methods.md#cells), in the model's inputs over the "
            "length-scales"},
    {.name = "cell",
     .type = INDICES,
     .side = {SIDE_ROWS},
     .when = WITH_CELLS,
     .place = AT(cells.of_row),
     .check = check_cells,
     .allowed = "below the number of centres",
     .doc = "the cell that each row of `X` is in"},
};

const meta_member meta_members[] = {
    {.key = "format_version",
     .type = OWN,
     .put = put_version,
     .kind = "integer",
     .doc =
         "1; 2 with `extra`, 3 with `rotation`, and 4 with a kernel of several scales, a `trend` "
         "or an "
         "`offset_column`, 5 with a `warp`, 6 with `categories`, 7 with `weight` or `error`, 8 "
         "with `dates` or `made_inputs`, 10 with `holes`, 11 with `spread_rows` or `noise`, 12 "
         "with `made_inputs` of levels, 13 with the `kind` `\"x\"` of `made_inputs`, 14 where "
         "`method_choice` says cells, and 15 with `bend_width`, "
         "which "
         "must not be overlooked (3 may have `extra`, 4 to 15, but for 9, any of them). 9 is of "
         "[several targets](#several-targets). Other versions are refused with a sentence"},
    {.key = "library", .type = OWN, .put = put_library, .kind = "text", .doc = "`\"quorum\"`"},
    {.key = "library_version",
     .type = OWN,
     .put = put_library_version,
     .kind = "text",
     .doc = "the version that wrote the file"},
    {.key = "kernel",
     .type = OWN,
     .put = put_kernel,
     .read = read_kernel,
     .kind = "text",
     .doc = "by name, such as `\"se\"`; one that this library knows"},
    {.key = "partition",
     .type = OWN,
     .put = put_partition,
     .read = read_partition,
     .kind = "text",
     .doc = "likewise, such as `\"kmeans\"`"},
    {.key = "columns",
     .type = OWN,
     .put = put_columns,
     .read = read_columns,
     .kind = "list of texts",
     .doc = "D + 1 column names, the target's last"},
    {.key = "named_columns",
     .type = FLAG,
     .place = AT(columns.has_names),
     .shown = SHOWN(named),
     .doc = "true: the names come from the data; false: made up (`x1`, ..., `y`)"},
    {.key = "target_place",
     .type = COUNT,
     .place = AT(columns.target),
     .check = check_target,
     .doc = "the target's place among the training file's columns (those not ignored), 0 to D; for "
            "query files without names"},
    {.key = "offset_column",
     .type = TEXT,
     .place = AT(columns.offset),
     .shown = SHOWN(offset_name),
     .is_there = has_offset,
     .check = check_offset_name,
     .doc = "only after `fit --offset`: the column whose values were taken from the target and are "
            "to be added to predicted means and interval ends"},
    {.key = "offset_place",
     .type = COUNT,
     .place = AT(columns.offset_place),
     .is_there = has_offset,
     .check = check_offset_place,
     .doc =
         "likewise: its place among the training file's columns (those not ignored), 0 to D + 1"},
    {.key = "weights_column",
     .type = TEXT,
     .place = AT(columns.weights),
     .shown = SHOWN(weights_name),
     .is_there = has_weights_column,
     .check = check_weights_name,
     .doc = "only after `fit --weights`: the column of the rows' weights, by which test rows count "
            "that have it"},
    {.key = "weights_place",
     .type = COUNT,
     .place = AT(columns.weights_place),
     .is_there = has_weights_column,
     .check = check_weights_place,
     .doc =
         "likewise: its place among the training file's columns (those not ignored), 0 to D + 3"},
    {.key = "noise_column",
     .type = TEXT,
     .place = AT(columns.noise_std),
     .shown = SHOWN(noise_name),
     .is_there = has_noise_column,
     .check = check_noise_name,
     .doc =
         "only after `fit --noise-std`: the column of the rows' known errors, which are added to "
         "the variance of queries that have it"},
    {.key = "noise_place",
     .type = COUNT,
     .place = AT(columns.noise_place),
     .is_there = has_noise_column,
     .check = check_noise_place,
     .doc =
         "likewise: its place among the training file's columns (those not ignored), 0 to D + 3"},
    {.key = "constant_inputs",
     .type = OWN,
     .is_there = has_constants,
     .put = put_constants,
     .read = read_constants,
     .kind = "list of integers",
     .doc = "only where there are any: inputs, from 0, that do not vary in the training data; a "
            "query's value of them counts as the training data's. Files without it say so of none"},
    {.key = "categories",
     .type = OWN,
     .is_there = has_categories,
     .put = put_categories,
     .read = read_categories,
     .kind = "list of objects",
     .doc = "only where inputs are [categories](data.md#categories): of each its `input`, from 0, "
            "the names of its `levels`, sorted bytewise, 10,000 at most, and their `positions`, "
            "the numbers that stand for them before `x_mean` and `x_scale` apply"},
    {.key = "dates",
     .type = OWN,
     .is_there = has_dates,
     .put = put_dates,
     .read = read_dates,
     .kind = "list of objects",
     .doc =
         "only where columns have [dates](data.md#dates-and-times): of each its `input`, from 0, "
         "and the `form` of its texts, such as `\"dd/mm/yyyy\"`; the input is seconds since "
         "1970-01-01 00:00 UTC"},
    {.key = "made_inputs",
     .type = OWN,
     .is_there = has_made,
     .put = put_made,
     .read = read_made,
     .kind = "list of objects",
     .doc =
         "only where there are any: the last inputs, which are made of the first ones, the "
         "columns, before `x_mean` and `x_scale` apply. Each has the `column` t that it is made "
         "of, from 0, and its `kind`: `\"sin\"` or `\"cos\"`, that of 2 pi t / `period` and 0 "
         "where "
         "t is missing, `\"missing\"`, 1 where t is missing and otherwise 0, `\"level\"`, of a "
         "category of K levels: 1 where t is its `level`, counted from 0, otherwise 0, and of a "
         "level that is not known (1 - sqrt(1 + K)) / K; or `\"x\"`, `\"y\"` and "
         "`\"z\"`, the place on the unit sphere of a longitude, the `column`, and a `latitude`, "
         "both in degrees and themselves 0 in all rows; longitudes begin at `degrees`, -180 or 0"},
    {.key = "holes",
     .type = OWN,
     .is_there = has_holes,
     .put = put_holes,
     .read = read_holes,
     .kind = "list of objects",
     .doc = "only after `fit --missing impute` ([missing cells](data.md#missing-cells)): of each "
            "column, in their order, `fill`, what stands for a missing cell (of a category the "
            "number of a level, or -1 where none does), and `variance`, what such a cell adds to "
            "the variance, in squared units of the target, or of its logarithm with a `warp`"},
    {.key = "options",
     .type = OWN,
     .put = put_options,
     .read = read_options,
     .kind = "object of texts",
     .doc = "every option of `fit`, by name ([options.md](options.md)), but for those of "
            "prediction, which only calibration has a use for"},
    {.object = "training",
     .key = "nlml",
     .type = NUMBER,
     .place = AT(history.nlml),
     .shown = SHOWN(nlml),
     .doc = "negative log likelihood of `training.rows` rows, standardised units"},
    {.object = "training",
     .key = "evaluations",
     .type = INTEGER,
     .place = AT(history.evaluations),
     .shown = SHOWN(evaluations),
     .doc = "of it and its gradient"},
    {.object = "training",
     .key = "experts",
     .type = COUNT,
     .place = AT(history.train_experts),
     .shown = SHOWN(train_experts),
     .doc = "how many were trained on; 0: other rows"},
    {.object = "training",
     .key = "rule",
     .type = OWN,
     .put = put_train,
     .read = read_train,
     .kind = "text",
     .doc = "the option `train`; missing: `parts`"},
    {.object = "training",
     .key = "rows",
     .type = COUNT,
     .place = AT(history.train_rows),
     .shown = SHOWN(train_rows),
     .doc = "rows that were trained on; missing in older files"},
    {.object = "graph",
     .key = "lambda",
     .type = NUMBER,
     .place = AT(learned.graph.lambda),
     .shown = SHOWN(lambda),
     .is_there = graph_is_learned,
     .doc = "the penalty, absolute"},
    {.object = "graph",
     .key = "edges",
     .type = COUNT,
     .place = AT(learned.graph.edges),
     .shown = SHOWN(edges),
     .is_there = graph_is_learned,
     .doc = "pairs of experts that `precision` is not 0 of"},
    {.object = "graph",
     .key = "ranking",
     .type = OWN,
     .is_there = graph_is_learned,
     .put = put_ranking,
     .read = read_ranking,
     .kind = "list of integers",
     .doc = "experts from 0, most important first; every one once"},
    {.object = "graph",
     .key = "trouble",
     .type = TEXT,
     .place = AT(learned.graph.trouble),
     .shown = SHOWN(graph_trouble),
     .is_there = has_trouble,
     .doc = "a sentence, where the graph could not be learned or is approximate"},
    {.object = "seconds",
     .key = "partition",
     .type = NUMBER,
     .place = AT(history.seconds_partition),
     .shown = SHOWN(seconds_partition),
     .doc = "of the fit"},
    {.object = "seconds",
     .key = "train",
     .type = NUMBER,
     .place = AT(history.seconds_train),
     .shown = SHOWN(seconds_train),
     .doc = "likewise"},
    {.object = "seconds",
     .key = "graph",
     .type = NUMBER,
     .place = AT(history.seconds_graph),
     .shown = SHOWN(seconds_graph),
     .doc = "likewise"},
    {.object = "seconds",
     .key = "calibrate",
     .type = NUMBER,
     .place = AT(history.seconds_calibrate),
     .shown = SHOWN(seconds_calibrate),
     .doc = "likewise"},
    {.object = "seconds",
     .key = "total",
     .type = NUMBER,
     .place = AT(history.seconds_total),
     .shown = SHOWN(seconds_total),
     .doc = "of all of it"},
    {.key = "seed",
     .type = OWN,
     .put = put_seed,
     .read = read_seed,
     .kind = "integer",
     .doc = "of the fit; GRBCM's base is drawn with it"},
    {.key = "spread",
     .type = NUMBER,
     .place = AT(spread),
     .shown = SHOWN(spread),
     .is_there = has_spread,
     .check = check_spread,
     .doc = "nu of [the spread](methods.md#spread-variances-that-follow-the-data), a positive "
            "number; missing: none"},
    {.key = "untested",
     .type = NUMBER,
     .place = AT(untested),
     .shown = SHOWN(untested),
     .is_there = has_untested,
     .check = check_untested,
     .doc = "u of [the spread](methods.md#spread-variances-that-follow-the-data): the factor of "
            "variances that no row near a query has tested, 1 to 1e6; where a calibration that "
            "multiplies std by less than 1 applies, u is divided by the square of that; missing: "
            "nothing of both"},
    {.key = "spread_rows",
     .type = OWN,
     .is_there = has_nested_spread,
     .put = put_nested_spread,
     .read = read_nested_spread,
     .kind = "text",
     .doc =
         "`\"nested\"`: [the spread](methods.md#spread-variances-that-follow-the-data) is of the "
         "128, 32 and 8 nearest rows; missing: of 32 alone, as files had before"},
    {.key = "noise",
     .type = OWN,
     .is_there = has_local_noise,
     .put = put_local_noise,
     .read = read_local_noise,
     .kind = "text",
     .doc = "`\"local\"`: predictions from nearest rows take [the noise around a "
            "query](methods.md#local-noise) for `log_noise_variance`; missing: they do not"},
    {.key = "neighbours",
     .type = COUNT,
     .place = AT(neighbours),
     .shown = SHOWN(neighbours),
     .is_there = knows_neighbours,
     .doc = "nearest rows that are enough to predict a query, as left-out rows say; missing: not "
            "known"},
    {.object = "method_choice",
     .key = "method",
     .type = OWN,
     .is_there = has_method_choice,
     .put = put_method_choice,
     .read = read_method_choice,
     .kind = "text",
     .doc = "`\"cells\"` or `\"nearest\"`: what `--method auto` is, by rows that were held out of "
            "both; missing: nearest"},
    {.object = "method_choice",
     .key = "error",
     .type = NUMBER,
     .place = AT(method.error),
     .is_there = has_method_choice,
     .check = check_method_choice,
     .doc = "squared error of cells on these rows over that of nearest"},
    {.object = "method_choice",
     .key = "gain",
     .type = NUMBER,
     .place = AT(method.gain),
     .is_there = has_method_choice,
     .check = check_method_choice,
     .doc = "log density a row of cells, less that of nearest"},
    {.object = "target",
     .key = "mean",
     .type = NUMBER,
     .place = AT(units.target_mean),
     .is_there = has_target_units,
     .doc = "of the training target itself, where `y_mean` is not: with a trend that is linear or "
            "none, with an offset and with a warp"},
    {.object = "target",
     .key = "scale",
     .type = NUMBER,
     .place = AT(units.target_scale),
     .is_there = has_target_units,
     .check = check_target_scale,
     .doc = "likewise, its standard deviation"},
    {.key = "warp",
     .type = OWN,
     .is_there = has_warp,
     .put = put_warp,
     .read = read_warp,
     .kind = "text",
     .doc = "`\"log\"`: `y`, `y_mean` and `y_scale` are those of log(target + `warp_shift`), and "
            "predictions are [mapped back](methods.md#warp); missing: the target itself"},
    {.key = "warp_shift",
     .type = NUMBER,
     .place = AT(units.shift),
     .is_there = has_warp,
     .check = check_warp,
     .doc = "likewise, not negative"},
    {.key = "kernel_scores",
     .type = OWN,
     .is_there = has_kernel_scores,
     .put = put_kernel_scores,
     .read = read_kernel_scores,
     .kind = "object of numbers",
     .doc = "only after `fit --kernel auto`: by kernel, the mean log density of rows left out, "
            "standardised units; what is not known or not finite is passed over"},
    {.key = "calibration",
     .type = OWN,
     .is_there = has_calibration,
     .put = put_calibration,
     .read = read_calibration,
     .kind = "object",
     .doc =
         "only of a calibrated model: `method`, `select`, `neighbours`, `space`, `graph_on` of "
         "the prediction that it holds for, as texts, `scale`, by which std is multiplied, and "
         "`unasked`, 1 after `--calibrate auto`. "
         "New files have the values that were used, older ones those that were given (`auto`, "
         "which is read as what it means) and the first three only. `npae` with select `none` or "
         "`auto` is what older files call `nearest`"},
};

const int ARRAYS = sizeof array_members / sizeof *array_members;
const int META_MEMBERS = sizeof meta_members / sizeof *meta_members;
static_assert(sizeof array_members / sizeof *array_members <= MOST_ARRAYS, "room for all of them");

/* ---- Format versions ---- */

static int has_overlap(const quorum_model *m)
{
    return m->extra.offset != NULL;
}

static int has_rotation(const quorum_model *m)
{
    return m->units.rotation != NULL;
}

static int has_parts(const quorum_model *m)
{
    return m->theta.kernel->component || m->units.line || m->columns.offset;
}

static int has_table(const quorum_model *m)
{
    return has_dates(m) || has_made(m);
}

static int is_by_cells(const quorum_model *m)
{
    return m->method.by_cells;
}

static int has_rows_around(const quorum_model *m)
{
    return has_nested_spread(m) || has_local_noise(m);
}

static int has_levels_apart(const quorum_model *m)
{
    for (size_t k = 0; k < m->made.count; k++)
        if (m->made.of[k].kind == MADE_LEVEL)
            return 1;
    return 0;
}

static int has_place(const quorum_model *m)
{
    return m->place > 0;
}

static int has_bends(const quorum_model *m)
{
    return m->units.bend_width != NULL;
}

/* What needs which version; the highest that a model needs is its file's. */
static const struct {
    int version;
    int (*is_needed)(const quorum_model *m); /* NULL: by rows with weights or known errors */
    const char *wrong; /* where a file says it and its model does not need it, or the other way */
} format_versions[] = {
    {FORMAT_VERSION_BENDS, has_bends, "bent inputs do not go with its format version"},
    {FORMAT_VERSION_CELLS, is_by_cells, "its cells do not go with its format version"},
    {FORMAT_VERSION_PLACE, has_place, "a place does not go with its format version"},
    {FORMAT_VERSION_APART, has_levels_apart, "inputs of levels do not go with its format version"},
    {FORMAT_VERSION_AROUND, has_rows_around,
     "its spread or noise does not go with its format version"},
    {FORMAT_VERSION_HOLES, has_holes, "holes do not go with its format version"},
    {FORMAT_VERSION_TABLE, has_table, "dates or made inputs do not go with its format version"},
    {FORMAT_VERSION_WEIGHTS, NULL,
     "weights or known errors of rows do not go with its format version"},
    {FORMAT_VERSION_LEVELS, has_categories, "categories do not go with its format version"},
    {FORMAT_VERSION_WARP, has_warp, "a warp does not go with its format version"},
    {FORMAT_VERSION_PARTS, has_parts,
     "a kernel of several scales, a trend or an offset does not go with its format version"},
    {FORMAT_VERSION_METRIC, has_rotation, "a rotation does not go with its format version"},
    {FORMAT_VERSION_OVERLAP, has_overlap,
     "extra rows of the experts do not go with its format version"},
};

enum { VERSIONS = sizeof format_versions / sizeof *format_versions };

static int needs(int i, const quorum_model *m, int has_own)
{
    return format_versions[i].is_needed ? format_versions[i].is_needed(m) : has_own;
}

int64_t version_needed(const quorum_model *m, int has_own)
{
    int i = 0;
    while (i < VERSIONS && !needs(i, m, has_own))
        i++;
    return i < VERSIONS ? format_versions[i].version : FORMAT_VERSION;
}

quorum_status version_check(int64_t said, const quorum_model *m, int has_own)
{
    int64_t needed = version_needed(m, has_own), higher = said > needed ? said : needed;
    for (int i = 0; i < VERSIONS; i++)
        if (said != needed && format_versions[i].version == higher)
            return damaged(format_versions[i].wrong);
    return said == needed ? QUORUM_OK : damaged("nothing in it needs its format version");
}

model_sizes sizes_of_model(const quorum_model *m)
{
    return (model_sizes){{[NO_SIDE] = 1,
                          [SIDE_ROWS] = m->rows.n,
                          [SIDE_INPUTS] = m->rows.D,
                          [SIDE_EXPERTS] = m->M,
                          [SIDE_OFFSETS] = m->M + 1,
                          [SIDE_LINE] = m->rows.D + 1,
                          [SIDE_EXTRAS] = m->extra.offset ? m->extra.offset[m->M] : 0,
                          [SIDE_REFERENCES] = m->learned.references,
                          [SIDE_HELD_OUT] = m->calibration.count,
                          [SIDE_CELLS] = m->cells.count}};
}

int array_shape(const array_member *a, const model_sizes *sizes, size_t shape[2])
{
    int ndim = 0;
    while (ndim < 2 && a->side[ndim] != NO_SIDE) {
        shape[ndim] = sizes->length[a->side[ndim]];
        ndim++;
    }
    return ndim;
}

double *numbers_of(const array_member *a, const quorum_model *m)
{
    char *place = (char *)m + a->place;
    if (a->within)
        return a->within(m);
    return a->side[0] == NO_SIDE ? (double *)place : *(double **)place;
}

size_t *indices_of(const array_member *a, const quorum_model *m)
{
    return *(size_t **)((char *)m + a->place);
}

static size_t size_of_value(value_type type)
{
    static const size_t size[] = {[NUMBER] = sizeof(double),
                                  [INTEGER] = sizeof(int),
                                  [COUNT] = sizeof(size_t),
                                  [FLAG] = sizeof(int),
                                  [TEXT] = sizeof(char *)};
    return size[type];
}

/* An array is shown by its pointer. */
static size_t size_of_array(const array_member *a)
{
    return a->side[0] == NO_SIDE ? sizeof(double) : sizeof(double *);
}

void members_show(const quorum_model *m, quorum_info *info)
{
    for (int i = 0; i < ARRAYS; i++) {
        const array_member *a = &array_members[i];
        if (a->shown)
            memcpy((char *)info + a->shown, (const char *)m + a->place, size_of_array(a));
    }
    for (int i = 0; i < META_MEMBERS; i++) {
        const meta_member *v = &meta_members[i];
        if (v->shown)
            memcpy((char *)info + v->shown, (const char *)m + v->place, size_of_value(v->type));
    }
}
