/* quorum fit: training data in, model file out. */
#include "arguments.h"
#include "clock.h"
#include "command.h"
#include "dates.h"
#include "hyperparameters.h"
#include "levels.h"
#include "io/whole_file.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "talk.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a fit leaves behind for its summary. */
typedef struct {
    quorum_data *data;
    quorum_model *model; /* of the first target, and with it those of the others */
    quorum_info info;    /* of the target that is being told                     */
    quorum_status status;
    double seconds_read, seconds_total;
} fitted;

/* A name that shows whether the conversion was right. */
static const char *first_converted(const quorum_data *d)
{
    for (size_t i = 0; i <= d->inputs; i++)
        for (const char *p = d->names[i]; *p; p++)
            if ((unsigned char)*p >= 0x80)
                return d->names[i];
    return d->names[0];
}

static void note_left_out(const arguments *given, const quorum_data *d)
{
    char names[400] = "";
    for (size_t i = 0; i < d->left_out; i++) {
        size_t used = strlen(names);
        if (used + 80 > sizeof names) {
            snprintf(names + used, sizeof names - used, ", ...");
            break;
        }
        snprintf(names + used, sizeof names - used, "%s%.60s", used ? ", " : "", d->left_name[i]);
    }
    if (d->left_out)
        note(given,
             "left out, since nearly every row has a text of its own there: %s (--ignore says so, "
             "--categorical takes it for a category all the same)",
             names);
}

static quorum_status read_and_fit(const arguments *given, progress *p, fitted *f)
{
    double start = seconds_now();
    progress_show(p, "read", -1.0, given->operands[0]);
    quorum_status status = quorum_data_read(given->operands[0], given->options, &f->data);
    f->seconds_read = seconds_now() - start;
    if (status < 0)
        return status;
    if (f->data->decimal_comma)
        note(given, "numbers are read with decimal commas; --decimal says which mark is meant");
    if (f->data->converted)
        note(given, "%s: the column names are not UTF-8 and were read as Windows-1252: \"%s\"",
             given->operands[0], first_converted(f->data));
    if (f->data->header_doubt)
        note(given,
             "the first row is taken for names, though some are numbers: if it is data, give "
             "--header no");
    note_left_out(given, f->data);
    note_dates(given, f->data);
    note_units(given, f->data);
    f->status = quorum_fit_data(f->data, given->options, &f->model);
    return f->status;
}

static void smallest_and_largest(const quorum_info *info, size_t *smallest, size_t *largest)
{
    *smallest = *largest = info->sizes[0];
    for (size_t i = 1; i < info->experts; i++) {
        *smallest = info->sizes[i] < *smallest ? info->sizes[i] : *smallest;
        *largest = info->sizes[i] > *largest ? info->sizes[i] : *largest;
    }
}

/* ---- What is said aloud ------------------------------------------------------ */

static bool has_graph(const arguments *given)
{
    return strcmp(quorum_options_get(given->options, "graph"), "none") != 0;
}

static void note_graph(const arguments *given, const quorum_info *info)
{
    if (info->precision)
        note(given, "the expert graph is only approximate: %s", info->graph_trouble);
    else
        note(given,
             "the model has no expert graph, which '*' methods and --select graph:A need: %s",
             info->graph_trouble);
}

static void note_dropped(const arguments *given, const quorum_data *d)
{
    bool most =
        d->dropped > d->rows && strcmp(quorum_options_get(given->options, "missing"), "drop") == 0;
    note(given, "%zu row%s with missing cells left out%s", d->dropped, plural(d->dropped),
         most ? ", more than stay: --missing impute fills missing inputs instead" : "");
}

/* Of all targets together. */
static void say_common_notes(const arguments *given, const fitted *f, const char *message)
{
    if (f->data->dropped)
        note_dropped(given, f->data);
    if (f->status > 0)
        note(given, "%s", message);
}

/* Worth a word: a value of so many rows, or values of so many rows each. */
static const double SHARE_IN_COMMON = 0.05;
enum { ROWS_A_VALUE = 10 };

/* Targets that are exactly alike. */
static void note_atoms(const arguments *given, const quorum_info *info)
{
    double percent = 100.0 * (double)info->common_rows / (double)info->rows;
    shown_text target = shown(target_name(info));
    if (info->target_values && info->target_values * ROWS_A_VALUE <= info->rows)
        note(given,
             "target %s has %zu values only, %.2g %% of the rows have %.6g: it is predicted as a "
             "number that may lie between them; std is small where the rows around agree",
             target.text, info->target_values, percent, info->common_target);
    else if (percent >= 100.0 * SHARE_IN_COMMON)
        note(given,
             "%.2g %% of the rows have the target %s = %.6g exactly: predictions are densities, "
             "which give no value a probability of its own; std is small where the rows around "
             "agree",
             percent, target.text, info->common_target);
}

