/* quorum update: a model and new rows in, a model that has them out. */
#include "arguments.h"
#include "clock.h"
#include "command.h"
#include "forget.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "rows.h"
#include "talk.h"
#include "targets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    chosen_targets all;
    row_block *rows;              /* count: of each target       */
    quorum_new_rows *given;       /* count                       */
    quorum_update_report *report; /* count                       */
    forget_list forget;
    bool has_new;
    progress progress;
    double seconds;
} work;

static void work_free(work *w)
{
    for (size_t t = 0; w->rows && t < w->all.count; t++)
        rows_close(&w->rows[t]);
    free(w->rows);
    free(w->given);
    free(w->report);
    forget_free(&w->forget);
    chosen_free(&w->all);
}

/* ---- Rows ---- */

/* What was read, as the library takes it. */
static void offer(work *w, size_t t)
{
    const row_block *b = &w->rows[t];
    w->given[t] = (quorum_new_rows){.rows = b->count,
                                    .X = b->X,
                                    .y = b->y,
                                    .offset = b->offset,
                                    .weight = b->weights,
                                    .noise_std = b->noise};
}

static int read_target(work *w, size_t t, const arguments *given)
{
    row_block *b = &w->rows[t];
    quorum_status status = rows_open(b, given->operands[1], w->all.model[t], true, 0, given);
    if (status < 0)
        return library_failure(given, status);
    int code = rows_next(b, ALL_ROWS, given);
    if (code != EXIT_DONE)
        return code;
    size_t dropped = quorum_stream_dropped(b->stream);
    if (dropped && t == 0)
        note(given, "%zu row%s with missing cells left out: %s", dropped, plural(dropped),
             dropped_rows(b->stream).text);
    if (b->count == 0)
        note(given, "%s has no rows%s", given->operands[1], dropped ? " that can be taken" : "");
    offer(w, t);
    return EXIT_DONE;
}

/* NEW is read once for each target. */
static int read_rows(work *w, const arguments *given)
{
    size_t count = w->all.count;
    w->rows = calloc(count, sizeof *w->rows);
    w->given = calloc(count, sizeof *w->given);
    w->report = calloc(count, sizeof *w->report);
    if (!w->rows || !w->given || !w->report)
        return failure(given, "out of memory for the targets");
    if (w->has_new && count > 1 && strcmp(given->operands[1], "-") == 0)
        return usage_error(given->command,
                           "standard input can be read once, and the model has %zu targets: give a "
                           "file",
                           count);
    int code = EXIT_DONE;
    for (size_t t = 0; w->has_new && code == EXIT_DONE && t < count; t++)
        code = read_target(w, t, given);
    return code;
}

/* ---- What is told ---- */

static void say_drift(const work *w, size_t t, const arguments *given)
{
    const quorum_update_report *r = &w->report[t];
    char whose[120] = "";
    if (w->all.count > 1)
        snprintf(whose, sizeof whose, "target %.100s: ", name_of_target(w->all.model[t]));
    if (r->unseen)
        note(given,
             "%s%zu row%s with a level that the model does not know left out: 'quorum fit --start' "
             "learns new levels",
             whose, r->unseen, plural(r->unseen));
    if (r->off_constants)
        note(
            given,
            "%s%zu row%s with another value of an input that did not vary in the training data: it "
            "has no effect before a new fit",
            whose, r->off_constants, plural(r->off_constants));
    if (r->drift)
        note(given,
             "%sthe new rows are predicted worse than left-out rows were, by more than chance: the "
             "data may have moved away from the model, and 'quorum fit ALL_ROWS -o MODEL --start "
             "%s' "
             "trains it again from where it is",
             whose, argument_value(given, "output"));
}

static void print_scores(const quorum_update_report *r)
{
    const quorum_metrics *m = &r->metrics;
    printf("predicted before they were taken: %zu row%s, RMSE %.4g, NLPD %.4g, %.1f %% inside "
           "the 95 %% interval\n",
           r->scored, plural(r->scored), m->rmse, m->nlpd, 100.0 * m->coverage[2]);
    if (isfinite(r->expected))
        printf("log density of (y - mean) / std: %.4f, of left-out rows %.4f (chance %.3f)\n",
               r->density, r->expected, r->chance);
}

static void print_target(const work *w, size_t t)
{
    quorum_info info;
    const quorum_update_report *r = &w->report[t];
    if (quorum_inspect(w->all.model[t], &info) < 0)
        return;
    if (w->all.count > 1)
        printf("target %s\n", shown(name_of_target(w->all.model[t])).text);
    printf("%zu row%s added, %zu forgotten: %zu rows, %zu expert%s\n", r->added, plural(r->added),
           r->removed, info.rows, info.experts, plural(info.experts));
    if (r->scored)
        print_scores(r);
}

static void put_target(json_writer *w, const quorum_update_report *r, const quorum_model *model)
{
    quorum_info info;
    if (quorum_inspect(model, &info) < 0)
        return;
    json_begin_object(w);
    json_member_count(w, "added", r->added);
    json_member_count(w, "forgotten", r->removed);
    json_member_count(w, "rows", info.rows);
    json_member_count(w, "experts", info.experts);
    json_member_count(w, "unseen", r->unseen);
    json_member_count(w, "scored", r->scored);
    json_member_number(w, "rmse", r->scored ? r->metrics.rmse : NAN);
    json_member_number(w, "nlpd", r->scored ? r->metrics.nlpd : NAN);
    json_member_number(w, "coverage95", r->scored ? r->metrics.coverage[2] : NAN);
    json_member_number(w, "density", r->density);
    json_member_number(w, "expected", r->expected);
    json_member_number(w, "chance", r->chance);
    json_member_flag(w, "drift", r->drift);
    json_end(w);
}

