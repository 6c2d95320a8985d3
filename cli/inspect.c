/* quorum inspect: what a model is made of. */
#include "arguments.h"
#include "command.h"
#include "dates.h"
#include "directions.h"
#include "hyperparameters.h"
#include "levels.h"
#include "progress.h"
#include "report.h"
#include "table.h"
#include "talk.h"
#include "targets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sizes ------------------------------------------------------------------------- */

typedef struct {
    size_t smallest, largest;
    double median;
} size_range;

static int compare_sizes(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static int find_range_of_sizes(const arguments *given, const quorum_info *info, size_range *range)
{
    size_t *sorted = malloc(info->experts * sizeof *sorted);
    if (!sorted)
        return failure(given, "out of memory for the sizes of %zu experts", info->experts);
    memcpy(sorted, info->sizes, info->experts * sizeof *sorted);
    qsort(sorted, info->experts, sizeof *sorted, compare_sizes);
    size_t middle = info->experts / 2;
    range->smallest = sorted[0];
    range->largest = sorted[info->experts - 1];
    range->median = info->experts % 2 ? (double)sorted[middle]
                                      : 0.5 * (double)(sorted[middle - 1] + sorted[middle]);
    free(sorted);
    return EXIT_DONE;
}

/* ---- Text ---------------------------------------------------------------------------- */

/* A bar of at most 20 cells. */
static void fill_bar(char bar[24], double share)
{
    int cells = share > 0.0 ? (int)(20.0 * share + 0.5) : 0;
    cells = cells > 20 ? 20 : cells;
    memset(bar, '#', (size_t)cells);
    bar[cells] = '\0';
}

/* How many experts hold a row on average: 1 unless they overlap. */
static double experts_per_row(const quorum_info *info)
{
    double held = 0.0;
    for (size_t i = 0; i < info->experts; i++)
        held += (double)info->sizes[i];
    return held / (double)info->rows;
}

static void print_trend(const quorum_info *info)
{
    bool warped = strcmp(info->warp, "none") != 0;
    const char *what = warped ? "logarithms" : "predictions";
    if (warped)
        printf("warp        log: the model is of %s\n", target_unit(info).text);
    if (info->slope)
        printf("trend       linear: predictions continue a line in the inputs\n");
    else if (strcmp(info->trend, "none") == 0)
        printf("trend       none: away from the rows %s return to 0\n", what);
    else
        printf("trend       constant: away from the rows %s return to %.6g\n", what, info->y_mean);
    if (info->offset_name)
        printf("offset      predictions are about the values of the column %s\n",
               shown(info->offset_name).text);
    if (info->weights_name)
        printf("weights     rows count as the column %s says\n", shown(info->weights_name).text);
    if (info->noise_name)
        printf("noise       rows also have the known errors of the column %s\n",
               shown(info->noise_name).text);
}

static void print_experts(const quorum_info *info, const size_range *r)
{
    printf("rows        %zu\ninputs      %zu\ntarget      %s\n", info->rows, info->inputs,
           shown(target_name(info)).text);
    printf("experts     %zu (%s), rows each: %zu smallest, %g median, %zu largest\n", info->experts,
           info->partition, r->smallest, r->median, r->largest);
    if (experts_per_row(info) > 1.0)
        printf("overlap     a row is held by %.2f experts on average\n", experts_per_row(info));
    printf("kernel      %s\n", info->kernel);
    for (size_t k = 0; k < info->kernels; k++)
        printf("%s%s %.4f%s", k ? ", " : "compared    ", info->kernel_names[k],
               info->kernel_scores[k],
               k + 1 < info->kernels ? "" : " (log density of left-out rows)\n");
    printf("seed        %llu\n", info->seed);
    printf("training    on %zu rows (%s), %d evaluation%s, negative log marginal likelihood %.6g\n",
           info->train_rows, info->train, info->evaluations, plural((size_t)info->evaluations),
           info->nlml);
    if (isfinite(info->spread))
        printf("spread      variances follow the rows around a query, against %g rows\n",
               info->spread);
    if (info->untested > 1.0)
        printf(
            "untested    variances that no row near a query has tested are %.3g times as large\n",
            info->untested);
    if (info->local_noise)
        printf(
            "local noise predictions from nearest rows have the noise that the rows around have\n");
    print_trend(info);
    print_dates(info);
    if (info->neighbours)
        printf("neighbours  %zu nearest rows are enough to predict a query\n", info->neighbours);
    if (info->chosen_method)
        printf(
            "method      %s by default: cells had %.4g times the squared error of nearest on rows "
            "held out of both, and a log density %+.2g a row\n",
            info->chosen_method, info->cells_error, info->cells_gain);
    if (info->calibration_rows)
        printf("calibrated  on %zu held-out rows: std times %.3f, for predictions by %s\n",
               info->calibration_rows, info->calibration_scale, shown(info->calibration_for).text);
    printf("seconds     %.2f: partition %.2f, train %.2f", info->seconds_total,
           info->seconds_partition, info->seconds_train);
    if (info->ranking)
        printf(", graph %.2f", info->seconds_graph);
    if (info->calibration_rows)
        printf(", calibrate %.2f", info->seconds_calibrate);
    printf("\n");
}

static double largest_share(const quorum_info *info)
{
    double largest = 0.0;
    for (size_t d = 0; d < info->inputs; d++)
        largest = fmax(largest, inverse_lengthscale_share(info, d));
    return largest;
}

/* In standardised and in its own units. */
static void add_lengthscale(table *t, const quorum_info *info, size_t d)
{
    if (is_apart(info, d))
        d = info->first_level[d];
    if (info->constant[d]) {
        table_add(t, "-");
        table_add(t, "-");
        return;
    }
    bool on_bound = info->at_bound[d] && !info->rotation;
    table_add(t, "%.4g%s", info->input_lengthscale[d], on_bound ? " (bound)" : "");
    table_add(t, "%.4g%s", info->input_lengthscale[d] * input_unit(info, d),
              is_bent(info, d) ? " (bent)" : "");
}

static int print_lengthscales(const arguments *given, const quorum_info *info)
{
    static const char *const titles[] = {"input", "length-scale", "in its units",
                                         "share of 1/length-scale", ""};
    double largest = largest_share(info);
    table t;
    table_start(&t, "lrrrl", titles);
    for (size_t d = 0; d < info->inputs; d++) {
        char bar[24];
        size_t seen = is_apart(info, d) ? info->first_level[d] : d;
        if (is_level(info, d))
            continue;
        fill_bar(bar, inverse_lengthscale_share(info, d) / largest);
        table_add(&t, "%s", input_name(info, d).text);
        add_lengthscale(&t, info, d);
        table_add(&t, "%.1f %%", 100.0 * inverse_lengthscale_share(info, d));
        table_add(&t, "%s",
                  is_of_place(info, d)   ? "degrees of the place"
                  : info->constant[seen] ? "constant: no effect"
                  : is_flat(info, seen)  ? "hardly any effect"
                                         : bar);
    }
    printf("\nHyperparameters, of standardised data and in the data's units\n");
    return table_finish(&t, given);
}

/* ---- Directions of a linear metric ---- */

enum { SHOWN_DIRECTIONS = 8 };
static const double LEAST_SHARE = 0.01; /* of a direction that is shown */

static void add_direction(table *t, const quorum_info *info, size_t k, double largest)
{
    char bar[24], text[512];
    fill_bar(bar, direction_share(info, k) / largest);
    describe_direction(info, k, text, sizeof text);
    table_add(t, "%zu", k + 1);
    table_add(t, "%.4g", info->lengthscale[k]);
    table_add(t, "%.1f %%", 100.0 * direction_share(info, k));
    table_add(t, "%s", bar);
    table_add(t, "%s", text);
}

/* The directions that matter, by how much. */
static int print_directions(const arguments *given, const quorum_info *info)
{
    static const char *const titles[] = {"direction", "length-scale", "share", "",
                                         "of standardised inputs"};
    double largest = 0.0;
    size_t listed = 0;
    table t;
    for (size_t k = 0; k < info->inputs; k++)
        largest = fmax(largest, direction_share(info, k));
    table_start(&t, "rrrll", titles);
    for (size_t k = 0; k < info->inputs && listed < SHOWN_DIRECTIONS; k++)
        if (direction_share(info, k) >= LEAST_SHARE) {
            add_direction(&t, info, k, largest);
            listed++;
        }
    printf("\nThe metric is linear: %zu directions in the inputs, these first\n", info->inputs);
    return table_finish(&t, given);
}

/* The line's slopes in the data's units. */
static int print_slopes(const arguments *given, const quorum_info *info)
{
    static const char *const titles[] = {"input", "slope", "standard error",
                                         "over an input's scale"};
    table t;
    table_start(&t, "lrrr", titles);
    for (size_t d = 0; d < info->inputs; d++) {
        table_add(&t, "%s", input_name(info, d).text);
        table_add(&t, info->constant[d] ? "-" : "%.4g", info->slope[d]);
        table_add(&t, info->constant[d] ? "-" : "%.2g", info->slope_std[d]);
        table_add(&t, info->constant[d] ? "-" : "%.4g", info->slope[d] * info->x_scale[d]);
    }
    printf("\nThe trend is linear: change of %s by a unit of each input, where the rest returns to "
           "it\n",
           target_unit(info).text);
    return table_finish(&t, given);
}

static void print_variances(const quorum_info *info)
{
    const char *bound[] = {"", " (bound)"};
    printf("signal variance  %.4g%s, standard deviation %.4g in units of %s\n",
           info->signal_variance, bound[info->at_bound[info->inputs] != 0], signal_deviation(info),
           target_unit(info).text);
    printf("noise variance   %.4g%s, standard deviation %.4g in units of %s\n",
           info->noise_variance, bound[info->at_bound[info->inputs + 1] != 0],
           noise_deviation(info), target_unit(info).text);
    if (has_scales(info))
        printf("%s      %.4g%s of the signal variance, %s%.4g%s times %s\n",
               count_scales(info) > 2 ? "longer ones" : "long scale ", info->long_share,
               bound[info->at_bound[info->inputs + 2] != 0], count_scales(info) > 2 ? "each " : "",
               info->long_reach, bound[info->at_bound[info->inputs + 3] != 0],
               count_scales(info) > 2 ? "the one before it" : "the length-scales");
}

static int print_ranking(const arguments *given, const quorum_info *info)
{
    static const char *const titles[] = {"rank", "expert", "rows", "importance", ""};
    double largest = info->importance[info->ranking[0]];
    table t;
    table_start(&t, "rrrrl", titles);
    for (size_t k = 0; k < info->experts; k++) {
        size_t i = info->ranking[k];
        char bar[24];
        fill_bar(bar, largest > 0.0 ? info->importance[i] / largest : 0.0);
        table_add(&t, "%zu", k + 1);
        table_add(&t, "%zu", i + 1);
        table_add(&t, "%zu", info->sizes[i]);
        table_add(&t, "%.4g", info->importance[i]);
        table_add(&t, "%s", bar);
    }
    size_t pairs = info->experts * (info->experts - 1) / 2;
    printf("\nExpert graph: lambda %.4g, %zu of %zu pair%s joined by an edge\n", info->lambda,
           info->edges, pairs, plural(pairs));
    if (info->edges == 0 && info->experts > 1)
        printf("(no edges: the ranking is by the variance that each expert explains)\n");
    return table_finish(&t, given);
}

/* ---- JSON ------------------------------------------------------------------------------ */

/* Whole, however long it is. */
static void put_input_name(json_writer *w, const quorum_info *info, size_t d)
{
    json_put_text(w, info->names ? info->names[d] : input_name(info, d).text);
}

static void put_names(json_writer *w, const quorum_info *info)
{
    json_key(w, "names");
    json_begin_list(w);
    for (size_t d = 0; d < info->inputs; d++)
        put_input_name(w, info, d);
    json_end(w);
}

static void put_counts(json_writer *w, const char *key, const size_t *values, size_t count,
                       size_t add)
{
    json_key(w, key);
    json_begin_list(w);
    for (size_t i = 0; i < count; i++)
        json_put_count(w, values[i] + add);
    json_end(w);
}

static void put_sizes(json_writer *w, const quorum_info *info, const size_range *r)
{
    json_key(w, "sizes");
    json_begin_object(w);
    json_member_count(w, "smallest", r->smallest);
    json_member_number(w, "median", r->median);
    json_member_count(w, "largest", r->largest);
    put_counts(w, "each", info->sizes, info->experts, 0);
    json_end(w);
}

static void put_input(json_writer *w, const quorum_info *info, size_t d)
{
    json_begin_object(w);
    json_key(w, "name");
    put_input_name(w, info, d);
    json_member_number(w, "lengthscale", effective_lengthscale(info, d));
    json_member_number(w, "lengthscale_in_units",
                       effective_lengthscale(info, d) * input_unit(info, d));
    json_member_number(w, "inverse_lengthscale_share", inverse_lengthscale_share(info, d));
    json_member_flag(w, "at_bound", info->at_bound[d] && !info->rotation);
    json_member_flag(w, "at_upper_bound", is_flat(info, d));
    json_member_flag(w, "constant", info->constant[d] && !is_of_place(info, d));
    if (is_of_place(info, d))
        json_member_text(w, "degrees", d == info->longitude ? "longitude" : "latitude");
    json_member_number(w, "mean", info->x_mean[d]);
    json_member_number(w, "scale", info->x_scale[d]);
    if (is_bent(info, d)) {
        json_member_number(w, "bend_at", info->bend_at[d]);
        json_member_number(w, "bend_width", info->bend_width[d]);
    }
    json_end(w);
}

/* Direction k: its length-scale, share, and weights of the standardised inputs. */
static void put_direction(json_writer *w, const quorum_info *info, size_t k)
{
    json_begin_object(w);
    json_member_number(w, "lengthscale", info->constant[k] ? INFINITY : info->lengthscale[k]);
    json_member_number(w, "inverse_lengthscale_share", direction_share(info, k));
    json_member_flag(w, "at_bound", info->at_bound[k]);
    json_key(w, "weights");
    json_begin_list(w);
    for (size_t d = 0; d < info->inputs; d++)
        json_put_number(w, info->rotation[k * info->inputs + d]);
    json_end(w);
    json_end(w);
}

static void put_metric(json_writer *w, const quorum_info *info)
{
    json_member_text(w, "metric", info->rotation ? "linear" : "ard");
    json_key(w, "directions");
    json_begin_list(w);
    for (size_t k = 0; info->rotation && k < info->inputs; k++)
        put_direction(w, info, k);
    json_end(w);
}

static void put_hyperparameters(json_writer *w, const quorum_info *info)
{
    put_metric(w, info);
    json_key(w, "hyperparameters");
    json_begin_list(w);
    for (size_t d = 0; d < info->inputs; d++)
        put_input(w, info, d);
    json_end(w);
    json_member_number(w, "signal_variance", info->signal_variance);
    json_member_number(w, "noise_variance", info->noise_variance);
    if (has_scales(info)) {
        json_member_number(w, "long_share", info->long_share);
        json_member_number(w, "long_reach", info->long_reach);
    }
    json_member_number(w, "signal_deviation_in_units", signal_deviation(info));
    json_member_number(w, "noise_deviation_in_units", noise_deviation(info));
    json_member_number(w, "y_mean", info->y_mean);
    json_member_number(w, "y_scale", info->y_scale);
}

static void put_slope(json_writer *w, const quorum_info *info, size_t d)
{
    json_begin_object(w);
    json_key(w, "name");
    put_input_name(w, info, d);
    json_member_number(w, "slope", info->slope[d]);
    json_member_number(w, "standard_error", info->slope_std[d]);
    json_end(w);
}

static void put_trend(json_writer *w, const quorum_info *info)
{
    json_key(w, "trend");
    json_begin_object(w);
    json_member_text(w, "kind", info->trend);
    json_key(w, "slopes");
    json_begin_list(w);
    for (size_t d = 0; info->slope && d < info->inputs; d++)
        put_slope(w, info, d);
    json_end(w);
    json_member_number(w, "target_mean", info->target_mean);
    json_member_number(w, "target_scale", info->target_scale);
    if (info->offset_name)
        json_member_text(w, "offset", info->offset_name);
    json_end(w);
    if (info->weights_name)
        json_member_text(w, "weights", info->weights_name);
    if (info->noise_name)
        json_member_text(w, "noise_std", info->noise_name);
    json_key(w, "warp");
    json_begin_object(w);
    json_member_text(w, "kind", info->warp);
    json_member_number(w, "shift", info->warp_shift);
    json_end(w);
}

static void put_kernel_scores(json_writer *w, const quorum_info *info)
{
    json_key(w, "kernel_scores");
    json_begin_object(w);
    for (size_t k = 0; k < info->kernels; k++)
        json_member_number(w, info->kernel_names[k], info->kernel_scores[k]);
    json_end(w);
}

static void put_training(json_writer *w, const quorum_info *info)
{
    json_member_number(w, "nlml", info->nlml);
    json_key(w, "evaluations");
    json_put_integer(w, info->evaluations);
    json_member_count(w, "train_experts", info->train_experts);
    json_member_text(w, "train", info->train);
    json_member_count(w, "train_rows", info->train_rows);
    put_kernel_scores(w, info);
    json_member_number(w, "spread", info->spread);
    json_member_number(w, "untested", info->untested);
    json_member_flag(w, "local_noise", info->local_noise != 0);
    json_member_count(w, "neighbours", info->neighbours);
    if (info->chosen_method) {
        json_member_text(w, "chosen_method", info->chosen_method);
        json_member_number(w, "cells_error", info->cells_error);
        json_member_number(w, "cells_gain", info->cells_gain);
    }
    json_member_count(w, "calibration_rows", info->calibration_rows);
    json_member_number(w, "calibration_scale", info->calibration_scale);
    if (info->calibration_for)
        json_member_text(w, "calibration_for", info->calibration_for);
}

static void put_graph(json_writer *w, const quorum_info *info)
{
    json_key(w, "graph");
    if (!info->ranking) { /* not learned yet */
        json_put_null(w);
        return;
    }
    json_begin_object(w);
    json_member_number(w, "lambda", info->lambda);
    json_member_count(w, "edges", info->edges);
    json_member_numbers(w, "importance", info->importance, info->experts);
    put_counts(w, "ranking", info->ranking, info->experts, 1);
    if (info->graph_trouble)
        json_member_text(w, "trouble", info->graph_trouble);
    json_end(w);
}

static int put_model(json_writer *to, const arguments *given, const quorum_info *info,
                     const size_range *r)
{
    json_writer w = *to;
    json_begin_object(&w);
    json_member_count(&w, "rows", info->rows);
    json_member_count(&w, "inputs", info->inputs);
    put_names(&w, info);
    json_member_text(&w, "target", target_name(info));
    json_member_count(&w, "experts", info->experts);
    put_sizes(&w, info, r);
    json_member_text(&w, "kernel", info->kernel);
    json_member_text(&w, "partition", info->partition);
    json_key(&w, "seed");
    json_put_integer(&w, (int64_t)info->seed);
    put_hyperparameters(&w, info);
    if (put_levels(&w, given, info) != EXIT_DONE)
        return EXIT_FAILED;
    put_date_forms(&w, info);
    put_trend(&w, info);
    put_training(&w, info);
    put_graph(&w, info);
    json_end(&w);
    *to = w;
    return EXIT_DONE;
}

/* ---- The command --------------------------------------------------------------------- */

static int tell(const arguments *given, const quorum_info *info)
{
    size_range range = {0};
    if (find_range_of_sizes(given, info, &range) != EXIT_DONE)
        return EXIT_FAILED;
    print_experts(info, &range);
    if (print_lengthscales(given, info) != EXIT_DONE)
        return EXIT_FAILED;
    if (info->rotation && print_directions(given, info) != EXIT_DONE)
        return EXIT_FAILED;
    print_variances(info);
    if (print_levels(given, info) != EXIT_DONE)
        return EXIT_FAILED;
    if (info->slope && print_slopes(given, info) != EXIT_DONE)
        return EXIT_FAILED;
    if (info->graph_trouble)
        printf("\nExpert graph: %s: %s\n", info->precision ? "only approximate" : "none",
               info->graph_trouble);
    if (info->precision)
        return print_ranking(given, info);
    if (!info->graph_trouble)
        printf("\nExpert graph: not learned yet; 'quorum graph %s --write' learns it\n",
               shown(given->operands[0]).text);
    return EXIT_DONE;
}

/* One object, or of several targets an object that has one for each. */
static int tell_as_json(const chosen_targets *c, const arguments *given)
{
    json_writer w = json_to_file(stdout);
    int code = EXIT_DONE;
    if (c->count > 1)
        json_begin_object(&w);
    for (size_t t = 0; t < c->count && code == EXIT_DONE; t++) {
        quorum_info info;
        size_range range = {0};
        quorum_status status = quorum_inspect(c->model[t], &info);
        if (status < 0)
            return library_failure(given, status);
        code = find_range_of_sizes(given, &info, &range);
        if (c->count > 1)
            json_key(&w, target_name(&info));
        if (code == EXIT_DONE)
            code = put_model(&w, given, &info, &range);
    }
    if (c->count > 1)
        json_end(&w);
    return code == EXIT_DONE ? json_report(&w, given) : code;
}

static int tell_each(const chosen_targets *c, const arguments *given)
{
    int code = EXIT_DONE;
    for (size_t t = 0; t < c->count && code == EXIT_DONE; t++) {
        quorum_info info;
        quorum_status status = quorum_inspect(c->model[t], &info);
        if (status < 0)
            return library_failure(given, status);
        if (c->several)
            printf("%sTarget %s\n\n", t ? "\n" : "", shown(target_name(&info)).text);
        code = tell(given, &info);
    }
    return code;
}

static int run_inspect(const arguments *given)
{
    chosen_targets targets;
    progress shown;
    progress_start(&shown, given);
    int code = chosen_load(&targets, given);
    progress_clear(&shown);
    if (code == EXIT_DONE)
        code = argument_value(given, "json") ? tell_as_json(&targets, given)
                                             : tell_each(&targets, given);
    chosen_free(&targets);
    return code;
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"json", 0, NULL, NULL, NULL, "Print one JSON object, of several targets one for each in it."},
    TARGET_FLAG_LIST,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command inspect_command = {
    .name = "inspect",
    .summary = "show a model's experts, hyperparameters and expert graph",
    .usage = "MODEL [--json] [options]",
    .description =
        "Prints the sizes of the experts, the learned hyperparameters (of standardised data and "
        "in the data's own units), each input's share of the inverse length-scales (how quickly "
        "the "
        "target bends along it, not how much it matters: a straight line has a long "
        "length-scale; on the upper bound there is hardly any effect), and the experts ranked by "
        "importance in the expert graph, if the model has one ('quorum graph --write').",
    .option_names = "memory",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum inspect model.npz\n"
                "  quorum inspect model.npz --json | jq .graph.ranking\n",
    .run = run_inspect,
};