static void say_notes(const arguments *given, const fitted *f)
{
    const quorum_info *info = &f->info;
    if (f->data->targets > 1 && info->rows < f->data->rows)
        note(given, "target %s: %zu row%s without it left out", target_name(info),
             f->data->rows - info->rows, plural(f->data->rows - info->rows));
    note_encoding(given, info);
    if (constant_names(info).text[0])
        note(given, "constant in the training data, and so without effect on predictions: %s",
             constant_names(info).text);
    if (idle_names(info).text[0])
        note(given,
             "categories whose levels tell no more of the target than chance does, and so without "
             "effect on predictions: %s",
             idle_names(info).text);
    if (info->inputs > info->rows)
        note(given,
             "%zu inputs are more than the %zu rows can tell apart: fit fewer, such as those that "
             "matter (--ignore leaves columns out) or their principal components",
             info->inputs, info->rows);
    if (info->train_experts && info->train_experts < info->experts)
        note(given,
             "the hyperparameters were trained on %zu of the %zu experts; --train-experts changes "
             "that",
             info->train_experts, info->experts);
    note_atoms(given, info);
    if (info->graph_trouble)
        note_graph(given, info);
    else if (info->experts > 1 && info->edges == 0 && info->precision && has_graph(given))
        note(given, "the expert graph has no edges: experts are ranked by the variance that they "
                    "explain; a smaller --lambda gives edges");
}

static void print_summary(const arguments *given, const fitted *f)
{
    const quorum_info *info = &f->info;
    size_t smallest, largest;
    smallest_and_largest(info, &smallest, &largest);
    printf("%zu row%s, %zu input%s, target %s\n", info->rows, plural(info->rows), info->inputs,
           plural(info->inputs), shown(target_name(info)).text);
    printf("%zu expert%s (%s), %zu to %zu rows each\n", info->experts, plural(info->experts),
           info->partition, smallest, largest);
    printf("kernel %s, signal %.4g, noise %.4g (standard deviations, in units of %s)\n",
           info->kernel, signal_deviation(info), noise_deviation(info), target_unit(info).text);
    if (info->slope)
        printf("trend linear: predictions continue a line in the inputs\n");
    printf("negative log marginal likelihood %.6g after %d evaluation%s\n", info->nlml,
           info->evaluations, plural((size_t)info->evaluations));
    if (info->chosen_method)
        printf("method %s by default: squared error of cells %.4g of that of nearest, log density "
               "%+.2g a row\n",
               info->chosen_method, info->cells_error, info->cells_gain);
    if (has_graph(given) && info->precision)
        printf("expert graph: %zu edge%s, lambda %.4g\n", info->edges, plural(info->edges),
               info->lambda);
    else if (info->graph_trouble)
        printf("expert graph: none\n");
    if (f->data->targets > 1)
        printf("%.2f s: partition %.2f, train %.2f", info->seconds_total, info->seconds_partition,
               info->seconds_train);
    else
        printf("%.2f s: read %.2f, partition %.2f, train %.2f", f->seconds_total, f->seconds_read,
               info->seconds_partition, info->seconds_train);
    if (info->ranking)
        printf(", graph %.2f", info->seconds_graph);
    if (info->calibration_rows)
        printf(", calibrate %.2f", info->seconds_calibrate);
    printf("\n");
}

static void put_bounds(json_writer *w, const quorum_info *info)
{
    json_key(w, "at_bound");
    json_begin_list(w);
    for (size_t i = 0; i < info->inputs + 4; i++) {
        if (!info->at_bound[i])
            continue;
        if (i < info->inputs && info->names && !info->rotation)
            json_put_joined(w, "lengthscale:", info->names[i]);
        else
            json_put_text(w, hyperparameter_name(info, i).text);
    }
    json_end(w);
}

static void put_lengthscales(json_writer *w, const quorum_info *info)
{
    json_key(w, "lengthscale");
    json_begin_list(w);
    for (size_t d = 0; d < info->inputs; d++)
        json_put_number(w, effective_lengthscale(info, d));
    json_end(w);
}