/* One object, or of several targets an object that has one for each. */
static int print_as_json(const work *w, const arguments *given)
{
    json_writer to = json_to_file(stdout);
    if (w->all.count > 1)
        json_begin_object(&to);
    for (size_t t = 0; t < w->all.count; t++) {
        if (w->all.count > 1)
            json_key(&to, name_of_target(w->all.model[t]));
        put_target(&to, &w->report[t], w->all.model[t]);
    }
    if (w->all.count > 1)
        json_end(&to);
    return json_report(&to, given);
}

static int tell(const work *w, const arguments *given)
{
    for (size_t t = 0; t < w->all.count; t++)
        say_drift(w, t, given);
    if (argument_value(given, "json"))
        return print_as_json(w, given);
    for (size_t t = 0; t < w->all.count; t++)
        print_target(w, t);
    printf("%.2f s; model written to %s\n", w->seconds,
           shown(argument_value(given, "output")).text);
    return EXIT_DONE;
}

/* ---- The command ---- */

static int update(work *w, const arguments *given)
{
    int code = chosen_load(&w->all, given);
    if (code == EXIT_DONE)
        code = forget_parse(&w->forget, w->all.all, given);
    if (code == EXIT_DONE)
        code = read_rows(w, given);
    if (code != EXIT_DONE)
        return code;
    quorum_forgetting forget = {
        .row = w->forget.row, .rows = w->forget.count, .window = w->forget.window};
    quorum_status status =
        quorum_update(w->all.all, w->has_new ? w->given : NULL, &forget, given->options, w->report);
    progress_clear(&w->progress);
    if (status >= 0)
        status = quorum_save(w->all.all, argument_value(given, "output"));
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

static int check_flags(const arguments *given)
{
    const char *path = argument_value(given, "output");
    if (!path)
        return usage_error(given->command, "-o MODEL2 is missing");
    if (output_is_direct(path))
        return usage_error(given->command, "-o %s: a model is a file, not a pipe or a device",
                           path);
    if (given->operand_count < 2 && !argument_value(given, "forget") &&
        !argument_value(given, "window"))
        return usage_error(given->command,
                           "NEW is missing: give new rows, or say with --forget or --window which "
                           "rows go");
    if (strcmp(quorum_options_get(given->options, "missing"), "nan") == 0)
        return usage_error(given->command, "--missing nan: a row with missing cells cannot be "
                                           "taken; give drop, or impute");
    return output_check(given, path);
}

static int run_update(const arguments *given)
{
    work w = {.has_new = given->operand_count > 1};
    double start = seconds_now();
    int code = check_flags(given);
    if (code != EXIT_DONE)
        return code;
    detail_settings(given);
    progress_start(&w.progress, given);
    code = update(&w, given);
    progress_clear(&w.progress);
    w.seconds = seconds_now() - start;
    if (code == EXIT_DONE)
        code = tell(&w, given);
    work_free(&w);
    return code;
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit' or 'quorum update'."},
    {"NEW", "New rows with the target's column: csv, csv.gz, npy or npz, or '-' for csv from "
            "standard input. It may be left out with --forget or --window."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"output", 'o', "MODEL2", NULL, NULL,
     "Where to write the model; MODEL itself is replaced at once or stays as it was. Required."},
    {"forget", 0, "ROWS", NULL, NULL,
     "Old rows that go, by number from 1 in the order in which they came, as in 1-1000,1205. The "
     "rows that stay are numbered anew."},
    {"window", 0, "N", NULL, NULL,
     "Keep the last N rows, new ones included, and forget those before."},
    {"json", 0, NULL, NULL, NULL,
     "Print what became of the rows as one JSON object; of several targets as an object of these."},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command update_command = {
    .name = "update",
    .summary = "take new rows into a model without a fit, forget old ones",
    .usage = "MODEL [NEW] -o MODEL2 [--forget ROWS] [--window N] [options]",
    .description =
        "Adds the rows of NEW to the model. What the fit has learned stays: hyperparameters, the "
        "units of inputs and target, positions of levels, metric and neighbours. Each new row "
        "joins "
        "the expert whose centre is nearest. Predictions are then those of a fit to all rows with "
        "these hyperparameters. The new rows are first predicted by the model as it is: their "
        "scores "
        "are printed, and calibration learns from them. Where they are predicted worse than "
        "left-out rows were when the model was calibrated, and chance does not explain it, a note "
        "says so: then 'quorum fit ALL_ROWS -o MODEL2 --start MODEL' trains again, beginning with "
        "the "
        "hyperparameters of MODEL. Rows with a level of a category that the model does not know "
        "are "
        "left out, or an error with --unseen error.",
    .option_names =
        "header missing decimal thousands comment query weights noise-std unseen threads "
        "memory",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum update model.npz today.csv -o model.npz\n"
                "  quorum update model.npz today.csv -o model.npz --window 100000\n"
                "  quorum update model.npz -o smaller.npz --forget 1-5000\n"
                "  quorum update model.npz today.csv -o model.npz --json | jq .drift\n",
    .run = run_update,
    .may_lack = 1,
};