static void put_constants(json_writer *w, const quorum_info *info)
{
    json_key(w, "constant");
    json_begin_list(w);
    for (size_t d = 0; d < info->inputs; d++)
        if (info->constant[d] && !is_of_place(info, d))
            json_put_text(w, info->names[d]);
    json_end(w);
}

static void put_seconds(json_writer *w, const fitted *f)
{
    json_key(w, "seconds");
    json_begin_object(w);
    json_member_number(w, "read", f->seconds_read);
    json_member_number(w, "partition", f->info.seconds_partition);
    json_member_number(w, "train", f->info.seconds_train);
    json_member_number(w, "total", f->data->targets > 1 ? f->info.seconds_total : f->seconds_total);
    json_member_number(w, "graph", f->info.seconds_graph);
    json_member_number(w, "calibrate", f->info.seconds_calibrate);
    json_end(w);
}

static void put_work(json_writer *w, const fitted *f)
{
    const quorum_info *info = &f->info;
    size_t smallest, largest;
    smallest_and_largest(info, &smallest, &largest);
    json_member_count(w, "rows", info->rows);
    json_member_count(w, "inputs", info->inputs);
    json_member_count(w, "experts", info->experts);
    json_member_count(w, "smallest", smallest);
    json_member_count(w, "largest", largest);
    json_member_count(w, "evaluations", (size_t)info->evaluations);
    json_member_number(w, "nlml", info->nlml);
    if (info->chosen_method)
        json_member_text(w, "chosen_method", info->chosen_method);
    put_seconds(w, f);
}

static void put_summary(json_writer *to, const fitted *f)
{
    const quorum_info *info = &f->info;
    json_writer w = *to;
    json_begin_object(&w);
    put_work(&w, f);
    json_member_text(&w, "kernel", info->kernel);
    json_member_text(&w, "partition", info->partition);
    json_member_text(&w, "metric", info->rotation ? "linear" : "ard");
    json_member_text(&w, "trend", info->trend);
    json_member_text(&w, "warp", info->warp);
    put_lengthscales(&w, info);
    json_member_number(&w, "signal_variance", info->signal_variance);
    json_member_number(&w, "noise_variance", info->noise_variance);
    if (has_scales(info)) {
        json_member_number(&w, "long_share", info->long_share);
        json_member_number(&w, "long_reach", info->long_reach);
    }
    put_bounds(&w, info);
    put_constants(&w, info);
    json_member_count(&w, "target_values", info->target_values);
    json_member_number(&w, "common_target", info->common_rows ? info->common_target : NAN);
    json_member_count(&w, "common_rows", info->common_rows);
    json_member_count(&w, "dropped", f->data->dropped);
    json_member_count(&w, "train_experts", info->train_experts);
    json_member_number(&w, "edges", info->ranking ? (double)info->edges : NAN);
    json_member_number(&w, "lambda", info->ranking ? info->lambda : NAN);
    json_member_text(&w, "status", quorum_status_name(f->status));
    if (info->graph_trouble)
        json_member_text(&w, "graph_trouble", info->graph_trouble);
    json_end(&w);
    *to = w;
}

/* ---- Of each target ------------------------------------------------------------- */

static quorum_status look_at_target(fitted *f, size_t t)
{
    return quorum_inspect(quorum_model_target(f->model, t), &f->info);
}

/* One object, or of several targets an object that has one for each. */
static int print_as_json(const arguments *given, fitted *f)
{
    json_writer w = json_to_file(stdout);
    size_t count = quorum_model_targets(f->model);
    quorum_status status = QUORUM_OK;
    if (count > 1)
        json_begin_object(&w);
    for (size_t t = 0; t < count && status >= 0; t++) {
        status = look_at_target(f, t);
        if (status >= 0 && count > 1)
            json_key(&w, target_name(&f->info));
        if (status >= 0)
            put_summary(&w, f);
    }
    if (count > 1)
        json_end(&w);
    return status < 0 ? library_failure(given, status) : json_report(&w, given);
}

static int print_as_text(const arguments *given, fitted *f)
{
    size_t count = quorum_model_targets(f->model);
    for (size_t t = 0; t < count; t++) {
        quorum_status status = look_at_target(f, t);
        if (status < 0)
            return library_failure(given, status);
        print_summary(given, f);
        if (count > 1)
            printf("\n");
    }
    if (count > 1)
        printf("%.2f s for %zu targets, read %.2f\n", f->seconds_total, count, f->seconds_read);
    printf("model written to %s\n", shown(argument_value(given, "output")).text);
    return EXIT_DONE;
}

/* ---- The command --------------------------------------------------------------- */

static const char *checkpoint_path(const arguments *given)
{
    return quorum_options_get(given->options, "checkpoint");
}

/* The model is safe: there is nothing to resume any more. */
static void forget_checkpoint(const arguments *given)
{
    const char *path = checkpoint_path(given);
    if (path[0] && quorum_team_rank() == 0)
        (void)whole_file_remove(path);
}

static int save_and_report(const arguments *given, fitted *f, double start)
{
    char message[1024]; /* of the fit: saving may replace it */
    snprintf(message, sizeof message, "%s", quorum_message());
    quorum_status status = quorum_save(f->model, argument_value(given, "output"));
    if (status < 0)
        return library_failure(given, status);
    forget_checkpoint(given);
    f->seconds_total = seconds_now() - start;
    say_common_notes(given, f, message);
    for (size_t t = 0; t < quorum_model_targets(f->model); t++)
        if (look_at_target(f, t) >= 0)
            say_notes(given, f);
    return argument_value(given, "json") ? print_as_json(given, f) : print_as_text(given, f);
}

/* method nearest: auto is to be that, and is not compared with cells. */
static bool says_what_auto_is(const arguments *given, const char *name)
{
    return strcmp(name, "method") == 0 && strcmp(argument_value(given, name), "nearest") == 0;
}

/* Options of prediction say what to calibrate; a model does not remember them otherwise. */
static int check_purpose(const arguments *given)
{
    static const char *const names[] = {"method", "select", "neighbours", "space"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (argument_value(given, names[i]) && !option_is_on(given, "calibrate") &&
            !says_what_auto_is(given, names[i]))
            return usage_error(given->command,
                               "--%s says which prediction --calibrate is for, and there is no "
                               "--calibrate: give it to 'quorum predict'",
                               names[i]);
    return EXIT_DONE;
}

static int run_fit(const arguments *given)
{
    const char *path = argument_value(given, "output");
    if (!path)
        return usage_error(given->command, "-o MODEL is missing");
    if (check_purpose(given) != EXIT_DONE)
        return EXIT_USAGE;
    if (output_is_direct(path))
        return usage_error(given->command, "-o %s: a model is a file, not a pipe or a device",
                           path);
    if (output_check(given, path) != EXIT_DONE ||
        (checkpoint_path(given)[0] && output_check(given, checkpoint_path(given)) != EXIT_DONE))
        return EXIT_FAILED;
    fitted f = {0};
    progress p;
    double start = seconds_now();
    detail_settings(given);
    progress_start(&p, given);
    quorum_status status = read_and_fit(given, &p, &f);
    progress_clear(&p);
    int code = status < 0 ? library_failure(given, status) : save_and_report(given, &f, start);
    quorum_data_free(f.data);
    quorum_model_free(f.model);
    return code;
}

static const operand operands[] = {
    {"TRAIN", "Training data: csv, csv.gz, npy, npz or an SQLite database, one row an observation; "
              "'-' is csv from "
              "standard input. The last column is the target unless --target says otherwise."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"output", 'o', "MODEL", NULL, NULL, "Where to write the model, a plain .npz. Required."},
    {"json", 0, NULL, NULL, NULL, "Print the summary as one JSON object."},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command fit_command = {
    .name = "fit",
    .summary = "learn a model from training data",
    .usage = "TRAIN -o MODEL [options]",
    .description =
        "Splits the training data among local Gaussian-process experts, learns one set of "
        "hyperparameters for all of them and writes it all to MODEL. How the experts depend on "
        "each other (the expert graph) is learned when it is first asked for, or here with "
        "--graph glasso. The defaults are good for most data: give "
        "options only for what you want otherwise. A model predicts by any method; those of "
        "'quorum predict' (--method, --select, --neighbours, --space) are given here only to say "
        "which prediction --calibrate is for; --method nearest also leaves out the comparison with "
        "cells that says what method auto is.",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum fit train.csv -o model.npz\n"
                "  quorum fit train.csv.gz -o model.npz --target price --ignore id --missing drop\n"
                "  quorum fit train.csv -o model.npz --target price,rent\n"
                "  quorum fit train.npz -o model.npz --experts 70 --kernel matern32 --seed 1\n"
                "  quorum fit small.csv -o exact.npz --experts 1          # the exact GP\n"
                "  quorum fit train.csv -o model.npz --calibrate --method rbcm\n"
                "  quorum fit train.csv -o model.npz --checkpoint model.checkpoint\n"
                "  quorum fit train.csv -o model.npz --json | jq .seconds\n",
    .in_team = true,
    .run = run_fit,
};
